# SPDX-License-Identifier: MIT
"""An AMD card in InfluxDB, through both agents, by the queries of their READMEs.

    amd.py --gtel FILE --influxd FILE --source FOLDER [--plugins FOLDER] [--telegraf FILE]

The card is in the first state of amd-navi48; what it does there is said by amd.py of the fixtures.
Without Telegraf its output is written by hand as Telegraf does; without collectd, half is skipped.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "..", "contrib", "ci"), os.path.join(HERE, "..", "golden")]
import agents  # noqa: E402
import hand  # noqa: E402

os.environ["PATH"] = os.environ.get("PATH", "") + ":/usr/local/sbin:/usr/sbin:/sbin"
MACHINE = "amd-navi48"
SECONDS = 5
# Field of measurement gpu, and collectd's type and type instance of the same.
WANTED = {
    "busy_percent": ("percent", "busy"),
    "memory_used_bytes": ("memory", "used"),
    "temperature_celsius": ("temperature", "gpu"),
    "power_watts": ("power", "gpu"),
}
failures = []


def check(is_ok, text):
    if not is_ok:
        failures.append(text)
        print("failed: " + text)


def readme_query(source, plugin):
    with open(os.path.join(source, "plugins", plugin, "README.md"), encoding="utf-8") as file:
        found = re.findall(r"(?m)^    (SELECT (?:.+\n(?:    )?)+)", file.read())
    return " ".join(found[0].split())


def physical(source):
    """{field: value} of the card at 1 s."""
    path = os.path.join(source, "tests", "golden", MACHINE + ".hand")
    return {e.field: e.value for e in hand.read(path)[0]
            if e.second == 1 and e.measurement == "gpu" and e.field in WANTED}


def first_state(source, scratch):
    path = os.path.join(source, "tests", "fixtures", MACHINE + ".tree")
    with open(path, encoding="utf-8") as file:
        text = file.read()
    path = os.path.join(scratch, "card.tree")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text.split("\nat ")[0] + "\nend\n")
    return path


def through_telegraf(arguments, scratch, influx, machine):
    influx.create("telegraf")
    if arguments.telegraf:
        outputs = agents.OUTPUT_INFLUX.format(url=influx.url, database="telegraf")
        config = agents.telegraf_config(scratch, [arguments.gtel, "--root", machine], outputs)
        agent = agents.Process("telegraf", [arguments.telegraf, "--config", config], scratch)
        time.sleep(SECONDS)
        check(agent.stop(30) == 0, f"telegraf ends well\n{agent.tail()}")
    else:
        command = [arguments.gtel, "--root", machine, "--count", "3", "--interval", "1s"]
        done = subprocess.run(command, capture_output=True, timeout=60, check=True)
        refused = influx.write("telegraf", done.stdout)
        check(not refused, f"InfluxDB refuses: {refused}")
    found = influx.query(readme_query(arguments.source, "execd"), "telegraf")
    check(len(found) == 1, f"one GPU: {found}")
    return dict(zip(WANTED, found[0]["values"][0][1:])) if found else {}


def through_collectd(arguments, scratch, influx, machine):
    blocks = (f'LoadPlugin gpu_amd\n<Plugin gpu_amd>\nHelper "{arguments.gtel}"\n'
              f'Root "{machine}"\n</Plugin>\n')
    config = agents.collectd_config(scratch, blocks, arguments.plugins, influx.collectd_port)
    agent = agents.Process("collectd", ["collectd", "-f", "-C", config], scratch)
    time.sleep(SECONDS)
    check(agent.stop(30) == 0, f"collectd ends well\n{agent.tail()}")
    text = readme_query(arguments.source, "collectd").replace("gpu_intel", "gpu_amd_value")
    agents.wait_until(lambda: "gpu_amd_value" in influx.measurements("collectd"), 10)
    time.sleep(2)  # the listener writes in batches of a second
    found = {}
    for field, (kind, instance) in WANTED.items():
        for series in influx.query(text.replace("'percent'", f"'{kind}'"), "collectd"):
            tags = series["tags"]
            if tags["instance"] and tags["type_instance"] in (instance, f"memory-{instance}"):
                found[field] = series["values"][0][1]
    return found


def main():
    parser = argparse.ArgumentParser()
    for name in ("--gtel", "--influxd", "--source"):
        parser.add_argument(name, required=True)
    parser.add_argument("--plugins")
    parser.add_argument("--telegraf")
    arguments = parser.parse_args()
    want = physical(arguments.source)
    check(len(want) == len(WANTED), f"the table has all of them: {want}")
    ways = {"telegraf": through_telegraf}
    if arguments.plugins and shutil.which("collectd"):
        ways["collectd"] = through_collectd
    with tempfile.TemporaryDirectory(prefix="gtel-e2e-") as scratch:
        influx = agents.Influx(scratch, arguments.influxd, with_collectd=True)
        try:
            machine = first_state(arguments.source, scratch)
            for name, way in ways.items():
                got = way(arguments, scratch, influx, machine)
                for field, value in want.items():
                    check(got.get(field) is not None and abs(got[field] - value) < 1e-6,
                          f"{name}: {field} is {got.get(field)}, not {value}")
                print(f"{name}: {got}")
        finally:
            influx.stop()
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
