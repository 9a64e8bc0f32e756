# SPDX-License-Identifier: MIT
"""A day of three AMD GPUs: what counters have added up to is what physically happened.

    amd_day.py PROGRAM FOLDER SECONDS...     the time between two gathers, a day for each

A day is made of half hours in which nothing changes, by amd.py's cards: an MI300X whose counters of
32 bits turn (ticks, residencies), a Navi 21 whose energy of 32 bits turns every few hours, and an
MI100. Over the day, energy, bytes of xGMI and the time of each residency must be those of the half
hours, within 0.1 %; and the shares of each single gather must be those of its half hour.
"""

import os
import random
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "fixtures"), os.path.join(HERE, "..", "e2e")]
import amd  # noqa: E402
import amd_cards  # noqa: E402
import amd_tables  # noqa: E402
import lines  # noqa: E402

DAY, PIECE = 86400, 1800
NEAR = 1e-3
RESIDENCIES = ("prochot", "ppt", "socket_thm", "vr_thm", "hbm_thm")
failures = []


def check(is_ok, text):
    if not is_ok:
        failures.append(text)
        print("failed: " + text)


def near(got, want, text, slack=0.0):
    error = abs(got - want)
    check(error <= NEAR * abs(want) + slack, f"{text}: {got:.6g}, not {want:.6g}")


def day(folder):
    """Writes the machine; returns its path and, of each half hour, what the MI300X does and the
    power of each card."""
    dice = random.Random(14)
    m = amd_cards.Machine("day", "a day", "6.12")
    mi300 = amd_cards.Card(m, "0000:05:00.0", "74A1", card=0, hwmon=1, cap=750, cap_max=750,
                           partitions=[list(range(8))], table=amd_tables.table_mi300(6),
                           content=6)
    navi = amd_cards.Card(m, "0000:0c:00.0", "73BF", card=1, hwmon=2, average=True,
                          table=amd_tables.table_1_3(energy=1000))
    mi100 = amd_cards.Card(m, "0000:c3:00.0", "738C", card=2, hwmon=3, average=True,
                           table=amd_tables.table_1_3(energy=1))
    pieces, watts = [], {mi300.key: [], navi.key: [], mi100.key: []}
    for t in range(0, DAY + 1, PIECE):
        if t > 0:
            m.at(t)
        p = dict(amd.MI300_BUSY, power=dice.randint(137, 750), gfx=dice.randint(5, 100),
                 xgmi_read=[dice.randint(0, 40 * 2**20) for _ in range(7)],
                 xgmi_write=[dice.randint(0, 40 * 2**20) for _ in range(7)],
                 residencies={r: dice.choice((0, 0, 0.125, 0.5, 1)) for r in RESIDENCIES})
        old = dict(edge=60, junction=70, mem=60, gfx=50, umc=10, sclk=1500, mclk=1000, lanes=16,
                   tenth_gt=160)
        pieces.append(p)
        for card in (mi300, navi, mi100):
            state = p if card is mi300 else dict(old, power=dice.randint(30, 289))
            card.state("1", state)
            watts[card.key].append(state["power"])
    path = os.path.join(folder, "amd-day.tree")
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(m.lines + ["end", ""]))
    return path, pieces, watts


def series(points, measurement, gpu, **tags):
    """{second: fields} of one series."""
    found = {}
    wanted = {"gpu": gpu, **tags}
    for (there, time_ns), fields in points.get(measurement, {}).items():
        if wanted.items() <= dict(there).items():
            found[round(time_ns / 1e9) - 1767225600] = fields
    return found


def grown(by_time, field):
    """From when to when a counter was there, and how much it grew; it never shrinks."""
    seconds = sorted(s for s, fields in by_time.items() if field in fields)
    values = [by_time[s][field] for s in seconds]
    check(len(seconds) > 1, f"{field} is there")
    check(all(a <= b for a, b in zip(values, values[1:])), f"{field} never shrinks")
    return (seconds[0], seconds[-1], values[-1] - values[0]) if len(seconds) > 1 else None


def happened(pieces, begin, end, of):
    """What the half hours add up to."""
    return sum(of(p) * max(0, min(end, (i + 1) * PIECE) - max(begin, i * PIECE))
               for i, p in enumerate(pieces))


def check_day(points, pieces, watts, step):
    for gpu, of in watts.items():
        found = grown(series(points, "gpu", gpu), "energy_joules")
        if found:
            begin, end, joules = found
            check(begin <= 3 * step and end >= DAY - step, f"{gpu}: energy from {begin} s on")
            near(joules, happened(of, begin, end, lambda w: w), f"{gpu}: energy", slack=2)
    mi300 = "0000:05:00.0"
    for link in range(7):
        for field, name in (("rx_bytes", "xgmi_read"), ("tx_bytes", "xgmi_write")):
            found = grown(series(points, "gpu_fabric", mi300, link=LINK.format(link)), field)
            if found:
                want = happened(pieces, *found[:2], lambda p, n=name, i=link: p[n][i] * 1024)
                near(found[2], want, f"link {link} {field}")
    for residency, reason in REASONS.items():
        by_time = series(points, "gpu_throttle", mi300, reason=reason)
        share = {s: f["active_percent"] for s, f in by_time.items() if "active_percent" in f}
        check(len(share) >= DAY / step - 3, f"{reason}: {len(share)} shares")
        total = sum(v / 100 * step for v in share.values())
        want = happened(pieces, min(share, default=0) - step, DAY,
                        lambda p, r=residency: p["residencies"][r])
        near(total, want, f"{reason}: seconds", slack=1)
        wrong = [s for s, v in share.items() if s % PIECE >= step and
                 abs(v / 100 - pieces[s // PIECE]["residencies"][residency]) > 0.002]
        check(not wrong, f"{reason}: wrong at {wrong[:5]}")


LINK = "xgmi{}"
REASONS = {"prochot": "prochot", "ppt": "ppt", "socket_thm": "socket_thermal",
           "vr_thm": "vr_thermal", "hbm_thm": "hbm_thermal"}


def main():
    program, folder = sys.argv[1:3]
    path, pieces, watts = day(folder)
    for step in map(int, sys.argv[3:]):
        done = subprocess.run([program, "--root", path, "--isolation", "none", "--stepped",
                               "--interval", f"{step}s", "--count", str(DAY // step)], check=True,
                              capture_output=True, text=True, timeout=300)
        check(not done.stderr, f"nothing is said:\n{done.stderr[:2000]}")
        points = lines.points(done.stdout)
        check_day(points, pieces, watts, step)
        print(f"{step} s: {sum(map(len, points.values()))} points, {len(failures)} failures so far")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
