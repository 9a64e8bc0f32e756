# SPDX-License-Identifier: MIT
"""The tables between markers in the Markdown files, man pages and completions are what the program
says.

    docs.py ROOT --gtel FILE            compares, and ends with 1 when something differs
    docs.py ROOT --gtel FILE --write    writes them

Markers: <!-- begin metrics --> … <!-- end metrics -->, and the same with each name in TABLES.
Between example markers stand lines of the expected outputs in tests/golden; they are compared, and
written by hand. Links between the documents must lead to a file.
"""

import argparse
import os
import re
import subprocess
import sys
import textwrap

sys.path.insert(1, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fleet"))
import completions  # noqa: E402
import man  # noqa: E402
import plan  # noqa: E402
import support  # noqa: E402

BLOCK = re.compile(r"(?P<begin><!-- begin (?P<name>\w+) -->\n)"
                   r"(?P<text>.*?)(?P<end><!-- end (?P=name) -->)", re.S)


LINK = re.compile(r"\]\((?!https?:|#)([^)#]+)(#[^)]*)?\)")


def printed(flag):
    """A table that the program prints."""
    def run(arguments):
        return subprocess.run([arguments.gtel, flag], check=True, capture_output=True, text=True,
                              stdin=subprocess.DEVNULL).stdout
    return run


def tried(arguments):
    """On which hardware each source was run, in two sentences and more."""
    by_place = {}
    for line in printed("--list-sources")(arguments).splitlines()[2:]:
        cells = [c.strip() for c in line.strip("|").split("|")]
        by_place.setdefault(re.split("[;:]", cells[-1])[0], []).append(cells[0])
    lines = [f"{'Not' if place.startswith('not') else 'Tried on'} {place.removeprefix('not ')}: "
             f"{', '.join(names)}."
             for place, names in sorted(by_place.items())]
    return "\n\n".join(textwrap.fill(line, 100, break_on_hyphens=False) for line in lines) + "\n"


TABLES = {
    "metrics": printed("--list-metrics"),
    "sources": printed("--list-sources"),
    "options": printed("--list-options"),
    "options_collectd": printed("--list-options-collectd"),
    "support": lambda arguments: support.markdown(arguments.root),
    "amd": lambda arguments: support.amd(arguments.root),
    "apple": lambda arguments: support.apple(arguments.root),
    "rights": lambda arguments: support.rights(arguments.root),
    "tried": tried,
    **{name: lambda arguments, text=text: text for name, text in plan.tables().items()},
}


def table(arguments, path, match):
    """What belongs between the markers."""
    name = match.group("name")
    if name == "example":
        return match.group("text")
    if name not in TABLES:
        sys.exit(f"{path}: unknown marker '{name}'")
    return TABLES[name](arguments)


def golden_lines(root):
    """Every line of the expected outputs."""
    folder = os.path.join(root, "tests", "golden")
    lines = set()
    for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
        if name.endswith((".lp", ".explain", ".doctor", ".fix")):
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                lines.update(file.read().splitlines())
    return lines


def invented(text, golden):
    """Lines of the examples that no recorded machine gives. Examples may skip lines."""
    for block in BLOCK.finditer(text):
        if block["name"] == "example" and golden:
            yield from (line for line in block["text"].splitlines()
                        if line and not line.startswith("```") and line not in golden)


def markdown_files(root):
    for folder in ("", "plugins", "contrib", "tests"):
        for path, names, files in os.walk(os.path.join(root, folder)):
            if folder == "":
                names.clear()
            yield from (os.path.relpath(os.path.join(path, f), root) for f in sorted(files)
                        if f.endswith(".md"))


def broken_links(root, path, text):
    """Links to files of the project that are not there."""
    for match in LINK.finditer(text):
        if not os.path.exists(os.path.join(root, os.path.dirname(path), match[1])):
            yield match[1]


def unnamed_headers(root, text):
    """Headers of tests/harness that the map of the tests does not name, or names in vain."""
    there = {n for n in os.listdir(os.path.join(root, "tests", "harness")) if n.endswith(".h")}
    return sorted(there ^ set(re.findall(r"`(\w+\.h)`", text)))


def unknown_files(root, text):
    """Files of the project that a document names in `code` and that are not there."""
    there = ["/" + os.path.join(os.path.relpath(path, root), name)
             for folder in ("common", "plugins", "contrib", "tests")
             for path, _, names in os.walk(os.path.join(root, folder)) for name in names]
    for name in re.findall(r"`([\w./]+\.(?:c|h|def|py|md))`", BLOCK.sub("", text)):
        if not any(path.endswith("/" + name) for path in there) and "qaic" not in name and name != "CHANGELOG.md":
            yield name


def unknown_messages(root, text):
    """Messages in the first column of a table "message" that no source has; "…" is any text."""
    sources = ""
    for folder in ("common", "plugins"):
        for path, _, names in os.walk(os.path.join(root, folder)):
            for name in (n for n in names if n.endswith((".c", ".h"))):
                with open(os.path.join(path, name), encoding="utf-8") as file:
                    sources += re.sub(r'"\s*\n\s*"', "", file.read())
    for table_text in re.findall(r"^\| message \|.*?^$", text, re.M | re.S):
        for message in re.findall(r"^\| `([^`]+)`", table_text, re.M):
            parts = [part.strip(": ;") for part in message.split("…")]
            if not all(part in sources or part == "Permission denied" for part in parts):
                yield message


def first_difference(old, new):
    for number, (a, b) in enumerate(zip(old.split("\n"), new.split("\n")), 1):
        if a != b:
            return f"line {number} of it:\n    there:    {a[:200]}\n    expected: {b[:200]}"
    return "one of them is longer"


def compare_pages(arguments):
    """Writes or compares man pages and completions; returns how many differ."""
    differences = 0
    pages = man.pages(arguments.root, arguments.gtel)
    pages.update(completions.pages(arguments.gtel))
    for path, fresh in pages.items():
        full = os.path.join(arguments.root, path)
        old = ""
        if os.path.exists(full):
            with open(full, encoding="utf-8") as file:
                old = file.read()
        if fresh == old:
            continue
        differences += 1
        if arguments.write:
            with open(full, "w", encoding="utf-8") as file:
                file.write(fresh)
        else:
            print(f"{path} differs, {first_difference(old, fresh)}")
    return differences


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("root")
    parser.add_argument("--gtel", required=True)
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    blocks = 0
    differences = compare_pages(arguments)
    golden = golden_lines(arguments.root)
    for path in markdown_files(arguments.root):
        full = os.path.join(arguments.root, path)
        with open(full, encoding="utf-8") as file:
            text = file.read()
        fresh = BLOCK.sub(lambda m, p=path: m["begin"] + table(arguments, p, m) + m["end"], text)
        blocks += len(BLOCK.findall(text))
        for line in invented(text, golden):
            differences += 1
            print(f"{path}: no expected output has this line of the example: {line}")
        for link in broken_links(arguments.root, path, text):
            differences += 1
            print(f"{path}: the link {link} leads nowhere")
        for name in unknown_files(arguments.root, text) if path == "CONTRIBUTING.md" else ():
            differences += 1
            print(f"{path}: there is no file {name}")
        for message in unknown_messages(arguments.root, text):
            differences += 1
            print(f"{path}: no source has the message: {message}")
        if path == os.path.join("tests", "README.md"):
            for name in unnamed_headers(arguments.root, text):
                differences += 1
                print(f"{path}: {name} is not in both, here and in tests/harness")
        if fresh == text:
            continue
        differences += 1
        if arguments.write:
            with open(full, "w", encoding="utf-8") as file:
                file.write(fresh)
        else:
            for old, new in zip(BLOCK.finditer(text), BLOCK.finditer(fresh)):
                if old["text"] != new["text"]:
                    print(f"{path}: the {old['name']} differ, "
                          f"{first_difference(old['text'], new['text'])}")
    print(f"{blocks} tables, {differences} differences"
          + ("" if arguments.write or not differences else "; contrib/ci/docs writes them"))
    return 1 if differences and not arguments.write else 0


if __name__ == "__main__":
    sys.exit(main())
