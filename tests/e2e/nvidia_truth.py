#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares gtel with nvidia-smi on a machine with NVIDIA GPUs, field by field, and what both cost.

    nvidia_truth.py --gtel build/plugins/gtel [--smi nvidia-smi] [--rounds 12] [--cycles 50]
                    [--json FILE] [-- OPTIONS OF gtel]

A gather of gtel is taken before and after each `nvidia-smi -q -x`. A field agrees when the value of
nvidia-smi lies between both of gtel, or beyond them by no more than its own resolution or 2 %. A field
agrees as a whole when it does in most rounds: utilisation and power move between the calls. What one
of the two does not know is no difference when the other does not know it either. Values that are expensive
to ask for are not in each gather: then the last one counts, unless it has moved since ("older").

Prints a table; the last line is a JSON verdict. Exit status 0: agreed, 1: not, 2: could not compare.
"""
import argparse
import json
import os
import re
import resource
import select
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree

MIB = 1 << 20
TOLERANCE = 0.02

# Name, line of gtel (measurement, tags, field), places in the XML whose sum is meant, factor from the
# XML's unit to gtel's, resolution in gtel's unit.
FIELDS = [
    ("memory total", ("gpu", {}, "memory_total_bytes"), ["fb_memory_usage/total"], MIB, MIB),
    ("memory used", ("gpu", {}, "memory_used_bytes"), ["fb_memory_usage/used"], MIB, MIB),
    ("memory reserved", ("gpu_memory_region", {"region": "vram"}, "reserved_bytes"),
     ["fb_memory_usage/reserved"], MIB, MIB),
    ("busy", ("gpu", {}, "busy_percent"), ["utilization/gpu_util"], 1, 1),
    ("memory bandwidth", ("gpu", {}, "memory_bandwidth_percent"), ["utilization/memory_util"], 1, 1),
    ("encode", ("gpu_engine", {"engine": "encode"}, "busy_percent"),
     ["utilization/encoder_util"], 1, 1),
    ("decode", ("gpu_engine", {"engine": "decode"}, "busy_percent"),
     ["utilization/decoder_util"], 1, 1),
    ("jpeg", ("gpu_engine", {"engine": "jpeg"}, "busy_percent"), ["utilization/jpeg_util"], 1, 1),
    ("ofa", ("gpu_engine", {"engine": "ofa"}, "busy_percent"), ["utilization/ofa_util"], 1, 1),
    ("temperature", ("gpu", {}, "temperature_celsius"), ["temperature/gpu_temp"], 1, 1),
    ("memory temperature", ("gpu_temperature_sensor", {"sensor": "memory"}, "celsius"),
     ["temperature/memory_temp"], 1, 1),
    ("margin", ("gpu_temperature_sensor", {"sensor": "gpu"}, "margin_celsius"),
     ["temperature/gpu_temp_tlimit"], 1, 1),
    ("limit margin", ("gpu_temperature_sensor", {"sensor": "gpu"}, "limit_margin_celsius"),
     ["temperature/gpu_temp_max_gpu_tlimit_threshold"], 1, 0),
    ("critical margin", ("gpu_temperature_sensor", {"sensor": "gpu"}, "critical_margin_celsius"),
     ["temperature/gpu_temp_slow_tlimit_threshold"], 1, 0),
    ("emergency margin", ("gpu_temperature_sensor", {"sensor": "gpu"}, "emergency_margin_celsius"),
     ["temperature/gpu_temp_max_tlimit_threshold"], 1, 0),
    ("memory limit margin", ("gpu_temperature_sensor", {"sensor": "memory"}, "limit_margin_celsius"),
     ["temperature/gpu_temp_max_mem_tlimit_threshold"], 1, 0),
    ("limit", ("gpu_temperature_sensor", {"sensor": "gpu"}, "limit_celsius"),
     ["temperature/gpu_temp_max_gpu_threshold"], 1, 0),
    ("critical", ("gpu_temperature_sensor", {"sensor": "gpu"}, "critical_celsius"),
     ["temperature/gpu_temp_slow_threshold"], 1, 0),
    ("emergency", ("gpu_temperature_sensor", {"sensor": "gpu"}, "emergency_celsius"),
     ["temperature/gpu_temp_max_threshold"], 1, 0),
    ("power", ("gpu", {}, "power_watts"),
     ["gpu_power_readings/instant_power_draw|gpu_power_readings/power_draw|power_readings/power_draw"],
     1, 0.5),
    ("memory power", ("gpu_power_domain", {"domain": "memory"}, "watts"),
     ["gpu_memory_power_readings/average_power_draw"], 1, 0.5),
    ("module power", ("gpu_power_domain", {"domain": "module"}, "watts"),
     ["module_power_readings/instant_power_draw"], 1, 0.5),
    ("power limit", ("gpu", {}, "power_limit_watts"),
     ["gpu_power_readings/current_power_limit|gpu_power_readings/power_limit"
      "|power_readings/enforced_power_limit"], 1, 0.01),
    ("graphics clock", ("gpu", {}, "frequency_mhz"), ["clocks/graphics_clock"], 1, 15),
    ("sm clock", ("gpu_frequency_domain", {"domain": "sm"}, "actual_mhz"), ["clocks/sm_clock"], 1, 15),
    ("memory clock", ("gpu_frequency_domain", {"domain": "memory"}, "actual_mhz"),
     ["clocks/mem_clock"], 1, 1),
    ("video clock", ("gpu_frequency_domain", {"domain": "video"}, "actual_mhz"),
     ["clocks/video_clock"], 1, 15),
    ("max graphics clock", ("gpu_frequency_domain", {"domain": "graphics"}, "hardware_max_mhz"),
     ["max_clocks/graphics_clock"], 1, 0),
    ("max sm clock", ("gpu_frequency_domain", {"domain": "sm"}, "hardware_max_mhz"),
     ["max_clocks/sm_clock"], 1, 0),
    ("max memory clock", ("gpu_frequency_domain", {"domain": "memory"}, "hardware_max_mhz"),
     ["max_clocks/mem_clock"], 1, 0),
    ("max video clock", ("gpu_frequency_domain", {"domain": "video"}, "hardware_max_mhz"),
     ["max_clocks/video_clock"], 1, 0),
    ("performance state", ("gpu", {}, "performance_state"), ["performance_state"], 1, 0),
    ("fan", ("gpu_fan", {"fan": "0"}, "percent"), ["fan_speed"], 1, 1),
    ("pcie gen", ("gpu", {}, "pcie_gen"),
     ["pci/pci_gpu_link_info/pcie_gen/current_link_gen"], 1, 0),
    ("pcie width", ("gpu", {}, "pcie_width"),
     ["pci/pci_gpu_link_info/link_widths/current_link_width"], 1, 0),
    ("pcie replays", ("gpu", {}, "pcie_replays"), ["pci/replay_counter"], 1, 0),
    ("remapped corrected", ("gpu_error", {"kind": "remapped_rows", "severity": "corrected"}, "count"),
     ["remapped_rows/remapped_row_corr"], 1, 0),
    ("remapped uncorrected",
     ("gpu_error", {"kind": "remapped_rows", "severity": "uncorrected"}, "count"),
     ["remapped_rows/remapped_row_unc"], 1, 0),
]
GPU = ("gpu", {})
POWER = ("gpu_power_domain", {"domain": "gpu"})
VRAM = ("gpu_memory_region", {"region": "vram"})
BAR1 = ("gpu_memory_region", {"region": "bar1"})
FIELDS += [
    ("average power", POWER + ("average_watts",), ["gpu_power_readings/average_power_draw"], 1, 0.5),
    ("default limit", POWER + ("default_limit_watts",),
     ["gpu_power_readings/default_power_limit"], 1, 0.01),
    ("requested limit", POWER + ("requested_limit_watts",),
     ["gpu_power_readings/requested_power_limit"], 1, 0.01),
    ("min limit", POWER + ("min_limit_watts",), ["gpu_power_readings/min_power_limit"], 1, 0.01),
    ("max limit", POWER + ("max_limit_watts",), ["gpu_power_readings/max_power_limit"], 1, 0.01),
    ("bar1 total", BAR1 + ("total_bytes",), ["bar1_memory_usage/total"], MIB, MIB),
    ("bar1 used", BAR1 + ("used_bytes",), ["bar1_memory_usage/used"], MIB, MIB),
    ("pcie gen max", GPU + ("pcie_highest_gen",), ["pci/pci_gpu_link_info/pcie_gen/max_link_gen"], 1, 0),
    ("pcie width max", GPU + ("pcie_highest_width",),
     ["pci/pci_gpu_link_info/link_widths/max_link_width"], 1, 0),
    ("ecc", GPU + ("ecc_enabled",), ["ecc_mode/current_ecc"], 1, 0),
    ("recovery", GPU + ("recovery_action",), ["gpu_recovery_action"], 1, 0),
    ("remap pending", GPU + ("row_remap_pending",), ["remapped_rows/remapped_row_pending"], 1, 0),
    ("remap failed", GPU + ("row_remap_failed",), ["remapped_rows/remapped_row_failure"], 1, 0),
    ("sram threshold", GPU + ("sram_threshold_exceeded",),
     ["ecc_errors/aggregate/sram_threshold_exceeded"], 1, 0),
    ("channel repair", GPU + ("memory_repair_pending",),
     ["ecc_errors/channel_repair_pending"], 1, 0),
    ("tpc repair", GPU + ("tpc_repair_pending",), ["ecc_errors/tpc_repair_pending"], 1, 0),
    ("encoder sessions", ("gpu_engine", {"engine": "encode"}, "sessions"),
     ["encoder_stats/session_count"], 1, 0),
    ("capture sessions", ("gpu_engine", {"engine": "capture"}, "sessions"),
     ["fbc_stats/session_count"], 1, 0),
]
FIELDS += [
    ("retirement pending", GPU + ("page_retirement_pending",),
     ["retired_pages/pending_retirement|retired_pages/pending_blacklist"], 1, 0),
    ("encoder rate", ("gpu_engine", {"engine": "encode"}, "frames_per_second"),
     ["encoder_stats/average_fps"], 1, 1),
    ("encoder latency", ("gpu_engine", {"engine": "encode"}, "latency_seconds"),
     ["encoder_stats/average_latency"], 1e-6, 1e-6),
    ("module power limit", ("gpu_power_domain", {"domain": "module"}, "limit_watts"),
     ["module_power_readings/current_power_limit"], 1, 0.01),
]
for field, word in (("all", "max"), ("high", "high"), ("partial", "partial"), ("low", "low"),
                    ("no", "none")):
    FIELDS.append(("banks " + word, VRAM + ("banks_%s_spare" % field,),
                   ["remapped_rows/row_remapper_histogram/row_remapper_histogram_" + word], 1, 0))
for kind, path in (("volatile_sram_parity", "volatile/sram_uncorrectable_parity"),
                   ("volatile_sram_secded", "volatile/sram_uncorrectable_secded"),
                   ("aggregate_sram_parity", "aggregate/sram_uncorrectable_parity"),
                   ("aggregate_sram_secded", "aggregate/sram_uncorrectable_secded"),
                   ("volatile_dram", "volatile/dram_uncorrectable"),
                   ("aggregate_dram", "aggregate/dram_uncorrectable"),
                   ("aggregate_sram_l2", "aggregate_uncorrectable_sram_sources/sram_l2"),
                   ("aggregate_sram_sm", "aggregate_uncorrectable_sram_sources/sram_sm"),
                   ("aggregate_sram_mcu", "aggregate_uncorrectable_sram_sources/sram_microcontroller"),
                   ("aggregate_sram_pcie", "aggregate_uncorrectable_sram_sources/sram_pcie"),
                   ("aggregate_sram_other", "aggregate_uncorrectable_sram_sources/sram_other")):
    FIELDS.append(("ecc " + kind, ("gpu_error", {"kind": "ecc_" + kind, "severity": "uncorrected"},
                                   "count"), ["ecc_errors/" + path], 1, 0))
for kind in ("volatile_sram", "volatile_dram", "aggregate_sram", "aggregate_dram"):
    FIELDS.append(("ecc %s corrected" % kind,
                   ("gpu_error", {"kind": "ecc_" + kind, "severity": "corrected"}, "count"),
                   ["ecc_errors/%s_correctable" % kind.replace("_", "/")], 1, 0))
for counter in ("volatile", "aggregate"):
    for severity, word in (("corrected", "correctable"), ("uncorrected", "uncorrectable")):
        places = ["ecc_errors/%s/dram_%s" % (counter, word)]
        if severity == "corrected":
            places.append("ecc_errors/%s/sram_correctable" % counter)
        else:
            places.append("ecc_errors/%s/sram_uncorrectable_parity|ecc_errors/%s/sram_uncorrectable"
                          % (counter, counter))
            places.append("ecc_errors/%s/sram_uncorrectable_secded|-" % counter)
        FIELDS.append(("ecc %s %s" % (counter, severity),
                       ("gpu_error", {"kind": "ecc_" + counter, "severity": severity}, "count"),
                       places, 1, 0))

# Reason in gtel, its name in the XML, and that of its time counter there (microseconds) or "".
REASONS = [
    ("power_cap", "sw_power_cap", "sw_power_cap"),
    ("hw_slowdown", "hw_slowdown", ""),
    ("sw_thermal", "sw_thermal_slowdown", "sw_therm_slowdown"),
    ("hw_thermal", "hw_thermal_slowdown", "hw_therm_slowdown"),
    ("power_brake", "hw_power_brake_slowdown", "hw_power_brake"),
]
for reason, name, counter in REASONS:
    FIELDS.append(("throttle " + reason, ("gpu_throttle", {"reason": reason}, "active"),
                   ["clocks_event_reasons/clocks_event_reason_%s"
                    "|clocks_throttle_reasons/clocks_throttle_reason_%s" % (name, name)], 1, 0))
    if counter:
        FIELDS.append(("throttle time " + reason, ("gpu_throttle", {"reason": reason}, "seconds"),
                       ["clocks_event_reasons_counters/clocks_event_reasons_counters_" + counter],
                       1e-6, 0.01))

TEXTS = [("uuid", "uuid", "uuid"), ("vbios", "firmware", "vbios_version"),
         ("card", "card", "minor_number"), ("architecture", "architecture", "product_architecture"),
         ("gsp firmware", "gsp_firmware", "gsp_firmware_version")]
# What nvidia-smi has a word for where NVML has a number.
WORDS = {"Active": 1, "Not Active": 0, "Enabled": 1, "Disabled": 0, "Yes": 1, "No": 0, "None": 0}
# Of gpu_info.modes: our name, the place in the XML.
MODES = [("persistence", "persistence_mode"), ("compute", "compute_mode"),
         ("mig", "mig_mode/current_mig"), ("virtualization", "gpu_virtualization_mode/virtualization_mode"),
         ("c2c", "c2c_mode")]
MODE_WORDS = {"Enabled": "on", "Disabled": "off", "Default": "default", "Pass-Through": "passthrough",
              "None": "none", "Prohibited": "prohibited", "Exclusive_Process": "exclusive_process"}


def split(text, separator):
    """Splits at a separator that no backslash and no quotes protect."""
    parts, part, quoted, i = [], "", False, 0
    while i < len(text):
        if text[i] == "\\" and i + 1 < len(text):
            part += text[i:i + 2]
            i += 2
            continue
        if text[i] == '"':
            quoted = not quoted
        if text[i] == separator and not quoted:
            parts.append(part)
            part = ""
        else:
            part += text[i]
        i += 1
    return parts + [part]


def plain(text):
    return re.sub(r"\\(.)", r"\1", text)


def parse_line(line):
    """Line protocol to (measurement, tags, fields)."""
    identity, fields, _ = split(line, " ")
    head, *tags = split(identity, ",")
    tags = dict(map(plain, split(tag, "=")) for tag in tags)
    values = {}
    for field in split(fields, ","):
        name, value = split(field, "=")
        if value.startswith('"'):
            values[name] = plain(value[1:-1])
        else:
            values[name] = float(value.rstrip("i"))
    return head, tags, values


class Gathers:
    """The program as Telegraf runs it: a newline in, the lines of one gather out."""

    def __init__(self, command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.rest = b""

    def gather(self, timeout=10.0):
        """(lines, seconds from the newline to the last byte); the program's own line is the last."""
        start = time.monotonic()
        self.process.stdin.write(b"\n")
        self.process.stdin.flush()
        data, self.rest = self.rest, b""
        while not re.search(rb"(^|\n)gtel[, ][^\n]*\n", data):
            left = start + timeout - time.monotonic()
            ready, _, _ = select.select([self.process.stdout], [], [], max(left, 0))
            chunk = os.read(self.process.stdout.fileno(), 1 << 20) if ready else b""
            if not chunk:
                raise RuntimeError("gtel gave no complete gather")
            data += chunk
        took = time.monotonic() - start
        return [parse_line(line) for line in data.decode().splitlines() if line], took

    def cpu(self):
        """Seconds of CPU of the program and its helpers so far."""
        pids, total = [self.process.pid], 0.0
        for name in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open("/proc/%s/stat" % name) as file:
                    if int(file.read().rpartition(")")[2].split()[1]) == self.process.pid:
                        pids.append(int(name))
            except OSError:
                continue
        for pid in pids:
            total += cpu_of(pid)
        return total

    def close(self):
        self.process.stdin.close()
        self.process.wait(timeout=10)


def cpu_of(pid):
    """CPU seconds of all threads: the scheduler's nanoseconds, else ticks."""
    try:
        total = 0
        for thread in os.listdir("/proc/%d/task" % pid):
            with open("/proc/%d/task/%s/schedstat" % (pid, thread)) as file:
                total += int(file.read().split()[0])
        return total / 1e9
    except (OSError, IndexError, ValueError):
        pass
    try:
        with open("/proc/%d/stat" % pid) as file:
            words = file.read().rpartition(")")[2].split()
        return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")
    except OSError:
        return 0.0


def smi_xml(command):
    """(root, wall seconds, CPU seconds)"""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    text = subprocess.run(command, stdout=subprocess.PIPE, timeout=60, check=True).stdout
    took, after = time.monotonic() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return ElementTree.fromstring(text), took, cpu


def gpu_key(element):
    """00000000:19:00.0 to 0000:19:00.0"""
    domain, rest = element.get("id").lower().split(":", 1)
    return "%04x:%s" % (int(domain, 16), rest)


def smi_number(element, place):
    """The number at the first of the places (separated by |) that has one, else None."""
    for path in place.split("|"):
        text = element.findtext(path) if path != "-" else "0"
        if text is None:
            continue
        if text in WORDS:
            return float(WORDS[text])
        match = re.match(r"P?(-?[0-9.]+)", text.strip())
        if match:
            return float(match.group(1))
    return None


def smi_value(element, places, factor):
    numbers = [smi_number(element, place) for place in places]
    return None if None in numbers else sum(numbers) * factor


def gtel_value(lines, gpu, where):
    measurement, tags, field = where
    for head, have, values in lines:
        if head == measurement and have.get("gpu") == gpu and "instance" not in have and \
                all(have.get(key) == value for key, value in tags.items()) and field in values:
            return values[field]
    return None


def agrees(before, after, smi, resolution):
    slack = max(resolution, abs(smi) * TOLERANCE) + 1e-6
    return min(before, after) - slack <= smi <= max(before, after) + slack


class Table:
    def __init__(self):
        self.rows = {}

    def add(self, gpu, name, ours, theirs, verdict):
        row = self.rows.setdefault((gpu, name), {"yes": 0, "no": 0, "verdict": verdict})
        row["ours"], row["theirs"] = ours, theirs
        row["verdict"] = verdict if verdict not in ("yes", "no") else row["verdict"]
        if verdict in ("yes", "no"):
            row[verdict] += 1
            row["verdict"] = "yes" if row["yes"] > row["no"] else "no"

    def show(self):
        print("%-14s %-26s %18s %18s  %s" % ("gpu", "field", "gtel", "nvidia-smi", "agrees"))
        for (gpu, name), row in self.rows.items():
            count = " (%d of %d)" % (row["yes"], row["yes"] + row["no"]) if row["no"] else ""
            print("%-14s %-26s %18s %18s  %s%s"
                  % (gpu, name, row["ours"], row["theirs"], row["verdict"], count))

    def named(self, verdict):
        return ["%s %s" % key for key, row in self.rows.items() if row["verdict"] == verdict]


def compare(table, root, before, after, earlier=()):
    """earlier: the lines of all gathers before, the latest first."""
    for element in root.iter("gpu"):
        gpu = gpu_key(element)
        for name, where, places, factor, resolution in FIELDS:
            smi = smi_value(element, places, factor)
            one, two = gtel_value(before, gpu, where), gtel_value(after, gpu, where)
            if name == "encoder latency" and smi == 0:
                smi = None  # of no frame
            if smi is None and two is None:
                continue
            if smi is None:
                table.add(gpu, name, two, "-", "only gtel")
            elif one is None or two is None:
                last = gtel_value(after + before + list(earlier), gpu, where)
                if last is None:
                    table.add(gpu, name, "-", smi, "missing")
                else:
                    table.add(gpu, name, last, smi,
                              "yes" if agrees(last, last, smi, resolution) else "older")
            else:
                table.add(gpu, name, two, smi, "yes" if agrees(one, two, smi, resolution) else "no")


def compare_texts(table, root, lines):
    for element in root.iter("gpu"):
        gpu = gpu_key(element)
        model = [tags.get("model") for head, tags, _ in lines if tags.get("gpu") == gpu]
        name = element.findtext("product_name")
        table.add(gpu, "model", model[0] if model else "-", name,
                  "yes" if model and model[0] == name else "no")
        pairs = [(field, element.findtext(path)) for _, field, path in TEXTS]
        pairs.append(("driver_version", root.findtext("driver_version")))
        pairs.append(("cuda_version", root.findtext("cuda_version")))
        for field, smi in pairs:
            ours = gtel_value(lines, gpu, ("gpu_info", {}, field))
            if field == "card" and smi not in (None, "N/A"):
                smi = "nvidia" + smi
            if ours is not None or smi not in (None, "N/A"):
                table.add(gpu, field, ours, smi, "yes" if ours == smi else "no")


def compare_modes(table, root, lines):
    for element in root.iter("gpu"):
        gpu = gpu_key(element)
        now, next_one = (smi_number(element, "ecc_mode/" + when) for when in ("current_ecc", "pending_ecc"))
        pending = gtel_value(lines, gpu, GPU + ("ecc_pending",))
        if now is not None or pending is not None:
            table.add(gpu, "ecc pending", pending, f"{now} {next_one}", "yes" if pending == (now != next_one) else "no")
        ours = gtel_value(lines, gpu, ("gpu_info", {}, "modes")) or ""
        have = dict(word.split("=", 1) for word in ours.split())
        for name, place in MODES:
            smi = element.findtext(place)
            smi = None if smi in (None, "N/A") else MODE_WORDS.get(smi, smi)
            if have.get(name) is not None or smi is not None:
                table.add(gpu, "mode " + name, have.get(name), smi,
                          "yes" if have.get(name) == smi else "no")


def compare_processes(table, root, lines):
    """Their number, and the memory of all of one name. nvidia-smi says MiB, rounded down."""
    for element in root.iter("gpu"):
        gpu, smi, ours = gpu_key(element), {}, {}
        found = {p.findtext("pid"): p for p in element.iter("process_info")}
        for process in found.values():
            # The kernel's name of a process has 15 bytes; nvidia-smi shows the path of the program.
            name = os.path.basename(process.findtext("process_name").split(" ")[0])[:15]
            number = re.match(r"([0-9]+) MiB", process.findtext("used_memory"))
            smi.setdefault(name, []).append(int(number.group(1)) if number else 0)
        for head, tags, values in lines:
            if head == "gpu_process" and tags.get("gpu") == gpu and "memory_bytes" in values:
                ours[tags["process"]] = ours.get(tags["process"], 0) + values["memory_bytes"] / MIB
        table.add(gpu, "processes", gtel_value(lines, gpu, ("gpu", {}, "processes")), len(found),
                  "yes" if (gtel_value(lines, gpu, ("gpu", {}, "processes")) or 0) == len(found) else "no")
        for name, memory in smi.items():
            agreed = name in ours and sum(memory) <= ours[name] < sum(memory) + len(memory)
            table.add(gpu, "memory of " + name, ours.get(name), sum(memory), "yes" if agreed else "no")


def link_texts(smi, option):
    """nvidia-smi nvlink: a dictionary of GPU (by its place) to its lines, or nothing."""
    done = subprocess.run([smi, "nvlink"] + option, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          timeout=60, check=False)
    gpus = []
    for line in done.stdout.decode(errors="replace").splitlines():
        if line.startswith("GPU "):
            gpus.append([])
        elif gpus:
            gpus[-1].append(line)
    return gpus


def compare_links(table, smi, root, lines):
    """Payload of all links (KiB there), how many are up, errors of all."""
    data, state, errors = (link_texts(smi, o) for o in (["-gt", "d"], ["-s"], ["-e"]))
    for i, element in enumerate(root.iter("gpu")):
        gpu = gpu_key(element)

        def total(texts, pattern):
            text = "\n".join(texts[i]) if i < len(texts) else ""
            numbers = re.findall(pattern, text)
            return sum(map(int, numbers)) if numbers else None

        # Of several gathers the last.
        ours = list({tags["link"]: values for head, tags, values in lines
                     if head == "gpu_fabric" and tags.get("gpu") == gpu}.values())
        rows = [("links tx", gtel_value(lines, gpu, GPU + ("links_tx_bytes",)),
                 total(data, r"Data Tx: ([0-9]+) KiB"), 1024),
                ("links rx", gtel_value(lines, gpu, GPU + ("links_rx_bytes",)),
                 total(data, r"Data Rx: ([0-9]+) KiB"), 1024)]
        if i < len(state):
            up = sum("GB/s" in line for line in state[i])
            known = [values["up"] for values in ours if "up" in values]
            rows.append(("links up", sum(known) if known else None, up if up or known else None, 1))
        for field, word in (("replays", "Replay"), ("recoveries", "Recovery")):
            known = [values[field] for values in ours if field in values]
            rows.append(("link " + field, sum(known) if known else None,
                         total(errors, word + r" Errors?: ([0-9]+)"), 1))
        for name, one, two, factor in rows:
            if one is None and two is None:
                continue
            verdict = "missing" if one is None else "only gtel" if two is None else \
                "yes" if agrees(one, one, two * factor, 0) else "no"
            table.add(gpu, name, one, None if two is None else two * factor, verdict)


def energy_check(table, first, last, seconds):
    """Mean power from the energy counter, to compare with the power shown."""
    for head, tags, values in last:
        if head != "gpu" or "energy_joules" not in values or "power_watts" not in values:
            continue
        start = gtel_value(first, tags["gpu"], ("gpu", {}, "energy_joules"))
        if start is None or seconds < 1:
            continue
        mean = (values["energy_joules"] - start) / seconds
        table.add(tags["gpu"], "mean power from energy", round(mean, 2), values["power_watts"],
                  "shown only")


def measure(gathers, smi_command, cycles):
    """What a steady cycle costs beside one nvidia-smi -q -x."""
    gathers.gather()
    walls, used = [], []
    for _ in range(cycles):
        before = gathers.cpu()
        walls.append(gathers.gather()[1])
        used.append(gathers.cpu() - before)
        time.sleep(0.1)
    cpu = sum(used)
    used.sort()
    runs = [smi_xml(smi_command)[1:] for _ in range(3)]
    walls.sort()
    return {"cycles": cycles,
            "gtel_wall_ms_median": round(walls[len(walls) // 2] * 1e3, 3),
            "gtel_wall_ms_9_of_10": round(walls[len(walls) * 9 // 10] * 1e3, 3),
            "gtel_wall_ms_max": round(walls[-1] * 1e3, 3),
            "gtel_cpu_ms_9_of_10": round(used[len(used) * 9 // 10] * 1e3, 3),
            "gtel_cpu_ms_per_cycle": round(cpu / cycles * 1e3, 3),
            "smi_wall_ms": round(min(run[0] for run in runs) * 1e3, 1),
            "smi_cpu_ms": round(min(run[1] for run in runs) * 1e3, 1)}


def once(command):
    """What `gtel --once` says; the same fields must be there as in the loop."""
    text = subprocess.run(command + ["--once"], stdout=subprocess.PIPE, timeout=60, check=True).stdout
    return [parse_line(line) for line in text.decode().splitlines() if line]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--gtel", default="gtel")
    parser.add_argument("--smi", default="nvidia-smi")
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--cycles", type=int, default=50)
    parser.add_argument("--json", help="also write the verdict to this file")
    parser.add_argument("rest", nargs="*", help="further options of gtel, after --")
    args = parser.parse_args()
    command, smi_command, table = [args.gtel] + args.rest, [args.smi, "-q", "-x"], Table()
    gathers = None
    try:
        single = once(command)
        compare(table, smi_xml(smi_command)[0], single, single)
        table_once, table = table, Table()
        gathers = Gathers(command)
        first, start = gathers.gather()[0], time.monotonic()
        info = first
        time.sleep(1)
        for _ in range(args.rounds):
            before = gathers.gather()[0]
            root = smi_xml(smi_command)[0]
            after = gathers.gather()[0]
            compare(table, root, before, after, info)
            info = after + before + info
            time.sleep(1)
        energy_check(table, first, after, time.monotonic() - start - 1)
        compare_texts(table, root, info)
        compare_modes(table, root, info)
        compare_processes(table, root, after)
        compare_links(table, args.smi, root, info)
        timing = measure(gathers, smi_command, args.cycles)
        gathers.close()
    except (OSError, RuntimeError, ValueError, subprocess.SubprocessError,
            ElementTree.ParseError) as error:
        if gathers:
            gathers.process.kill()
        print("could not compare: %s" % error, file=sys.stderr)
        return 2
    table.show()
    print("%s" % json.dumps(timing, indent=2))
    bad = table.named("no") + table.named("missing")
    verdict = {"ok": not bad, "gpus": len({gpu for gpu, _ in table.rows}),
               "agreed": len(table.named("yes")), "differ": table.named("no"),
               "missing": table.named("missing"), "only_gtel": table.named("only gtel"),
               "missing_in_once": table_once.named("missing"), "timing": timing}
    verdict["older"] = table.named("older")
    verdict["ok"] = verdict["ok"] and verdict["agreed"] > 0
    text = json.dumps(verdict)
    print(text)
    if args.json:
        with open(args.json, "w") as file:
            file.write(text + "\n")
    return 0 if verdict["ok"] else 1


if __name__ == "__main__":
    sys.exit(main())
