# SPDX-License-Identifier: MIT
"""The README's table of Intel GPUs says what the program does.

Usage: intel.py ROOT

Each measurement and field in the table is in the catalogue, each source is one, and every figure of
an Intel GPU in the golden files has its row, with a kernel version where that driver and kind of
GPU has it there, which is not newer than the recorded machine's kernel. What a recorded machine
lacks for the age of its kernel (OLD below) comes with a newer one.
"""

import os
import re
import sys

import tree

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "e2e"))
import lines  # noqa: E402

HEAD = "| measurement | fields | i915, in the CPU | i915, card | xe, in the CPU | xe, card |"
COLUMN = {("i915", True): 2, ("i915", False): 3, ("xe", True): 4, ("xe", False): 5}
WORD = re.compile(r"`([^`]+)`")
METRIC = re.compile(r'GTEL_METRIC\(\w+,\s*(\w+),\s*"(\w+)"')
MEASUREMENT = re.compile(r'GTEL_MEASUREMENT\((\w+),\s*"(\w+)"')
NAME = re.compile(r'^\s*\.name = "(\w+)",', re.M)
VENDOR = re.compile(r'^\s*\.vendor = "(?:intel|clients)",', re.M)
INTEGRATED = "0000:00:02.0"
VERSION = re.compile(r"\b(\d+)\.(\d+)\b")
KERNEL = re.compile(r"^- Kernel: (\d+)\.(\d+)\b", re.M)
# Cells that stand for another one: of the same row by its column, or of the row before.
SAME_AS = {"as in the CPU": -1, "as with i915": -2}
OTHER_WAYS = {"busy_files", "drm_clients", "l0metrics", "sysman", "xe_stall"}  # sources whose figures other sources have, too
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
LEFT_OUT = {"gpu_info", "gtel"}
LEFT_OUT_FIELDS = {"readings_failed"}


def table_rows(readme):
    """(line number, cells) of each row."""
    rows = []
    is_inside = False
    for number, line in enumerate(readme.split("\n"), 1):
        is_inside = is_inside and line.startswith("|") or line.startswith(HEAD)
        cells = [c.strip() for c in line.strip("|").split("|")]
        if is_inside and not line.startswith((HEAD, "|---")):
            rows.append((number, cells))
    return rows


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
    """Names in the table; returns {(measurement, field): [cells]}."""
    covered = {}
    named = set()
    for number, cells in rows:
        if len(cells) != 8:
            found.add("README.md", number, f"{len(cells)} cells, not 8")
            continue
        for field in WORD.findall(cells[1]):
            pairs = [(m, field) for m in WORD.findall(cells[0]) if (m, field) in known]
            if not pairs:
                found.add("README.md", number, f"{field} is not in the catalogue of {cells[0]}")
            for pair in pairs:
                covered.setdefault(pair, []).append(cells)
        for source in WORD.findall(cells[7]):
            named.add(source)
            if source not in sources:
                found.add("README.md", number, f"{source} is no source for Intel GPUs")
    for source in sorted(sources - named):
        found.add("README.md", rows[0][0], f"source {source} has no row in the table")
    return covered


def cell_of(rows, cells, column):
    """The text of a cell, or of the one that it stands for."""
    text = cells[column]
    if text in SAME_AS:
        return cell_of(rows, cells, column + SAME_AS[text])
    if text == "as above":
        before = [c for _, c in rows][[c for _, c in rows].index(cells) - 1]
        return cell_of(rows, before, column)
    return text


def versions(text):
    """The versions in a cell; 0 for what is there in any, or depends on something else."""
    first = [] if VERSION.match(text) else [(0, 0)]
    return first + [(int(a), int(b)) for a, b in VERSION.findall(text)]


def kernel_of(root, path):
    """The version of a recorded machine's kernel, or None."""
    path = "tests/fixtures/" + os.path.basename(path)[:-3] + ".md"
    match = os.path.exists(os.path.join(root, path)) and KERNEL.search(tree.read(root, path))
    return (int(match[1]), int(match[2])) if match else None


def check_old(root, rows, covered, found):
    """What kernels of recorded machines are too old for comes with newer ones."""
    for name, driver, is_integrated, measurement, fields in OLD:
        column = COLUMN[(driver, is_integrated)]
        kernel = kernel_of(root, name + ".lp")
        golden = lines.points(tree.read(root, f"tests/golden/{name}.lp")).get(measurement, {})
        has = {field for fields in golden.values() for field in fields}
        for field in fields:
            if field in has:
                found.add(f"tests/golden/{name}.lp", 1, f"{measurement} {field} is there")
            for cells in covered.get((measurement, field), []):
                if OTHER_WAYS.isdisjoint(WORD.findall(cells[7])):
                    found_in = versions(cell_of(rows, cells, column))
                    since = found_in[0] if found_in[0] > (0, 0) else found_in[-1]
                    if since <= kernel:
                        text = f"{measurement} {field} came after {kernel[0]}.{kernel[1]}: {name}"
                        found.add("README.md", 1, text)


def check_golden(root, path, rows, covered, found):
    """Every figure of an Intel GPU has a row, with a kernel version that is old enough."""
    kernel = kernel_of(root, path)
    early = set()
    for measurement, points in lines.points(tree.read(root, path)).items():
        for (tags, _), fields in points.items():
            tags = dict(tags)
            column = COLUMN.get((tags.get("driver"), tags.get("gpu") == INTEGRATED))
            if column is None or measurement in LEFT_OUT:
                continue
            for field in set(fields) - LEFT_OUT_FIELDS:
                cells = covered.get((measurement, field), [])
                since = [versions(cell_of(rows, c, column))[0] for c in cells if c[column] != "no"]
                if kernel and since and min(since) > kernel:
                    early.add(f"{measurement} {field} is there in {path}, with an older kernel")
                if all(c[column] == "no" for c in cells):
                    where = "a row" if not cells else f"a version in column {column + 1}"
                    found.add("README.md", 1, f"{measurement} {field} of {path} needs {where}")
                    covered[(measurement, field)] = [[""] * 8]
    for text in sorted(early):
        found.add("README.md", 1, text)


def main():
    root = sys.argv[1]
    found = tree.Findings("intel")
    rows = table_rows(tree.read(root, "README.md"))
    if not rows:
        found.add("README.md", 1, "the table of Intel GPUs is not there")
        return found.finish()
    covered = check_rows(rows, catalogue(root), intel_sources(root), found)
    found.checked = len(rows)
    for path in tree.files(root, (".lp",), ("tests/golden",)):
        check_golden(root, path, rows, covered, found)
    check_old(root, rows, covered, found)
    return found.finish()


if __name__ == "__main__":
    sys.exit(main())
