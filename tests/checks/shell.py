# SPDX-License-Identifier: MIT
"""Shell scripts pass shellcheck, also those that the program prints; scripts to start have the bit
for it.

Usage: shell.py ROOT --tool SHELLCHECK
"""

import argparse
import os
import subprocess

import tree


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("root")
    parser.add_argument("--tool", required=True)
    arguments = parser.parse_args()
    found = tree.Findings("shell")
    for path in tree.files(arguments.root):
        if tree.is_corpus(path):
            continue
        first = tree.read(arguments.root, path)[:64].split("\n")[0]
        is_sourced = first.startswith("# shellcheck shell=")
        if not first.startswith("#!") and not is_sourced:
            continue
        full = os.path.join(arguments.root, path)
        found.checked += 1
        is_expected = path.startswith("tests/golden/")  # what `gtel doctor --fix-script` prints
        if not is_sourced and not is_expected and not os.access(full, os.X_OK):
            found.add(path, 1, "begins with #! and is not executable")
        if "python" in first:
            continue
        done = subprocess.run([arguments.tool, "--external-sources", "--source-path=SCRIPTDIR",
                               "--format=gcc", full], capture_output=True, text=True, check=False)
        found.lines += done.stdout.splitlines()
    found.finish()


main()
