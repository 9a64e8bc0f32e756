# SPDX-License-Identifier: MIT
"""GPU -> agent -> InfluxDB -> table, on loopback and in a scratch folder. Run by contrib/quickstart.

    quickstart.py --scratch FOLDER --gtel FILE --plugins FOLDER [--telegraf FILE] [--root FILE.tree]
                  [--vendor NAME]... [--seconds N] [--victoria-metrics FILE]
"""

import argparse
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time

import agents

# Column -> field of measurement gpu (Telegraf); plugin type and type instance (collectd); format.
COLUMNS = (
    ("busy %", "busy_percent", ("percent", "busy"), "{:.1f}"),
    ("memory MiB", "memory_used_bytes", ("memory", "used"), None),
    ("temp C", "temperature_celsius", ("temperature", "gpu"), "{:.0f}"),
    ("power W", "power_watts", ("power", "gpu"), "{:.1f}"),
    ("MHz", "frequency_mhz", ("frequency", "gpu"), None),
)
PLUGINS = {"amd": "gpu_amd", "intel": "gpu_intel", "nvidia": "gpu_nvml"}
DASHBOARDS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "dashboards", "vmui")
PROCESSES = 5  # shown of each agent
BLOCK = """<LoadPlugin {name}>
  Interval 1
</LoadPlugin>
<Plugin {name}>
  Helper "{gtel}"
{root}</Plugin>
"""


def show(column, value):
    if value is None:
        return "-"
    if column == "memory MiB":
        return f"{value / 2**20:.0f}"
    # The catalogue gives collectd hertz, and line protocol MHz.
    if column == "MHz":
        return f"{value / 1e6 if value > 1e5 else value:.0f}"
    return next(f for c, _, _, f in COLUMNS if c == column).format(value)


def telegraf_rows(influx):
    """GPU -> {column: newest value}, of what Telegraf has stored."""
    rows = {}
    for series in influx.query('SELECT * FROM "gpu" WHERE time > now() - 10s GROUP BY "gpu", "model" '
                               'ORDER BY time DESC LIMIT 1', "gtel"):
        newest = dict(zip(series["columns"], series["values"][0]))
        name = f"{series['tags']['gpu']} {series['tags']['model']}"
        rows[name] = {column: newest.get(field) for column, field, _, _ in COLUMNS}
    return rows


def collectd_rows(influx, vendors):
    rows = {}
    # The processes' plugin knows GPUs whose vendor has no plugin yet.
    for plugin in [PLUGINS[vendor] for vendor in vendors] + ["gpu_clients"]:
        for series in influx.query(
                f'SELECT last("value") FROM "{plugin}_value" WHERE time > now() - 10s '
                'GROUP BY "instance", "type", "type_instance"', "collectd"):
            tags = series["tags"]
            kind = (tags["type"], tags["type_instance"])
            row = rows.setdefault(tags["instance"], {})
            for column, _, wanted, _ in COLUMNS:
                if kind == wanted and column not in row:
                    row[column] = series["values"][0][1]
    rows.pop("", None)  # what the plugin says of itself
    return rows


def telegraf_processes(influx):
    """(GPU, process) -> (bytes, percent), of what Telegraf has stored."""
    found = {}
    for series in influx.query('SELECT "memory_bytes", "busy_percent" FROM "gpu_process" WHERE '
                               'time > now() - 10s GROUP BY "gpu", "process" ORDER BY time DESC LIMIT 1',
                               "gtel"):
        newest = dict(zip(series["columns"], series["values"][0]))
        found[(series["tags"]["gpu"], series["tags"]["process"])] = (newest.get("memory_bytes"),
                                                                     newest.get("busy_percent"))
    return found


def collectd_processes(influx):
    """The same of what collectd has stored, under names like process-ffmpeg-memory. NVIDIA's come
    from the plugin of its GPUs."""
    found = {}
    for series in influx.query('SELECT last("value") FROM /^gpu_(clients|nvml)_value$/ WHERE '
                               'time > now() - 10s GROUP BY "instance", "type", "type_instance"', "collectd"):
        tags = series["tags"]
        for i, (kind, ending) in enumerate((("memory", "-memory"), ("percent", "-busy"))):
            name = tags["type_instance"]
            if tags["type"] == kind and name.startswith("process-") and name.endswith(ending):
                key = (tags["instance"], name[len("process-"):-len(ending)])
                both = found.setdefault(key, [None, None])
                both[i] = series["values"][0][1]
    return found


def process_table(views):
    """Lines of text: those that use most memory. Nothing where no process is seen."""
    if any(found for _, found in views):
        yield ""
        yield f"{'agent':<10}{'GPU':<16}{'process':<28}{'memory MiB':>12}{'busy %':>12}"
    for agent, found in views:
        order = sorted(found.items(), key=lambda item: -(item[1][0] or 0))
        for (gpu, name), (memory, busy) in order[:PROCESSES]:
            yield (f"{agent:<10}{gpu[:15]:<16}{name[:27]:<28}{show('memory MiB', memory):>12}"
                   f"{show('busy %', busy):>12}")


def table(views):
    """Lines of text: one row per agent and GPU."""
    yield f"{'agent':<10}{'GPU':<44}" + "".join(f"{c:>12}" for c, _, _, _ in COLUMNS)
    for agent, rows in views:
        for gpu in sorted(rows):
            yield f"{agent:<10}{gpu[:43]:<44}" + "".join(
                f"{show(c, rows[gpu].get(c)):>12}" for c, _, _, _ in COLUMNS)
        if not rows:
            yield f"{agent:<10}(nothing yet)"


def draw(lines, last_height):
    """On a terminal over the last table, else below it. Returns the height."""
    lines = list(lines)
    if sys.stdout.isatty() and last_height:
        sys.stdout.write(f"\x1b[{last_height}A\x1b[J")
    sys.stdout.write("\n".join(lines) + "\n")
    if not sys.stdout.isatty():
        sys.stdout.write("\n")
    sys.stdout.flush()
    return len(lines)


def start_collectd(arguments, influx, running):
    program = shutil.which("collectd", path=os.environ.get("PATH", "") + ":/usr/sbin:/usr/local/sbin")
    if not program:
        raise agents.Failure("collectd is not installed (Debian: collectd-core)")
    root = f'  Root "{arguments.root}"\n' if arguments.root else ""
    blocks = "".join(BLOCK.format(name=name, gtel=arguments.gtel, root=root)
                     for name in [PLUGINS[v] for v in arguments.vendor] + ["gpu_clients"])
    config = agents.collectd_config(arguments.scratch, blocks, arguments.plugins, influx.collectd_port)
    running.append(agents.Process("collectd", [program, "-f", "-C", config], arguments.scratch))


def start_telegraf(arguments, influx, running):
    command = [arguments.gtel] + (["--root", arguments.root] if arguments.root else [])
    config = agents.telegraf_config(
        arguments.scratch, command,
        agents.OUTPUT_INFLUX.format(url=influx.url, database="gtel"))
    running.append(agents.Process("telegraf", [arguments.telegraf, "--config", config],
                                  arguments.scratch))


class Feeder:
    """Runs the program at its own clock and hands what it prints to VictoriaMetrics."""

    name = "gtel"

    def __init__(self, arguments, victoria):
        command = [arguments.gtel, "--interval=1s", "--host-tag", socket.gethostname() or "localhost"]
        command += ["--root", arguments.root] if arguments.root else []
        self.victoria, self.failure = victoria, None
        self.popen = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.thread = threading.Thread(target=self.copy, daemon=True)
        self.thread.start()

    def copy(self):
        rest = b""
        for data in iter(lambda: self.popen.stdout.read1(1 << 20), b""):
            lines, end, rest = (rest + data).rpartition(b"\n")
            try:
                if end:
                    self.victoria.write(lines)
            except (OSError, agents.Failure) as error:
                self.failure = str(error)

    def ended(self):
        return self.failure or (None if self.popen.poll() is None else str(self.popen.poll()))

    def tail(self):
        return ""

    def stop(self):
        self.popen.stdin.close()
        try:
            self.popen.wait(5)
        except subprocess.TimeoutExpired:
            self.popen.kill()
            self.popen.wait()


def start_dashboard(arguments, running):
    victoria = agents.Victoria(arguments.scratch, arguments.victoria_metrics, DASHBOARDS)
    running += [victoria.process, Feeder(arguments, victoria)]
    print(f"Dashboards: {victoria.url}/vmui/#/dashboards (Ctrl-C ends all)\n", flush=True)


def watch(arguments, influx, running):
    """Shows the table until the time is over. Returns the agents' last views."""
    views, height, started = [], 0, time.monotonic()
    pause = 1.0 if sys.stdout.isatty() else 5.0
    while True:
        for process in running:
            if process.ended():
                raise agents.Failure(f"{process.name} ended with status {process.ended()}\n"
                                     + process.tail())
        time.sleep(min(pause, max(0.1, arguments.seconds - (time.monotonic() - started))))
        views, processes = [], []
        if arguments.telegraf:
            views.append(("telegraf", telegraf_rows(influx)))
            processes.append(("telegraf", telegraf_processes(influx)))
        views.append(("collectd", collectd_rows(influx, arguments.vendor)))
        processes.append(("collectd", collectd_processes(influx)))
        height = draw(list(table(views)) + list(process_table(processes)), height)
        if time.monotonic() - started >= arguments.seconds:
            return views


def count(influx, database):
    if database not in [v[0] for s in influx.query("SHOW DATABASES") for v in s["values"]]:
        return 0
    return sum(len(influx.points(database, m)) for m in influx.measurements(database))


def run(arguments, running):
    influx = agents.Influx(arguments.scratch, shutil.which("influxd") or "/usr/bin/influxd",
                           with_collectd=True)
    running.append(influx.process)
    influx.create("gtel")
    influx.create("collectd")
    start_collectd(arguments, influx, running)
    if arguments.telegraf:
        start_telegraf(arguments, influx, running)
    if arguments.victoria_metrics:
        start_dashboard(arguments, running)
    views = watch(arguments, influx, running)
    missing = [agent for agent, rows in views if not rows]
    for agent, database in (("Telegraf", "gtel"), ("collectd", "collectd")):
        if agent == "collectd" or arguments.telegraf:
            print(f"InfluxDB holds {count(influx, database)} points from {agent}.")
    if missing:
        logs = "".join(p.name + ":\n" + p.tail() for p in running)
        raise agents.Failure(f"nothing has arrived from {' and '.join(missing)}\n{logs}")


def main():
    parser = argparse.ArgumentParser()
    for name in ("--scratch", "--gtel", "--plugins"):
        parser.add_argument(name, required=True)
    parser.add_argument("--telegraf", default="")
    parser.add_argument("--victoria-metrics", default="")
    parser.add_argument("--root", default="")
    parser.add_argument("--vendor", action="append", choices=sorted(PLUGINS), default=[])
    parser.add_argument("--seconds", type=float, default=10)
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    signal.signal(signal.SIGHUP, lambda *_: sys.exit(129))
    running = []
    try:
        run(arguments, running)
        return 0
    except agents.Failure as failure:
        print(f"\n{failure}")
        return 1
    except KeyboardInterrupt:
        print("\nstopped")
        return 130
    finally:
        for process in reversed(running):
            process.stop()


if __name__ == "__main__":
    sys.exit(main())
