# SPDX-License-Identifier: MIT
"""Limits for files, functions, nesting, parameters and boolean fields in C.

Usage: sizes.py ROOT
"""

import re
import sys

import tree

FILE_LINES = 800
FUNCTION_LINES = 80
NESTING = 4
PARAMETERS = 6
# In all structs of common and plugins together: where several describe one state, an enum does.
BOOLEANS = 200
# Tables of rows are as long as they are.
DATA = (".def",)
# A function as clang-format leaves it: something at column 0 that ends in ")", then "{" alone.
FUNCTION = re.compile(r"^(?P<head>[A-Za-z_][^;{}#=]*?)\n\{\n(?P<body>.*?)^\}", re.S | re.M)
STRUCT = re.compile(r"\b(?:struct|union)\s*\w*\s*\{")
BOOLEAN = re.compile(r"\bbool\s+\w+[^;()]*;")
PARAMETER_LIST = re.compile(r"(\w+)\((.*)\)[^()]*$", re.S)


def count_parameters(text):
    """Commas outside of inner parentheses, plus one, without "..."."""
    depth = commas = 0
    for char in text:
        depth += (char == "(") - (char == ")")
        commas += char == "," and depth == 0
    return 0 if text.strip() in ("", "void") else commas + 1 - text.rstrip().endswith("...")


def deepest_block(body):
    """How deep blocks of statements lie in each other; braces of initialisers do not count."""
    stack, deepest = [], 0
    for match in re.finditer(r"[{}]", body):
        if match.group(0) == "}":
            if stack:
                stack.pop()
            continue
        before = body[:match.start()].rstrip()
        is_block = before.endswith((")", "else", "do", ";", "{", "}", ":")) or not before
        stack.append(is_block)
        deepest = max(deepest, sum(stack))
    return deepest


def count_booleans(text):
    """Fields of type bool in structs; several in one declaration count each."""
    count = end = 0
    while match := STRUCT.search(text, end):
        depth, end = 1, match.end()
        while depth and end < len(text):
            depth += {"{": 1, "}": -1}.get(text[end], 0)
            end += 1
        count += sum(1 + m[0].count(",") for m in BOOLEAN.finditer(text, match.end(), end))
    return count


def check_function(path, text, match, found):
    parameters = PARAMETER_LIST.search(match.group("head"))
    if not parameters:
        return
    name = parameters.group(1)
    number = text.count("\n", 0, match.start()) + 1
    lines = match.group(0).count("\n") + 1
    if lines > FUNCTION_LINES:
        found.add(path, number, f"{name}: {lines} lines, at most {FUNCTION_LINES}")
    n = count_parameters(parameters.group(2))
    if n > PARAMETERS:
        found.add(path, number, f"{name}: {n} parameters, at most {PARAMETERS}")
    depth = deepest_block(match.group("body"))
    if depth > NESTING:
        found.add(path, number, f"{name}: {depth} blocks inside each other, at most {NESTING}")


def main():
    root = sys.argv[1]
    found = tree.Findings("sizes")
    functions = booleans = 0
    for path in tree.files(root, (".c", ".h", ".def", ".py"), ("common", "plugins", "tests", "contrib")):
        found.checked += 1
        text = tree.read(root, path)
        lines = text.count("\n")
        if lines > FILE_LINES and not path.endswith(DATA):
            found.add(path, 1, f"{lines} lines, at most {FILE_LINES}")
        if path.endswith((".c", ".h")):
            text = tree.code(text)
            booleans += count_booleans(text) if path.startswith(("common", "plugins")) else 0
            for match in FUNCTION.finditer(text):
                functions += 1
                check_function(path, text, match, found)
    print(f"{functions} functions, {booleans} fields of type bool")
    if functions == 0 or booleans == 0:
        found.add("common", 0, "no function or field found: this check is broken")
    if booleans > BOOLEANS:
        found.add("common", 0, f"{booleans} fields of type bool in structs, at most {BOOLEANS}")
    found.finish()


main()
