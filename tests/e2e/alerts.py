# SPDX-License-Identifier: MIT
"""The alert rules on recorded faults: vmalert goes through two hours of them, and each rule that should
fire has fired for the right hosts, and nothing else has.

    alerts.py --source FOLDER --victoria-metrics FILE --vmalert FILE
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "contrib", "ci"))
import agents  # noqa: E402
import dashboards  # noqa: E402

STEP = 30            # s between two lines of a series
HOLD = 40            # so often each recorded gather is repeated: 20 minutes
MINUTES = 120
# Recorded machines, and what has to fire for each.
RECORDED = {
    "xe-health": {"GpuGone", "GpuErrors", "GpuUnhealthy"},
    "i915-hang": {"GpuErrors", "GpuGone"},
    "amd-rebind": {"GpuGone"},
    "h200": set(),
    "h100": set(),
    "rtx4080s": set(),
    "amd-mi300x-1.8": set(),
    "i915-pvc-l0": {"GpuThrottled"},
}
# The H200 with faults that nobody has recorded: (what fires, what is changed in a line, and to what).
CHANGED = {
    "GpuXid": (r"(gpu_error,.*kind=xid,.* count=)0i", r"\g<1>1i"),
    "GpuRowRemapFailed": (r"row_remap_failed=0i", "row_remap_failed=1i"),
    "GpuSramFailing": (r"row_remap_failed=0i", "row_remap_failed=0i,sram_threshold_exceeded=1i"),
    "GpuFabricNotReady": (r"row_remap_failed=0i", "row_remap_failed=0i,fabric_ready=0i,fabric_health_summary=0i"),
    "GpuResetNeeded": (r"reset_needed=0i", "reset_needed=1i"),
    "GpuHot": (r"(sensor=gpu,.*) celsius=[0-9.]*,limit_celsius=87", r"\g<1> celsius=88,limit_celsius=87"),
    "GpuThrottledByHeat": (r"(reason=sw_thermal,.*) active=0i", r"\g<1> active=1i"),
    "GpuThrottled": (r"throttled=0i", "throttled=1i"),
    "GpuPcieNarrow": (r"pcie_width=16i", "pcie_width=8i"),
    "GpuReadingsFail": (r"readings_failed=0i", "readings_failed={n}i"),
    "GtelLate": (r"lanes_late=0i", "lanes_late={n}i"),
}
# Half an hour after the start.
FROM = 60
SILENT, MISSING, LINK, BROKEN, FIRST, RESIDENCY = "silent", "missing", "link", "broken", "first", "residency"
OUTAGE = 16  # lines, 8 minutes


def at(i, start_s):
    return (start_s + i * STEP) * 10**9


def recorded_lines(source, name, start_s):
    found = dashboards.gathers(os.path.join(source, f"tests/golden/{name}.lp"))
    for i in range(MINUTES * 60 // STEP):
        for text in found[min(i // HOLD, len(found) - 1)]:
            yield f"{dashboards.add_host(text, name)} {at(i, start_s)}"


def changed_lines(source, name, start_s):
    """The H200 as it is, from FROM on with one fault."""
    pattern, replacement = CHANGED[name]
    lines = dashboards.gathers(os.path.join(source, "tests/golden/h200-processes.lp"))[0]
    # It works at its power limit all the time.
    lines = [text.replace("throttled=1i", "throttled=0i") for text in lines]
    changes = 0
    for i in range(MINUTES * 60 // STEP):
        for text in lines:
            if i >= FROM:
                text, n = re.subn(pattern, replacement.replace("{n}", str(i)), text)
                changes += n
            yield f"{dashboards.add_host(text, name)} {at(i, start_s)}"
    if not changes:
        raise agents.Failure(f"{name}: the recording has nothing like {pattern}")


def shared_lines(start_s):
    """GPUs that are well: back after an outage with old errors, beside a hot CPU, at a power brake; and
    one that is slowed down by heat, of which only shares of time are known."""
    form = "{name},driver=d,gpu=0000:3b:00.0,host={host},model=M,vendor=v{tags} {field} {time}"
    for i in range(MINUTES * 60 // STEP):
        def line(host, name, tags, field):
            return form.format(name=name, host=host, tags=tags, field=field, time=at(i, start_s))
        if not FROM <= i < FROM + OUTAGE:
            yield line("back", "gpu", "", "up=1i")
            yield line("back", "gpu_error", ",kind=ecc_aggregate,severity=uncorrected", "count=2i")
            yield f"gtel,host=back gpus=1i {at(i, start_s)}"
        yield line("package", "gpu_temperature_sensor", ",sensor=package", "celsius=100,limit_celsius=100")
        yield line("brake", "gpu_throttle", ",reason=hw_slowdown", "active=1i")
        share = 80 if i >= FROM else 20
        yield line(RESIDENCY, "gpu_throttle", ",reason=hbm_thermal", f"active_percent={share}")


def vanishing_lines(source, start_s):
    """A host that falls silent, one whose GPU is not reported any more, links that go down or fail."""
    lines = dashboards.gathers(os.path.join(source, "tests/golden/h100.lp"))[-1]
    links = "gpu_fabric,driver=nvidia,gpu=0000:3b:00.0,host={host},link=0,model=M,vendor=nvidia {field}={value}i {time}"
    for i in range(MINUTES * 60 // STEP):
        for text in lines:
            if i < FROM:
                yield f"{dashboards.add_host(text, SILENT)} {at(i, start_s)}"
            if i < FROM or text.startswith("gtel "):
                yield f"{dashboards.add_host(text, MISSING)} {at(i, start_s)}"
        yield links.format(host=LINK, field="up", value=int(i < FROM), time=at(i, start_s))
        yield links.format(host=BROKEN, field="health", value=0 if i < FROM else 2, time=at(i, start_s))
        # The first error of a kind that has no series before, of a GPU that was there.
        series = "gpu,driver=xe,gpu=0000:03:00.0,host={host},model=M,vendor=intel up=1i {time}"
        yield series.format(host=FIRST, time=at(i, start_s))
        if i >= FROM:
            yield (f"gpu_error,driver=xe,gpu=0000:03:00.0,host={FIRST},kind=pcie-fatal,model=M,severity=fatal,"
                   f"vendor=intel count=1i {at(i, start_s)}")
            yield series.format(host="new", time=at(i, start_s)).replace("0000:03:00.0", "0000:3b:00.0")
        # Counters that are not 0 when a host is first seen are no new errors.
        if i >= FROM:
            yield (f"gpu_error,driver=nvidia,gpu=0000:3b:00.0,host=new,kind=ecc_aggregate,model=M,severity=uncorrected,"
                   f"vendor=nvidia count=2i {at(i, start_s)}")


def fired(victoria, end_s):
    found = victoria.query("/api/v1/query", time=end_s, query="count by (alertname, host) (max_over_time("
                           f'ALERTS{{alertstate="firing"}}[{MINUTES + 10}m]))')
    return {(series["metric"]["alertname"], series["metric"]["host"]) for series in found}


def wanted():
    """(alert, host) of everything that has to fire."""
    found = {(alert, host) for host, alerts in RECORDED.items() for alert in alerts}
    found |= {(name, name) for name in CHANGED}
    return found | {("HostSilent", SILENT), ("GpuMissing", MISSING), ("GpuLinkDown", LINK), ("GpuLinkFailed", BROKEN),
                    ("GpuErrors", FIRST), ("GpuThrottledByHeat", RESIDENCY), ("GpuThrottled", RESIDENCY)}


def run(arguments, scratch):
    start = int(time.time()) // 60 * 60 - MINUTES * 60
    end = start + MINUTES * 60
    should = wanted()
    victoria = agents.Victoria(scratch, arguments.victoria_metrics)
    try:
        for name in RECORDED:
            victoria.write("\n".join(recorded_lines(arguments.source, name, start)).encode())
        for name in CHANGED:
            victoria.write("\n".join(changed_lines(arguments.source, name, start)).encode())
        victoria.write("\n".join(vanishing_lines(arguments.source, start)).encode())
        victoria.write("\n".join(shared_lines(start)).encode())
        form = "%Y-%m-%dT%H:%M:%SZ"
        done = subprocess.run([
            arguments.vmalert, f"-rule={arguments.source}/contrib/dashboards/alerts/prometheus.yml",
            f"-datasource.url={victoria.url}", f"-remoteWrite.url={victoria.url}", "-replay.rulesDelay=50ms", "-datasource.queryStep=1m",
            f"-replay.timeFrom={time.strftime(form, time.gmtime(start))}",
            f"-replay.timeTo={time.strftime(form, time.gmtime(end))}", "-loggerLevel=WARN"],
            cwd=scratch, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120, check=False)
        if done.returncode != 0:
            raise agents.Failure(f"vmalert ended with status {done.returncode}\n{done.stderr[-2000:]}")
        victoria.request("/internal/force_flush")
        found = fired(victoria, end)
    finally:
        victoria.stop()
    for alert, host in sorted(should - found):
        print(f"failed: {alert} did not fire for {host}")
    for alert, host in sorted(found - should):
        print(f"failed: {alert} fired for {host}")
    with open(os.path.join(arguments.source, "contrib/dashboards/alerts/prometheus.yml"), encoding="utf-8") as file:
        rules = set(re.findall(r"- alert: (\w+)", file.read()))
    untried = rules - {alert for alert, _ in should}
    if untried:
        print(f"failed: no fault tries {sorted(untried)}")
    print(f"{len(found & should)} alerts of {len(rules)} rules")
    return 0 if found == should and rules and not untried else 1


def main():
    parser = argparse.ArgumentParser()
    for name in ("--source", "--victoria-metrics", "--vmalert"):
        parser.add_argument(name, required=True)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="gtel-alerts-") as scratch:
        return run(arguments, scratch)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except agents.Failure as failure:
        print(failure)
        sys.exit(1)
