# SPDX-License-Identifier: MIT
"""The worked examples of CONTRIBUTING.md compile, run and give the output that stands there.

Usage: examples.py ROOT --out FOLDER --cmake CMAKE [--launcher PROGRAM]

A block of code whose first line is ```LANGUAGE file=PATH is that file; with before=TEXT at the end
of that line, it is inserted into the file before the first line that contains TEXT. The blocks are
applied to a copy of what the program is made of, and each recorded machine among them is played.
The lines of a block ```text prints=OPTION are among those that the program prints with that option.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys

import tree

BLOCK = re.compile(r"^( *)```\w+ file=(\S+)(?: before=(.*?))?\n(.*?)^ *```$", re.M | re.S)
PRINTS = re.compile(r"^```text prints=(\S+)\n(.*?)^```$", re.M | re.S)
PARTS = ("CMakeLists.txt", "common", "plugins", "contrib/cmake", "contrib/docs", "SECURITY.md")


def write(path, text):
    """Leaves a file alone that has that text, so that only what changed is built again."""
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            if file.read() == text:
                return
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def originals(root):
    """{path: text} of what the program is made of."""
    paths = [p for p in PARTS if os.path.isfile(os.path.join(root, p))]
    paths += tree.files(root, folders=[p for p in PARTS if p not in paths])
    return {p: tree.read(root, p) for p in paths}


def apply(texts, examples, found):
    for indent, path, before, text in examples:
        text = re.sub(rf"^{indent}", "", text, flags=re.M)
        found.checked += 1
        if not before:
            texts[path] = text
            continue
        lines = texts.get(path, "").splitlines(keepends=True)
        at = next((i for i, line in enumerate(lines) if before in line), None)
        if at is None:
            found.add("CONTRIBUTING.md", 1, f"{path} has no line with: {before}")
        else:
            texts[path] = "".join(lines[:at]) + text + "".join(lines[at:])


def build(arguments, folder):
    """Builds the program of the copy; the text of what went wrong, or nothing."""
    options = ["-DGTEL_TESTS=OFF", "-DGTEL_COLLECTD=OFF", "-DGTEL_WERROR=ON",
               "-DCMAKE_BUILD_TYPE=Debug"]
    if arguments.launcher:
        options.append(f"-DCMAKE_C_COMPILER_LAUNCHER={arguments.launcher}")
    out = os.path.join(arguments.out, "build")
    for command in (["-G", "Ninja", "-S", folder, "-B", out, *options],
                    ["--build", out, "--target", "gtel_program"]):
        done = subprocess.run([arguments.cmake, *command], capture_output=True, text=True,
                              check=False)
        if done.returncode:
            return done.stdout[-4000:] + done.stderr[-2000:]
    return ""


def run(arguments, *options):
    """What the program of the copy prints, without the line about itself."""
    program = os.path.join(arguments.out, "build", "plugins", "gtel")
    done = subprocess.run([program, *options], capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, check=False)
    lines = [line for line in done.stdout.splitlines() if not line.startswith("gtel ")]
    return "".join(line + "\n" for line in lines) + done.stderr


def play(arguments, folder, name):
    machine = os.path.join(folder, "tests", "fixtures", name + ".tree")
    return run(arguments, "--root", machine, "--isolation", "none", "--stepped", "--interval", "1s",
               "--count", "1")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("root")
    parser.add_argument("--out", required=True)
    parser.add_argument("--cmake", required=True)
    parser.add_argument("--launcher")
    arguments = parser.parse_args()
    found = tree.Findings("examples")
    texts = originals(arguments.root)
    document = tree.read(arguments.root, "CONTRIBUTING.md")
    apply(texts, BLOCK.findall(document), found)
    folder = os.path.join(arguments.out, "source")
    shutil.rmtree(os.path.join(folder, "tests"), ignore_errors=True)
    for path, text in texts.items():
        write(os.path.join(folder, path), text)
    problem = "" if found.lines else build(arguments, folder)
    if problem:
        print(problem)
        sys.exit(1)
    names = [p for p in texts if p.startswith("tests/golden/") and not found.lines]
    for path in names:
        name = os.path.basename(path)[: -len(".lp")]
        output = play(arguments, folder, name)
        if output != texts[path]:
            found.add("CONTRIBUTING.md", 1, f"{name} gives\n{output}\nand not\n{texts[path]}")
    for option, text in PRINTS.findall(document) if not found.lines else []:
        output = run(arguments, option).splitlines()
        for line in text.splitlines():
            if line not in output:
                found.add("CONTRIBUTING.md", 1, f"{option} does not print: {line}")
    found.finish()


main()
