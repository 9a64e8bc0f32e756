# SPDX-License-Identifier: MIT
"""Attributed energy in InfluxDB through both agents: no joule is lost on the way.

    energy.py --gtel FILE --plugins FOLDER --influxd FILE --source FOLDER [--telegraf FILE]

Plays fixtures/jobs.tree. What Telegraf's gtel reports is stored by Telegraf or, without it, as it is; the
documented query has to give each job's joules, and all lines together the GPU's. collectd plays the machine
in real time; its lines begin with 0, and together grow by what the recorded counter does.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "contrib", "ci"))
import agents  # noqa: E402

GATHERS = 9
TAGS = "container,pod,namespace,job_id"
# As tests/golden/jobs.hand has them, with the line of 0 J at 1 s, or at 2 s of the job that comes later.
JOULES = {"4711": 80 + 64 / 0.95 + 40, "3385": 50 + 40 / 0.95 + 25, "4712": 32 / 0.95 + 20}
TOTAL = 6200 - 5200


def near(got, want, tolerance, what):
    if got is None or abs(got - want) > tolerance * want:
        raise agents.Failure(f"{what}: {got} instead of {want}")


def rows(influx, query, database):
    """Tags and value of each series of the answer."""
    return [(series.get("tags", {}), series["values"][0][-1]) for series in influx.query(query, database)]


def documented_query(source):
    with open(os.path.join(source, "contrib", "docs", "attribution.md"), encoding="utf-8") as file:
        block = re.search(r"^```sql\n(.*?)^```", file.read(), re.M | re.S).group(1)
    # The machine's time is of the past.
    return " ".join(block.split()).replace("time > now() - 1h", "time > 0")


def check_program(arguments, influx, scratch, running):
    tree = os.path.join(arguments.source, "tests", "fixtures", "jobs.tree")
    command = [arguments.gtel, "--root", tree, "--stepped", "--count", str(GATHERS), "--process-energy=on",
               f"--process-tags={TAGS}"]
    influx.create("gtel")
    if arguments.telegraf:
        output = agents.OUTPUT_INFLUX.format(url=influx.url, database="gtel")
        config = agents.telegraf_config(scratch, command, output, interval="20ms")
        running.append(agents.Process("telegraf", [arguments.telegraf, "--config", config], scratch))
        if not agents.wait_until(lambda: [value for _, value in rows(
                influx, 'SELECT count("gpus") FROM "gtel"', "gtel")] == [GATHERS], 60, *running):
            raise agents.Failure(f"not all gathers are stored\n{running[-1].tail()}")
    else:
        done = subprocess.run(command + ["--interval=1s"], stdout=subprocess.PIPE, timeout=60, check=True)
        why = influx.write("gtel", done.stdout)
        if why is not None:
            raise agents.Failure(why)
    found = {tags["job_id"]: value for tags, value in rows(influx, documented_query(arguments.source), "gtel")}
    if not arguments.telegraf:  # Telegraf steps by the default interval
        for job, joules in JOULES.items():
            near(found.get(job), joules / 3600000, 1e-9, f"kWh of job {job}")
        near(sum(found.values()), TOTAL / 3600000, 1e-9, "kWh of all lines")
    energy = rows(influx, 'SELECT spread("energy_joules") FROM "gpu"', "gtel")[0][1]
    near(sum(found.values()) * 3600000, energy, 1e-9, "all lines beside the GPU")
    print(f"execd: {energy} J in {len(found)} jobs and none")


def series_of(influx):
    """The points of each line of collectd: {type instance: {nanoseconds: joules}}."""
    found = influx.query('SELECT "value" FROM "gpu_clients_value" WHERE "type_instance" =~ '
                         '/^process-.*-attributed/ GROUP BY "type_instance"', "collectd")
    return {series["tags"]["type_instance"]: {point[0]: point[1] for point in series["values"]}
            for series in found}


def check_collectd(arguments, influx, scratch, running):
    program = shutil.which("collectd", path=os.environ.get("PATH", "") + ":/usr/sbin:/usr/local/sbin")
    if not program:
        print("skipped: collectd is not installed")
        return
    influx.create("collectd")
    tree = os.path.join(arguments.source, "tests", "fixtures", "jobs.tree")
    block = ('<LoadPlugin gpu_clients>\n  Interval 0.5\n</LoadPlugin>\n'
             f'<Plugin gpu_clients>\n  Helper "{arguments.gtel}"\n  Root "{tree}"\n  ProcessEnergy "on"\n'
             '  ProcessTags "container" "pod" "namespace" "job_id"\n</Plugin>\n')
    config = agents.collectd_config(scratch, block, arguments.plugins, influx.collectd_port)
    running.append(agents.Process("collectd", [program, "-f", "-C", config], scratch))
    # The counter goes on at 100 W behind the last state; the network plugin waits for a full packet.
    time.sleep(13)
    found = series_of(influx)
    names = {"process-train-attributed-job_id=4711", "process-infer-attributed-job_id=3385",
             "process-python3-attributed-main-pod=train-0-namespace=ml",
             "process-late-attributed-job_id=4712", "process-idle-attributed",
             "process-unattributed-attributed"}
    if set(found) != names:
        raise agents.Failure(f"lines of collectd: {sorted(found)}\n{running[-1].tail()}")
    for name, points in found.items():
        values = [points[t] for t in sorted(points)]
        if values != sorted(values) or values[0] != 0:
            raise agents.Failure(f"{name} goes back, or does not begin with 0: {values}")
    times = sorted(found["process-idle-attributed"])
    seconds = (times[-1] - times[0]) / 1e9
    grown = sum(max(points.values()) for points in found.values())
    # 100 W, and 100 W more in the three seconds from the start, in the first of which collectd began.
    if seconds < 8.5 or not 100 * (seconds + 1.5) < grown < 100 * (seconds + 3.1):
        raise agents.Failure(f"{grown} J in {seconds} s")
    if max(found["process-train-attributed-job_id=4711"].values()) < 80:
        raise agents.Failure(f"a job: {found['process-train-attributed-job_id=4711']}")
    print(f"collectd: {grown:.1f} J in {len(found)} lines and {seconds:.1f} s")


def main():
    parser = argparse.ArgumentParser()
    for name in ("--gtel", "--plugins", "--influxd", "--source"):
        parser.add_argument(name, required=True)
    parser.add_argument("--telegraf", default="")
    arguments = parser.parse_args()
    running = []
    with tempfile.TemporaryDirectory(prefix="gtel-energy-") as scratch:
        try:
            influx = agents.Influx(scratch, arguments.influxd, with_collectd=True)
            running.append(influx.process)
            check_program(arguments, influx, scratch, running)
            check_collectd(arguments, influx, scratch, running)
        finally:
            for agent in reversed(running):
                agent.stop()


if __name__ == "__main__":
    try:
        main()
    except agents.Failure as failure:
        print(failure)
        sys.exit(1)
