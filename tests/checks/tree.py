# SPDX-License-Identifier: MIT
"""What the checks share: the project's files, C text without comments, and how findings are printed."""

import os
import re
import sys

FOLDERS = ("common", "plugins", "contrib", "tests", ".ci", ".github")
SKIPPED = {"__pycache__", "build", ".git"}


def files(root, suffixes=(), folders=FOLDERS, top=False):
    """Yields paths relative to root, sorted; with top also the files beside the folders."""
    found = []
    for folder in folders:
        for path, names, entries in os.walk(os.path.join(root, folder)):
            names[:] = sorted(n for n in names if n not in SKIPPED)
            found += [os.path.relpath(os.path.join(path, e), root) for e in entries]
    if top:
        found += [e for e in os.listdir(root) if os.path.isfile(os.path.join(root, e)) and e != ".git"]
    return sorted(f for f in found if not suffixes or f.endswith(tuple(suffixes)))


def is_corpus(path):
    """Fuzz corpora are any bytes."""
    return path.startswith("tests/fuzz/corpus/")


def read(root, path):
    with open(os.path.join(root, path), encoding="utf-8", errors="surrogateescape") as file:
        return file.read()


TOKEN = re.compile(r"""/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'""", re.S)


def blank(match):
    """Replaces a comment or literal by blanks and keeps its newlines, so that lines still count."""
    text = match.group(0)
    if text[0] in "\"'":
        return text[0] + " " * (len(text) - 2) + text[0]
    return re.sub(r"[^\n]", " ", text)


def code(text):
    """C text with comments and the inside of literals blanked out."""
    return TOKEN.sub(blank, text)


class Findings:
    """Collects what breaks the rule; finish() prints it and ends the check."""

    def __init__(self, rule):
        self.rule = rule
        self.lines = []
        self.checked = 0

    def add(self, path, line, text):
        self.lines.append(f"{path}:{line}: {text}")

    def finish(self):
        for line in self.lines:
            print(line)
        print(f"{self.rule}: checked {self.checked}, {len(self.lines)} findings")
        sys.exit(1 if self.lines or self.checked == 0 else 0)
