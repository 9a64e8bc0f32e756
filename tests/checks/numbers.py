# SPDX-License-Identifier: MIT
"""Prints what the house is measured by: sizes, circles, exceptions, words.

Usage: numbers.py ROOT [--objects BUILD] [--nm NM]

With --objects the circles of a build folder are counted, too. Nothing here fails: the checks do.
"""

import argparse
import ast
import os
import re

import circles
import tree
import words

C_FILES = (".c", ".h", ".def")
STRUCT = re.compile(r"\b(?:struct|union)\s*\w*\s*\{")
BOOLEAN = re.compile(r"\bbool\s+\w+[^;()]*;")


def lines_of(root, folder):
    return sum(tree.read(root, p).count("\n") for p in tree.files(root, C_FILES, (folder,)))


def bodies(text):
    """The text between the braces of each outermost struct."""
    at = 0
    while True:
        match = STRUCT.search(text, at)
        if not match:
            return
        depth, end = 1, match.end()
        while depth and end < len(text):
            depth += {"{": 1, "}": -1}.get(text[end], 0)
            end += 1
        yield text[match.end():end]
        at = end


def booleans(root):
    """Fields of type bool; several in one declaration count each."""
    count = 0
    for path in tree.files(root, C_FILES, ("common", "plugins")):
        for body in bodies(tree.code(tree.read(root, path))):
            count += sum(1 + m[0].count(",") for m in BOOLEAN.finditer(body))
    return count


def constant(root, script, name):
    """A table of another check, as it stands in its file."""
    for node in ast.parse(tree.read(root, f"tests/checks/{script}")).body:
        if isinstance(node, ast.Assign) and node.targets[0].id == name:
            return ast.literal_eval(node.value)
    return ()


def objects(root, build):
    """The objects of a build, without those of files that are no longer there."""
    for folder in ("common", "plugins"):
        for path, _, names in os.walk(os.path.join(build, folder)):
            for name in (n for n in names if n.endswith((".c.o", ".c.obj"))):
                source = circles.source_of(os.path.join(path, name))
                if os.path.exists(os.path.join(root, source)):
                    yield os.path.join(path, name)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("root")
    parser.add_argument("--objects")
    parser.add_argument("--nm", default="nm")
    arguments = parser.parse_args()
    root = arguments.root
    rows = [(f"lines of C in {f}", lines_of(root, f)) for f in ("common", "plugins", "tests")]
    if arguments.objects:
        graph = circles.edges(*circles.symbols(arguments.nm, sorted(objects(root, arguments.objects))))
        rows.append(("circles of files", len(circles.circles(graph))))
    joints = constant(root, "includes.py", "JOINTS")
    parsers = constant(root, "includes.py", "FRONT_END_PARSERS")
    rows += [
        ("layer exceptions", len(joints) + len(parsers)),
        ("writable statics", len(constant(root, "symbols.py", "ALLOWED"))),
        ("bytes of README.md", len(tree.read(root, "README.md").encode())),
        ("lines with a word of the list", sum(1 for _ in words.bad_lines(root))),
        ("boolean fields in structs", booleans(root)),
    ]
    for name, value in rows:
        print(f"{name:<32}{value:>8}")


if __name__ == "__main__":
    main()
