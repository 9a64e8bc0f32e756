#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""exports.py NM FILE...: what our binaries show to the dynamic linker.

A plugin (*.so) exports module_register and nothing else, so that no name of ours can meet one of the
daemon's, and no binary knows a name of a vendor library, which are only opened at run time.
"""
import re
import subprocess
import sys

# What compilers add to an instrumented build.
INSTRUMENT = re.compile(r"__(odr_)?(asan|ubsan|tsan|sanitizer|sancov|gcov|llvm)|__start___|__stop___")
VENDOR = re.compile(r"(zes?|zet|zel|nvml|rsmi_|amdsmi_|cu)[A-Z_]")


def symbols(nm, path):
    """Yields (is_defined, name) of the dynamic symbol table."""
    text = subprocess.run([nm, "-D", path], check=True, capture_output=True, text=True).stdout
    for line in text.splitlines():
        kind, name = line.split()[-2:]
        yield kind not in "Uwv", name.split("@")[0]


def faults_of(nm, path):
    found = list(symbols(nm, path))
    defined = {name for is_defined, name in found if is_defined and not INSTRUMENT.match(name)}
    for name in sorted(name for _, name in found if VENDOR.match(name)):
        yield f"vendor symbol {name}"
    for name in sorted(name for is_defined, name in found if not is_defined):
        if name.startswith("gtel_"):
            yield f"unresolved {name}"
    if path.endswith(".so") and defined != {"module_register"}:
        yield f"exports {sorted(defined)}, not just module_register"


def main():
    nm, *paths = sys.argv[1:]
    n = 0
    for path in paths:
        for fault in faults_of(nm, path):
            print(f"{path}: {fault}")
            n += 1
    print(f"{len(paths)} files, {n} faults")
    return 1 if n or not paths else 0


if __name__ == "__main__":
    sys.exit(main())
