# SPDX-License-Identifier: MIT
"""The README's table of Intel GPUs says what the program does.

Usage: intel.py ROOT

Each measurement and field in the table is in the catalogue, each source is one, and every figure of
an Intel GPU in the golden files has its row, with a kernel version where that driver and kind of GPU
has it there.
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


def check_golden(root, path, covered, found):
    """Every figure of an Intel GPU has a row, and that row does not say `no`."""
    for measurement, points in lines.points(tree.read(root, path)).items():
        for (tags, _), fields in points.items():
            tags = dict(tags)
            column = COLUMN.get((tags.get("driver"), tags.get("gpu") == INTEGRATED))
            if column is None or measurement in LEFT_OUT:
                continue
            for field in set(fields) - LEFT_OUT_FIELDS:
                cells = covered.get((measurement, field), [])
                if all(c[column] == "no" for c in cells):
                    where = "a row" if not cells else f"a version in column {column + 1}"
                    found.add("README.md", 1, f"{measurement} {field} of {path} needs {where}")
                    covered[(measurement, field)] = [[""] * 8]


def main():
    root = sys.argv[1]
    found = tree.Findings("intel")
    rows = table_rows(tree.read(root, "README.md"))
    if not rows:
        found.add("README.md", 1, "the table of Intel GPUs is not there")
        return found.finish()
    covered = check_rows(rows, catalogue(root), intel_sources(root), found)
    found.looked_at = len(rows)
    for path in tree.files(root, (".lp",), ("tests/golden",)):
        check_golden(root, path, covered, found)
    return found.finish()


if __name__ == "__main__":
    sys.exit(main())
