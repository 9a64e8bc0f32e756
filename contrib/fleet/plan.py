# SPDX-License-Identifier: MIT
"""What a fleet of 100,000 hosts costs: the tables of plan.md, from what is in measured.json.

    plan.py --gtel FILE    measures lines, bytes and series of the recorded machines again; FILE is a
                           gtel with the played libraries of vendors

contrib/fleet/try --save measured.json measures the chain. "bulk" in that file was measured by hand:
lines per second and core with 484,091 lines as fast as they go. contrib/ci/docs writes the tables.
"""

import argparse
import json
import math
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
MEASURED = os.path.join(HERE, "measured.json")
HOSTS, INTERVAL, DAY, REPLICAS = 100_000, 10, 86_400, 3
GATHERS = 120  # twenty minutes: what is slow, and what is sent each InfoInterval, comes too
# Machine of tests/fixtures, how many of it make a host, name.
KINDS = (("intel-8", 1, "8 Intel GPUs"), ("h200", 8, "8 H200"), ("xe-b580", 1, "Arc B580"))
# Limits that a fleet meets. What the programs themselves have for presets: influxd config; /varz of
# nats-server. VictoriaMetrics: docs.victoriametrics.com, "Capacity planning" of the single node.
INFLUX_SERIES, INFLUX_TAG_VALUES, NATS_CONNECTIONS = 1_000_000, 100_000, 65_536
VICTORIA_SERIES, VICTORIA_VALUES = 50_000_000, 1_500_000
BUSY = 0.5  # of a core that a consumer is planned to use


def measure(program, machine, choice):
    tree = os.path.join(HERE, "..", "..", "tests", "fixtures", machine + ".tree")
    done = subprocess.run([program, "--root", tree, "--isolation", "none", "--stepped", "--interval",
                           f"{INTERVAL}s", "--count", str(GATHERS), "--unchanged", choice,
                           "--host-tag", "node00001"],
                          check=True, capture_output=True, text=True, timeout=120)
    sys.path.insert(0, os.path.join(HERE, "..", "..", "tests", "e2e"))
    import lines  # of the tests: used here alone, not where the tables are made
    tag_sets, series, values = set(), set(), 0
    for name, points in lines.points(done.stdout).items():
        for (tags, _), fields in points.items():
            tag_sets.add((name, tags))
            series.update((name, tags, field) for field in fields)
            values += len(fields)
    return {"lines": round(done.stdout.count("\n") / GATHERS, 1),
            "bytes": round(len(done.stdout) / GATHERS), "values": round(values / GATHERS, 1),
            "tag_sets": len(tag_sets), "series": len(series)}


def number(value, unit=""):
    """Three digits that mean something: 4,780,000; 5.2; 0.31."""
    digits = max(0, 2 - math.floor(math.log10(value))) if value > 0 else 0
    rounded = round(value, 2 - math.floor(math.log10(value))) if value > 0 else 0
    return f"{rounded:,.{min(digits, 2)}f}{unit}"


def row(*cells):
    return "| " + " | ".join(str(cell) for cell in cells) + " |\n"


def table(*heads):
    return row(*heads) + "|" + "---|" * len(heads) + "\n"


def load():
    with open(MEASURED, encoding="utf-8") as file:
        return json.load(file)


def rate(measured, kind, choice, what):
    """Of the whole fleet per second."""
    machine, count, _ = kind
    return HOSTS * count * measured["machines"][machine][choice][what] / INTERVAL


def volumes(measured):
    """What the hosts send."""
    text = table("100,000 hosts, each with", "", "lines/s", "values/s", "MB/s", "series",
                 "tag sets (InfluxDB's series)")
    for kind in KINDS:
        machine, count, name = kind
        for choice, label in (("send", "all"), ("omit", "`--unchanged=omit`")):
            found = measured["machines"][machine][choice]
            text += row(name, label, *(number(rate(measured, kind, choice, what) / scale)
                                       for what, scale in (("lines", 1), ("values", 1),
                                                           ("bytes", 1e6))),
                        number(HOSTS * count * found["series"]),
                        number(HOSTS * count * found["tag_sets"]))
    return text


def us_per_line(measured, broker):
    """Microseconds of CPU per line of each stage when it has much to do."""
    bulk = measured["bulk"][broker]
    return {stage: 1e6 / bulk[stage] for stage in ("edges", "broker", "consumer", "victoria")}


def partitions(cores):
    """Consumers, and so partitions, at BUSY of a core each: the next multiple of 12."""
    return max(1, math.ceil(cores / BUSY / 12)) * 12


def costs(measured):
    """Of the first kind of host, by broker."""
    text = table("8 Intel GPUs a host, through", "", "cores: broker", "consumers", "store",
                 "partitions", f"TB a day in {REPLICAS} replicas", "of it per host", "cores per 1,000 hosts")
    for broker, name in (("kafka", "Kafka"), ("nats", "NATS")):
        cpu = us_per_line(measured, broker)
        for choice, label in (("send", "all"), ("omit", "`--unchanged=omit`")):
            lines = rate(measured, KINDS[0], choice, "lines")
            cores = {stage: lines * us / 1e6 for stage, us in cpu.items()}
            cores["broker"] *= REPLICAS
            disk = lines * DAY * measured["bulk"][broker]["broker_bytes_per_line"] * REPLICAS
            centre = cores["broker"] + cores["consumer"] + cores["victoria"]
            text += row(name, label, number(cores["broker"]), number(cores["consumer"]),
                        number(cores["victoria"]), partitions(cores["consumer"]),
                        number(disk / 1e12), number(disk / HOSTS / 1e6) + " MB",
                        number(centre / HOSTS * 1000))
    return text


def limits(measured):
    """What ends first: (hosts, what, cure), by hosts."""
    kind = KINDS[0]
    found = measured["machines"][kind[0]]["send"]
    single = measured["bulk"]["kafka"]["consumer"] * INTERVAL / found["lines"]
    return sorted([
        (INFLUX_SERIES / found["tag_sets"], "InfluxDB 1: `max-series-per-database`, 1,000,000",
         "VictoriaMetrics; or a database for each some thousand hosts"),
        (INFLUX_TAG_VALUES, "InfluxDB 1: `max-values-per-tag`, 100,000 names of hosts",
         "VictoriaMetrics; or several databases"),
        (NATS_CONNECTIONS, "NATS: `max_connections`, 65,536, and each host holds one",
         "a cluster of servers, or a Telegraf per rack between"),
        (single, "one consumer: a core", "partitions and more consumers"),
        (VICTORIA_SERIES / found["series"], "VictoriaMetrics, one node: 50 million active series in "
         "its makers' cases", "a cluster, or a node for each part of the fleet"),
        (VICTORIA_VALUES * INTERVAL / found["values"], "VictoriaMetrics, one node: 1.5 million "
         "values a second in its makers' cases", "`--unchanged=omit`, a longer interval, a cluster"),
    ])


def breaks(measured):
    text = table("hosts", "what ends there", "what to do")
    for hosts, what, cure in limits(measured):
        text += row(number(hosts), what, cure)
    return text


def chains(measured):
    """What was measured."""
    text = table("", *(f"{name}, {measured['chains'][broker]['hosts']} hosts"
                       for broker, name in (("kafka", "Kafka"), ("nats", "NATS"))))
    found = [measured["chains"][broker] for broker in ("kafka", "nats")]
    for what, key in (("lines", "lines"), ("lost after all faults", "lost"),
                      ("printed while Telegraf ended, and not read by it", "unread"),
                      ("values that VictoriaMetrics has twice", "doubled"),
                      ("bytes per line", "bytes_per_line"),
                      ("bytes per line on the broker's disk", "broker_bytes_per_line"),
                      ("series per host, VictoriaMetrics", "series_per_host"),
                      ("tag sets per host, InfluxDB", "tag_sets_per_host")):
        text += row(what, *(f"{chain[key]:,}" for chain in found))
    for stage, name in (("edges", "Telegraf of the hosts"), ("broker", "broker"),
                        ("consumer", "consumer"), ("victoria", "VictoriaMetrics")):
        key = {"consumer": "consumer-victoria"}.get(stage, stage)
        text += row(f"lines per second and core, {name}: this run; much to do",
                    *(number(1e6 / measured["chains"][broker]["cpu_us_per_line"][key]) + "; "
                      + number(measured["bulk"][broker][stage]) for broker in ("kafka", "nats")))
    return text


def tables():
    """Name of a marker -> its text."""
    measured = load()
    return {f"plan_{make.__name__}": make(measured) for make in (chains, volumes, costs, breaks)}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--gtel", required=True)
    arguments = parser.parse_args()
    measured = load() if os.path.exists(MEASURED) else {}
    measured["machines"] = {
        machine: {choice: measure(arguments.gtel, machine, choice) for choice in ("send", "omit")}
        for machine, _, _ in KINDS}
    with open(MEASURED, "w", encoding="utf-8") as file:
        json.dump(measured, file, indent=1, sort_keys=True)
        file.write("\n")


if __name__ == "__main__":
    main()
