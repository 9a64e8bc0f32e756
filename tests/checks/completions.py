# SPDX-License-Identifier: MIT
"""What bash, zsh and fish offer when words of a command line begin so.

Usage: completions.py ROOT
"""

import os
import subprocess
import sys

import tree

FOLDER = "contrib/docs/completions"
# The words that bash sees, the same as one text, and what both offer.
CASES = [
    (["gtel", "d"], "gtel d", ["doctor"]),
    (["gtel", "--onc"], "gtel --onc", ["--once"]),
    (["gtel", "doctor", "--list-s"], "gtel doctor --list-s", ["--list-sources"]),
    (["gtel", "--wake", "=", "n"], "gtel --wake=n", ["never"]),
    (["gtel", "--wake", "n"], "gtel --wake n", ["never"]),
    (["gtel", "--process-tags", "=", "user,po"], "gtel --process-tags=user,po",
     ["user,pod", "user,pod_uid"]),
    (["gtel", "--sources", "xe_"], "gtel --sources xe_", ["xe_pmu", "xe_stall"]),
    (["gtel", "--root", "=", "/et"], "gtel --root=/et", ["/etc"]),
]
BASH = """source "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _gtel; printf '%s\\n' "${COMPREPLY[@]}"
"""


def run(*words):
    done = subprocess.run(words, capture_output=True, text=True, stdin=subprocess.DEVNULL,
                          timeout=30, check=False)
    return done.stdout + done.stderr


def main():
    folder = os.path.join(sys.argv[1], FOLDER)
    found = tree.Findings("completions")
    for words, text, want in CASES:
        found.checked += 1
        got = run("bash", "-c", BASH, "bash", os.path.join(folder, "gtel.bash"), *words).split()
        if sorted(got) != want:
            found.add(f"{FOLDER}/gtel.bash", 1, f"{' '.join(words)}: {got}, expected {want}")
        out = run("fish", "--no-config", "-c", 'source $argv[1]; complete -C $argv[2]',
                  os.path.join(folder, "gtel.fish"), text)
        got = [line.split("\t")[0].split("=")[-1].rstrip("/") for line in out.splitlines()]
        if sorted(got) != want:
            found.add(f"{FOLDER}/gtel.fish", 1, f"{text}: {got}, expected {want}")
    # The specifications that zsh's own function gets: one option and one description each.
    code = '_arguments() { print -l -- "$@" }; _files() { :; }; source "$1"'
    lines = run("zsh", "-f", "-c", code, "zsh", os.path.join(folder, "_gtel")).splitlines()
    for line in lines[:-2]:
        found.checked += 1
        if not line.startswith("--") or line.count("[") != 1 or line.count("]") != 1:
            found.add(f"{FOLDER}/_gtel", 1, f"not an option with its description: {line}")
    if "--wake=[Whether a sleeping GPU may be woken to read it]:word:(never always)" not in lines:
        found.add(f"{FOLDER}/_gtel", 1, "--wake is not as expected")
    found.finish()


main()
