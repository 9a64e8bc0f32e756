# SPDX-License-Identifier: MIT
"""The dashboards as data: rows of panels, each with its queries. Everything else is derived."""

import dataclasses

from queries import Query, Table

WHOLE = (("instance", "=", ""),)  # GPUs, without their MIG instances, partitions and virtual functions
NPUS = "intel_vpu|amdxdna"  # one that sleeps is idle, a GPU that sleeps says nothing: no mean of both
NOT_NPUS = WHOLE + (("driver", "!~", NPUS),)
GPU_SENSORS = WHOLE + (("sensor", "!=", "package"),)  # whose limit is that of the processor's cores
TOP = 10
LIST = 50  # of what should not be


@dataclasses.dataclass(frozen=True)
class Panel:
    title: str
    about: str
    kind: str  # lines, stat, states (0 and 1 over time), table (as of now)
    queries: tuple
    unit: str = ""   # Grafana's; by default after the field's name
    width: int = 8   # of 24
    whole_time: bool = False  # a table of the time shown, not of the last five minutes


@dataclasses.dataclass(frozen=True)
class Dashboard:
    name: str
    title: str
    about: str
    variables: tuple
    rows: tuple  # (title, (panel, ...))


def one(title, about, kind, *queries, **more):
    return Panel(title, about, kind, queries, **more)


def gpu(field, **more):
    return Query("gpu", field, where=WHOLE, **more)


def busy(**more):
    return Query("gpu", "busy_percent", where=NOT_NPUS, **more)


def number_of(field, where=WHOLE, **more):
    """How many GPUs have a flag: of the last gather, not a mean like 1.5."""
    return Query("gpu", field, where=where, during="last", over="sum", **more)


def top(title, about, query, **more):
    """The largest values as of now."""
    return Panel(title, about, "table", (dataclasses.replace(query, top=query.top or TOP),), **more)


def growing(title, about, query, **more):
    """Counters that have grown in the time shown."""
    return Panel(title, about, "table", (dataclasses.replace(query, growth=True, only="> 0", top=LIST),), whole_time=True,
                 **more)


MEMORY = Query("gpu_process", "memory_bytes")
BUSY = Query("gpu_process", "busy_percent")
ERRORS = Query("gpu_error", "count")
JOB = (("job_id", "!=", ""),)
POD = (("pod", "!=", ""),)
BY_JOB, BY_POD = ("host", "job_id"), ("host", "namespace", "pod")
BY_MODEL = ("model",)
PARTS = (("instance", "!=", ""),)  # MIG instances, partitions and virtual functions
NPU = (("driver", "=~", NPUS),)
NPU_POWER = (("domain", "=~", "NPU.*|npu.*|ane"),)  # ane: Apple's neural engine
MEASURED = (("region", "!=", "bar1"),)  # in each gather
ENERGY = Query("gpu_process", "attributed_joules")
WORKING = (("process", "!~", "idle|unattributed"),)  # lines of processes, not what is left

FLEET = Dashboard("fleet", "GPUs: fleet", "All hosts: sums and means by model, and the ten GPUs that stand out.",
                  ("model", "host"), (
    ("Overview", (
        one("GPUs that answer", "GPUs with up = 1.", "stat", number_of("up"), unit="short", width=4),
        one("Power", "Of all GPUs that report it.", "stat", gpu("power_watts", over="sum"), width=4),
        one("Busy", "Mean of the GPUs that are awake and report it; those in MIG mode do not. NPUs are with the engines.", "stat", busy(over="mean"), width=4),
        one("Memory used", "Of all memory of the GPUs that report both.", "stat",
            gpu("memory_used_bytes", percent_of="memory_total_bytes", over="sum"), unit="percent", width=4),
        one("Throttled", "GPUs whose clock a limit holds down.", "stat", number_of("throttled"), unit="short", width=4),
        one("Hosts", "That gtel reports from.", "stat", Query("gtel", "gpus", over="count"), unit="short", width=4),
        one("GPUs by model", "GPUs with up = 1; a step down is a GPU or host that does not report.", "lines",
            number_of("up", by=BY_MODEL), unit="short"),
        one("Busy", "Mean of the GPUs that report it, and the tenth and ninetieth percentile.", "lines",
            busy(over="mean", name="mean"), busy(over="p10", name="10 %"),
            busy(over="p90", name="90 %")),
        one("Busy by model", "Mean.", "lines", busy(over="mean", by=BY_MODEL)),
        top("Busiest hosts", "Mean of their GPUs.", busy(over="mean", by=("host",))),
        top("Busiest GPUs", "", busy()),
        top("Idlest GPUs", "Least busy; a sleeping GPU reports no share and is not here.", busy(top=-TOP)),
    )),
    ("Engines", (
        one("Engine classes", "Mean of all GPUs that have the class.", "lines",
            Query("gpu_engine", "busy_percent", where=NOT_NPUS, over="mean", by=("engine",)), width=12),
        one("Execution units", "Mean share of time in which units of a kind worked.", "lines",
            Query("gpu_activity", "active_percent", where=WHOLE, over="mean", by=("unit",)), width=12),
        one("Devices by driver", "With up = 1. NPUs are those of intel_vpu and amdxdna, Apple's GPUs those of agx.", "lines",
            number_of("up", by=("driver",)), unit="short", width=12),
        one("NPUs", "Mean share of time in which the NPUs of a model worked.", "lines",
            Query("gpu", "busy_percent", where=NPU, over="mean", by=BY_MODEL), width=12),
    )),
    ("Instances: MIG, partitions, virtual functions", (
        one("Instances by model", "With up = 1.", "lines", number_of("up", where=PARTS, by=BY_MODEL),
            unit="short"),
        top("Fullest memory", "", Query("gpu", "memory_used_percent", where=PARTS)),
        top("Busiest instances", "Where the driver reports it; MIG instances have the next list.",
            Query("gpu", "busy_percent", where=PARTS)),
        top("Busiest execution units", "Share of time in which units of a kind worked.",
            Query("gpu_activity", "active_percent", where=PARTS), width=24),
    )),
    ("Memory", (
        one("Memory used by model", "Of the memory of the GPUs that report both.", "lines",
            gpu("memory_used_bytes", percent_of="memory_total_bytes", over="sum", by=BY_MODEL), unit="percent"),
        one("Memory bandwidth by model", "Mean share.", "lines", gpu("memory_bandwidth_percent", over="mean", by=BY_MODEL)),
        top("Fullest memory", "", gpu("memory_used_percent")),
    )),
    ("Power and throttling", (
        one("Power by model", "", "lines", gpu("power_watts", over="sum", by=BY_MODEL)),
        one("Throttled GPUs by model", "A limit of power, current, voltage or temperature holds the clock down.", "lines",
            number_of("throttled", by=BY_MODEL), unit="short"),
        one("Reasons to throttle", "How often each reason is in force; a GPU can have several.", "lines",
            Query("gpu_throttle", "active", where=WHOLE, during="last", over="sum", by=("reason",)), unit="short"),
        top("Longest throttled", "Share of time by reason, where the hardware counts it: MI300 and newer have no flags.",
            Query("gpu_throttle", "active_percent", where=WHOLE), width=24),
        top("Most power by host", "", gpu("power_watts", over="sum", by=("host",))),
        top("Nearest to the power limit", "Power as a share of the limit in force.",
            gpu("power_watts", percent_of="power_limit_watts"), unit="percent"),
        top("Throttled by host", "", dataclasses.replace(number_of("throttled", by=("host",)), only="> 0"), unit="short"),
    )),
    ("Temperature and fans", (
        one("Temperature by model", "The hottest GPU of each model.", "lines",
            gpu("temperature_celsius", over="max", by=BY_MODEL)),
        top("Hottest GPUs", "", gpu("temperature_celsius")),
        top("Nearest to the limit", "Degrees left until the sensor's own limit of normal operation.",
            Query("gpu_temperature_sensor", "celsius", limit="limit_celsius", where=GPU_SENSORS, top=-TOP)),
        top("Nearest to the critical temperature", "Degrees left until the hardware slows down.",
            Query("gpu_temperature_sensor", "celsius", limit="critical_celsius", where=GPU_SENSORS, top=-TOP), width=12),
        top("Fastest fans", "", Query("gpu_fan", "rpm", where=WHOLE), width=12),
    )),
    ("PCIe and fabric", (
        one("PCIe traffic by model", "Received and sent.", "lines",
            gpu("pcie_rx_bytes", rate=True, over="sum", by=BY_MODEL, name="received"),
            gpu("pcie_tx_bytes", rate=True, over="sum", by=BY_MODEL, name="sent")),
        one("Fabric traffic by model", "Over all links to other GPUs.", "lines",
            Query("gpu_fabric", "rx_bytes", where=WHOLE, rate=True, over="sum", by=BY_MODEL, name="received"),
            Query("gpu_fabric", "tx_bytes", where=WHOLE, rate=True, over="sum", by=BY_MODEL, name="sent")),
        top("PCIe links with the fewest lanes", "Of NVIDIA GPUs: lanes as a share of those that GPU and slot have in "
            "common. An idle GPU may give up speed, not lanes.", gpu("pcie_width", percent_of="pcie_highest_width", top=-TOP),
            unit="percent"),
        one("Fabric links that are down", "Links that nothing is connected to are down, too.", "table",
            Query("gpu_fabric", "up", where=WHOLE, only="== 0", top=LIST), unit="short", width=12),
        growing("PCIe packets sent again", "In the time shown.", gpu("pcie_replays"), unit="short", width=12),
    )),
    ("Processes and jobs", (
        top("Most memory", "By process name, container and job, as far as --process-tags asks for them.", MEMORY),
        top("Busiest", "Share of the engine class that the process uses most.", BUSY),
        top("Memory by job", "Needs --process-tags=job_id.",
            dataclasses.replace(MEMORY, where=JOB, over="sum", by=BY_JOB)),
        top("Memory by pod", "Needs --process-tags=pod,namespace.",
            dataclasses.replace(MEMORY, where=POD, over="sum", by=BY_POD)),
        top("Memory by process name", "Over all hosts; other: what has no line of its own.",
            dataclasses.replace(MEMORY, over="sum", by=("process",))),
        growing("Energy by job", "Attributed by busy time, in the time shown. Needs --process-energy=on and "
                "--process-tags=job_id.", dataclasses.replace(ENERGY, where=JOB, over="sum", by=BY_JOB)),
        growing("Energy by pod", "The same, with --process-tags=pod,namespace.",
                dataclasses.replace(ENERGY, where=POD, over="sum", by=BY_POD), width=12),
        growing("Energy by process name", "The same, over all hosts; idle: of no process; unattributed: of processes that "
                "could not be seen.", dataclasses.replace(ENERGY, over="sum", by=("process",)), width=12),
    )),
    ("Health", (
        one("GPUs that do not answer", "up = 0: removed, or it answers nothing.", "table", gpu("up", only="== 0", top=LIST), unit="short"),
        one("Health", "The driver's own verdict: 1 warning, 2 critical.", "table", gpu("health", only="> 0", top=LIST), unit="short"),
        growing("Errors", "Counted in the time shown.", dataclasses.replace(ERRORS, where=WHOLE), unit="short"),
        growing("Resets", "In the time shown.", gpu("resets"), unit="short"),
        growing("Failed readings", "In the time shown.", gpu("readings_failed"), unit="short"),
        one("Asleep", "awake = 0: nothing else is read then, except of Intel's NPUs.", "table", gpu("awake", only="== 0", top=LIST), unit="short"),
    )),
    ("gtel itself", (
        top("Slowest gathers", "", Query("gtel", "gather_seconds")),
        growing("Late helpers", "Gathers in which a helper missed the deadline, in the time shown.",
                Query("gtel", "lanes_late"), unit="short"),
        growing("Failed gathers of a source", "In the time shown.", Query("gtel", "errors"), unit="short"),
        growing("Helpers started again", "In the time shown.", Query("gtel", "lane_restarts"), unit="short"),
        top("Processes that may not be read", "Visible processes without those whose files gtel may read; "
            "CAP_SYS_PTRACE helps.", Query("gtel", "processes_readable", limit="processes_visible"), unit="short"),
        growing("Dropped readings", "Because of a limit, in the time shown.", Query("gtel", "dropped"), unit="short"),
    )),
))

HOST = Dashboard("host", "GPUs: host", "One host or a few, every GPU with all its parts.", ("host", "gpu"), (
    ("Overview", (
        Panel("GPUs", "What they are. In stores of Prometheus' kind this needs telegraf-prometheus.conf.", "table",
              (Table("gpu_info", ("uuid", "pci_id", "profile", "modes", "driver_version", "firmware", "kernel"),
                     ("host", "gpu", "instance", "model"), "info"),), unit="short", width=24, whole_time=True),
        one("Busy", "Share of time in which the GPU worked.", "lines", Query("gpu", "busy_percent")),
        one("Memory used", "", "lines", Query("gpu", "memory_used_percent")),
        one("Power", "", "lines", Query("gpu", "power_watts")),
        one("Temperature", "", "lines", Query("gpu", "temperature_celsius")),
        one("Clock", "Of the graphics domain; 0 while it is stopped.", "lines", Query("gpu", "frequency_mhz", scale=1e6)),
        one("Answers and awake", "A sleeping GPU is not read: its other curves have a gap. Intel's NPUs are read.", "states",
            Query("gpu", "up", during="max", name="up"), Query("gpu", "awake", during="max", name="awake")),
    )),
    ("Engines", (
        one("Engine classes", "Share of time in which the engines of a class worked.", "lines",
            Query("gpu_engine", "busy_percent"), width=12),
        one("Execution units", "Share of time in which units of a kind worked.", "lines",
            Query("gpu_activity", "active_percent"), width=12),
        one("Why execution units wait", "Share of each reason in the stalls.", "lines", Query("gpu_stall", "share_percent")),
        one("Clocks", "", "lines", Query("gpu_frequency_domain", "actual_mhz", scale=1e6)),
        one("Asleep", "Share of time in which a clock domain slept.", "lines", Query("gpu_frequency_domain", "idle_percent")),
        one("NPUs", "Share of time in which an NPU worked. Its clock and memory are with those of the GPUs.", "lines",
            Query("gpu", "busy_percent", where=NPU), width=12),
        one("Power of NPUs", "Also of Apple's neural engine (ane).", "lines",
            Query("gpu_power_domain", "watts", where=NPU_POWER), width=12),
    )),
    ("Instances: MIG, partitions, virtual functions", (
        one("Busy", "Where the driver reports it.", "lines", Query("gpu", "busy_percent", where=PARTS)),
        one("Memory used", "", "lines", Query("gpu", "memory_used_percent", where=PARTS)),
        one("Execution units", "Share of time in which units of a kind worked.", "lines",
            Query("gpu_activity", "active_percent", where=PARTS + (("unit", "=~", "sm|tensor|dram|xcd.*"),))),
    )),
    ("Memory", (
        one("Used", "With the size of each region (dashed).", "lines",
            Query("gpu_memory_region", "used_bytes", where=MEASURED),
            Query("gpu_memory_region", "total_bytes", where=MEASURED, name="size")),
        one("Bandwidth", "Share of time or of peak.", "lines", Query("gpu", "memory_bandwidth_percent"),
            Query("gpu_memory_region", "bandwidth_percent")),
        one("Traffic", "Where the hardware counts it.", "lines",
            Query("gpu_memory_region", "read_bytes", rate=True, name="read"),
            Query("gpu_memory_region", "write_bytes", rate=True, name="written")),
    )),
    ("Power and throttling", (
        one("Power", "With the sustained limit (dashed).", "lines", Query("gpu_power_domain", "watts"),
            Query("gpu_power_domain", "limit_watts", name="limit")),
        one("Power of the limit", "", "lines", Query("gpu", "power_watts", percent_of="power_limit_watts"), unit="percent"),
        one("Power by energy", "The growth of the counter of joules: also what happens between two gathers.", "lines",
            Query("gpu", "energy_joules", rate=True), unit="watt"),
        one("Throttled", "A limit of power, current, voltage or temperature holds the clock down.", "states",
            Query("gpu", "throttled", during="max")),
        one("Reasons", "", "states", Query("gpu_throttle", "active", during="max")),
        one("Share of time throttled", "By reason, where the hardware counts the time.", "lines",
            Query("gpu_throttle", "active_percent"), Query("gpu_throttle", "seconds", rate=True, scale=100), unit="percent"),
    )),
    ("Temperature and fans", (
        one("Sensors", "With the limit of normal operation (dashed), where it is known.", "lines",
            Query("gpu_temperature_sensor", "celsius"), Query("gpu_temperature_sensor", "limit_celsius", name="limit")),
        one("Degrees left", "Until the hardware slows down.", "lines",
            Query("gpu_temperature_sensor", "celsius", limit="critical_celsius")),
        one("Fans", "", "lines", Query("gpu_fan", "rpm")),
        one("Fans, commanded", "", "lines", Query("gpu_fan", "percent"), width=24),
    )),
    ("PCIe and fabric", (
        one("PCIe traffic", "", "lines", Query("gpu", "pcie_rx_bytes", rate=True, name="received"),
            Query("gpu", "pcie_tx_bytes", rate=True, name="sent")),
        one("PCIe link", "Lanes, and generation (dashed). An idle GPU may lower the generation.", "lines",
            Query("gpu", "pcie_width", during="last", name="lanes"),
            Query("gpu", "pcie_gen", during="last", name="generation"), unit="short"),
        one("PCIe packets sent again", "Per second.", "lines", Query("gpu", "pcie_replays", rate=True), unit="short"),
        one("Fabric traffic", "By link to another GPU.", "lines",
            Query("gpu_fabric", "rx_bytes", rate=True, name="received"),
            Query("gpu_fabric", "tx_bytes", rate=True, name="sent")),
        one("Fabric links", "1 while a link is up.", "states", Query("gpu_fabric", "up", during="last")),
        one("Fabric errors", "Per second.", "lines", Query("gpu_fabric", "errors", rate=True), unit="short"),
    )),
    ("Processes and jobs", (
        one("Memory by process", "", "lines", MEMORY),
        one("Busy by process", "Share of the engine class that the process uses most.", "lines", BUSY),
        one("Processes", "That use the GPU and could be seen.", "lines", Query("gpu", "processes", during="last"),
            unit="short"),
        top("Most memory", "other: all processes without a line of their own.", dataclasses.replace(MEMORY, top=20), width=24),
        one("Memory by job", "Needs --process-tags=job_id.", "lines",
            dataclasses.replace(MEMORY, where=JOB, over="sum", by=BY_JOB)),
        one("Memory by pod", "Needs --process-tags=pod,namespace.", "lines",
            dataclasses.replace(MEMORY, where=POD, over="sum", by=BY_POD)),
        one("Power by process", "Attributed by busy time, not measured: needs --process-energy=on.", "lines",
            dataclasses.replace(ENERGY, where=WORKING, rate=True)),
        growing("Energy by job", "Attributed by busy time, in the time shown. Needs --process-energy=on and "
                "--process-tags=job_id.", dataclasses.replace(ENERGY, where=JOB, over="sum", by=BY_JOB)),
        growing("Energy by pod", "The same, with --process-tags=pod,namespace.",
                dataclasses.replace(ENERGY, where=POD, over="sum", by=BY_POD)),
        growing("Energy by process name", "idle: of no process; unattributed: of processes that could not be seen.",
                dataclasses.replace(ENERGY, over="sum", by=("host", "process"))),
    )),
    ("Health", (
        one("Health", "The driver's own verdict: 0 fine, 1 warning, 2 critical.", "lines",
            Query("gpu", "health", during="max"), unit="short"),
        growing("Errors", "Counted in the time shown.", ERRORS, unit="short"),
        one("Error counts", "Since the board was made, the driver was loaded or gtel began: see the metrics.", "lines",
            Query("gpu_error", "count", during="max"), unit="short"),
        one("Memory repair", "1: rows could not be replaced, or will be at the next reset.", "states",
            Query("gpu", "row_remap_failed", during="max", name="failed"),
            Query("gpu", "row_remap_pending", during="max", name="pending")),
        one("Reset needed", "1: the driver says that the GPU works again only after a reset.", "states",
            Query("gpu", "reset_needed", during="max")),
        growing("Failed readings", "In the time shown.", Query("gpu", "readings_failed"), unit="short"),
    )),
    ("gtel itself", (
        one("Time of a gather", "", "lines", Query("gtel", "gather_seconds")),
        one("Memory of gtel", "With its helpers.", "lines", Query("gtel", "rss_bytes")),
        one("Readings", "In a gather.", "lines", Query("gtel", "readings", during="last"), unit="short"),
        one("Late helpers", "Gathers per minute in which a helper missed the deadline.", "lines",
            Query("gtel", "lanes_late", rate=True, scale=60), unit="short"),
        one("Failed gathers of a source", "Per minute.", "lines", Query("gtel", "errors", rate=True, scale=60), unit="short"),
        one("Processes", "Visible, and those whose files gtel may read (dashed).", "lines",
            Query("gtel", "processes_visible", during="last", name="visible"),
            Query("gtel", "processes_readable", during="last", name="readable"), unit="short"),
    )),
))

DASHBOARDS = (FLEET, HOST)
