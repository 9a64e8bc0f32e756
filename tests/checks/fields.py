# SPDX-License-Identifier: MIT
"""The tables of other tools' values (contrib/docs/nvidia.md) name fields and tags that exist.

Usage: fields.py ROOT --gtel PROGRAM

Each `measurement.field` must be in the catalogue, each `tag=value` must be a tag of a measurement in its row
and a value that the source of NVIDIA GPUs or one of the expected outputs has. A row without a field
gives a reason. No name of theirs comes twice.
"""

import argparse
import glob
import os
import re
import subprocess

DOCUMENT = "contrib/docs/nvidia.md"
FIELD = re.compile(r"`(\w+)\.(\w+)`")
TAG = re.compile(r"`(\w+)=(\w+)`")
MODES = "gpu_info.modes"


def catalogue(program):
    """The fields as measurement.field, and the tags of each measurement."""
    text = subprocess.run([program, "--list-metrics"], check=True, capture_output=True, text=True,
                          stdin=subprocess.DEVNULL).stdout
    fields, tags, measurement = set(), {}, None
    for line in text.splitlines():
        if line.startswith("### "):
            measurement = line[4:].strip("` ")
            tags[measurement] = set()
        elif line.startswith("| `"):
            fields.add(f"{measurement}.{line.split('`')[1]}")
        elif "Tags: " in line or "Tag: " in line:
            tags[measurement] |= set(re.findall(r"`(\w+)`", line))
    return fields, tags


def known_values(root):
    """Words that the source of NVIDIA GPUs or an expected output has."""
    text = ""
    for pattern in ("common/sources/nvidia/*.c", "tests/golden/*.lp"):
        for path in sorted(glob.glob(os.path.join(root, pattern))):
            with open(path, encoding="utf-8") as file:
                text += file.read()
    return set(re.findall(r'"(\w+)"', text)), set(re.findall(r"\b(\w+=\w+)\b", text))


def rows(root):
    with open(os.path.join(root, DOCUMENT), encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            cells = [c.strip() for c in line.strip().strip("|").split(" | ")]
            if line.startswith("| ") and "ours" not in cells:
                yield number, cells


def findings(root, program):
    fields, tags = catalogue(program)
    words, pairs = known_values(root)
    seen, count = set(), 0
    for number, cells in rows(root):
        count += 1
        if len(cells) != 3:
            yield number, f"{len(cells)} cells, not 3"
            continue
        theirs, ours, remark = cells
        if theirs in seen:
            yield number, f"{theirs}: twice"
        seen.add(theirs)
        named = [".".join(m) for m in FIELD.findall(ours + remark) if m[1] != "md"]
        for name in named:
            if name not in fields:
                yield number, f"{name}: no field of the catalogue"
        if not FIELD.search(ours) and not remark:
            yield number, f"{theirs}: neither a field nor a reason"
        for tag, value in TAG.findall(remark):
            if MODES in named:
                known = f"{tag}={value}" in pairs
            elif FIELD.search(ours):
                known = any(tag in tags[n.split(".")[0]] for n in named)
                known = known and (value in words or f"{tag}={value}" in pairs)
            else:
                known = value in words
            if not known:
                yield number, f"{tag}={value}: no such tag or value"
    if count < 80:
        yield 0, f"{count} rows were found, at least 80 are there"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("root")
    parser.add_argument("--gtel", required=True)
    arguments = parser.parse_args()
    found = list(findings(arguments.root, arguments.gtel))
    for number, text in found:
        print(f"{DOCUMENT}:{number}: {text}")
    print(f"fields: {len(found)} findings")
    return 1 if found else 0


if __name__ == "__main__":
    raise SystemExit(main())
