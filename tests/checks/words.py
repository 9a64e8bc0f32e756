# SPDX-License-Identifier: MIT
"""Plain words: what we do not write, and what we write instead.

Usage: words.py ROOT

Reads all text of the project: code, comments, names, documents and scripts; not the expected
outputs, recorded machines, fuzz corpora and the history in CHANGELOG.md.
"""

import re
import sys

import tree

# What a line must not have, and what to write.
WORDS = [
    (r"told|tells?", "reported; reports; known; available"),
    (r"anew", "again"),
    (r"mend(?:s|ed|ing)?", "fix"),
    (r"dear(?:er|est)?", "expensive"),
    (r"hearsay", "indirect"),
    (r"drows(?:y|iness)|restless", "nearly idle"),
    (r"doubt(?:s|ful|ed)?", "suspect"),
    (r"bury|buried|buries", "remove"),
    (r"orphan(?:s|ed)?", "unowned"),
    (r"strangers?", "foreign; other"),
    (r"witness(?:es|ed)?", "proves; direct"),
    (r"mute", "silent"),
    (r"is spent", "needs restart"),
    (r"exchanged", "restarted"),
    (r"at once", "immediately; together"),
    (r"patience", "timeout"),
    (r"taken (?:for|as)", "treated as"),
    (r"look(?:s|ed|ing)? (?:at|through)", "check, scan, read"),
    (r"(?:a|the|no|each|single|first|last|next) look(?![-])(?! up)", "check, search, sample"),
    (r"left out|lea(?:ve|ves|ving) out", "skipped, omitted"),
    (r"leave to read", "permission to read"),
    (r"in its place", "instead"),
    (r"as a rule", "usually"),
    (r"figures?", "value; metric"),
]
PATTERN = re.compile("|".join(rf"\b(?P<w{i}>{word})\b" for i, (word, _) in enumerate(WORDS)), re.I)
GENERATED = re.compile(r"<!-- begin (?!example).*?<!-- end", re.S)
SKIPPED = ("contrib/docs/man/", "contrib/docs/completions/", "tests/golden/", "tests/fixtures/", "tests/fuzz/corpus/", "CHANGELOG.md", "LICENSE",
           "tests/checks/words.py")


def text_files(root):
    for path in tree.files(root, top=True):
        if not path.startswith(SKIPPED) and not path.endswith((".png", ".pyc", ".gz")):
            yield path


def bad_lines(root):
    """(path, line number, the word, what to write instead)"""
    for path in text_files(root):
        # A name of several words is as many words: is_indirect.
        text = tree.read(root, path).replace("_", " ")
        if path.endswith(".md"):  # what the program prints is counted where it is written
            text = GENERATED.sub(lambda m: "\n" * m[0].count("\n"), text)
        for number, line in enumerate(text.split("\n"), 1):
            match = PATTERN.search(line)
            if match:
                yield path, number, match[0], WORDS[int(match.lastgroup[1:])][1]


def main():
    root = sys.argv[1]
    found = tree.Findings("words")
    found.checked = sum(1 for _ in text_files(root))
    for path, number, word, instead in bad_lines(root):
        found.add(path, number, f"{word}: write {instead}")
    found.finish()


if __name__ == "__main__":
    main()
