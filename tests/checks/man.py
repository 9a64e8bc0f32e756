# SPDX-License-Identifier: MIT
"""The man pages render without a warning.

Usage: man.py ROOT --tool GROFF
"""

import argparse
import os
import subprocess

import tree

FOLDER = "contrib/docs/man"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("root")
    parser.add_argument("--tool", required=True)
    arguments = parser.parse_args()
    found = tree.Findings("man")
    for path in tree.files(arguments.root, folders=(FOLDER,)):
        found.checked += 1
        done = subprocess.run([arguments.tool, "-man", "-Tutf8", "-ww", "-z",
                               os.path.join(arguments.root, path)], capture_output=True, text=True,
                              check=False)
        for line in done.stderr.splitlines():
            found.add(path, 1, line)
    found.finish()


main()
