# SPDX-License-Identifier: MIT
"""C files are as clang-format 14 leaves them.

Usage: format.py ROOT --tool CLANG_FORMAT
"""

import argparse
import subprocess

import tree


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("root")
    parser.add_argument("--tool", required=True)
    arguments = parser.parse_args()
    found = tree.Findings("format")
    paths = tree.files(arguments.root, (".c", ".h"), ("common", "plugins", "tests"))
    found.checked = len(paths)
    done = subprocess.run([arguments.tool, "--style=file", "--dry-run", "-Werror", *paths],
                          cwd=arguments.root, capture_output=True, text=True, check=False)
    for line in done.stderr.splitlines():
        parts = line.split(":", 3)
        if len(parts) == 4 and parts[1].isdigit():
            found.add(parts[0], parts[1], "run clang-format -i on it")
    if done.returncode and not found.lines:
        found.add(".clang-format", 1, done.stderr)
    found.finish()


main()
