# SPDX-License-Identifier: MIT
"""Reads line protocol, strictly, into comparable values."""


def split_unescaped(text, separator, quotes=False):
    """Splits at separators that no backslash precedes and, with quotes, that stand outside of them."""
    parts, part, i, is_quoted = [], "", 0, False
    while i < len(text):
        char = text[i]
        if char == "\\" and i + 1 < len(text):
            part += text[i:i + 2]
            i += 2
            continue
        if char == '"' and quotes:
            is_quoted = not is_quoted
        if char == separator and not is_quoted:
            parts.append(part)
            part = ""
        else:
            part += char
        i += 1
    return parts + [part]


def unescape(text, special):
    result, i = "", 0
    while i < len(text):
        if text[i] == "\\" and i + 1 < len(text) and text[i + 1] in special:
            i += 1
        result += text[i]
        i += 1
    return result


def value(text):
    """A field's value with its type: int, float or str."""
    if text.startswith('"') and text.endswith('"') and len(text) >= 2:
        return unescape(text[1:-1], '"\\')
    if text.endswith("i"):
        return int(text[:-1])
    return float(text)


def parse(line):
    """Returns (measurement, sorted tuple of tags, time, {field: value}); ValueError names the fault."""
    start = len(split_unescaped(line, " ")[0])  # a quote in a tag is a character as any other
    sections = [line[:start]] + split_unescaped(line[start + 1:], " ", quotes=True)
    if len(sections) != 3:
        raise ValueError(f"{len(sections)} sections instead of 3: {line}")
    head = split_unescaped(sections[0], ",")
    tags = []
    for tag in head[1:]:
        key, text = split_unescaped(tag, "=")
        tags.append((unescape(key, ",= "), unescape(text, ",= ")))
    fields = {}
    for field in split_unescaped(sections[1], ",", quotes=True):
        key, text = split_unescaped(field, "=", quotes=True)
        fields[unescape(key, ",= ")] = value(text)
    return unescape(head[0], ", "), tuple(sorted(tags)), int(sections[2]), fields


def points(text):
    """{measurement: {(tags, time): fields}} of a whole output; lines of one point are joined."""
    found = {}
    for line in text.splitlines():
        if line:
            name, tags, time_ns, fields = parse(line)
            found.setdefault(name, {}).setdefault((tags, time_ns), {}).update(fields)
    return found
