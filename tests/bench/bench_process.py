#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Memory of all our processes and time to the first line, on a recorded machine.

    bench_process.py GTEL MACHINE.tree

Prints one JSON line: proportional memory (PSS) of gtel and its helpers after some gathers, in MB, and
the time from start to the first byte of output, the smallest and the median of several starts, in ms,
beside the same for a program that only prints a line.
"""
import json
import os
import select
import statistics
import subprocess
import sys
import time


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
        return [int(word) for word in file.read().split()]


def pss_kb(pid):
    with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as file:
        for line in file:
            if line.startswith("Pss:"):
                return int(line.split()[1])
    return 0


def first_line_ms(command):
    start = time.monotonic()
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL) as child:
        ready, _, _ = select.select([child.stdout], [], [], 10)
        took = (time.monotonic() - start) * 1000
        got = os.read(child.stdout.fileno(), 1) if ready else b""
        child.stdin.close()
        child.stdout.read()
        child.wait(10)
    return took if got else float("nan")


def memory_mb(command, gathers):
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL) as child:
        for _ in range(gathers):
            child.stdin.write(b"\n")
            child.stdin.flush()
            time.sleep(0.3)
            os.read(child.stdout.fileno(), 1 << 20)
        pids = [child.pid] + children(child.pid)
        total = sum(pss_kb(pid) for pid in pids)
        child.stdin.close()
        child.stdout.read()
        child.wait(10)
    return total / 1024, len(pids)


def main():
    gtel, tree = sys.argv[1:3]
    base = [gtel, "--root", tree]
    starts = [first_line_ms(base + ["--interval", "1s"]) for _ in range(15)]
    bare = [first_line_ms(["/bin/echo", "x"]) for _ in range(15)]
    mb, processes = memory_mb(base, 6)
    print(json.dumps({"bench": "process", "processes": processes, "pss_mb": round(mb, 2),
                      "first_line_ms_min": round(min(starts), 1),
                      "first_line_ms_median": round(statistics.median(starts), 1),
                      "bare_start_ms_median": round(statistics.median(bare), 1)}))
    return 0 if mb > 0 and min(starts) > 0 else 1


if __name__ == "__main__":
    sys.exit(main())
