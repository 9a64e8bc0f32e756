# SPDX-License-Identifier: MIT
"""Every query of the dashboards, asked of a store that holds what recorded machines have sent.

    dashboards.py --source FOLDER [--influxd FILE] [--victoria-metrics FILE]

Each expected output of tests/golden is a host. A query that is refused or has no answer fails.
"""

import argparse
import glob
import json
import os
import re
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "contrib", "ci"))
import agents  # noqa: E402
import lines as lines_of  # noqa: E402

STEP = 10     # s between two gathers
GATHERS = 30  # of each machine; the last one recorded goes on to the end
# What expected outputs do not have: what differs in each run, and a host on which gtel has trouble.
MORE = ["gtel,host=trouble gpus=0i,rss_bytes=8000000i,lanes_late={n}i,lane_restarts={n}i,errors={n}i,dropped={n}i"]
# A counter that begins again when gtel is restarted; and one of a process that was there for a small part
# of the time shown.
RESTARTED, GROWTH = (100, 400, 0, 50), 350
SHORT, SHORT_GROWTH = (0, 100, 400), 400
GROWTH_PANEL = "Processes and jobs: Energy by process name"
# Of one GPU InfluxQL gives no tenth percentile.
NOT_OF_ONE = "percentile"


def recordings(source):
    """Expected outputs, without those of a machine with other options: it would be there twice."""
    found = sorted(glob.glob(os.path.join(source, "tests/golden/*.lp")))
    return [path for path in found if not os.path.basename(path).startswith("option-")]


def gathers(path):
    """The lines of each gather, without their times."""
    found = {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            text, _, moment = line.rstrip("\n").rpartition(" ")
            found.setdefault(int(moment), []).append(text)
    return [found[moment] for moment in sorted(found)]


def add_host(text, host):
    """After the measurement; a blank in a tag has a backslash before it."""
    name = re.match(r"[a-z_]+", text)[0]
    return f"{name},host={host}{text[len(name):]}"


def trouble_lines(start_s, step_s=STEP, count=GATHERS):
    for i in range(count):
        for text in MORE:
            yield f"{text.format(n=i)} {(start_s + i * step_s) * 10**9}"


def restarted_lines(start_s, step_s=STEP):
    for i, joules in enumerate(RESTARTED):
        yield (f"gpu_process,gpu=0000:01:00.0,host=restarted,process=restarted attributed_joules={joules} "
               f"{(start_s + i * step_s) * 10**9}")


def short_lines(start_s, step_s=STEP):
    for i, joules in enumerate(SHORT):
        yield (f"gpu_process,gpu=0000:01:00.0,host=short,process=short attributed_joules={joules} "
               f"{(start_s + (i + GATHERS // 2) * step_s) * 10**9}")


def machine_lines(path, start_s, step_s=STEP, count=GATHERS):
    """A recorded machine as its host sends it, a gather each step; the last one goes on to the end."""
    host = os.path.basename(path)[:-3]
    recorded = gathers(path)
    for i in range(count):
        moment = (start_s + i * step_s) * 10**9
        for text in recorded[min(i, len(recorded) - 1)]:
            yield f"{add_host(text, host)} {moment}"


def targets(source, language):
    """(name, row, target) of every query in the dashboards of a language."""
    for path in sorted(glob.glob(os.path.join(source, f"contrib/dashboards/grafana/*-{language}.json"))):
        with open(path, encoding="utf-8") as file:
            dashboard = json.load(file)
        row = ""
        for panel in dashboard["panels"]:
            row = panel["title"] if panel["type"] == "row" else row
            for target in panel.get("targets", []):
                yield f"{os.path.basename(path)}: {row}: {panel['title']}", row, target


def variables(source, language):
    for path in sorted(glob.glob(os.path.join(source, f"contrib/dashboards/grafana/*-{language}.json"))):
        with open(path, encoding="utf-8") as file:
            for variable in json.load(file)["templating"]["list"]:
                if variable["type"] == "query":
                    yield os.path.basename(path), variable


def fill_in(text, values):
    """What Grafana does with $name and ${name}."""
    for name in sorted(values, key=len, reverse=True):
        text = text.replace("${" + name + "}", values[name]).replace("$" + name, values[name])
    return text


class Report:
    def __init__(self):
        self.asked, self.failures = 0, []

    def check(self, is_ok, text):
        self.asked += 1
        if not is_ok:
            self.failures.append(text)
            print("failed: " + text)


def sums(machines, language):
    """Name of a panel -> its last value, or that of each model, computed from the recordings without any store."""
    up = power = 0
    memory, hosts = {}, {"trouble"}
    for path in machines:
        for text in gathers(path)[-1]:
            name, tags, _, fields = lines_of.parse(text + " 0")
            tags = dict(tags)
            if name == "gtel":
                hosts.add(path)
            if name != "gpu" or "instance" in tags:
                continue
            up += fields.get("up", 0)
            power += fields.get("power_watts", 0)
            if "memory_used_bytes" in fields and "memory_total_bytes" in fields:
                used, total = memory.get(tags["model"], (0, 0))
                memory[tags["model"]] = (used + fields["memory_used_bytes"], total + fields["memory_total_bytes"])
    used, total = (sum(column) for column in zip(*memory.values()))
    place = f"fleet-{language}.json: "
    return {place + "Overview: GPUs that answer": up, place + "Overview: Power": power,
            place + "Overview: Memory used": 100 * used / total, place + "Overview: Hosts": len(hosts),
            place + "Memory: Memory used by model": {model: 100 * used / total for model, (used, total) in memory.items()}}


def check_value(report, name, found, wanted):
    """found: tags and last value of each curve."""
    if not isinstance(wanted, dict):
        found, wanted = [({"model": name}, value) for _, value in found], {name: wanted}
    values = {tags["model"]: value for tags, value in found}
    for model, value in wanted.items():
        is_same = model in values and abs(values[model] - value) <= 1e-6 * value
        report.check(is_same, f"{name}: {model}: {values.get(model)} instead of {value}")


def last_values(series):
    """Tags and last value that is not null, of what InfluxQL answers."""
    for one in series:
        values = [row[1] for row in one["values"] if row[1] is not None]
        if values:
            yield one.get("tags", {}), values[-1]


def check_growth(report, name, series):
    """A list of the time shown: time, value and tags in each row."""
    found = [row[1] for one in series for row in one["values"] if "restarted" in row]
    report.check(found == [GROWTH], f"{name}: {found} instead of {GROWTH} of a counter that began again")


def influx_answers(influx, database, text):
    """Whether any value came back that is not null."""
    return any(value is not None for series in influx.query(text, database) for row in series["values"]
               for value in row[1:])


def try_influxql(arguments, influx, machines, start, report):
    """Stores the machines in the databases all and one, and asks."""
    end = start + STEP * GATHERS
    every = {"timeFilter": f"time >= {start}s AND time <= {end}s", "__interval": f"{STEP}s", "host": ".*", "gpu": ".*",
             "model": ".*"}
    for name in ("all", "one"):
        influx.create(name)
    for path in machines:
        lines = "\n".join(machine_lines(path, start)).encode()
        why = influx.write("all", lines)
        report.check(why is None, f"InfluxDB refuses {path}: {why}")
        if path.endswith("/h200.lp"):  # alone: no GPU has the tag instance
            influx.write("one", lines)
    influx.write("all", "\n".join([*trouble_lines(start), *restarted_lines(start)]).encode())
    wanted = sums(machines, "influxql")
    for name, row, target in targets(arguments.source, "influxql"):
        text = fill_in(target["query"], every)
        report.check(influx_answers(influx, "all", text), f"{name}: no answer: {text}")
        if row == "Overview" and NOT_OF_ONE not in text:
            report.check(influx_answers(influx, "one", text),
                         f"{name}: no answer on one host without the tag instance: {text}")
        if name in wanted:
            check_value(report, name, last_values(influx.query(text, "all")), wanted[name])
        if name.endswith(GROWTH_PANEL):
            check_growth(report, name, influx.query(text, "all"))
    for name, variable in variables(arguments.source, "influxql"):
        series = influx.query(fill_in(variable["query"], every), "all")
        found = {row[1] for s in series for row in s["values"]}
        report.check(found, f"{name}: variable {variable['name']} has no values")
    text = fill_in('SELECT last("up") FROM "gpu" WHERE $timeFilter AND "host" =~ /^$host$/ GROUP BY "host"',
                   {**every, "host": "(h100|h200)"})
    hosts = {s["tags"]["host"] for s in influx.query(text, "all")}
    report.check(hosts == {"h100", "h200"}, f"two chosen hosts: {hosts}")


def try_promql(arguments, scratch, machines, start, report):
    victoria = agents.Victoria(scratch, arguments.victoria_metrics)
    end = start + STEP * (GATHERS - 1)
    every = {"__rate_interval": f"{4 * STEP}s", "__range": f"{STEP * GATHERS}s", "__range_s": str(STEP * GATHERS),
             "host": ".*", "gpu": ".*", "model": ".*"}
    try:
        for path in machines:
            victoria.write("\n".join(machine_lines(path, start)).encode())
        victoria.write("\n".join([*trouble_lines(start), *short_lines(start)]).encode())
        wanted = sums(machines, "promql")
        for name, _, target in targets(arguments.source, "promql"):
            text = fill_in(target["expr"], every)
            if target["instant"]:
                found = victoria.query("/api/v1/query", query=text, time=end)
            else:
                found = victoria.query("/api/v1/query_range", query=text, start=start, end=end, step=STEP)
            report.check(found, f"{name}: no answer: {text}")
            if name in wanted:
                check_value(report, name, [(s["metric"], float(s["values"][-1][1])) for s in found], wanted[name])
            if name.endswith(GROWTH_PANEL):
                grown = [float(s["value"][1]) for s in found if s["metric"]["process"] == "short"]
                report.check(grown == [SHORT_GROWTH], f"{name}: {grown} instead of {SHORT_GROWTH} in three gathers")
        for name, variable in variables(arguments.source, "promql"):
            selector, label = re.fullmatch(r"label_values\((.*), (\w+)\)", variable["query"]["query"]).groups()
            found = victoria.query("/api/v1/query", query=f"count by ({label}) ({fill_in(selector, every)})", time=end)
            report.check(found, f"{name}: variable {label} has no values")
        for path in sorted(glob.glob(os.path.join(arguments.source, "contrib/dashboards/vmui/*.json"))):
            with open(path, encoding="utf-8") as file:
                rows = json.load(file)["rows"]
            for panel in [panel for row in rows for panel in row["panels"]]:
                for text in panel["expr"]:
                    found = victoria.query("/api/v1/query_range", query=text, start=start, end=end, step=STEP)
                    report.check(found, f"{path}: {panel['title']}: no answer: {text}")
    finally:
        victoria.stop()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--source", required=True)
    parser.add_argument("--influxd", default="")
    parser.add_argument("--victoria-metrics", default="")
    arguments = parser.parse_args()
    machines = recordings(arguments.source)
    start = int(time.time()) // 60 * 60 - 600
    report = Report()
    with tempfile.TemporaryDirectory(prefix="gtel-dashboards-") as scratch:
        if arguments.influxd:
            influx = agents.Influx(scratch, arguments.influxd)
            try:
                try_influxql(arguments, influx, machines, start, report)
            finally:
                influx.stop()
        if arguments.victoria_metrics:
            try_promql(arguments, scratch, machines, start, report)
    print(f"{report.asked} questions, {len(report.failures)} failures")
    return 1 if report.failures or report.asked < 100 else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except agents.Failure as failure:
        print(failure)
        sys.exit(1)
