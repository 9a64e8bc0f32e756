#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""rpmlint accepts the spec, and the spec is of the same version: spec.py RPMLINT SPEC VERSION"""
import re
import subprocess
import sys

# The sources are no download, and rpm needs no such tag since 4.6.
KNOWN = ("no-buildroot-tag", "invalid-url Source0:")


def main():
    rpmlint, spec, version = sys.argv[1:]
    done = subprocess.run([rpmlint, spec], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, check=False)
    found = [line for line in done.stdout.splitlines() if re.search(r": [EW]: ", line)]
    wrong = [line for line in found if not any(name in line for name in KNOWN)]
    if "1 specfiles checked" not in done.stdout:
        wrong.append(f"rpmlint has not read it: {done.stdout}")
    with open(spec, encoding="utf-8") as file:
        text = file.read()
    if not re.search(rf"^Version: +{re.escape(version)}$", text, re.M):
        wrong.append(f"{spec}: Version is not {version}")
    if not re.search(rf"^%changelog\n.* - {re.escape(version)}-1\n", text, re.M):
        wrong.append(f"{spec}: the first entry of %changelog is not about {version}")
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
