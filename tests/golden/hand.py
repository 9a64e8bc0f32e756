# SPDX-License-Identifier: MIT
"""The program's output for a recorded machine is what a person works out from the recorded counters.

    hand.py PROGRAM FOLDER NAME

Runs the program on FOLDER/fixtures/NAME.tree, stepped, and compares with FOLDER/golden/NAME.hand.
Lines of that file:

    # a comment
    run WORD...          more words for the program's command line
    each 600             gathers are so many seconds apart, not one
    complete             each figure of each gather is in the table, but for EXCEPTIONS below; one
                         that is left out is a failure
    gpu 0000:03:00.0     the GPU that the lines below are about; `vf1` behind it: that part of it
    2s POINT FIELD = ARITHMETIC     its value in the gather at 2 s (relative error up to 1e-7)
    2s POINT FIELD absent           the field is not there; `*`: the whole point is not there
    2s POINT FIELD "text"           a text
    1-3,7s POINT FIELD ...          the same for the gathers at 1, 2, 3 and 7 s

POINT is a measurement with the tags that tell its line apart: gpu_engine,engine=render. A tag's value
and FIELD may be several: `{pl1|pl2}` stands for a line with each. ARITHMETIC is made of numbers,
`t` (the gather's second), + - * / ** // and brackets: what the recording says, as it is there.
"""

import ast
import itertools
import operator
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "e2e"))
import lines  # noqa: E402

WALL = 1767225600  # the time of a recorded machine at 0 s, unless it says otherwise
OPERATORS = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Pow: operator.pow,
}
LINE = re.compile(
    r"([-,\d]+)s (\S+) (\S+) (?:= (?P<sum>.+)|(?P<absent>absent)|\"(?P<text>.*)\")$"
)
CHOICE = re.compile(r"\{([^{}]+)\}")
# Figures that no table needs: what the program says about itself, and texts that rarely change.
EXCEPTIONS = {("gtel", "*"), ("gpu_info", "*"), ("gpu", "readings_failed")}
IDENTITY = {"gpu", "instance"}  # tags of every GPU
# What no golden file and no recording has, and still is worth a line that it is absent.
NEVER = {
    ("instance", "bcs9"),
    ("instance", "nvdec2"),
    ("instance", "nvenc0"),
    ("instance", "nvofa1"),
    ("instance", "rcs1"),
    ("reason", "reasons"),
    ("sensor", "vram_ch_12"),
}


def work_out(node, second):
    """The value of an arithmetic expression."""
    if isinstance(node, ast.Expression):
        return work_out(node.body, second)
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
        return node.value
    if isinstance(node, ast.Name) and node.id == "t":
        return second
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
        left = work_out(node.left, second)
        return OPERATORS[type(node.op)](left, work_out(node.right, second))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -work_out(node.operand, second)
    raise ValueError("no arithmetic")


class Expected:
    """One line of the table, at one second."""

    def __init__(self, number, second, point, field, match):
        self.number = number
        self.second = second
        self.measurement, *tags = point.split(",")
        self.tags = dict(tag.split("=", 1) for tag in tags)
        self.field = field
        self.is_absent = match["absent"] is not None
        self.value = match["text"]
        if match["sum"]:
            self.value = work_out(ast.parse(match["sum"], mode="eval"), second)

    def about(self, gpu, instance):
        """Sets the GPU that the line is about."""
        if gpu and self.measurement != "gtel":
            self.tags.setdefault("gpu", gpu)
            if instance:
                self.tags.setdefault("instance", instance)

    def find(self, points):
        """[(key, fields)] of the points that the line is about."""
        return [
            ((self.measurement, tags, time), fields)
            for (tags, time), fields in points.get(self.measurement, {}).items()
            if time == (WALL + self.second) * 10**9
            and set(self.tags.items()) <= set(tags)
            and ("instance" in self.tags) == ("instance" in dict(tags))
        ]

    def wrong(self, points, covered):
        """Why the points do not agree, or None. Adds what the line is about to covered."""
        found = self.find(points)
        if self.is_absent:
            found = [f for _, f in found if self.field == "*" or self.field in f]
            return f"is there: {found[0].get(self.field, found[0])}" if found else None
        if len(found) != 1:
            return f"{len(found)} such lines"
        key, fields = found[0]
        got = fields.get(self.field)
        if got is None:
            return "is not there"
        covered.add((key, self.field))
        if isinstance(self.value, str) or isinstance(got, str):
            return None if got == self.value else f"is {got!r}"
        error = abs(got - self.value)
        return None if error <= 1e-7 * max(1, abs(self.value)) else f"is {got}, not {self.value}"

    def misspelt(self, catalogue, values, recorded):
        """What in the line names nothing that can be, or None."""
        if self.measurement not in catalogue:
            return f"no measurement {self.measurement}"
        tags, fields = catalogue[self.measurement]
        if self.field not in fields and not (self.is_absent and self.field == "*"):
            return f"{self.measurement} has no field {self.field}"
        for tag, value in self.tags.items():
            if tag not in tags | IDENTITY:
                return f"{self.measurement} has no tag {tag}"
            if self.is_absent and (tag, value) not in values | NEVER and value not in recorded:
                return f"neither a golden file nor the recording has {tag}={value}"
        return None


def gathers(text):
    """The seconds that `1-3,7` stands for."""
    ranges = [part.split("-") for part in text.split(",")]
    return [s for r in ranges for s in range(int(r[0]), int(r[-1]) + 1)]


def expand(text):
    """The texts that `{a|b}` stands for."""
    parts = CHOICE.split(text)
    choices = [p.split("|") if i % 2 else [p] for i, p in enumerate(parts)]
    return ["".join(choice) for choice in itertools.product(*choices)]


def read(path):
    """The lines of the table, the words for the program, and whether the table is to be complete."""
    expected, words, is_complete, interval = [], [], False, 1
    gpu = instance = None
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            line = line.split("#")[0].strip()
            match = LINE.match(line)
            if line.startswith("run "):
                words += line.split()[1:]
            elif line.startswith("each "):
                interval = int(line.split()[1])
            elif line == "complete":
                is_complete = True
            elif line.startswith("gpu "):
                gpu, instance = (line.split() + [None])[1:3]
            elif match:
                seconds = gathers(match[1])
                for point, field in itertools.product(expand(match[2]), expand(match[3])):
                    added = [Expected(number, s, point, field, match) for s in seconds]
                    for e in added:
                        e.about(gpu, instance)
                    expected += added
            elif line:
                raise SystemExit(f"{path}:{number}: not understood: {line}")
    return expected, words, is_complete, interval


def run(command):
    done = subprocess.run(
        command, stdout=subprocess.PIPE, encoding="utf-8", timeout=100, check=True
    )
    return done.stdout


def read_catalogue(text):
    """{measurement: (tags, fields)} of what --list-metrics prints."""
    catalogue = {}
    for part in re.split(r"^### ", text, flags=re.M)[1:]:
        names = re.search(r"Tags: (.+)\.$", part, re.M)
        tags = set(re.findall(r"`(\w+)`", names[1])) if names else set()
        fields = set(re.findall(r"^\| `(\w+)` \|", part, re.M))
        catalogue[re.match(r"`(\w+)`", part)[1]] = (tags, fields)
    return catalogue


def known_values(folder):
    """{(tag, value)} of all golden files."""
    values = set()
    for name in os.listdir(folder):
        if name.endswith(".lp"):
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                values |= set(re.findall(r",(\w+)=((?:[^,= \\]|\\.)+)", file.read()))
    return values


def left_out(points, covered, last):
    """{(series, field): [second]} of what no line of the table is about."""
    missing = {}
    for measurement, series in points.items():
        for (tags, time), fields in series.items():
            second = time / 10**9 - WALL
            for field in fields:
                is_exception = not EXCEPTIONS.isdisjoint({(measurement, "*"), (measurement, field)})
                if is_exception and second in range(1, last + 1):
                    continue
                if ((measurement, tags, time), field) not in covered:
                    names = [f"{k}={v}" for k, v in tags if k not in ("driver", "model", "vendor")]
                    missing.setdefault((",".join([measurement] + names), field), []).append(second)
    return missing


def main():
    program, folder, name = sys.argv[1:4]
    golden = os.path.join(folder, "golden")
    path = os.path.join(golden, name + ".hand")
    expected, words, is_complete, interval = read(path)
    last = max(e.second for e in expected)
    command = [program, "--root", os.path.join(folder, "fixtures", name + ".tree")]
    command += ["--isolation", "none", "--stepped", "--interval", f"{interval}s"]
    command += ["--count", str(last // interval)]
    with open(command[2], encoding="utf-8") as file:
        recorded = file.read().split()
    points = lines.points(run(command + words))
    catalogue = read_catalogue(run([program, "--list-metrics"]))
    values = known_values(golden)
    values |= {pair for series in points.values() for tags, _ in series for pair in tags}
    failures = 0
    covered = set()
    for e in expected:
        why = e.misspelt(catalogue, values, recorded) or e.wrong(points, covered)
        if why:
            failures += 1
            print(f"{path}:{e.number}: {e.measurement} {e.tags} {e.field} at {e.second} s {why}")
    missing = left_out(points, covered, last) if is_complete else {}
    for (series, field), seconds in sorted(missing.items()):
        print(f"{path}: nothing about {series} {field} at {', '.join(f'{s:g}' for s in seconds)} s")
    print(f"{len(expected)} values worked out by hand, {failures} differ, {len(missing)} left out")
    return 1 if failures or missing or not expected else 0


if __name__ == "__main__":
    sys.exit(main())
