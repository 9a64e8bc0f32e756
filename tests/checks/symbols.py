# SPDX-License-Identifier: MIT
"""The core's symbols: external names begin with gtel_, nothing writable lives outside a context.

Usage: symbols.py ROOT --library FILE... --nm NM --objdump OBJDUMP
"""

import argparse
import os
import re
import subprocess

import tree

# Written by the loader only, before the program runs.
READ_ONLY = (".data.rel.ro", ".rodata", ".text", ".eh_frame", ".debug", ".note", ".comment")
OBJECT = re.compile(r"^[0-9a-f]+ .{7}\s(\S+)\s+([0-9a-f]+)(?:\s+\.hidden)?\s+(\S+)$")


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True,
                          env={**os.environ, "LC_ALL": "C"}).stdout


def check_names(arguments, library, found):
    for line in run(arguments.nm, "-g", "--defined-only", library).splitlines():
        words = line.split()
        if len(words) == 3:
            found.checked += 1
            if not words[2].startswith("gtel_"):
                found.add(library, 0, f"external name without gtel_: {words[2]}")


def check_state(arguments, library, found):
    member = ""
    for line in run(arguments.objdump, "-t", library).splitlines():
        if line.endswith("file format elf64-x86-64") or ":     file format" in line:
            member = line.split(":")[0]
        match = OBJECT.match(line)
        if not match or int(match.group(2), 16) == 0:
            continue
        section, name = match.group(1), match.group(3)
        if section.startswith((".data", ".bss", ".tdata", ".tbss", "*COM*")) and \
                not section.startswith(READ_ONLY):
            found.add(member, 0, f"{name} in {section}: state outside a context")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("root")
    parser.add_argument("--library", action="append", required=True)
    for name in ("--nm", "--objdump"):
        parser.add_argument(name, required=True)
    arguments = parser.parse_args()
    found = tree.Findings("symbols")
    for library in arguments.library:
        check_names(arguments, library, found)
        check_state(arguments, library, found)
    found.finish()


main()
