# SPDX-License-Identifier: MIT
"""Every header of the project compiles alone, and twice.

Usage: headers.py ROOT --compiler CC [--system FOLDER]...
"""

import argparse
import os
import subprocess
import sys
import tempfile

import tree

FLAGS = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-Wno-unused-function", "-Wno-unused-variable",
         "-DHAVE_CONFIG_H", "-D_POSIX_C_SOURCE=200809L", "-fsyntax-only"]


def check(arguments, path, scratch):
    """Returns the compiler's words, or an empty string."""
    name = os.path.join(scratch, "twice.c")
    with open(name, "w", encoding="utf-8") as file:
        file.write(f'#include "{path}"\n#include "{path}"\nint gtel_check_headers;\n')
    command = [arguments.compiler, *FLAGS, "-I", arguments.root, "-I",
               os.path.join(arguments.root, "common"), "-I",
               os.path.join(arguments.root, "plugins"), "-I", os.path.join(arguments.root, "tests")]
    for folder in arguments.system:
        command += ["-isystem", folder]
    command.append(name)
    done = subprocess.run(command, capture_output=True, text=True, check=False,
                          env={**os.environ, "LC_ALL": "C"})
    return done.stderr if done.returncode else ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("root")
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--system", action="append", default=[], help="a folder of foreign headers")
    arguments = parser.parse_args()
    found = tree.Findings("headers")
    with tempfile.TemporaryDirectory(prefix="gtel-headers-") as scratch:
        for path in tree.files(arguments.root, (".h",), ("common", "plugins", "tests")):
            if path.startswith("tests/guest/module/") or path.endswith("_win32.h"):
                continue  # for the kernel, and for Windows
            if "collectd" in path and not arguments.system:
                continue  # needs the daemon's headers, and this build does without them
            found.checked += 1
            words = check(arguments, path, scratch)
            if words:
                found.add(path, 1, "does not compile alone and twice:\n" + words)
    found.finish()


if __name__ == "__main__":
    sys.exit(main())
