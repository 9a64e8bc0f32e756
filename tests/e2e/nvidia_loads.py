#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Does gtel see what an NVIDIA GPU is made to do? By hand, on a machine with nvcc and a GPU of the
Hopper generation or newer that does nothing else.

    nvidia_loads.py --gtel FILE [--smi nvidia-smi] [--scratch FOLDER] [--links]

Builds nvidia_loads.cu. Then: each of its loads shows in the units of gpu_activity that it uses, in
every gather, and in no others; PCIe bytes are what was copied, both ways and one way; two processes
in cgroups of their own have the memory that nvidia-smi says, and their container; one that ends is
gone in the next gathers; a fault counts as its Xid; one that fills the GPU gets its energy. With --links, on two GPUs: NVLink's bytes are
those copied from one to the other, by link and together. Exit status 0: all as it should be.
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile
import time

import nvidia_truth

HERE = os.path.dirname(os.path.abspath(__file__))
MIB = 1 << 20
CONTAINER = "4f5e6d7c8b9a00112233445566778899aabbccddeeff00112233445566778899"
failures = []


def check(holds, text):
    print(("  ok    " if holds else "  FAILED ") + text, flush=True)
    if not holds:
        failures.append(text)


class Load:
    def __init__(self, program, *words):
        self.process = subprocess.Popen([program, *map(str, words)], stdout=subprocess.PIPE, text=True)
        self.process.stdout.readline()

    def end(self):
        text = self.process.stdout.read()
        self.process.wait(30)
        return text

    def cut(self):
        self.process.kill()
        self.process.wait(30)


def values(lines, measurement, field, **tags):
    return [found[field] for head, have, found in lines if head == measurement and field in found
            and all(have.get(key) == value for key, value in tags.items())]


def watch(gathers, seconds):
    """A gather each second; their lines, and when each was."""
    found = []
    for _ in range(seconds):
        found.append((time.monotonic(), gathers.gather()[0]))
        time.sleep(1)
    return found


def units(found):
    """Of each unit of gpu_activity, its values."""
    seen = {}
    for _, lines in found:
        for head, tags, fields in lines:
            if head == "gpu_activity" and "active_percent" in fields:
                seen.setdefault(tags["unit"], []).append(fields["active_percent"])
    return seen


def try_load(gathers, program, kind, high, low):
    print(kind)
    load = Load(program, kind, 9)
    gathers.gather()
    time.sleep(2)
    found = watch(gathers, 5)
    text = load.end()
    seen = units(found)
    for unit, numbers in sorted(seen.items()):
        print("    %-14s %s" % (unit, " ".join("%.3f" % n for n in numbers)))
    for unit in high:
        check(len(seen.get(unit, [])) == len(found) or unit == "dram", f"{unit} is in every gather")
        check(seen.get(unit, [0]) and min(seen.get(unit, [0])) > 20, f"{unit} is high")
    for unit in low:
        # FP64 work counts as tensor work by a 64th on an H200 (95.2 and 1.49 %, driver 580.159).
        check(max(seen.get(unit, [100])) < 2, f"{unit} is 0")
    return found, text


def rate_of(text):
    """Bytes per second that a load says it has copied."""
    count, seconds = re.search(r"copied (\d+) bytes .* in ([0-9.]+) s", text).groups()
    return int(count) / float(seconds)


def counted(found, field):
    """[(when, bytes)] of a counter of the GPU."""
    return [(at, n) for at, lines in found for n in values(lines, "gpu", field)]


def try_copy(gathers, program):
    found, text = try_load(gathers, program, "copy", [], ["tensor", "fp64"])
    rate = rate_of(text)
    for field in ("pcie_rx_bytes", "pcie_tx_bytes"):
        numbers = counted(found, field)
        if len(numbers) < 2:
            check(False, f"{field}: {len(numbers)} values")
            continue
        ratio = (numbers[-1][1] - numbers[0][1]) / (numbers[-1][0] - numbers[0][0]) / rate
        check(0.97 < ratio < 1.25, f"{field}: {ratio:.3f} of the {rate / 1e9:.1f} GB/s copied")
    print("    dram", values(found[-1][1], "gpu_activity", "active_percent", unit="dram"))


def try_pcie(gathers, program, kind, field, other):
    """At full speed one way, in each of ten intervals: the counter has the packets, the copy has not."""
    print(kind)
    load = Load(program, kind, 15)
    gathers.gather()
    time.sleep(1)
    found = watch(gathers, 12)
    rate = rate_of(load.end())
    for name in (field, other):
        numbers = counted(found, name)
        steps = [(b[1] - a[1]) / (b[0] - a[0]) / rate for a, b in zip(numbers, numbers[1:])]
        print("   ", name, " ".join("%.3f" % step for step in steps))
        if name == field:
            check(len(steps) >= 10 and all(0.97 < step < 1.15 for step in steps),
                  f"{name}: within 15 % of the {rate / 1e9:.1f} GB/s copied")
        else:
            check(all(step < 0.15 for step in steps), f"{name}: little the other way")


def cgroup(name):
    """A cgroup, or None where there are none to make."""
    path = os.path.join("/sys/fs/cgroup", name)
    try:
        os.makedirs(path, exist_ok=True)
        with open(os.path.join(path, "cgroup.procs"), encoding="ascii"):
            return path
    except OSError as error:
        print(f"    no cgroups: {error}")
        return None


def join(path, pid):
    if path:
        with open(os.path.join(path, "cgroup.procs"), "w", encoding="ascii") as file:
            file.write(str(pid))


def used(smi):
    """{pid: MiB} as nvidia-smi has it."""
    text = subprocess.run([smi, "--query-compute-apps=pid,used_memory", "--format=csv,noheader,nounits"],
                          stdout=subprocess.PIPE, text=True, check=True).stdout
    return {int(pid): int(mib) for pid, mib in re.findall(r"(\d+), (\d+)", text)}


def try_processes(command, program, smi):
    print("processes")
    one, two = Load(program, "tensor", 60, 1000), Load(program, "hold", 60, 300)
    paths = [cgroup(f"docker-{CONTAINER}.scope"), cgroup("inference.service")]
    join(paths[0], one.process.pid)
    join(paths[1], two.process.pid)
    gathers = nvidia_truth.Gathers(command + ["--process-tags", "container,unit,pid"])
    found = watch(gathers, 26)  # shares come each 20 s
    lines = found[-1][1]
    theirs = used(smi)
    for head, tags, fields in lines:
        if head == "gpu_process":
            print("   ", tags, fields)
    for load in (one, two):
        pid = load.process.pid
        ours = values(lines, "gpu_process", "memory_bytes", pid=str(pid))
        check(ours and theirs.get(pid) == int(ours[0]) // MIB,
              f"memory of {pid}: {ours} bytes, nvidia-smi {theirs.get(pid)} MiB")
    check(values(lines, "gpu", "processes") == [2], f"processes: {values(lines, 'gpu', 'processes')}")
    for load, least, most in ((one, 90, 100), (two, 0, 0)):
        shares = [share for _, one_gather in found for share in
                  values(one_gather, "gpu_process", "busy_percent", pid=str(load.process.pid))]
        check(shares and all(least <= share <= most for share in shares[1:] or shares),
              f"shares of {load.process.pid}: {shares}")
    if paths[0]:
        got = {tags.get("pid"): tags.get("container") for head, tags, _ in lines if head == "gpu_process"}
        check(got.get(str(one.process.pid)) == CONTAINER[:12], f"container: {got}")
    two.cut()
    time.sleep(1)
    lines = watch(gathers, 2)[-1][1]
    check(not values(lines, "gpu_process", "memory_bytes", pid=str(two.process.pid)), "the ended one is gone")
    check(values(lines, "gpu", "processes") == [1], f"processes: {values(lines, 'gpu', 'processes')}")
    one.cut()
    gathers.close()
    for path in filter(None, paths):
        os.rmdir(path)


def try_energy(command, program):
    """What the GPU uses while a process fills it is that process's, and nothing is lost."""
    print("energy")
    load = Load(program, "tensor", 70, 1000)
    gathers = nvidia_truth.Gathers(command + ["--process-energy=on"])
    found = watch(gathers, 66)  # which is read each 20 s
    gathers.close()
    load.cut()
    steps = [lines for _, lines in found if values(lines, "gpu", "energy_joules")]
    check(5 <= len(steps) <= 7, f"energy is in {len(steps)} of {len(found)} gathers")
    for before, after in zip(steps[2:], steps[3:]):
        grown = values(after, "gpu", "energy_joules")[0] - values(before, "gpu", "energy_joules")[0]
        first = next(tags["gpu"] for head, tags, fields in after if head == "gpu" and "energy_joules" in fields)
        lines = {}
        for sign, found_lines in ((1, after), (-1, before)):
            for head, tags, fields in found_lines:
                if head == "gpu_process" and "attributed_joules" in fields and tags["gpu"] == first:
                    name = tags["process"]
                    lines[name] = lines.get(name, 0) + sign * fields["attributed_joules"]
        check(abs(sum(lines.values()) / grown - 1) < 0.001, f"{lines} of {grown:.0f} J")
        check(lines["nvidia_loads"] > 0.9 * grown, "nearly all is the process's")


def try_fault(gathers, program):
    print("fault")
    before = values(gathers.gather()[0], "gpu_error", "count", kind="xid")
    print("   ", Load(program, "fault", 1).end().strip())
    time.sleep(1)
    lines = watch(gathers, 3)[-1][1]
    kinds = {tags["kind"]: fields["count"] for head, tags, fields in lines
             if head == "gpu_error" and tags.get("kind", "").startswith("xid")}
    check(before == [0], f"before: {before}")
    check(kinds.get("xid", 0) >= 1 and len(kinds) > 1, f"after: {kinds}")


def links_of(gathers):
    """{(GPU, field): bytes} of two GPUs, each of its next gather that has single links: those are
    read each minute, and the GPUs take turns."""
    found = {}
    for _ in range(70):
        lines = gathers.gather()[0]
        have = {tags["gpu"] for head, tags, fields in lines
                if head == "gpu_fabric" and "tx_bytes" in fields} - {gpu for gpu, _ in found}
        for head, tags, fields in lines:
            for field in ("links_rx_bytes", "links_tx_bytes", "rx_bytes", "tx_bytes"):
                if head in ("gpu", "gpu_fabric") and field in fields and tags["gpu"] in have:
                    key = (tags["gpu"], field)
                    found[key] = found.get(key, 0) + fields[field]
        if len({gpu for gpu, _ in found}) == 2:
            break
        time.sleep(1)
    return found


def try_links(gathers, program):
    """Bytes from one GPU to another: of the GPU and of its links together, each way."""
    print("peer")
    before = links_of(gathers)
    load = Load(program, "peer", 66)
    found = watch(gathers, 64)  # which are read each 20 s
    count, source, target, seconds = re.search(
        r"copied (\d+) bytes from (\S+) to (\S+) in ([0-9.]+) s", load.end()).groups()
    time.sleep(2)
    after = links_of(gathers)
    source, target = source.lower(), target.lower()
    for gpu, way in ((source, "tx"), (target, "rx")):
        for field in (f"links_{way}_bytes", f"{way}_bytes"):
            grown = after.get((gpu, field), 0) - before.get((gpu, field), 0)
            check(abs(grown / int(count) - 1) < 0.001, f"{gpu} {field}: {grown} of {count} bytes copied")
        other = f"links_{'rx' if way == 'tx' else 'tx'}_bytes"
        grown = after.get((gpu, other), 0) - before.get((gpu, other), 0)
        check(grown < int(count) / 50, f"{gpu} {other}: {grown}, the other way")
        numbers = [(at, n) for at, lines in found for n in values(lines, "gpu", f"links_{way}_bytes", gpu=gpu)]
        steps = [(b[1] - a[1]) / (b[0] - a[0]) / (int(count) / float(seconds)) for a, b in zip(numbers, numbers[1:])]
        check(len(steps) > 1 and all(0.95 < step < 1.05 for step in steps),
              f"{gpu} while copying: {' '.join('%.3f' % step for step in steps)} of the mean rate, "
              f"{int(count) / float(seconds) / 1e9:.0f} GB/s")


def finish():
    print("nvidia_loads:", f"{len(failures)} FAILED" if failures else "all as it should be")
    return 1 if failures else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--gtel", required=True)
    parser.add_argument("--smi", default="nvidia-smi")
    parser.add_argument("--links", action="store_true", help="only NVLink, between two GPUs")
    parser.add_argument("--scratch", default=tempfile.gettempdir())
    arguments = parser.parse_args()
    program = os.path.join(arguments.scratch, "nvidia_loads")
    subprocess.run(["nvcc", "-arch=native", "-O2", "-o", program, os.path.join(HERE, "nvidia_loads.cu")],
                   check=True)
    command = [os.path.abspath(arguments.gtel), "--engine-instances", "on"]
    gathers = nvidia_truth.Gathers(command)
    gathers.gather()
    if arguments.links:
        try_links(gathers, program)
        gathers.close()
        return finish()
    try_load(gathers, program, "tensor", ["sm", "tensor"], ["fp64"])
    try_load(gathers, program, "fp64", ["sm", "fp64"], ["tensor"])
    try_copy(gathers, program)
    try_pcie(gathers, program, "up", "pcie_rx_bytes", "pcie_tx_bytes")
    try_pcie(gathers, program, "down", "pcie_tx_bytes", "pcie_rx_bytes")
    try_fault(gathers, program)
    for head, tags, fields in gathers.gather()[0]:
        if head == "gpu_engine":
            print("   ", tags.get("engine"), tags.get("instance"), fields)
    gathers.close()
    try_processes(command, program, arguments.smi)
    try_energy(command, program)
    return finish()


if __name__ == "__main__":
    sys.exit(main())
