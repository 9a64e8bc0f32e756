#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The plugins in the real collectd, and their values in InfluxDB.

    collectd.py --plugins DIR --gtel PROGRAM --intel FILE.tree --nvml FILE.tree --source DIR [CASE...]

Every case runs its own daemon in a scratch folder, on recorded machines and loopback only. Exit
status 77 (skipped) where collectd is not installed; what needs InfluxDB is skipped without it.
"""
import argparse
import csv
import json
import os
import re
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request

import names

# Daemons are in folders that users do not have in their path.
os.environ["PATH"] = os.environ.get("PATH", "") + ":/usr/local/sbin:/usr/sbin:/sbin"
TYPES_DB = "/usr/share/collectd/types.db"
INTERVAL = 0.5
SKIPPED = 77
SLOW = 4  # a busy host: how many times longer things may take that are not about our own limits
failures = []
checks = 0


def check(is_ok, what):
    global checks
    checks += 1
    if not is_ok:
        failures.append(what)
        print(f"  failed: {what}", flush=True)
    return is_ok


def wait_for(condition, seconds):
    """The first true answer of condition, or its last one after that time."""
    end = time.monotonic() + seconds
    while True:
        answer = condition()
        if answer or time.monotonic() > end:
            return answer
        time.sleep(0.05)


def free_port(kind):
    with socket.socket(socket.AF_INET, kind) as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def children(pid):
    """Process ids and command lines of the helpers of a process."""
    found = {}
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            with open(f"/proc/{entry}/stat", encoding="utf-8", errors="replace") as f:
                parent = int(f.read().rsplit(")", 1)[1].split()[1])
            if parent != pid:
                continue
            with open(f"/proc/{entry}/cmdline", "rb") as f:
                found[int(entry)] = f.read().decode(errors="replace").split("\0")
        except (OSError, IndexError):
            continue  # it has just ended
    return found


def is_alive(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as f:
            return f.read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def is_there():
    """Whether collectd is installed; says so when it is not."""
    found = shutil.which("collectd") and os.path.exists(TYPES_DB)
    if not found:
        print("skipped: collectd is not installed")
    return found


class Daemon:
    """One collectd with our plugins, values in CSV files."""

    def __init__(self, args, plugins, extra=""):
        self.dir = tempfile.mkdtemp(prefix="gtel-e2e-")
        self.conf = os.path.join(self.dir, "collectd.conf")
        self.log_path = os.path.join(self.dir, "log")
        self.process = None
        lines = [
            'Hostname "h"', "FQDNLookup false", f"Interval {INTERVAL}", f'BaseDir "{self.dir}"',
            f'PIDFile "{self.dir}/pid"', f'TypesDB "{TYPES_DB}"', "LoadPlugin logfile",
            "<Plugin logfile>", "LogLevel info", f'File "{self.log_path}"', "</Plugin>",
            "LoadPlugin csv", "<Plugin csv>", f'DataDir "{self.dir}/csv"', "StoreRates false",
            "</Plugin>", extra, f'PluginDir "{args.plugins}"',
        ]
        for name, options in plugins.items():
            lines += [f"LoadPlugin {name}", f"<Plugin {name}>"]
            lines += [f"{key} {value}" for key, value in options.items()]
            lines += ["</Plugin>"]
        with open(self.conf, "w", encoding="utf-8") as f:
            f.write("\n".join(lines) + "\n")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.dir, ignore_errors=True)

    def run(self, flag):
        """collectd -t or -T; its exit status."""
        return subprocess.run(["collectd", flag, "-C", self.conf], timeout=30, check=False,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode

    def start(self):
        # pylint: disable=consider-using-with
        self.process = subprocess.Popen(["collectd", "-f", "-C", self.conf],
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def stop(self):
        """Seconds from SIGTERM to the end, and the exit status."""
        begin = time.monotonic()
        self.process.send_signal(signal.SIGTERM)
        try:
            status = self.process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            status = None
        return time.monotonic() - begin, status

    def log(self):
        try:
            with open(self.log_path, encoding="utf-8", errors="replace") as f:
                return f.read()
        except OSError:
            return ""

    def said(self, text):
        return self.log().count(text)

    def series(self, name):
        """[(time, value)] of gpu_intel-0000:03:00.0/percent-busy."""
        folder, base = os.path.split(os.path.join(self.dir, "csv", "h", name))
        rows = []
        if not os.path.isdir(folder):
            return rows
        for file in sorted(os.listdir(folder)):
            if re.fullmatch(re.escape(base) + r"-\d{4}-\d\d-\d\d", file):
                with open(os.path.join(folder, file), encoding="utf-8") as f:
                    rows += [(float(r[0]), float(r[1])) for r in list(csv.reader(f))[1:]
                             if len(r) == 2]
        return rows

    def names(self):
        top = os.path.join(self.dir, "csv", "h")
        return sorted(f"{plugin}/{file[:-11]}" for plugin in (os.listdir(top)
                      if os.path.isdir(top) else []) for file in os.listdir(f"{top}/{plugin}"))

    def of_gpus(self, plugin):
        return [name for name in self.names() if name.startswith(f"{plugin}-")]

    def helpers(self, plugin=None):
        """Process ids of the helpers; of one plugin by the machine it reads."""
        return sorted(pid for pid, words in children(self.process.pid).items()
                      if "--lane" in words and (not plugin or any(plugin in w for w in words)))


def both(args, **options):
    more = {key: json.dumps(value) for key, value in options.items()}
    return {
        "gpu_intel": {"Helper": f'"{args.gtel}"', "Root": f'"{args.intel}"', **more},
        "gpu_nvml": {"Helper": f'"{args.gtel}"', "Root": f'"{args.nvml}"', **more},
    }


def catalogue(args):
    """What --list-metrics says: {measurement: (tag keys, {field: (type, type instance)})}."""
    text = subprocess.run([args.gtel, "--list-metrics"], check=True, capture_output=True, text=True,
                          timeout=10).stdout
    found = {}
    for part in re.split(r"^### ", text, flags=re.M)[1:]:
        tags = re.search(r" Tags: (.*)\.$", part, flags=re.M)
        rows = re.findall(r"^\| `(\w+)` \|[^|]*\| `(\w+)-([^`]+)` \|", part, flags=re.M)
        found[part.split("`")[1]] = (re.findall(r"`(\w+)`", tags.group(1)) if tags else [],
                                     {field: (ctype, pattern) for field, ctype, pattern in rows})
    return found


def type_instance(pattern, keys, tags):
    """The grammar of the README, written once more."""
    values = [tags.get(key, "") for key in keys]
    rest = list(zip(keys, values))
    if "%" in pattern:
        pattern = pattern.replace("%", values[0])
        rest = rest[1:]
    for key, value in rest:
        if value and key in ("pod", "namespace", "job_id"):
            pattern += f"-{key}={value}"
        elif value:
            pattern += f"-{key if value.isdigit() else ''}{value}"
    return pattern


def scale(field, ctype):
    """From the unit of the line protocol to collectd's."""
    if field.endswith("_mhz"):
        return 1e6
    if field.endswith("millivolts"):
        return 1e-3
    return 1e3 if ctype == "total_time_in_ms" else 1


def gather(args, machine):
    """The lines of four stepped gathers: [(measurement, tags, fields, time)]."""
    run = subprocess.run([args.gtel, "--root", machine, "--isolation", "none", "--stepped",
                          "--interval", "1s", "--count", "4"], check=True, capture_output=True,
                         text=True, timeout=60)
    for line in run.stdout.splitlines():
        if re.match("gpu_info|gtel", line):
            continue  # text; the program itself
        tags, fields, at = re.split(r"(?<!\\) ", line)
        measurement, *tags = re.split(r"(?<!\\),", tags)
        yield (measurement, dict(tag.split("=", 1) for tag in tags),
               dict(field.split("=", 1) for field in fields.split(",")), int(at))


def expected(args, machine, plugin):
    """What the program says about a recorded machine, by collectd's names: all that stays the same."""
    rows = catalogue(args)
    seen = {}
    for measurement, tags, fields, _ in gather(args, machine):
        keys, metrics = rows[measurement]
        for field, text in fields.items():
            if field not in metrics:
                continue
            ctype, pattern = metrics[field]
            name = f"{plugin}-{tags['gpu']}/{ctype}-{type_instance(pattern, keys, tags)}"
            seen.setdefault(name, []).append(float(text.rstrip("i")) * scale(field, ctype))
    return {name: values[-1] for name, values in seen.items() if len(values) >= 3 and
            max(values) - min(values) <= 1e-3 * abs(values[-1])}


def compare(got, want, what):
    for name, value in want.items():
        check(name in got, f"{what}: {name} has arrived")
        if name in got:
            # What is made from counters differs a little in real time.
            near = 0.05 if "/percent-" in name or "/power-" in name else 1e-3
            check(abs(got[name] - value) <= near * max(1, abs(value)),
                  f"{what}: {name} is {got[name]}, not {value}")


def case_check_and_one_read(args):
    with Daemon(args, both(args)) as daemon:
        check(daemon.run("-t") == 0, "-t accepts the configuration")
        check(daemon.names() == [], "-t reads nothing")
        # 5.12 throws away what its write threads have not written when -T ends: often nearly all.
        check(daemon.run("-T") == 0, "-T reads once")
        check(daemon.names(), "something is written")


def case_values(args):
    """Both plugins together, every value of one read with one time."""
    want = {**expected(args, args.intel, "gpu_intel"), **expected(args, args.nvml, "gpu_nvml")}
    check(len(want) > 40, f"there is something to compare with: {len(want)}")
    with Daemon(args, both(args)) as daemon:
        daemon.start()
        wait_for(lambda: all(len(daemon.series(name)) > 3 for name in want), 10)
        seconds, status = daemon.stop()
        check(seconds < 1 and status == 0, f"it stops immediately ({seconds:.2f} s, {status})")
        got = {}
        for name in want:
            rows = daemon.series(name)
            got.update({name: rows[-1][1]} if rows else {})
        compare(got, want, "csv")
        for plugin in ("gpu_intel", "gpu_nvml"):
            steps = [b[0] - a[0] for rows in [daemon.series(f"{plugin}/gauge-gtel-gpus")]
                     for a, b in zip(rows[1:], rows[2:])]
            check(steps and all(abs(s - INTERVAL) < 0.25 for s in steps),
                  f"{plugin} keeps the interval: {[round(s, 2) for s in steps]}")
            percents = [v for name in daemon.names() if name.startswith(plugin) and
                        "/percent-" in name for _, v in daemon.series(name)]
            check(percents and all(0 <= v <= 100 for v in percents), f"{plugin}: percent in range")
        check(daemon.said("gpu_") == daemon.said('"gpu_'), "nothing in the log but the loading:\n" +
              daemon.log())


def case_bad_configuration(args):
    options = {"Deadline": '"soon"', "Sources": '"nosuch"', "Hugo": "true", "Wake": "sometimes",
               "ProcessEnergy": "yes"}
    plugins = both(args)
    plugins["gpu_intel"].update(options)
    plugins["gpu_nvml"]["Sources"] = '"xe" "i915"'
    with Daemon(args, plugins) as daemon:
        check(daemon.run("-t") == 0, "-t accepts bad options")
        daemon.start()
        check(wait_for(lambda: daemon.of_gpus("gpu_intel"), 10), "values in spite of bad options")
        for text in ("gpu_intel: unknown option 'Hugo'", "Deadline: 'soon' is not a time",
                     "Wake: 'sometimes' is not one of: never,always", "'nosuch' is no source",
                     "gpu_intel: option Sources is ignored", "gpu_nvml: option Sources is ignored",
                     "gpu_nvml: Sources names no source of this plugin; it has: nvml"):
            check(daemon.said(text) == 1, f"the log says once: {text}\n{daemon.log()}")
        check(not daemon.said("ProcessEnergy"), "yes without quotes is on")
        check(daemon.stop()[1] == 0, "a normal end")


def case_no_gpu(args):
    empty = tempfile.mkdtemp(prefix="gtel-e2e-")
    plugins = {name: {"Helper": f'"{args.gtel}"', "Root": f'"{empty}"'}
               for name in ("gpu_amd", "gpu_clients", "gpu_drm", "gpu_intel", "gpu_nvml")}
    try:
        with Daemon(args, plugins) as daemon:
            daemon.start()
            wait_for(lambda: len(daemon.series("gpu_nvml/gauge-gtel-gpus")) > 4, 10)
            for name in plugins:
                check(daemon.said(f"{name}: no GPU found") == 1, f"{name} says so once")
                rows = daemon.series(f"{name}/gauge-gtel-gpus")
                check(rows and all(v == 0 for _, v in rows), f"{name} counts 0 GPUs")
                check(not daemon.of_gpus(name), f"{name} sends nothing about GPUs")
            check(daemon.helpers() == [], "no helper runs for nothing")
            check(daemon.process.poll() is None, "the daemon stays")
            check(daemon.stop()[1] == 0, "a normal end")
    finally:
        shutil.rmtree(empty)


def changed_machine(args, folder, name, changes):
    """A machine of two vendors in another state from some time on; each plugin reads its own."""
    with open(os.path.join(args.source, "tests/fixtures/workstation.tree"), encoding="utf-8") as f:
        text = f.read().rsplit("end\n", 1)[0]
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as f:
        f.write(changes(text) + "end\n")
    return {plugin: {"Helper": f'"{args.gtel}"', "Root": f'"{path}"', "Rescan": '"200ms"'}
            for plugin in ("gpu_intel", "gpu_nvml")}


def case_cards_appear_later(args):
    """No GPU, driver or library at first; then all of them, without a restart of the daemon."""
    with tempfile.TemporaryDirectory(prefix="gtel-e2e-") as folder:
        plugins = changed_machine(args, folder, "late.tree", lambda text: "at 3s\n" + text)
        with Daemon(args, plugins) as daemon:
            daemon.start()
            check(wait_for(lambda: daemon.of_gpus("gpu_intel") and daemon.of_gpus("gpu_nvml"), 15),
                  "both plugins find their card")
            for name in plugins:
                check(daemon.said(f"{name}: no GPU found") == 1, f"{name} said once: none there")
                check(daemon.said(f"{name}: GPUs found: 1") == 1, f"{name} said once: found")
                counts = [v for _, v in daemon.series(f"{name}/gauge-gtel-gpus")]
                check(counts[:1] == [0.0] and wait_for(lambda n=name: daemon.series(
                    f"{n}/gauge-gtel-gpus")[-1][1] == 1, 5), f"{name} counts it: {counts}")
            check(daemon.stop()[1] == 0, "a normal end")


def case_library_vanishes(args):
    """The driver is unloaded and its library removed while the daemon runs."""
    def changes(text):
        calls = re.findall(r"(?m)^call (nvml[^=]*) =", text)
        return (text + "at 3s\ncall nvmlInit_v2 = !9\nlibrary libnvidia-ml.so.1 gone\n" +
                "".join(f"call {call} = !9\n" for call in calls))
    with tempfile.TemporaryDirectory(prefix="gtel-e2e-") as folder:
        with Daemon(args, changed_machine(args, folder, "gone.tree", changes)) as daemon:
            daemon.start()
            gpus = "gpu_nvml/gauge-gtel-gpus"
            check(wait_for(lambda: [v for _, v in daemon.series(gpus)][-1:] == [1.0], 10), "1 GPU")
            check(wait_for(lambda: [v for _, v in daemon.series(gpus)][-1:] == [0.0], 10),
                  f"it is counted as gone: {daemon.series(gpus)}")
            up = next(name for name in daemon.of_gpus("gpu_nvml") if name.endswith("/gauge-up"))
            check(wait_for(lambda: daemon.series(up)[-1][1] == 0, 5), "and is not up")
            n = len(daemon.series(gpus))
            wait_for(lambda: len(daemon.series(gpus)) > n + 4, 10)
            for name in (gpus, "gpu_intel/gauge-gtel-gpus", "gpu_intel-0000:03:00.0/power-gpu"):
                rows = daemon.series(name)[1:]
                steps = [b[0] - a[0] for a, b in zip(rows, rows[1:])]
                check(len(steps) > 5 and all(abs(s - INTERVAL) < 0.25 for s in steps),
                      f"{name} in each interval: {[round(s, 2) for s in steps]}")
            check(daemon.said("kernel driver is not loaded") == 1, f"said once:\n{daemon.log()}")
            check(daemon.stop()[1] == 0, "a normal end")


def case_helper_killed(args):
    with Daemon(args, both(args)) as daemon:
        daemon.start()
        intel = os.path.basename(args.intel)
        wait_for(lambda: daemon.of_gpus("gpu_intel") and daemon.of_gpus("gpu_nvml"), 10)
        helpers = daemon.helpers(intel)
        if not check(len(helpers) == 1, f"one helper reads the Intel machine: {helpers}"):
            return
        other = "gpu_nvml/gauge-gtel-gpus"
        before = len(daemon.series(other))
        os.kill(helpers[0], signal.SIGKILL)
        restarts = "gpu_intel/errors-gtel-lane-restarts"
        check(wait_for(lambda: [v for _, v in daemon.series(restarts)][-1:] == [1.0], 10),
              f"the restart is counted: {daemon.series(restarts)}")
        up = daemon.of_gpus("gpu_intel")[0]
        n = len(daemon.series(up))
        check(wait_for(lambda: len(daemon.series(up)) > n + 1, 10), "values come back")
        check(daemon.helpers(intel) not in ([], helpers), "another helper runs")
        check(len(daemon.series(other)) > before, "the other plugin went on")
        check(daemon.said("helper ended") == 1, f"the log says it once:\n{daemon.log()}")
        seconds, status = daemon.stop()
        check(seconds < 1 and status == 0, f"it stops immediately ({seconds:.2f} s)")


def case_helper_stopped(args):
    """As if a driver call never returned."""
    with Daemon(args, both(args)) as daemon:
        daemon.start()
        wait_for(lambda: daemon.of_gpus("gpu_intel") and daemon.of_gpus("gpu_nvml"), 10)
        helpers = daemon.helpers(os.path.basename(args.intel))
        if not check(len(helpers) == 1, "one helper reads the Intel machine"):
            return
        os.kill(helpers[0], signal.SIGSTOP)
        try:
            late = "gpu_intel/errors-gtel-lanes-late"
            check(wait_for(lambda: [v for _, v in daemon.series(late)][-1:] >= [3.0], 10),
                  f"late gathers are counted: {daemon.series(late)}")
            steps = [b[0] - a[0] for rows in [daemon.series(late)]
                     for a, b in zip(rows[1:], rows[2:])]
            check(all(s < 2 * INTERVAL for s in steps), f"the interval is kept: {steps}")
            check(daemon.said("no answer within") == 1, "one line in the log")
            check(len(daemon.helpers(os.path.basename(args.intel))) == 1, "no second helper")
            os.kill(helpers[0], signal.SIGCONT)
            check(wait_for(lambda: daemon.said("works again") == 1, 5), "it works again")
            os.kill(helpers[0], signal.SIGSTOP)
            time.sleep(2 * INTERVAL)
            seconds, status = daemon.stop()
            check(seconds < 1 and status == 0, f"it stops within 1 s ({seconds:.2f} s)")
        finally:
            if is_alive(helpers[0]):
                os.kill(helpers[0], signal.SIGCONT)
        check(wait_for(lambda: not is_alive(helpers[0]), 5), "the helper ends by itself")


def case_nothing_stays(args):
    """No helper outlives its daemon, however that ends."""
    for end in (signal.SIGTERM, signal.SIGKILL):
        with Daemon(args, both(args)) as daemon:
            daemon.start()
            wait_for(lambda d=daemon: d.of_gpus("gpu_intel") and d.of_gpus("gpu_nvml"), 10)
            helpers = daemon.helpers()
            check(len(helpers) == 2, f"two helpers: {helpers}")
            daemon.process.send_signal(end)
            daemon.process.wait(timeout=20)
            check(wait_for(lambda h=helpers: not any(is_alive(pid) for pid in h), 5),
                  f"no helper is left after {end.name}")


OTHER_VERSION = """#!%s
import os, struct, time
version = b"9.9.9"
os.write(3, struct.pack("=III", 0x4c455447, 1, len(version)) + version)
time.sleep(30 if os.read(3, 1) else 0)
"""


def case_helper_faults(args):
    """Missing, of another version, talking nonsense: one line each, and the daemon goes on."""
    scripts = tempfile.mkdtemp(prefix="gtel-e2e-")
    other = os.path.join(scripts, "other")
    noise = os.path.join(scripts, "noise")
    for path, text in ((other, OTHER_VERSION % sys.executable),
                       (noise, "#!/bin/sh\nhead -c 100000 /dev/zero >&3\n")):
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        os.chmod(path, os.stat(path).st_mode | stat.S_IXUSR)
    version = subprocess.run([args.gtel, "--version"], check=True, capture_output=True, text=True,
                             timeout=10).stdout.split()[-1]
    cases = {"missing": (f"{scripts}/none", ["is not there", "option Helper"]),
             "version": (other, ["9.9.9", version]),
             "noise": (noise, ["protocol error"])}
    try:
        for label, (helper, texts) in cases.items():
            plugins = both(args)
            plugins["gpu_intel"]["Helper"] = f'"{helper}"'
            with Daemon(args, plugins) as daemon:
                daemon.start()
                wait_for(lambda d=daemon: len(d.series("gpu_nvml/gauge-gtel-gpus")) > 6, 10)
                lines = [line for line in daemon.log().splitlines()
                         if "gpu_intel: " in line and all(text in line for text in texts)]
                check(len(lines) == 1, f"{label}: one line with {texts}:\n{daemon.log()}")
                check(daemon.of_gpus("gpu_nvml"), f"{label}: the other plugin has values")
                check(not daemon.of_gpus("gpu_intel"), f"{label}: no values of this one")
                seconds, status = daemon.stop()
                check(seconds < 1 and status == 0, f"{label}: stops immediately ({seconds:.2f} s)")
    finally:
        shutil.rmtree(scripts)


INFLUXD = """reporting-disabled = true
bind-address = "127.0.0.1:{rpc}"
[meta]
  dir = "{dir}/meta"
[data]
  dir = "{dir}/data"
  wal-dir = "{dir}/wal"
[monitor]
  store-enabled = false
[http]
  bind-address = "127.0.0.1:{http}"
  log-enabled = false
[[collectd]]
  enabled = true
  bind-address = "127.0.0.1:{udp}"
  database = "collectd"
  typesdb = "{types}"
  security-level = "none"
  parse-multivalue-plugin = "join"
  batch-timeout = "200ms"
"""


def query(port, text):
    url = f"http://127.0.0.1:{port}/query?" + urllib.parse.urlencode({"db": "collectd", "q": text})
    try:
        with urllib.request.urlopen(url, timeout=5) as answer:
            results = json.load(answer)["results"]
    except OSError:
        return []
    return results[0].get("series", [])


def stored(port):
    """The last value of each series, by collectd's names."""
    found = {}
    for plugin in ("gpu_intel", "gpu_nvml"):
        # The data source of type duration is called seconds, that of all others value.
        for series in query(port, f"SELECT last(value), last(seconds) FROM {plugin} "
                                  "GROUP BY instance, type, type_instance"):
            tags = series["tags"]
            device = f"-{tags['instance']}" if tags.get("instance") else ""
            found[f"{plugin}{device}/{tags['type']}-{tags['type_instance']}"] = \
                next(v for v in series["values"][0][1:] if v is not None)
    return found


def case_influxdb(args):
    influxd = shutil.which("influxd")
    if not influxd:
        print("  skipped: no influxd here")
        return
    want = {**expected(args, args.intel, "gpu_intel"), **expected(args, args.nvml, "gpu_nvml")}
    folder = tempfile.mkdtemp(prefix="gtel-e2e-")
    port = {"rpc": free_port(socket.SOCK_STREAM), "http": free_port(socket.SOCK_STREAM),
            "udp": free_port(socket.SOCK_DGRAM)}
    conf = os.path.join(folder, "influxdb.conf")
    with open(conf, "w", encoding="utf-8") as f:
        f.write(INFLUXD.format(dir=folder, types=TYPES_DB, **port))
    network = (f'LoadPlugin network\n<Plugin network>\nServer "127.0.0.1" "{port["udp"]}"\n'
               "MaxPacketSize 1024\n</Plugin>")
    with subprocess.Popen([influxd, "-config", conf], stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL) as server:
        try:
            up = wait_for(lambda: query(port["http"], "SHOW DATABASES"), 20)
            check(up, "InfluxDB answers")
            with Daemon(args, both(args), network) as daemon:
                daemon.start()
                wait_for(lambda: want.keys() <= stored(port["http"]).keys(), 20)
                compare(stored(port["http"]), want, "InfluxDB")
                check(daemon.stop()[1] == 0, "a normal end")
                stray = set(daemon.names()) - set(stored(port["http"]))
                check(wait_for(lambda: not set(daemon.names()) - set(stored(port["http"])), 5),
                      f"every series is stored, these are not: {sorted(stray)[:5]}")
        finally:
            server.kill()  # its data are scratch, and its own shutdown may take 30 s
            server.wait()
            shutil.rmtree(folder, ignore_errors=True)


def blocks(text):
    """The indented blocks of a Markdown text."""
    found = re.findall(r"(?:^    .*\n|^\n(?=    ))+", text, flags=re.M)
    return [re.sub(r"^    ", "", block, flags=re.M) for block in found]


def case_hostile_names(args):
    """Whatever processes and their control groups are called, each has a series of its own."""
    text, of_pid = names.machine()
    with Daemon(args, {}) as daemon:
        tree = os.path.join(daemon.dir, "names.tree")
        with open(tree, "wb") as f:
            f.write(text)
        with open(daemon.conf, "a", encoding="utf-8") as f:
            f.write(f'LoadPlugin gpu_clients\n<Plugin gpu_clients>\nHelper "{args.gtel}"\nRoot "{tree}"\n'
                    'ProcessLimit 1000\nProcessTags "container" "pod" "namespace" "pod_uid" "job_id" "unit" "pid"\n</Plugin>\n')
        daemon.start()
        # A name may be cut, and end in a hash then: their memory distinguishes the processes.
        want = {1024 * pid for pid in of_pid}
        gpu = "gpu_clients-0000:03:00.0"

        def files():
            return [name for name in daemon.of_gpus("gpu_clients") if "/memory-process-" in name]

        def is_steady():
            before = len(files())
            time.sleep(2 * INTERVAL)
            return len(files()) == before >= len(want)

        wait_for(is_steady, 30)
        values = {name: {value for _, value in daemon.series(name)} for name in files()}
        check(all(len(seen) == 1 for seen in values.values()), "no two processes share a series")
        kinds = {value: sum(value in seen for seen in values.values()) for value in want}
        check(len(set(kinds.values())) == 1 and min(kinds.values()) >= 1,
              f"each process has as many series: {sorted(kinds.items())[:3]} ...")
        check(all(name.startswith(gpu + "/") for name in files()), "all of one GPU")
        bad = [name for name in files() for c in name
               if ord(c) < 32 or 127 <= ord(c) < 160 or 0xdc80 <= ord(c) <= 0xdcff]
        check(not bad, f"no control characters, and nothing that is no UTF-8: {bad[:3]}")
        check(os.listdir(os.path.join(daemon.dir, "csv")) == ["h"], "nothing beside the host's folder")
        check(daemon.said("error") == 0, "collectd says no error:\n" + daemon.log()[-2000:])


def case_readme(args):
    """What the README and gpu.conf show is what there is."""
    folder = os.path.join(args.source, "plugins", "collectd")
    with open(os.path.join(folder, "README.md"), encoding="utf-8") as f:
        readme = f.read()
    with open(os.path.join(folder, "gpu.conf"), encoding="utf-8") as f:
        samples = [f.read()]
    samples += [block for block in blocks(readme) if "LoadPlugin gpu_" in block]
    check(len(samples) == 3, f"README: two configurations, not {len(samples) - 1}")
    # With the comments taken away every option of the sample is set.
    every = re.sub(r"^(\s*)#(?=[A-Z]\w* \")", r"\1", samples[0], flags=re.M)
    installed = "/usr/local/lib/collectd"  # here they are built only
    check(f'PluginDir "{installed}"' in every, f"gpu.conf names {installed}")
    samples.append(every.replace(installed, args.plugins))
    for sample in samples:
        with Daemon(args, {}) as daemon:
            with open(daemon.conf, "a", encoding="utf-8") as f:
                f.write(sample)
            check(daemon.run("-t") == 0, f"collectd -t takes:\n{sample}")
            check(daemon.run("-T") == 0, f"collectd -T takes:\n{sample}")
            check(daemon.said("ignored") == 0 and daemon.said('"gpu_intel" successfully'),
                  f"no complaints about:\n{sample}\n{daemon.log()}")
    examples = "".join(block for block in blocks(readme)
                       if block.lstrip().startswith("gpu_intel-")).split()
    check(len(examples) > 5, "README: names of values")
    with Daemon(args, both(args)) as daemon:
        daemon.start()
        wait_for(lambda: set(examples) <= set(daemon.names()), 5)
        for name in sorted(set(examples) - set(daemon.names())):
            check(False, f"README's example does not exist: {name}")
        check(daemon.stop()[1] == 0, "a normal end")


def main():
    parser = argparse.ArgumentParser()
    for name in ("plugins", "gtel", "intel", "nvml", "source"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("case", nargs="*")
    args = parser.parse_args()
    if not is_there():
        return SKIPPED
    cases = {name[5:]: run for name, run in globals().items() if name.startswith("case_")}
    for name in args.case or [name for name in cases if name != "readme"]:
        begin = time.monotonic()
        print(name, flush=True)
        cases[name](args)
        print(f"  {time.monotonic() - begin:.1f} s", flush=True)
    print(f"{checks} checks, {len(failures)} failed")
    return 1 if failures or not checks else 0


if __name__ == "__main__":
    sys.exit(main())
