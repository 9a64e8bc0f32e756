# SPDX-License-Identifier: MIT
"""The rows of common/tables/support.def, for the documents and the checks."""

import dataclasses
import os
import re

PATH = os.path.join("common", "tables", "support.def")
ROW = re.compile(r"^GTEL_SUPPORT\((.*?)\)$", re.M | re.S)
STRING = r'((?:"[^"]*"\s*)+)'
CELLS = re.compile(r"\s*,\s*".join([STRING] * 7 + [r"([A-Z0-9_| ]+?)"] + [STRING] * 2) + r"\s*")
KIND_ROW = re.compile(r"^GTEL_SUPPORT_(AMD|APPLE)\((.*?)\)$", re.M | re.S)
KIND_CELLS = re.compile(r"\s*,\s*".join([STRING] * 8) + r"\s*")
# What users call the families of cards.
CARDS = {"DG1": "DG1", "DG2": "Arc A", "FLEX": "Flex", "PONTE_VECCHIO": "Data Center Max",
         "BATTLEMAGE": "Arc B"}


@dataclasses.dataclass
class Row:
    line: int
    measurements: list
    fields: list
    note: str
    since: list  # i915 integrated, i915 card, xe integrated, xe card
    cards: list
    right: str
    sources: list


def plain(text):
    """The value of a C string, or of several that follow each other."""
    return "".join(re.findall(r'"([^"]*)"', text))


def rows(root):
    with open(os.path.join(root, PATH), encoding="utf-8") as file:
        text = file.read()
    for match in ROW.finditer(text):
        cells = CELLS.fullmatch(match[1])
        line = text.count("\n", 0, match.start()) + 1
        if not cells:
            raise ValueError(f"{PATH}:{line}: no row of GTEL_SUPPORT")
        words = [plain(c) for c in cells.groups()]
        cards = [] if cells[8] == "ANY" else [c.strip() for c in cells[8].split("|")]
        yield Row(line, words[0].split(), words[1].split(), words[2], words[3:7], cards, words[8],
                  words[9].split())


def code(names):
    return ", ".join(f"`{n}`" for n in names)


def markdown(root):
    """The table of the documents."""
    lines = ["| measurement | fields | i915, integrated | i915, card | xe, integrated | xe, card "
             "| right | source |", "|---|---|---|---|---|---|---|---|"]
    for row in rows(root):
        fields = code(row.fields) + (f": {row.note}" if row.note else "")
        if row.cards:
            fields += " (cards: " + ", ".join(CARDS[c] for c in row.cards) + ")"
        cells = [code(row.measurements), fields, *row.since, row.right, code(row.sources)]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def kind_rows(root, vendor):
    """Cells of the rows of AMD or APPLE: measurements, fields, note, four kinds, sources."""
    with open(os.path.join(root, PATH), encoding="utf-8") as file:
        text = file.read()
    for match in KIND_ROW.finditer(text):
        cells = KIND_CELLS.fullmatch(match[2])
        if not cells:
            line = text.count("\n", 0, match.start()) + 1
            raise ValueError(f"{PATH}:{line}: no row of GTEL_SUPPORT_{match[1]}")
        if match[1] == vendor:
            yield [plain(c) for c in cells.groups()]


def by_kind(root, vendor, titles):
    """The table of the documents for GPUs of a vendor."""
    lines = ["| measurement | fields | " + " | ".join(titles) + " | source |",
             "|---" * (len(titles) + 3) + "|"]
    for measurements, fields, note, *kinds, sources in kind_rows(root, vendor):
        what = code(fields.split()) + (f": {note}" if note else "")
        cells = [code(measurements.split()), what, *kinds, code(sources.split())]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def amd(root):
    return by_kind(root, "AMD", ["GCN cards", "RDNA cards", "Instinct", "APUs"])


def apple(root):
    return by_kind(root, "APPLE", ["macmon 0.5", "0.6.1, 0.7", "0.8.0", "0.8.1 and newer"])


def rights(root):
    """The table of the documents by right: which values need it."""
    needs = {}
    for row in rows(root):
        if row.right != "none" and not row.right.startswith("as "):
            fields = needs.setdefault(row.right, {})
            for source in row.sources:
                fields.setdefault(source, set()).update(row.measurements)
    lines = ["| right | values | sources |", "|---|---|---|"]
    for right, sources in needs.items():
        measurements = sorted({m for names in sources.values() for m in names})
        lines.append(f"| {right} | {code(measurements)} | {code(sources)} |")
    return "\n".join(lines) + "\n"
