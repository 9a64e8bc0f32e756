# SPDX-License-Identifier: MIT
"""Calls that are not made: those that hide errors, depend on the locale, start shells or end the host.

Usage: calls.py ROOT
"""

import re
import sys

import tree

EVERYWHERE = (
    "atoi", "atol", "atoll", "atof", "sscanf", "fscanf", "scanf", "strtok", "strtok_r", "strcpy",
    "strcat", "strncpy", "strncat", "sprintf", "vsprintf", "gets", "system", "popen", "alloca",
    "tmpnam", "mktemp",
)
# The shipped code: numbers through gtel_str_u64, the environment through env.
SHIPPED = EVERYWHERE + ("strtol", "strtoll", "strtoul", "strtoull", "strtod", "strtof", "getenv",
                        "setenv", "putenv", "_putenv_s", "setlocale", "localtime", "gmtime", "rand", "srand")
# The core is a guest in someone else's process.
CORE = SHIPPED + ("exit", "abort", "longjmp", "setjmp", "signal", "fork", "printf", "puts", "putchar",
                  "perror", "assert")
# File -> calls that it may make, with the reason beside it.
ALLOWED = {
    "common/lanes/peer_posix.c": {"signal"},  # a helper's own process, not the host's
    "common/sources/level_zero/level_zero_posix.c": {"setenv"},  # for old loaders, in a helper
    "common/sources/level_zero/level_zero_win32.c": {"_putenv_s"},  # the same
    "plugins/execd/privileges_linux.c": {"setenv"},  # before anything else runs
}


def banned_for(path):
    if path.startswith("common/"):
        return CORE
    return SHIPPED if path.startswith("plugins/") else EVERYWHERE


def main():
    root = sys.argv[1]
    found = tree.Findings("calls")
    for path in tree.files(root, (".c", ".h", ".def"), ("common", "plugins", "tests")):
        found.checked += 1
        names = [n for n in banned_for(path) if n not in ALLOWED.get(path, ())]
        pattern = re.compile(r"(?<![\w.>])(" + "|".join(names) + r")\s*\(")
        for number, line in enumerate(tree.code(tree.read(root, path)).split("\n"), 1):
            for match in pattern.finditer(line):
                found.add(path, number, f"{match.group(1)}() is not used here")
    found.finish()


main()
