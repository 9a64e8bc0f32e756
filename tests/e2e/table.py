# SPDX-License-Identifier: MIT
"""The table for people: what it shows is what the lines say, and only a terminal gets it.

    table.py PROGRAM FIXTURES [MACHINE]...
"""

import os
import pty
import re
import subprocess
import sys

import lines

GIB = 2**30
failures = []


def check(is_ok, text):
    if not is_ok:
        failures.append(text)
        print("failed: " + text)


def on_terminal(*command):
    """What the command writes to a terminal; it must end by itself."""
    main, other = pty.openpty()
    child = subprocess.Popen(command, stdin=other, stdout=other, stderr=subprocess.PIPE)
    os.close(other)
    text = b""
    while True:
        try:
            piece = os.read(main, 65536)
        except OSError:  # the terminal has no writer any more
            break
        if not piece:
            break
        text += piece
    child.communicate(timeout=60)
    os.close(main)
    check(child.returncode == 0, f"{command}: status {child.returncode}")
    return text.decode().replace("\r\n", "\n")


def number(value, digits):
    return "-" if value is None else f"{value:.{digits}f}"


def part(used, total, digits):
    return number(used, digits) + ("" if total is None else "/" + number(total, digits))


def gib(value):
    return None if value is None else value / GIB


def row(fields):
    """The numbers of a GPU's row, from the fields of its line."""
    if fields.get("up") == 0:
        return ["does", "not", "answer"]
    if fields.get("awake") == 0:
        return ["asleep"]
    found = [number(fields.get("busy_percent"), 0)]
    found += ["%"] if "busy_percent" in fields else []
    found.append(part(gib(fields.get("memory_used_bytes")), gib(fields.get("memory_total_bytes")),
                      1))
    found.append(number(fields.get("temperature_celsius"), 0))
    found += ["C"] if "temperature_celsius" in fields else []
    found.append(part(fields.get("power_watts"), fields.get("power_limit_watts"), 0))
    found.append(number(fields.get("frequency_mhz"), 0))
    return found + (["throttled"] if fields.get("throttled") else [])


def compare(program, tree):
    command = (program, "--once", "--root", tree)
    piped = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    points = lines.points(piped.stdout)
    table = on_terminal(*command)
    shown = [line for line in table.splitlines()[1:] if not line.startswith("  ")]
    check(len(shown) == len(points["gpu"]), f"{tree}: a row per GPU:\n{table}")
    for (tags, _), fields in points["gpu"].items():
        tags = dict(tags)
        names = (tags["instance"], "of " + tags["gpu"]) if "instance" in tags else (
            tags["gpu"], tags.get("model", ""))
        line = next((s for s in shown if s.startswith(f"{names[0]:13} {names[1][:24]:24}  ")), "")
        words = line[40:].split()  # behind the name and the model
        if words and re.fullmatch("[|.]{10}", words[0]):
            check(words[0].count("|") * 10 == round(fields["busy_percent"] / 10 + 1e-9) * 10,
                  f"{tree}: the bar of {line}")
            words = words[1:]
        check(words == row(fields), f"{tree}: {line}\n  must show {row(fields)}")
    names = {dict(tags)["process"] for tags, _ in points.get("gpu_process", {})}
    for line in table.splitlines()[1:]:
        if line.startswith("  "):
            check(line[2:40].strip() in {n[:38] for n in names}, f"{tree}: {line}")
    check("\033" not in table, f"{tree}: no escape sequence")


def main():
    program, fixtures = sys.argv[1:3]
    for machine in sys.argv[3:]:
        compare(program, os.path.join(fixtures, machine + ".tree"))
    tree = os.path.join(fixtures, "workstation.tree")
    watched = on_terminal(program, "--watch", "--stepped", "--count", "3", "--root", tree)
    pages = watched.split("\033[H\033[J")
    check(len(pages) == 4 and pages[0] == "", f"three pages, each in place of the last: {watched}")
    check(all(page.startswith("GPU ") for page in pages[1:]), "each page has its heading")
    check("%" in pages[3], "with the second gather there are rates")
    piped = subprocess.run((program, "--watch", "--stepped", "--count", "2", "--root", tree),
                           stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True, timeout=60)
    check("\033" not in piped.stdout and piped.stdout.count("GPU ") > 0, f"in a pipe: {piped.stdout}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
