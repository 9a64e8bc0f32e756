# SPDX-License-Identifier: MIT
"""A vendor library that crashes, hangs or leaks, under the real collectd and the real Telegraf.

    faults.py --agent collectd --gtel PROGRAM --plugins FOLDER --source FOLDER [CASE...]
    faults.py --agent telegraf --gtel PROGRAM --telegraf FILE --source FOLDER [CASE...]

PROGRAM loads Level Zero's played loader as a shared object (tests/fakes/libze_loader). On a machine
with an Intel and an NVIDIA card it goes wrong for some seconds. Each gather must have everything else,
in time; what Level Zero adds is missing for a while, and comes back by itself.
"""

import argparse
import concurrent.futures
import os
import re
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "..", "contrib", "ci")]
import agents  # noqa: E402
import collectd  # noqa: E402
import lines  # noqa: E402
from collectd import SLOW, check, failures, wait_for  # noqa: E402

GPU = "0000:03:00.0"
LEVEL_ZERO = """file usr/lib64/libze_loader.so.1
library libze_loader.so.1
call zesInit =
call zesDeviceGet 0 = 1
call zesDeviceGetProperties 0 = 1 0x8086 0 868020e2000000000300000000000000
call zesDevicePciGetProperties 0 = 0 3 0 0 4 8 15753846153 1 0 1
call zesDevicePciGetStats 0 = 1000000 0 0 1000 2000
call zesDeviceEnumTemperatureSensors 0 = 1
call zesTemperatureGetProperties 0 0 = 2 0 0 -1
call zesTemperatureGetState 0 0 = 71
"""
METRICS = """call zeInit =
call zeDriverGet = 1
call zeDeviceGet 0 = 1
call zetDeviceEnableMetricsExp 0 =
call zetMetricGroupGet 0 = 1
call zetMetricGroupGetProperties 0 0 = ComputeBasic 2 0 2
call zetMetricGet 0 0 = 2
call zetMetricGetProperties 0 0 0 = GpuTime 0 1
call zetMetricGetProperties 0 0 1 = XVE_ACTIVE 6 2
call zetMetricStreamerOpen 0 0 = 1024 10000000
call zetMetricStreamerReadData 0 0 = 576 0
call zetMetricGroupCalculateMetricValues 0 0 = 10000000 62.5
"""
CALL = "zesDevicePciGetStats"
READ = "zetMetricStreamerReadData"
# When it begins, and by when all must be well again; seconds.
BEGIN, WELL = 7, 20
LINK, CARD = "sys/class/drm/card1", "devices/pci0000:00/0000:03:00.0/drm/card1"
GOES = f"gone {LINK}\ngone sys/{CARD}\n"
COMES = (f"link {LINK} -> ../../{CARD}\ndir sys/{CARD}\n"
         f"link sys/{CARD}/device -> ../../../0000:03:00.0\n")


def does(what, seconds, call=CALL):
    """The call does something beside answering, for so long."""
    return {BEGIN: f"call double {call} = {what}\n",
            BEGIN + seconds: f"call double {call} = none\n"}


# Name -> what changes at which second, and what the log says.
FAULTS = {
    "crash": (does("crash", 3), "lane sysman: helper ended"),
    "hang": (does("hang 4000", 1), "lane sysman: no answer within"),
    "leak": (does("leak 90", 2), "lane sysman: helper has grown by more than 256 MiB"),
    "metrics-crash": (does("crash", 3, READ), "lane l0metrics: helper ended"),
    "metrics-hang": (does("hang 4000", 1, READ), "lane l0metrics: no answer within"),
    # The driver is unbound and bound again: what the process has is of no use any more.
    "rebind": ({**does("stale", 1), BEGIN + 1: f"call double {CALL} = none\n" + GOES,
                BEGIN + 3: COMES}, "sysman: a GPU was added: restarting the helper"),
    # The same between two looks.
    "quick": ({BEGIN: f"call double {CALL} = stale\n",
               BEGIN + 1: f"call double {CALL} = none\n" + GOES + COMES},
              "sysman: a GPU was removed and added again: restarting the helper"),
    # Level Zero does not start as long as the driver is not ready.
    "start": ({0: "call zesInit = !0x78000001\n", BEGIN: GOES,
               BEGIN + 2: "call zesInit =\n" + COMES}, "Level Zero does not start, code 0x78000001"),
}
# The card itself is away for a while: what the kernel reports of it is, too.
AWAY = ("rebind", "quick", "start")


def machine(arguments, folder, fault):
    """The recorded machine with two cards, and the fault."""
    path = os.path.join(arguments.source, "tests", "fixtures", "workstation.tree")
    with open(path, encoding="utf-8") as file:
        text = file.read().rsplit("end\n", 1)[0]
    # The traffic goes on, so that each value is a new one.
    changes = FAULTS[fault][0]
    states = "".join(f"at {s}s\ncall {CALL} 0 = {1000000 * (s + 1)} 0 0 {1000 * (s + 1)} 2000\n" +
                     changes.get(s, "") for s in range(1, 60))
    path = os.path.join(folder, fault + ".tree")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text + LEVEL_ZERO + METRICS + changes.get(0, "") + states + "end\n")
    return path


def is_metrics(fault):
    return fault.startswith("metrics-")


def gaps(times):
    return [round(b - a, 2) for a, b in zip(times, times[1:])]


def judge(fault, interval, gathers, others, lost, log):
    """gathers: their times; others: {name: times} of what must not be lost; lost: times of what
    Level Zero adds. A busy host may be late with a gather: not for as long as the fault takes."""
    worst = max(gaps(gathers[1:]), default=99)
    check(worst < 2.5, f"{fault}: gathers go on: {gaps(gathers)}")
    for name, times in others.items():
        missing = [round(t - gathers[0], 2) for t in gathers[2:]
                   if all(abs(t - own) > interval / 4 for own in times)]
        check(len(missing) <= 2, f"{fault}: {name} in each gather but those at {missing}")
    longest = lost[0] - gathers[0] if lost and fault == "start" else max(gaps(lost), default=99)
    check(lost and lost[-1] > gathers[-1] - 4 * interval, f"{fault}: it comes back: {gaps(lost)}")
    check(longest < WELL - 4, f"{fault}: for {longest} s nothing came of Level Zero")
    if fault not in ("leak", "quick"):
        check(longest > 1.9 * interval, f"{fault}: there was a fault: {gaps(lost)}")
    check(FAULTS[fault][1] in log, f"{fault}: the log says what happened:\n{log}")
    most = 4 if is_metrics(fault) else 2  # its helper works until it measures
    check(len(re.findall("lane (?:sysman|l0metrics): helper", log)) <= most,
          f"{fault}: few lines in the log:\n{log}")
    print(f"  {fault}: Level Zero missing for at most {longest:.1f} s, gathers at most {worst:.1f} s "
          f"apart, {interval} s wanted", flush=True)


def under_collectd(arguments, fault):
    with tempfile.TemporaryDirectory(prefix="gtel-e2e-") as folder:
        root = machine(arguments, folder, fault)
        plugins = {name: {"Helper": f'"{arguments.gtel}"', "Root": f'"{root}"'}
                   for name in ("gpu_intel", "gpu_nvml")}
        plugins["gpu_intel"]["L0Metrics"] = '"on"'
        with collectd.Daemon(arguments, plugins) as daemon:
            daemon.start()
            begin = time.monotonic()
            lost = f"gpu_intel-{GPU}/temperature-sensor-memory"
            if is_metrics(fault):
                lost = f"gpu_intel-{GPU}/percent-activity-eu"
            check(wait_for(lambda: daemon.series(lost), WELL), f"{fault}: {lost} arrives")
            time.sleep(max(0.0, WELL - (time.monotonic() - begin)))
            seconds, status = daemon.stop()
            check(seconds < 1 * SLOW and status == 0,
                  f"{fault}: it stops immediately ({seconds:.2f} s)")
            def times(name):
                return [t for t, _ in daemon.series(name)]
            names = {"gpu_intel": f"gpu_intel-{GPU}/frequency-gpu",
                     "gpu_nvml": "gpu_nvml-0000:01:00.0/memory-used"}
            for plugin, other in names.items():
                is_lost_too = fault in AWAY and plugin == "gpu_intel"
                judge(fault, collectd.INTERVAL, times(f"{plugin}/gauge-gtel-gpus"),
                      {} if is_lost_too else {other: times(other)}, times(lost), daemon.log())
            late = daemon.series("gpu_intel/errors-gtel-lanes-late")
            restarts = daemon.series("gpu_intel/errors-gtel-lane-restarts")
            counted = late if fault.endswith("hang") else restarts
            check(counted and (counted[-1][1] > 0) == (fault not in AWAY),
                  f"{fault}: accidents are counted, and nothing else: {counted[-3:]}")


def under_telegraf(arguments, fault):
    with tempfile.TemporaryDirectory(prefix="gtel-e2e-") as folder:
        written = os.path.join(folder, "written.lp")
        config = agents.telegraf_config(
            folder,
            [arguments.gtel, "--l0-metrics=on", "--root", machine(arguments, folder, fault)],
            agents.OUTPUT_FILE.format(path=written), interval="500ms")
        telegraf = agents.Process("telegraf", [arguments.telegraf, "--config", config], folder)
        try:
            time.sleep(WELL)
        finally:
            begin = time.monotonic()
            status = telegraf.stop(30)
        check(status == 0 and time.monotonic() - begin < 5, f"{fault}: Telegraf ends ({status})")
        with open(telegraf.log, encoding="utf-8", errors="replace") as file:
            log = file.read()
        with open(written, encoding="utf-8") as file:
            points = lines.points(file.read())

        def times(measurement, field, **tags):
            return sorted(t / 1e9 for (own, t), fields in points.get(measurement, {}).items()
                          if field in fields and tags.items() <= dict(own).items())
        others = {
            "Intel's clock": times("gpu", "frequency_mhz", gpu=GPU),
            "NVIDIA's memory": times("gpu", "memory_used_bytes", gpu="0000:01:00.0"),
        }
        if fault in AWAY:
            del others["Intel's clock"]
        lost = times("gpu_temperature_sensor", "celsius", gpu=GPU, sensor="memory")
        if is_metrics(fault):
            lost = times("gpu_activity", "active_percent", gpu=GPU, unit="eu")
        judge(fault, 0.5, times("gtel", "gpus"), others, lost, log)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--agent", choices=("collectd", "telegraf"), required=True)
    for name in ("--gtel", "--source"):
        parser.add_argument(name, required=True)
    for name in ("--plugins", "--telegraf"):
        parser.add_argument(name)
    parser.add_argument("case", nargs="*")
    arguments = parser.parse_args()
    if arguments.agent == "collectd" and not collectd.is_there():
        return collectd.SKIPPED
    run = under_collectd if arguments.agent == "collectd" else under_telegraf
    cases = arguments.case or FAULTS
    with concurrent.futures.ThreadPoolExecutor(len(cases)) as pool:  # each mostly waits
        list(pool.map(lambda fault: run(arguments, fault), cases))
    print(f"{len(failures)} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
