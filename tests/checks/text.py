# SPDX-License-Identifier: MIT
"""First lines, line lengths, sizes, comments and unfinished work of every text file.

Usage: text.py ROOT
"""

import re
import sys

import tree

SPDX = "SPDX-License-Identifier: MIT"
# A module of the Linux kernel, for tests only: it uses what the kernel gives to GPL modules alone.
GPL_FOLDER = "tests/guest/module/"
GPL = "SPDX-License-Identifier: GPL-2.0-only"
# Files that cannot or need not say their licence in themselves.
NO_SPDX = (".json", ".md", ".lp", ".doctor", ".explain", ".costs", ".fix", ".off", ".tree", ".gitignore", "LICENSE", ".clang-format", ".txt", ".conf")
MAX_COLUMNS = 100
COMPLETIONS = "contrib/docs/completions/"
LONG_LINES = ("CHANGELOG.md", ".1", ".5", ".lp", ".explain", ".costs", ".tree", ".json", ".equivalent", "LICENSE", ".py",
              "dashboards/alerts/prometheus.yml", "dashboards/alerts/influxdb.yml")
# What people read first is short.
MAX_BYTES = {"README.md": 8192, "plugins/execd/README.md": 8192, "plugins/collectd/README.md": 8192}
# Tables, examples and what the program prints have lines as long as they are.
LONG_IN_MARKDOWN = re.compile(r"^ *```.*?^ *```|^ {4}.*?$|^\|.*?$|^<!-- begin.*?^<!-- end", re.M | re.S)
# Spelt in two parts so that this file passes.
UNFINISHED = re.compile(r"\b(" + "|".join(("TO" + "DO", "FIX" + "ME", "X" + "XX", "HA" + "CK")) +
                       r")\b|#\s*if\s+0\b")
C_FILES = (".c", ".h", ".def")


def check_c(path, text, found):
    lines = text.split("\n")
    if len(lines) < 2 or not lines[1].strip().startswith(("/*", "*")):
        found.add(path, 2, "the second line says what the file is")
    for match in tree.TOKEN.finditer(text):
        if match.group(0).startswith("//"):
            number = text.count("\n", 0, match.start()) + 1
            found.add(path, number, "// comment: write /* */")


def check_columns(path, text, found):
    if path.endswith(".md") and path != "README.md":
        text = LONG_IN_MARKDOWN.sub(lambda m: re.sub(r"[^\n]", "", m[0]), text)
    for number, line in enumerate(text.split("\n"), 1):
        if len(line) > MAX_COLUMNS:
            found.add(path, number, f"{len(line)} columns, at most {MAX_COLUMNS}")


def check_file(path, text, found):
    lines = text.split("\n")
    size = len(text.encode(errors="surrogateescape"))
    if size > MAX_BYTES.get(path, size):
        found.add(path, 1, f"{size} bytes, at most {MAX_BYTES[path]}")
    if not path.endswith(LONG_LINES) and not path.startswith(("tests/fixtures/", COMPLETIONS)):
        check_columns(path, text, found)
    # Scripts begin with what the system or the linter wants to see.
    first = lines[0] + (lines[1] if lines[0].startswith(("#!", "# shellcheck", "#compdef")) else "")
    spdx = GPL if path.startswith(GPL_FOLDER) else SPDX
    if not path.endswith(NO_SPDX) and spdx not in first:
        found.add(path, 1, f"the first line says {spdx}")
    for number, line in enumerate(lines, 1):
        if line != line.rstrip() and not path.endswith((".md", ".lp", ".tree")):
            found.add(path, number, "blanks at the end of the line")
        if "\t" in line and path.endswith(C_FILES + (".py", ".txt", ".cmake")):
            found.add(path, number, "tab")
        match = UNFINISHED.search(line)
        if match:
            found.add(path, number, f"unfinished: {match.group(0)}")
    if text and not text.endswith("\n"):
        found.add(path, len(lines), "no newline at the end")
    if path.endswith(C_FILES):
        check_c(path, text, found)


def main():
    root = sys.argv[1]
    found = tree.Findings("text")
    for path in tree.files(root, top=True):
        if tree.is_corpus(path) or path.endswith((".png", ".pyc")):
            continue
        found.checked += 1
        check_file(path, tree.read(root, path), found)
    found.finish()


main()
