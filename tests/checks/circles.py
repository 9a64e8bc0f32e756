# SPDX-License-Identifier: MIT
"""Files that call each other in a circle: a.c uses a symbol of b.c, and b.c one of a.c.

Usage: circles.py ROOT --nm NM OBJECT...

Circles are the strongly connected components of the graph that the symbols of the objects make. A
reference to data counts as a call does; a call through a pointer is not seen.
"""

import argparse
import os
import re
import subprocess

import tree

# CMake's build folders: …/common/CMakeFiles/gtel.dir/base/buf.c.o
OBJECT = re.compile(r"(?:^|/)(common|plugins)/CMakeFiles/[^/]+\.dir/(.*)\.(?:o|obj)$")


def source_of(path):
    """The source file of an object file."""
    match = OBJECT.search(path)
    return os.path.normpath(f"{match[1]}/{match[2]}") if match else path


def symbols(nm, paths):
    """{file: names it defines}, {file: names it uses}, of external names."""
    defined, used = {}, {}
    done = subprocess.run([nm, "-A", "-g", *paths], capture_output=True, text=True, check=True)
    for line in done.stdout.splitlines():
        path, _, rest = line.partition(": ") if ": " in line else line.rpartition(":")
        words = rest.split()
        if re.fullmatch(r"[0-9a-f]{8,}", path.rpartition(":")[2]):  # PATH:ADDRESS KIND NAME
            path = path.rpartition(":")[0]
        kind, name = words[-2], words[-1]
        (used if kind in "Uw" else defined).setdefault(source_of(path), set()).add(name)
    return defined, used


def edges(defined, used):
    """{file: files whose symbols it uses}."""
    home = {name: file for file, names in defined.items() for name in names}
    files = sorted(set(defined) | set(used))
    return {f: sorted({home[n] for n in used.get(f, ()) if n in home} - {f}) for f in files}


def circles(graph):
    """The strongly connected components of two files and more (Tarjan's algorithm)."""
    number, low, stack, found = {}, {}, [], []

    def visit(file):
        number[file] = low[file] = len(number)
        stack.append(file)
        for other in graph[file]:
            if other not in number:
                visit(other)
                low[file] = min(low[file], low[other])
            elif other in stack:
                low[file] = min(low[file], number[other])
        if low[file] == number[file]:
            at = stack.index(file)
            found.append(sorted(stack[at:]))
            del stack[at:]

    for file in graph:
        if file not in number:
            visit(file)
    return sorted(c for c in found if len(c) > 1)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("root")
    parser.add_argument("--nm", required=True)
    parser.add_argument("objects", nargs="+")
    arguments = parser.parse_args()
    found = tree.Findings("circles")
    defined, used = symbols(arguments.nm, sorted(set(arguments.objects)))
    graph = edges(defined, used)
    found.checked = len(graph)
    there = circles(graph)
    for circle in there:
        for file in circle:
            found.add(file, 0, f"circle: uses {', '.join(f for f in graph[file] if f in circle)}")
    found.finish()


if __name__ == "__main__":
    main()
