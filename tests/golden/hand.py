# SPDX-License-Identifier: MIT
"""The program's output for a recorded machine is what a person works out from the recorded counters.

    hand.py PROGRAM FOLDER NAME

Runs the program on FOLDER/fixtures/NAME.tree, stepped, and compares with FOLDER/golden/NAME.hand.
Lines of that file:

    # a comment
    run WORD...          more words for the program's command line
    gpu 0000:03:00.0     the GPU that the lines below are about; `vf1` behind it: that part of it
    2s POINT FIELD = ARITHMETIC     its value in the gather at 2 s (relative error up to 1e-7)
    2s POINT FIELD absent           the field is not there; `*`: the whole point is not there
    2s POINT FIELD "text"           a text

POINT is a measurement with the tags that tell its line apart: gpu_engine,engine=render. ARITHMETIC
is made of numbers, + - * / ** and brackets: what the recording says, as it is there.
"""

import ast
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
    ast.Pow: operator.pow,
}
LINE = re.compile(r"(\d+)s (\S+) (\S+) (?:= (?P<sum>.+)|(?P<absent>absent)|\"(?P<text>.*)\")$")


def work_out(node):
    """The value of an arithmetic expression."""
    if isinstance(node, ast.Expression):
        return work_out(node.body)
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
        return node.value
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
        return OPERATORS[type(node.op)](work_out(node.left), work_out(node.right))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -work_out(node.operand)
    raise ValueError("no arithmetic")


class Expected:
    """One line of the table."""

    def __init__(self, number, gpu, instance, match):
        self.number = number
        self.second = int(match[1])
        self.measurement, *tags = match[2].split(",")
        self.tags = dict(tag.split("=", 1) for tag in tags)
        if gpu and self.measurement != "gtel":
            self.tags.setdefault("gpu", gpu)
            if instance:
                self.tags.setdefault("instance", instance)
        self.field = match[3]
        self.is_absent = match["absent"] is not None
        self.value = match["text"]
        if match["sum"]:
            self.value = work_out(ast.parse(match["sum"], mode="eval"))

    def wrong(self, points):
        """Why the points do not agree, or None."""
        found = [
            fields
            for (tags, time), fields in points.get(self.measurement, {}).items()
            if time == (WALL + self.second) * 10**9
            and set(self.tags.items()) <= set(tags)
            and ("instance" in self.tags) == ("instance" in dict(tags))
        ]
        if self.is_absent:
            found = [f for f in found if self.field == "*" or self.field in f]
            return f"is there: {found[0].get(self.field, found[0])}" if found else None
        if len(found) != 1:
            return f"{len(found)} such lines"
        got = found[0].get(self.field)
        if got is None:
            return "is not there"
        if isinstance(self.value, str) or isinstance(got, str):
            return None if got == self.value else f"is {got!r}"
        error = abs(got - self.value)
        return None if error <= 1e-7 * max(1, abs(self.value)) else f"is {got}, not {self.value}"


def read(path):
    """The lines of the table, and the words for the program."""
    expected = []
    words = []
    gpu = instance = None
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            line = line.split("#")[0].strip()
            match = LINE.match(line)
            if line.startswith("run "):
                words += line.split()[1:]
            elif line.startswith("gpu "):
                gpu, instance = (line.split() + [None])[1:3]
            elif match:
                expected.append(Expected(number, gpu, instance, match))
            elif line:
                raise SystemExit(f"{path}:{number}: not understood: {line}")
    return expected, words


def main():
    program, folder, name = sys.argv[1:4]
    path = os.path.join(folder, "golden", name + ".hand")
    expected, words = read(path)
    count = max(e.second for e in expected)
    command = [program, "--root", os.path.join(folder, "fixtures", name + ".tree")]
    command += ["--isolation", "none", "--stepped", "--interval", "1s", "--count", str(count)]
    done = subprocess.run(
        command + words, stdout=subprocess.PIPE, encoding="utf-8", timeout=100, check=True
    )
    points = lines.points(done.stdout)
    failures = 0
    for e in expected:
        why = e.wrong(points)
        if why:
            failures += 1
            print(f"{path}:{e.number}: {e.measurement} {e.tags} {e.field} at {e.second} s {why}")
    print(f"{len(expected)} values worked out by hand, {failures} differ")
    return 1 if failures or not expected else 0


if __name__ == "__main__":
    sys.exit(main())
