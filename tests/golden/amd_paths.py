# SPDX-License-Identifier: MIT
"""An AMD card says the same by every path: its table, hwmon, and the driver's files.

    amd_paths.py PROGRAM FOLDER SCRATCH

Each recorded machine with gpu_metrics is run as it is, and without its table, its hwmon or its busy
files: whatever is reported both times is the same. Then its table fails once: what the other files
have goes on, with the same values, and what counts is right again afterwards.
"""

import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
import lines  # noqa: E402

WALL = 1767225600
# in1 says that the card is an APU, and is there whenever hwmon is.
WITHOUT = {
    "the table": r"/gpu_metrics$",
    "hwmon": r"/hwmon/.*((?<!in1)_input|_average|pwm1)$",
    "busy files": r"/(gpu|mem|vcn)_busy_percent$",
    "hwmon and busy files": r"/hwmon/.*((?<!in1)_input|_average|pwm1)$|_busy_percent$",
}
SKIPPED = ("amd-laptop", "amd-rebind", "amd-reset")  # these have other things to say at each second
HEADLINES = ("temperature_celsius", "power_watts", "frequency_mhz", "busy_percent",
             "memory_used_bytes", "power_limit_watts")
failures = []


def check(is_ok, text):
    if not is_ok:
        failures.append(text)
        print("failed: " + text)


def entries(text):
    """The recording's lines, each with what belongs to it."""
    return re.findall(r"(?m)^(?:.*\n)(?:\|.*\n)*", text)


def path_of(entry):
    words = entry.split()
    return words[1] if len(words) > 1 and words[0] in ("file", "binary", "link", "error") else ""


def run(program, text, scratch):
    path = os.path.join(scratch, "amd-paths.tree")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    done = subprocess.run([program, "--root", path, "--isolation", "none", "--stepped",
                           "--interval", "1s", "--count", "3"], check=True, capture_output=True,
                          text=True, timeout=60)
    points = lines.points(done.stdout)
    return {(measurement, tags, (t - WALL * 10**9) // 10**9, field): value
            for measurement, there in points.items()
            for (tags, t), fields in there.items()
            for field, value in fields.items()
            if measurement not in ("gtel", "gpu_info") and field != "readings_failed"}


def same(a, b, near=1e-6):
    return abs(a - b) <= near * max(1, abs(a))


def compare(name, what, full, part, is_once=False):
    """A share covers both intervals after a gap; a counter that is played again loses a fraction."""
    both = {k for k in full.keys() & part.keys() if not (is_once and k[3] == "active_percent")}
    for key in sorted(both, key=str):
        check(same(full[key], part[key], 1e-4 if is_once and "joules" in key[3] else 1e-6),
              f"{name} without {what}: {key}: {part[key]}, not {full[key]}")
    return len(both)


def fail_once(text):
    """The table answers EIO from 1.8 s to 2.2 s, in one gather."""
    tables = [e for e in entries(text) if path_of(e).endswith("/gpu_metrics")]
    last = {path_of(e): e for e in tables}
    errors = "".join(f"error {path} EIO\n" for path in last)
    # Words that grow begin at the state: a later line begins again where they are then.
    later = "".join(re.sub(r"(\d+):(\d+)\+([\d.e+]+)", grown, e) for e in last.values())
    return text.replace("end\n", f"at 1800ms\n{errors}at 2200ms\n{later}end\n")


def grown(match):
    width, start, rate = int(match[1]), int(match[2]), float(match[3])
    return f"{width}:{(start + int(rate * 0.7 + 1e-9)) % 2 ** (8 * width)}+{match[3]}"


# Of the time between two tables: the first one after a failure has no other. Of all chips but those of
# revision 3.0 the mask is of the moment.
BETWEEN = ("active_percent",)
BETWEEN_3_0 = BETWEEN + ("throttled", "active")


def check_machine(program, folder, scratch, name):
    with open(os.path.join(folder, "fixtures", name + ".tree"), encoding="utf-8") as file:
        text = file.read()
    if not re.search(WITHOUT["the table"], text, re.M) and "/gpu_metrics" not in text:
        return 0
    full = run(program, text, scratch)
    n = 0
    for what, pattern in WITHOUT.items():
        part = "".join(e for e in entries(text) if not re.search(pattern, path_of(e)))
        n += compare(name, what, full, run(program, part, scratch))
    once = run(program, fail_once(text), scratch)
    n += compare(name, "the table once", full, once, is_once=True)
    has_files = "/hwmon/" in text
    for measurement, tags, second, field in full:
        key = (measurement, tags, second, field)
        is_whole = measurement == "gpu" and "instance" not in dict(tags)
        if second == 3 or (has_files and is_whole and field in HEADLINES):
            check(key in once or field in (BETWEEN_3_0 if "strix" in name else BETWEEN),
                  f"{name}: after one failure of the table {key} is missing")
    return n


def main():
    program, folder, scratch = sys.argv[1:4]
    os.makedirs(scratch, exist_ok=True)
    machines = n = 0
    for file in sorted(os.listdir(os.path.join(folder, "fixtures"))):
        name, extension = os.path.splitext(file)
        if name.startswith("amd-") and extension == ".tree" and name not in SKIPPED:
            found = check_machine(program, folder, scratch, name)
            machines += found > 0
            n += found
    check(machines > 15, f"{machines} machines")
    print(f"{machines} machines, {n} values compared, {len(failures)} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
