# SPDX-License-Identifier: MIT
"""`--unchanged omit` sends less, and nothing that a store would know wrongly.

    unchanged.py PROGRAM FIXTURES [MACHINE PERCENT]...     at most so many percent of the bytes

Each machine runs twenty minutes with and without the option. Whatever is left out must be the value
that was sent last; what is not sent at all must not appear; of every field that is left out, the
value must come again within InfoInterval, and when it was away for longer than between two readings
of slow rows.
"""

import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "e2e"))
import lines  # noqa: E402

COUNT, SECONDS, INFO_SECONDS = 120, 10, 600  # gathers, the time between them, InfoInterval
SLOW = 6  # gathers between two readings of the slowest rows (nvml: a minute)
failures = []


def check(is_ok, text):
    if not is_ok:
        failures.append(text)
        print("failed: " + text)


def run(program, tree, choice):
    """The bytes of the output, and by time what was sent: {(measurement, tags, field): value}."""
    done = subprocess.run([program, "--root", tree, "--isolation", "none", "--stepped",
                           "--interval", f"{SECONDS}s", "--count", str(COUNT),
                           "--unchanged", choice, "--info-interval", f"{INFO_SECONDS}s"],
                          check=True, capture_output=True, text=True, timeout=120)
    gathers = {}
    for name, found in lines.points(done.stdout).items():
        if name in ("gtel", "gpu_info"):  # what it costs now; sent rarely anyway
            continue
        for (tags, time), fields in found.items():
            gathers.setdefault(time, {}).update({(name, tags, f): v for f, v in fields.items()})
    return len(done.stdout), [gathers[time] for time in sorted(gathers)]


def compare(machine, all_sent, some_sent):
    check(len(all_sent) == len(some_sent) == COUNT, f"{machine}: {len(some_sent)} gathers")
    known, sent, seen, omitted = {}, {}, {}, 0
    for now, (full, less) in enumerate(zip(all_sent, some_sent)):
        check(less.keys() <= full.keys(), f"{machine}: sent only with the option")
        for key, value in full.items():
            was_away = now - seen.get(key, now) > SLOW
            check(was_away or (now - sent.get(key, now)) * SECONDS <= INFO_SECONDS,
                  f"{machine}, gather {now}: {key} is old")
            check(not was_away or key in less, f"{machine}, gather {now}: {key} is back unsent")
            if key in less:
                known[key], sent[key] = less[key], now
            omitted += key not in less
            check(known.get(key) == value, f"{machine}, gather {now}: {key} is {value}, "
                  f"the store knows {known.get(key)}")
            seen[key] = now
    check(omitted > 0, f"{machine}: nothing was left out")


def main():
    program, fixtures = sys.argv[1:3]
    for machine, percent in zip(sys.argv[3::2], sys.argv[4::2]):
        tree = os.path.join(fixtures, machine + ".tree")
        all_bytes, all_sent = run(program, tree, "send")
        some_bytes, some_sent = run(program, tree, "omit")
        compare(machine, all_sent, some_sent)
        share = 100 * some_bytes / all_bytes
        check(share <= float(percent), f"{machine}: {share:.0f} % of the bytes, not {percent}")
        print(f"{machine}: {all_bytes / COUNT:.0f} bytes per gather, {some_bytes / COUNT:.0f} "
              f"with the option: {share:.0f} %")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
