# SPDX-License-Identifier: MIT
"""contrib/ci/mutate still understands C: exact mutants of a small text, some in every file of the code,
and each listed equivalent is one of them and has its reason.

Usage: mutate.py ROOT
"""

import os
import sys

import tree

TEXT = r"""
#define TWICE(x) ((x) + \
                  (x))
static const int table[] = {1, 2};
/* if (a < b) */
struct pair {
    char name[8];
};

static int sum(const struct pair *pair, int n)
{
    static const int more[] = {3};
    char text[64 + 2] = {0}; char *at[2];
    if (!pair || n < 4)
        return -EINVAL;
    gtel_log(pair->log, "n = %d", n + 1); // n == 5
    add(pair,
        sizeof(text) - 6);
    return -n;
}

static void nothing(void)
{
}

static int find(void)
{
    if (is_any(2))
        return 0;
    return -1;
}

static bool is_any(double x)
{
    return x > 1e3 && x != 0x7f;
}
"""
# line: before -> after
EXPECTED = """
11: sum() { -> sum() { return 0;
14: if (!pair || n < 4) -> if (!(!pair || n < 4))
14: if (!pair || n < 4) -> if (pair || n < 4)
14: if (!pair || n < 4) -> if (!pair && n < 4)
14: if (!pair || n < 4) -> if (!pair || n <= 4)
15: return -EINVAL; -> return 0;
17: add(pair, sizeof(text) - 6); -> ;
18: sizeof(text) - 6); -> sizeof(text) + 6);
18: sizeof(text) - 6); -> sizeof(text) - 7);
19: return -n; -> return 0;
27: find() { -> find() { return 0;
28: if (is_any(2)) -> if (!(is_any(2)))
28: if (is_any(2)) -> if (is_any(3))
29: return 0; -> return -1;
30: return -1; -> return 0;
35: return x > 1e3 && x != 0x7f; -> return !(x > 1e3 && x != 0x7f);
35: return x > 1e3 && x != 0x7f; -> return x >= 1e3 && x != 0x7f;
35: return x > 1e3 && x != 0x7f; -> return x > 1e4 && x != 0x7f;
35: return x > 1e3 && x != 0x7f; -> return x > 1e3 || x != 0x7f;
35: return x > 1e3 && x != 0x7f; -> return x > 1e3 && x == 0x7f;
35: return x > 1e3 && x != 0x7f; -> return x > 1e3 && x != 0x80;
"""
LISTED = "contrib/ci/mutate.equivalent"


def check_text(mutants, found):
    made = [f"{m.line}: {m.before} -> {m.after}" for m in mutants.mutants("pair.c", TEXT)]
    expected = EXPECTED.strip().split("\n")
    for line in made:
        if line not in expected:
            found.add("contrib/ci/mutants.py", 1, f"an unexpected mutant: {line}")
    for line in expected:
        if made.count(line) != 1:
            found.add("contrib/ci/mutants.py", 1, f"{made.count(line)} times: {line}")


def check_code(root, mutants, found):
    """Returns all mutants of the code, as contrib/ci/mutate prints them."""
    printed = set()
    for path in tree.files(root, (".c",), ("common", "plugins")):
        found.checked += 1
        text = tree.read(root, path)
        made = mutants.mutants(path, text)
        printed.update(str(m) for m in made)
        if not made and "return" in tree.code(text):
            found.add(path, 1, "contrib/ci/mutate finds nothing to change here")
    return printed


def check_equivalents(root, printed, found):
    lines = tree.read(root, LISTED).split("\n")
    for number, line in enumerate(lines, 1):
        if line == "" or line[0] in " #":
            continue
        if line not in printed:
            found.add(LISTED, number, "no such mutant any more: remove it, or write it as it is now")
        if not lines[number].startswith(" "):
            found.add(LISTED, number, "the line below says why, indented")


def main():
    root = sys.argv[1]
    sys.path.insert(0, os.path.join(root, "contrib", "ci"))
    import mutants  # pylint: disable=import-outside-toplevel
    found = tree.Findings("mutate")
    check_text(mutants, found)
    check_equivalents(root, check_code(root, mutants, found), found)
    found.finish()


main()
