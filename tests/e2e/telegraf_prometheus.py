# SPDX-License-Identifier: MIT
"""contrib/dashboards/telegraf-prometheus.conf, as it is, with Telegraf and VictoriaMetrics.

    telegraf_prometheus.py --source FOLDER --gtel FILE --telegraf FILE --victoria-metrics FILE

The text of gpu_info has to arrive as labels of gpu_info_info, and nowhere as a number; all else as it
was sent.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "contrib", "ci"))
import agents  # noqa: E402
import lines  # noqa: E402

CONFIG = "contrib/dashboards/telegraf-prometheus.conf"
URL = 'urls = ["http://127.0.0.1:8428"]'
CHANGING = "metrics_source"  # text that is dropped, since it changes while a GPU is in use
MACHINE = "h100-mig"
# Of the comment in the configuration.
JOINED = ('gpu_power_watts * on (gpu) group_left (driver_version) '
          'max by (gpu, driver_version) (last_over_time(gpu_info_info{instance=""}[20m]))')


def settings(arguments, scratch, url):
    """The file as users have it, with the test's store, behind an input and a copy of what was read."""
    with open(os.path.join(arguments.source, CONFIG), encoding="utf-8") as file:
        text = file.read()
    if text.count(URL) != 1:
        raise agents.Failure(f"{CONFIG}: no {URL}")
    text = text.replace(URL, f'urls = ["{url}"]')
    command = [arguments.gtel, "--root", f"{arguments.source}/tests/fixtures/{MACHINE}.tree"]
    return agents.telegraf_config(scratch, command, text)


def printed(arguments):
    """(measurement, tags, fields) of each line of the first gather, as the golden output has it."""
    with open(f"{arguments.source}/tests/golden/{MACHINE}.lp", encoding="utf-8") as file:
        texts = file.read().splitlines()
    moment = texts[0].rpartition(" ")[2]
    for text in texts:
        if text.endswith(" " + moment):
            name, tags, _, fields = lines.parse(text)
            yield name, dict(tags), fields


def stored(victoria):
    """Sorted labels, the name among them -> value, of everything."""
    found = {}
    for one in victoria.query("/api/v1/query", query='last_over_time({__name__=~"gpu.*"}[5m])', time=int(time.time()) + 5):
        metric = {key: value for key, value in one["metric"].items() if key != "db"}
        found[tuple(sorted(metric.items()))] = float(one["value"][1])
    return found


def compare(arguments, found):
    failures, infos, moving = [], 0, 0
    wanted = {}
    for name, tags, fields in printed(arguments):
        if not name.startswith("gpu"):
            continue
        text = {field: value for field, value in fields.items() if isinstance(value, str) and field != CHANGING}
        infos += name == "gpu_info" and len(text) > 1
        for field, value in fields.items():
            if not isinstance(value, str):
                labels = {**tags, **text, "__name__": f"{name}_{field}"}
                wanted[tuple(sorted(labels.items()))] = float(value)
    for labels, value in wanted.items():
        if labels not in found:
            failures.append(f"missing: {dict(labels)}")
        elif found[labels] != value:
            moving += 1  # energies and times go on between two starts of the recording
    failures += [f"nobody sent: {dict(labels)}" for labels in set(found) - set(wanted)]
    if infos < 2 or moving > len(wanted) / 10:
        failures.append(f"{infos} lines of gpu_info with text; {moving} of {len(wanted)} values are others")
    print(f"{len(wanted)} series, {infos} of them with text as labels")
    return failures


def run(arguments, scratch):
    victoria = agents.Victoria(scratch, arguments.victoria_metrics)
    try:
        config = settings(arguments, scratch, victoria.url)
        done = subprocess.run([arguments.telegraf, "--once", "--config", config], cwd=scratch, timeout=60,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        if done.returncode != 0 or "E!" in done.stderr:
            raise agents.Failure(f"telegraf: status {done.returncode}\n{done.stderr}")
        victoria.request("/internal/force_flush")
        failures = compare(arguments, stored(victoria))
        joined = victoria.query("/api/v1/query", query=JOINED, time=int(time.time()) + 5)
        if not any("driver_version" in one["metric"] for one in joined):
            failures.append(f"no answer with a driver's version: {JOINED}")
    finally:
        victoria.stop()
    for text in failures:
        print("failed: " + text)
    return 1 if failures else 0


def main():
    parser = argparse.ArgumentParser()
    for name in ("--source", "--gtel", "--telegraf", "--victoria-metrics"):
        parser.add_argument(name, required=True)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="gtel-prometheus-") as scratch:
        return run(arguments, scratch)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except agents.Failure as failure:
        print(failure)
        sys.exit(1)
