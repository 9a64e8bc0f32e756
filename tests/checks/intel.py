# SPDX-License-Identifier: MIT
"""The table of Intel GPUs (common/tables/support.def) says what the program does.

Usage: intel.py ROOT

Each measurement and field in the table is in the catalogue, each source is one, and every value of
an Intel GPU in the golden files has its row, with a kernel version where that driver and kind of
GPU has it there, which is not newer than the recorded machine's kernel. What a recorded machine
lacks for the age of its kernel (OLD below) comes with a newer one.
"""

import os
import re
import sys

import tree

sys.path[:0] = [os.path.join(os.path.dirname(__file__), "..", folder)
                for folder in ("e2e", "../contrib/ci")]
import lines  # noqa: E402
import support  # noqa: E402

TABLE = support.PATH
COLUMN = {("i915", True): 0, ("i915", False): 1, ("xe", True): 2, ("xe", False): 3}
METRIC = re.compile(r'GTEL_METRIC\(\w+,\s*(\w+),\s*"(\w+)"')
MEASUREMENT = re.compile(r'GTEL_MEASUREMENT\((\w+),\s*"(\w+)"')
VENDOR = re.compile(r'^\s*\.vendor = "(?:intel|clients)",', re.M)
NAME = re.compile(r'^\s*\.name = "(\w+)",(?=\s*\.lane = "\w+",\s*\.vendor = "(?:intel|clients)")', re.M)
INTEGRATED = "0000:00:02.0"
VERSION = re.compile(r"\b(\d+)\.(\d+)\b")
KERNEL = re.compile(r"^- Kernel: (\d+)\.(\d+)\b", re.M)
# Sources whose values other sources have, too.
OTHER_WAYS = {"busy_files", "drm_clients", "l0metrics", "sysman", "xe_stall"}
# Recorded machine, driver, whether it is in the CPU, and what its kernel is too old for.
OLD = [
    ("i915-gen9", "i915", True, "gpu_throttle", ["active"]),
    ("i915-gen9", "i915", True, "gpu_memory_region", ["total_bytes"]),
    ("i915-gen9", "i915", True, "gpu_frequency_domain", ["punit_requested_mhz"]),
    ("i915-old", "i915", True, "gpu_throttle", ["active"]),
    ("i915-a770-6.8", "i915", False, "gpu", ["temperature_celsius"]),
    ("i915-a770-6.8", "i915", False, "gpu_temperature_sensor", ["celsius"]),
    ("i915-a770-6.8", "i915", False, "gpu_fan", ["rpm"]),
    ("xe-a380", "xe", False, "gpu", ["temperature_celsius"]),
    ("xe-a380", "xe", False, "gpu_temperature_sensor", ["celsius"]),
    ("xe-a380", "xe", False, "gpu_fan", ["rpm"]),
    ("xe-a380", "xe", False, "gpu_engine", ["busy_percent", "capacity"]),
    ("xe-a380", "xe", False, "gpu_power_domain", ["peak_limit_watts"]),
    ("xe-a380", "xe", False, "gpu_frequency_domain", ["power_saving"]),
    ("xe-b580-zero", "xe", False, "gpu", ["power_limit_watts"]),
    ("xe-b580-zero", "xe", False, "gpu_power_domain", ["limit_watts"]),
    ("xe-b580-6.17", "xe", False, "gpu_temperature_sensor", ["limit_celsius", "critical_celsius"]),
    ("xe-b580-6.17", "xe", False, "gpu_temperature_sensor", ["emergency_celsius"]),
    ("xe-b580-6.17", "xe", False, "gpu_frequency_domain", ["power_saving"]),
    ("xe-b580", "xe", False, "gpu", ["health"]),
]
SKIPPED = {"gpu_info", "gtel"}
SKIPPED_FIELDS = {"readings_failed"}


def catalogue(root):
    """Pairs of measurement and field."""
    text = tree.read(root, "common/tables/catalogue.def")
    names = dict(MEASUREMENT.findall(text))
    return {(names[m], field) for m, field in METRIC.findall(text) if m in names}


def intel_sources(root):
    """Names of the sources for Intel GPUs, by their tables."""
    found = set()
    for path in tree.files(root, (".c",), ("common/sources",)):
        text = tree.read(root, path)
        if VENDOR.search(text):
            found |= set(NAME.findall(text))
    return found


def check_rows(rows, known, sources, found):
    """Names in the table; returns {(measurement, field): [rows]}."""
    covered = {}
    named = set()
    for row in rows:
        for field in row.fields:
            pairs = [(m, field) for m in row.measurements if (m, field) in known]
            if not pairs:
                names = ", ".join(row.measurements)
                found.add(TABLE, row.line, f"{field} is not in the catalogue of {names}")
            for pair in pairs:
                covered.setdefault(pair, []).append(row)
        named |= set(row.sources)
        for source in set(row.sources) - sources:
            found.add(TABLE, row.line, f"{source} is no source for Intel GPUs")
    for source in sorted(sources - named):
        found.add(TABLE, 1, f"source {source} has no row in the table")
    return covered


def versions(text):
    """The versions in a cell; 0 for what is there in any, or depends on something else."""
    first = [] if VERSION.match(text) else [(0, 0)]
    return first + [(int(a), int(b)) for a, b in VERSION.findall(text)]


def kernel_of(root, path):
    """The version of a recorded machine's kernel, or None."""
    path = "tests/fixtures/" + os.path.basename(path)[:-3] + ".md"
    match = os.path.exists(os.path.join(root, path)) and KERNEL.search(tree.read(root, path))
    return (int(match[1]), int(match[2])) if match else None


def check_old(root, covered, found):
    """What kernels of recorded machines are too old for comes with newer ones."""
    for name, driver, is_integrated, measurement, fields in OLD:
        column = COLUMN[(driver, is_integrated)]
        kernel = kernel_of(root, name + ".lp")
        golden = lines.points(tree.read(root, f"tests/golden/{name}.lp")).get(measurement, {})
        has = {field for fields in golden.values() for field in fields}
        for field in fields:
            if field in has:
                found.add(f"tests/golden/{name}.lp", 1, f"{measurement} {field} is there")
            for row in covered.get((measurement, field), []):
                if OTHER_WAYS.isdisjoint(row.sources):
                    found_in = versions(row.since[column])
                    since = found_in[0] if found_in[0] > (0, 0) else found_in[-1]
                    if since <= kernel:
                        text = f"{measurement} {field} came after {kernel[0]}.{kernel[1]}: {name}"
                        found.add(TABLE, row.line, text)


def check_golden(root, path, covered, found):
    """Every value of an Intel GPU has a row, with a kernel version that is old enough."""
    kernel = kernel_of(root, path)
    early = set()
    for measurement, points in lines.points(tree.read(root, path)).items():
        for (tags, _), fields in points.items():
            tags = dict(tags)
            column = COLUMN.get((tags.get("driver"), tags.get("gpu") == INTEGRATED))
            if column is None or measurement in SKIPPED:
                continue
            for field in set(fields) - SKIPPED_FIELDS:
                rows = covered.get((measurement, field), [])
                since = [versions(r.since[column])[0] for r in rows if r.since[column] != "no"]
                if kernel and since and min(since) > kernel:
                    early.add(f"{measurement} {field} is there in {path}, with an older kernel")
                if not since:
                    where = "a row" if not rows else f"a version in column {column + 1}"
                    found.add(TABLE, 1, f"{measurement} {field} of {path} needs {where}")
    for text in sorted(early):
        found.add(TABLE, 1, text)


def main():
    root = sys.argv[1]
    found = tree.Findings("intel")
    rows = list(support.rows(root))
    covered = check_rows(rows, catalogue(root), intel_sources(root), found)
    found.checked = len(rows)
    for path in tree.files(root, (".lp",), ("tests/golden",)):
        if not os.path.basename(path).startswith("option-"):  # the same machines, asked otherwise
            check_golden(root, path, covered, found)
    check_old(root, covered, found)
    return found.finish()


if __name__ == "__main__":
    sys.exit(main())
