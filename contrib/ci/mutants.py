# SPDX-License-Identifier: MIT
"""Small faults that can be put into C text: one changed operator, constant, condition, call or return.

It knows tokens and functions, no types: a compiler rejects some of them. Comments, strings, tables,
static data, assertions of the compiler and calls that write messages stay as they are.
"""

import collections
import re

TOKEN = re.compile(r"""
    (?P<blank>/\*.*?\*/ | //[^\n]* | \s+)
  | (?P<directive>\#(?:\\\n | /\*.*?\*/ | [^\n])*)
  | (?P<text>"(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*')
  | (?P<number>0[xX][0-9a-fA-F]+\w* | \.?[0-9](?:[eE][+-]|[\w.])*)
  | (?P<name>[A-Za-z_]\w*)
  | (?P<mark><<=|>>=|->|\+\+|--|&&|\|\||<<|>>|[-+*/%&|^!=<>]=|.)
    """, re.X | re.S)
PAIRS = {"(": ")", "[": "]", "{": "}"}
SWAPS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "&&": "||", "||": "&&",
         "+": "-", "-": "+", "+=": "-=", "-=": "+=", "true": "false", "false": "true"}
# Calls that only write messages, what the compiler checks, and sizes of types.
LEFT_ALONE = re.compile(r"\w*_log|sizeof|_Static_assert|static_assert|_Alignof|offsetof")
KEYWORDS = {"return", "case", "else", "do", "goto", "sizeof"}

Token = collections.namedtuple("Token", "kind text start")
Function = collections.namedtuple("Function", "head begin end")  # names before "("; tokens of the braces


class Mutant(collections.namedtuple("Mutant", "path line start end new before after body")):
    """text[start:end] of the file becomes new; before and after are the whole lines, for people; body is
    where the function's first statement would be."""

    def __str__(self):
        return f"{self.path}: {self.before} -> {self.after}"


def tokens(text):
    return [Token(m.lastgroup, m.group(0), m.start()) for m in TOKEN.finditer(text)
            if m.lastgroup not in ("blank", "directive")]


def partners(toks):
    """Index of each opening bracket -> index of the one that closes it."""
    found, opened = {}, []
    for i, tok in enumerate(toks):
        if tok.text in PAIRS:
            opened.append(i)
        elif tok.text in PAIRS.values() and opened:
            found[opened.pop()] = i
    return found


def functions(toks, pairs):
    """The definitions of functions: a brace at file scope after the parenthesis of parameters."""
    i = head = 0
    while i < len(toks):
        text = toks[i].text
        if text == "{" and toks[i - 1].text == ")" and all(t.text != "=" for t in toks[head:i]):
            names = [t.text for t in toks[head:i]]
            yield Function(names[:names.index("(")], i, pairs[i])
        if text in PAIRS:
            i = pairs.get(i, len(toks))
        if text in ";{":
            head = i + 1
        i += 1


class Reader:
    """Finds the mutants of one function."""

    def __init__(self, toks, pairs, function):
        self.toks, self.pairs, self.function = toks, pairs, function
        self.control = set()  # the ")" of if, while, for and switch
        self.closed = set()  # tokens that stay as they are
        for i in range(function.begin, function.end):
            following = toks[i + 1].text
            if toks[i].text in ("if", "while", "for", "switch") and following == "(":
                self.control.add(pairs[i + 1])
            if LEFT_ALONE.fullmatch(toks[i].text) and following == "(":
                self.closed.update(range(i, pairs[i + 1] + 1))
            if toks[i].text == "[" and self.is_declared(i - 1):
                self.closed.update(range(i, pairs[i]))  # the size of an array
            if toks[i].text == "static":
                self.closed.update(range(i, self.end_of_statement(i)))

    def end_of_statement(self, i):
        while self.toks[i].text != ";":
            i = self.pairs.get(i, i) + 1
        return i

    def starts_statement(self, i):
        return self.toks[i - 1].text in (";", "{", "}", "else", "do") or i - 1 in self.control

    def is_binary(self, i):
        before = self.toks[i - 1]
        return before.kind == "number" or before.text in (")", "]") or (
            before.kind == "name" and before.text not in KEYWORDS)

    def is_declared(self, i):
        """Whether the name at i has a type before it, as in `char text[64]`."""
        at = i - 2 if self.toks[i - 1].text == "*" else i - 1
        return self.toks[i].kind == self.toks[at].kind == "name" and self.toks[at].text not in KEYWORDS

    def is_changeable(self, i):
        """Not zeroed memory and what is returned; `x < 1` is `x <= 0`."""
        before, after = self.toks[i - 1].text, self.toks[i + 1].text
        return not ((before, after) == ("{", "}") or before in ("<", ">=") or
                    after == ";" and "return" in (before, before == "-" and self.toks[i - 2].text))

    def call(self, i):
        """The ";" of a statement that is one call, from its first token; else nothing."""
        if self.toks[i].text == "(" and self.toks[i + 1].text == "void":
            i = self.pairs[i] + 1
        while self.toks[i].kind == "name" and self.toks[i + 1].text in ("->", "."):
            i += 2
        if self.toks[i].kind == "name" and self.toks[i + 1].text == "(" and i + 1 not in self.control:
            end = self.pairs[i + 1] + 1
            return end if self.toks[end].text == ";" else None
        return None

    def negated(self, i):
        """The condition of the `if` or `while` at i, where no other change is the same."""
        close = self.pairs[i + 1]
        words = [t.text for t in self.toks[i + 2:close]]
        if {"&&", "||"} & set(words) or not (words[0] == "!" or {"==", "!="} & set(words)):
            yield self.toks[i + 2].start, self.toks[close].start, ("!(", ")")

    def returned(self, i):
        """Another value for the `return` at i."""
        end = self.end_of_statement(i)
        words = [t.text for t in self.toks[i + 1:end]]
        if words in ([], ["NULL"], ["true"], ["false"]) or words[-1].endswith("_SUCCESS"):
            return
        start, stop = self.toks[i + 1].start, self.toks[end].start
        if words == ["0"]:
            yield start, stop, "-1" if "int" in self.function.head else "1"
        elif "bool" in self.function.head:
            yield start, stop, ("!(", ")")
        else:
            yield start, stop, "0"

    def edits_at(self, i):
        tok = self.toks[i]
        start, end = tok.start, tok.start + len(tok.text)
        if tok.text in SWAPS and (tok.text not in "+-" or self.is_binary(i)):
            yield start, end, SWAPS[tok.text]
        elif tok.text == "!":
            yield start, end, ""
        elif tok.text in ("if", "while"):
            yield from self.negated(i)
        elif tok.text == "return":
            yield from self.returned(i)
        elif tok.kind == "number" and self.is_changeable(i):
            yield start, end, next_number(tok.text)
        if self.starts_statement(i):
            stop = self.call(i)
            if stop:
                yield start, self.toks[stop].start, ""

    def edits(self):
        """(start, end, new text, or what to put around the old)."""
        begin, end = self.function.begin, self.function.end
        place = self.toks[begin].start + 1
        if self.toks[begin + 1].text != "return" and end > begin + 1:
            is_void = "void" in self.function.head and "*" not in self.function.head
            yield place, place, " return;" if is_void else " return 0;"
        for i in range(begin + 1, end):
            if i not in self.closed:
                yield from self.edits_at(i)


def next_number(text):
    """One more; ten times as much for powers of ten (1e9); what is not whole gets one more, too."""
    match = re.fullmatch(r"(0[xX][0-9a-fA-F]+|[0-9]+)([uUlL]*)", text)
    if match:
        digits, suffix = match.groups()
        if digits[:2] in ("0x", "0X"):
            return f"{int(digits, 16) + 1:#x}{suffix}"
        return f"{int(digits, 8 if digits[0] == '0' else 10) + 1}{suffix}"
    match = re.fullmatch(r"(.*[eE])([+-]?[0-9]+)", text)
    if match:
        return f"{match.group(1)}{int(match.group(2)) + 1}"
    return f"({text} + 1)"


def lines_around(text, start, end):
    """The whole lines of text[start:end] as (what is before it, itself, what is after it)."""
    first = text.rfind("\n", 0, start) + 1
    last = text.find("\n", end)
    return text[first:start], text[start:end], text[end:last if last >= 0 else len(text)]


def in_one_line(text):
    return " ".join(text.split())


def mutants(path, text):
    """All mutants of one file, from its beginning to its end."""
    toks = tokens(text)
    pairs = partners(toks)
    found = []
    for function in functions(toks, pairs):
        for start, end, new in Reader(toks, pairs, function).edits():
            if isinstance(new, tuple):
                new = new[0] + text[start:end] + new[1]
            left, old, right = lines_around(text, start, end)
            if start == end:
                left = f"{function.head[-1]}() {{"
            found.append(Mutant(path, text.count("\n", 0, start) + 1, start, end, new,
                                in_one_line(left + old + right), in_one_line(left + new + right),
                                toks[function.begin].start + 1))
    return sorted(set(found), key=lambda m: m[2:])
