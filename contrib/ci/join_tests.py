# SPDX-License-Identifier: MIT
"""Makes one list of tests out of several builds, so that one ctest run and one summary covers them.

    join_tests.py FOLDER --take PREFIX BUILD CTEST-ARGUMENT... [--take|--rest ...]

FOLDER gets a CTestTestfile.cmake. PREFIX goes before the names ("" for none). --rest takes those
tests alone whose names nothing before it took. Each test of each build has to be taken from one of
them. Tests may not leave themselves out here: a status that means "skipped" counts as a failure.
"""

import json
import os
import subprocess
import sys

# Properties that are taken over; lists are joined with semicolons.
KEPT = ("DEPENDS", "ENVIRONMENT", "FIXTURES_CLEANUP", "FIXTURES_REQUIRED", "FIXTURES_SETUP", "LABELS",
        "PASS_REGULAR_EXPRESSION", "FAIL_REGULAR_EXPRESSION", "PROCESSORS", "RESOURCE_LOCK", "RUN_SERIAL",
        "TIMEOUT", "WILL_FAIL", "WORKING_DIRECTORY")
NAMES = ("DEPENDS",)  # these name other tests


def quote(text):
    """A CMake bracket argument: nothing in it is special."""
    marks = "="
    while f"]{marks}]" in text:
        marks += "="
    return f"[{marks}[{text}]{marks}]"


def as_text(prefix, name, value):
    if isinstance(value, bool):
        return "ON" if value else "OFF"
    values = value if isinstance(value, list) else [value]
    if name in NAMES:
        values = [prefix + v for v in values]
    return ";".join(f"{v:g}" if isinstance(v, float) else str(v) for v in values)


def list_tests(build, arguments):
    command = ["ctest", "--test-dir", build, "--show-only=json-v1", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: {done.stderr or done.stdout}")
    return json.loads(done.stdout)["tests"]


def write_test(file, prefix, test):
    name = prefix + test["name"]
    if "command" not in test:
        sys.exit(f"{name} has no program: build it first")
    words = " ".join(quote(word) for word in test["command"])
    file.write(f"add_test({quote(name)} {words})\n")
    pairs = [(p["name"], as_text(prefix, p["name"], p["value"])) for p in test.get("properties", [])
             if p["name"] in KEPT]
    if pairs:
        words = " ".join(f"{key} {quote(value)}" for key, value in pairs)
        file.write(f"set_tests_properties({quote(name)} PROPERTIES {words})\n")


def read_takes(words):
    """[--take|--rest, prefix, build, argument...] for each."""
    takes = []
    for word in words:
        if word in ("--take", "--rest"):
            takes.append([])
        takes[-1].append(word)
    return takes


def choose(takes):
    """(prefix, test) of the tests that are to run."""
    chosen, taken, known = {}, set(), set()
    for kind, prefix, build, *arguments in takes:
        tests = [t for t in list_tests(build, arguments)
                 if kind == "--take" or t["name"] not in taken]
        if not tests:
            sys.exit(f"{build}: no test matches {' '.join(arguments)}")
        for test in tests:
            if prefix + test["name"] in chosen:
                sys.exit(f"two tests are called {prefix + test['name']}")
            chosen[prefix + test["name"]] = prefix, test
        taken.update(t["name"] for t in tests)
        known.update(t["name"] for t in list_tests(build, []))
    if known - taken:
        sys.exit(f"tests that no build runs: {' '.join(sorted(known - taken))}")
    return chosen.values()


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    folder = sys.argv[1]
    chosen = choose(read_takes(sys.argv[2:]))
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "CTestTestfile.cmake"), "w", encoding="utf-8") as file:
        for prefix, test in chosen:
            write_test(file, prefix, test)
    print(f"{len(chosen)} tests")


main()
