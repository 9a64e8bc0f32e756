# SPDX-License-Identifier: MIT
"""Alert rules: for Prometheus and vmalert, and as checks of InfluxDB 2 where those can express them.

In PromQL no rule uses increase(): that of VictoriaMetrics counts from 0 what a new series begins with, so
a board with old errors in its life-long counters would raise an alarm on each new host. rate() does not.
A check of InfluxDB sees one field and the time of one interval, and no limit beside the value.
"""

import dataclasses
import json

COUNTED = "count"


@dataclasses.dataclass(frozen=True)
class Check:
    """A threshold on one value per line and interval, or no data for that long (deadman)."""

    measurement: str
    field: str
    every: str
    function: str = ""  # over the interval; growth: of a counter
    test: tuple = ()    # (lesser or greater, value)
    where: str = ""     # Flux, after the tests of measurement and field
    by: tuple = ("host", "gpu", "model")
    silent: str = ""    # deadman: no data since


@dataclasses.dataclass(frozen=True)
class Rule:
    name: str
    text: str         # what has happened; of one series, with its labels
    about: str        # what it means, and what to do
    severity: str
    expression: str
    lasting: str = ""
    fields: tuple = ()  # (measurement, field) of the expression
    check: Check = None


GPU = "{{ $labels.host }}: GPU {{ $labels.gpu }} ({{ $labels.model }})"
THERMAL = "(.*therm.*|prochot|temp_.*)"  # not NVIDIA's hw_slowdown: that is also for power
ERRORS = 'gpu_error_count{severity!="corrected",kind!~"xid.*"}'

RULES = (
    Rule("GpuGone", f"{GPU} does not answer", "up is 0: the GPU was removed, or it answers nothing. gtel doctor and "
         "the kernel's log on the host say more.", "critical", 'gpu_up{instance=""} == 0', "2m", (("gpu", "up"),),
         Check("gpu", "up", "2m", "max", ("lesser", 1))),
    Rule("GpuMissing", f"{GPU} is not reported any more, and its host is",
         "It was there within the last hour. A GPU that is known only from its processes has no up.", "critical",
         "max by (host, gpu, model) (max_over_time(gpu_up[1h])) == 1\n"
         "  unless on (host, gpu) max_over_time(gpu_up[10m])\n"
         "  and on (host) max_over_time(gtel_gpus[10m])", "5m", (("gpu", "up"), ("gtel", "gpus"))),
    Rule("GpuHot", f"{GPU}: sensor {{{{ $labels.sensor }}}} has been at its limit for 5 minutes",
         "The limit is the sensor's own: that of normal operation where it is known, else where the hardware slows down.",
         # The package is the processor's, whose cores may be at their limit while its GPU rests.
         "warning", "gpu_temperature_sensor_celsius{sensor!=\"package\"} >= gpu_temperature_sensor_limit_celsius\n"
         "  or gpu_temperature_sensor_celsius{sensor!=\"package\"} >= gpu_temperature_sensor_critical_celsius", "5m",
         (("gpu_temperature_sensor", "celsius"), ("gpu_temperature_sensor", "limit_celsius"),
          ("gpu_temperature_sensor", "critical_celsius")),
         Check("gpu_temperature_sensor", "margin_celsius", "5m", "max", ("lesser", 1), by=("host", "gpu", "model", "sensor"))),
    Rule("GpuThrottledByHeat", f"{GPU} has been slowed down by heat ({{{{ $labels.reason }}}}) for 10 minutes",
         "Check fans, air and dust.", "warning", f'gpu_throttle_active{{reason=~"{THERMAL}"}} == 1\n'
         f'  or gpu_throttle_active_percent{{reason=~"{THERMAL}"}} > 50', "10m",
         (("gpu_throttle", "active"), ("gpu_throttle", "active_percent")),
         Check("gpu_throttle", "active", "10m", "min", ("greater", 0.5), f"r.reason =~ /^{THERMAL}$/",
               ("host", "gpu", "model", "reason", "gt"))),
    Rule("GpuThrottled", f"{GPU} has been throttled for an hour",
         "A limit of power, current, voltage or temperature. At a power limit that is normal for a GPU under full load; "
         "drop this rule where it is.", "info", "gpu_throttled == 1 or gpu_throttle_active_percent > 50", "1h",
         (("gpu", "throttled"), ("gpu_throttle", "active_percent")),
         Check("gpu", "throttled", "1h", "min", ("greater", 0.5))),
    Rule("GpuErrors", f"{GPU}: errors of kind {{{{ $labels.kind }}}} ({{{{ $labels.severity }}}}) are rising",
         "Errors that the hardware did not correct, hangs and wedged GPUs, in the last 10 minutes.", "critical",
         # Some counters are reported from the first error on: a new series of a GPU that was there before.
         f'rate({ERRORS}[10m]) > 0\n'
         f'  or ({ERRORS} > 0 unless max_over_time({ERRORS}[1d] offset 10m)) and on (host, gpu) gpu_up offset 15m',
         "", (("gpu_error", COUNTED), ("gpu", "up")),
         Check("gpu_error", COUNTED, "10m", "growth", ("greater", 0),
               'r.severity != "corrected" and r.kind !~ /^xid/', ("host", "gpu", "model", "kind", "severity"))),
    Rule("GpuXid", f"{GPU}: an Xid error", "The driver of NVIDIA reports it; the kernel's log has its number, and so has the kind of the "
         "series gpu_error_count{kind=~\"xid_.*\"}.", "warning", 'rate(gpu_error_count{kind="xid"}[10m]) > 0', "",
         (("gpu_error", COUNTED),), Check("gpu_error", COUNTED, "10m", "growth", ("greater", 0), 'r.kind == "xid"')),
    Rule("GpuRowRemapFailed", f"{GPU}: a row of memory could not be replaced", "The board is to be examined.", "critical",
         "gpu_row_remap_failed == 1", "", (("gpu", "row_remap_failed"),),
         Check("gpu", "row_remap_failed", "5m", "max", ("greater", 0.5))),
    Rule("GpuSramFailing", f"{GPU}: more errors of SRAM than its maker allows", "The board is to be examined.", "critical",
         "gpu_sram_threshold_exceeded == 1", "", (("gpu", "sram_threshold_exceeded"),),
         Check("gpu", "sram_threshold_exceeded", "5m", "max", ("greater", 0.5))),
    Rule("GpuFabricNotReady", f"{GPU} is not ready for its NVLink switches",
         "It is not registered with their fabric, or the driver's verdict of its place there is 2. Check the fabric manager.",
         "critical", "gpu_fabric_ready == 0 or gpu_fabric_health_summary >= 2", "10m",
         (("gpu", "fabric_ready"), ("gpu", "fabric_health_summary")),
         Check("gpu", "fabric_ready", "10m", "max", ("lesser", 0.5))),
    Rule("GpuResetNeeded", f"{GPU} needs a reset", "The driver says that it works again only then.", "critical",
         "gpu_reset_needed == 1", "1m", (("gpu", "reset_needed"),),
         Check("gpu", "reset_needed", "5m", "max", ("greater", 0.5))),
    Rule("GpuUnhealthy", f"{GPU}: health is critical", "The driver's own verdict is 2.", "critical", "gpu_health >= 2", "1m",
         (("gpu", "health"),), Check("gpu", "health", "5m", "min", ("greater", 1.5))),
    Rule("GpuLinkDown", f"{GPU}: link {{{{ $labels.link }}}} to another GPU is down",
         "It was up within the last day; links that nothing is connected to are always down.", "warning",
         "gpu_fabric_up == 0 and max_over_time(gpu_fabric_up[1d]) == 1", "5m", (("gpu_fabric", "up"),)),
    Rule("GpuLinkFailed", f"{GPU}: link {{{{ $labels.link }}}} to another GPU has failed",
         "The driver's own verdict of the link is 2.", "warning", "gpu_fabric_health >= 2", "5m", (("gpu_fabric", "health"),),
         Check("gpu_fabric", "health", "5m", "min", ("greater", 1.5), by=("host", "gpu", "model", "link"))),
    Rule("GpuPcieNarrow", f"{GPU} runs on fewer PCIe lanes than it could",
         "Only NVIDIA reports what is possible. Lanes are missing: the card or riser may sit badly. An idle GPU lowers the generation, not the lanes.", "warning",
         "gpu_pcie_width < gpu_pcie_highest_width", "15m", (("gpu", "pcie_width"), ("gpu", "pcie_highest_width"))),
    Rule("GtelLate", "{{ $labels.host }}: a helper of gtel misses its deadline again and again",
         "A driver or library hangs or is slow; the log of the agent names it.", "warning",
         "rate(gtel_lanes_late[10m]) > 0", "15m", (("gtel", "lanes_late"),),
         Check("gtel", "lanes_late", "10m", "growth", ("greater", 2), by=("host",))),
    Rule("GpuReadingsFail", f"{GPU}: readings fail", "gtel doctor on the host says which, and why.", "warning",
         "rate(gpu_readings_failed[10m]) > 0", "15m", (("gpu", "readings_failed"),),
         Check("gpu", "readings_failed", "10m", "growth", ("greater", 2))),
    Rule("HostSilent", "{{ $labels.host }}: gtel has reported nothing for 10 minutes",
         "It did within the last day. The host, its agent, or what lies between is down.", "critical",
         "count by (host) (max_over_time(gtel_gpus[1d]))\n  unless on (host) max_over_time(gtel_gpus[10m])", "",
         (("gtel", "gpus"),), Check("gtel", "gpus", "1m", "last", by=("host",), silent="10m")),
)
HEADER = """# SPDX-License-Identifier: MIT
# {what}
# Written by contrib/dashboards/generate.py from rules.py: change it there.
"""


def block(text, indent):
    return "\n".join(" " * indent + line for line in text.split("\n"))


def prometheus():
    lines = [HEADER.format(what="Alert rules of gtel for Prometheus and vmalert.") + "groups:", "  - name: gtel",
             "    interval: 1m", "    rules:"]
    for rule in RULES:
        lines += [f"      - alert: {rule.name}", "        expr: |-", block(rule.expression, 10)]
        if rule.lasting:
            lines.append(f"        for: {rule.lasting}")
        lines += ["        labels:", f"          severity: {rule.severity}", "        annotations:",
                  f"          summary: {json.dumps(rule.text)}", f"          description: {json.dumps(rule.about)}"]
    return "\n".join(lines) + "\n"


def flux(check):
    tests = [f'r._measurement == "{check.measurement}"', f'r._field == "{check.field}"']
    tests += [check.where] if check.where else []
    if check.measurement.startswith("gpu"):
        tests.append("not exists r.instance")
    steps = ['from(bucket: "gtel")', "range(start: v.timeRangeStart, stop: v.timeRangeStop)",
             f"filter(fn: (r) => {' and '.join(tests)})",
             "group(columns: [" + ", ".join(f'"{t}"' for t in ("_measurement", "_field") + check.by) + "])",
             'sort(columns: ["_time"])']
    function = check.function
    if function == "growth":
        steps.append("increase()")
        function = "last"
    steps += ["toFloat()", f"aggregateWindow(every: {check.every}, fn: {function}, createEmpty: false)"]
    return "\n  |> ".join(steps)


def message(rule):
    """The labels of PromQL's template as Flux has them."""
    text = rule.text.replace("{{ $labels.", "${ r.").replace(" }}", " }")
    return "${ r._level }: " + text


def influxdb():
    parts = []
    for rule in RULES:
        check = rule.check
        if not check:
            continue
        level = {"critical": "CRIT", "warning": "WARN", "info": "INFO"}[rule.severity]
        kind = "CheckDeadman" if check.silent else "CheckThreshold"
        lines = ["---", "apiVersion: influxdata.com/v2alpha1", f"kind: {kind}", "metadata:",
                 f"  name: gtel-{rule.name.lower()}", "spec:", f"  name: {rule.name}",
                 f"  description: {json.dumps(rule.about)}", "  status: active", f"  every: {check.every}", "  offset: 10s",
                 "  query: |-", block(flux(check), 4), f"  statusMessageTemplate: {json.dumps(message(rule))}"]
        if check.silent:
            lines += [f"  timeSince: {check.silent}", "  staleTime: 1d", "  reportZero: false", f"  level: {level}"]
        else:
            lines += ["  thresholds:", f"    - type: {check.test[0]}", f"      level: {level}",
                      f"      value: {float(check.test[1])}"]
        parts.append("\n".join(lines))
    what = "Checks of InfluxDB 2: influx apply -f influxdb.yml. Not here: what needs two fields or a past."
    return HEADER.format(what=what) + "\n".join(parts) + "\n"
