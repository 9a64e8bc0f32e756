# SPDX-License-Identifier: MIT
"""Processes in InfluxDB through both agents: the documented queries, and few series.

    processes.py --gtel FILE --plugins FOLDER --influxd FILE --source FOLDER [--telegraf FILE]

Recorded machines are made up: two GPUs, six processes that stay, in containers and units, and beside them
10,000 with names that never come again, whose pids are used over and over. Telegraf's gtel steps through
50 minutes of it, so that the long run of ProcessLimit shows; collectd's plays ten seconds in real time.
Without Telegraf collectd alone is tested.
"""

import argparse
import os
import re
import shutil
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "contrib", "ci"))
import agents  # noqa: E402

SHORT_LIVED = 10000
STEPS = 300         # of Telegraf's machine, 10 s each: the default of --interval
STEP_LIMIT = 5      # its ProcessLimit
COLLECTD_STEPS = 80  # with short-lived processes, of collectd's machine
COLLECTD_STEP_MS = 250
COLLECTD_MORE = 80  # steps after them
COLLECTD_LIMIT = 20  # the default
MIB = 2**20
CLOCK = 19200000  # of the second GPU
GPUS = ("0000:03:00.0", "0000:07:00.0")
NODES = {GPUS[0]: 128, GPUS[1]: 129}
CONTAINERS = ("1a" * 32, "2b" * 32)
SHORT = tuple(c[:12] for c in CONTAINERS)  # as a tag
# Name, pid, cgroup, {GPU: (MiB, share of the compute engine, share of the video engine)}.
STAYING = (
    ("python3", 700, f"/system.slice/docker-{CONTAINERS[0]}.scope",
     {GPUS[0]: (16384, 0.3, 0), GPUS[1]: (2048, 0.1, 0)}),
    ("python3", 701, f"/system.slice/docker-{CONTAINERS[1]}.scope", {GPUS[0]: (8192, 0.6, 0)}),
    ("ollama", 702, f"/machine.slice/libpod-{CONTAINERS[1]}.scope", {GPUS[1]: (10240, 0.5, 0)}),
    ("ffmpeg", 703, "/system.slice/jellyfin.service", {GPUS[0]: (4096, 0, 0.2)}),
    ("gnome-shell", 704, "/user.slice/user-1000.slice/session-2.scope", {GPUS[1]: (512, 0, 0)}),
)
SHORT_MIB = 10
HOST = """file proc/sys/kernel/osrelease
| 6.14.0-amd64
link proc/self/ns/pid -> pid:[4026531836]
file proc/self/stat
| 4242 (gtel) S 1 4242 4242 0 -1 4194304 900 0 0 0 12 4 0 0 20 0 1 0 50 9000000 800
file proc/1/stat
| 1 (systemd) S 1 1 1 0 -1 4194304 900 0 0 0 12 4 0 0 20 0 1 0 0 9000000 800
dir proc/1/fd
dir proc/1/fdinfo
"""
DEVICE = """file {path}/uevent
| DRIVER={driver}
| PCI_SLOT_NAME={gpu}
file {path}/vendor
| {vendor}
file {path}/device
| {device}
file {path}/power/runtime_status
| active
link sys/class/drm/card{card} -> ../../devices/pci0000:00/{gpu}/drm/card{card}
link {path}/drm/card{card}/device -> ../../../{gpu}
link sys/class/drm/renderD{node} -> ../../devices/pci0000:00/{gpu}/drm/renderD{node}
link {path}/drm/renderD{node}/device -> ../../../{gpu}
"""

failures = []


def check(is_ok, text):
    if not is_ok:
        failures.append(text)
        print("failed: " + text)
    return is_ok


# The recorded machines

def device(gpu, driver, vendor, number):
    return DEVICE.format(path=f"sys/devices/pci0000:00/{gpu}", gpu=gpu, driver=driver, vendor=vendor,
                         device=number, card=NODES[gpu] - 128, node=NODES[gpu])


def process(pid, start, name, cgroup, gpus):
    text = (f"file proc/{pid}/stat\n| {pid} ({name}) S 1 {pid} {pid} 0 -1 4194304 900 0 0 0 12 4 0 0 20 0 1 0 "
            f"{start} 9000000 800\nfile proc/{pid}/cgroup\n| 0::{cgroup}\n")
    return text + "".join(f"char proc/{pid}/fd/{NODES[gpu]} 226:{NODES[gpu]}\n" for gpu in gpus)


def fdinfo(pid, client, gpu, mib, seconds=0.0, compute=0.0, video=0.0):
    """What the drivers show (kernel: amdgpu/amdgpu_fdinfo.c, xe/xe_drm_client.c) after that time."""
    text = (f"file proc/{pid}/fdinfo/{NODES[gpu]}\n| pos:\t0\n| drm-client-id:\t{client}\n"
            f"| drm-pdev:\t{gpu}\n")
    if gpu == GPUS[0]:
        return text + (f"| drm-driver:\tamdgpu\n| drm-memory-vram:\t{mib * 1024} KiB\n"
                       f"| drm-engine-compute:\t{int(1e12 + seconds * compute * 1e9)} ns\n"
                       f"| drm-engine-dec:\t{int(1e12 + seconds * video * 1e9)} ns\n")
    total = int((1000 + seconds) * CLOCK)
    text += f"| drm-driver:\txe\n| drm-total-vram0:\t{mib} MiB\n| drm-resident-vram0:\t{mib} MiB\n"
    for engine, share in (("ccs", compute), ("vcs", video)):
        text += (f"| drm-cycles-{engine}:\t{int(seconds * share * CLOCK)}\n"
                 f"| drm-total-cycles-{engine}:\t{total}\n")
    return text


def machine(path, wall, steps, more, step_ms):
    """Writes a machine with SHORT_LIVED processes over so many steps, and further steps without."""
    n = 0
    per_step = -(-SHORT_LIVED // steps)
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"wall {wall}\n" + HOST)
        file.write(device(GPUS[0], "amdgpu", "0x1002", "0x744c"))
        file.write(device(GPUS[1], "xe", "0x8086", "0xe20b"))
        for name, pid, cgroup, uses in STAYING:
            file.write(process(pid, 100, name, cgroup, uses))
        for step in range(steps + more + 1):
            file.write(f"at {step * step_ms}ms\n" if step else "")
            for _, pid, _, uses in STAYING:
                for gpu, (mib, compute, video) in uses.items():
                    file.write(fdinfo(pid, pid, gpu, mib, step * step_ms / 1000, compute, video))
            if step > 1:
                file.write("".join(f"gone proc/{1000 + (step - 1) % 2 * per_step + i}\n"
                                   for i in range(per_step) if (step - 2) * per_step + i < SHORT_LIVED))
            for i in range(per_step if step > 0 else 0):
                if n == SHORT_LIVED:
                    break
                pid, gpu = 1000 + step % 2 * per_step + i, GPUS[n % 2]
                file.write(process(pid, 1000 + step * step_ms // 10, f"job-{n}",
                                   "/system.slice/jobs.service", [gpu]))
                file.write(fdinfo(pid, 10000 + n, gpu, SHORT_MIB, step * step_ms / 1000))
                n += 1
        file.write("end\n")


# What InfluxDB answers

def rows(influx, text, database):
    """The rows of a query with their tags, as dictionaries."""
    return [{**series.get("tags", {}), **dict(zip(series["columns"], row))}
            for series in influx.query(text, database) for row in series["values"]]


def number(influx, text, database):
    """The only value of the only row."""
    found = influx.query(text, database)
    return found[0]["values"][0][-1] if found else None


def documented_queries(arguments, agent):
    """The queries between ```sql and ```, as users copy them."""
    path = os.path.join(arguments.source, "contrib", "docs", "processes.md")
    with open(path, encoding="utf-8") as file:
        text = file.read().partition(f"### With {agent}\n")[2].partition("\n### ")[0]
    found = [" ".join(block.split()) for block in re.findall(r"^```sql\n(.*?)^```", text, re.M | re.S)]
    check(len(found) == 4, f"{path}: {len(found)} queries with {agent} instead of 4")
    return found


def check_top(name, got, want, tolerance):
    """Lists of (value, what); the order and the values are right."""
    check([what for _, what in got] == [what for _, what in want] and
          all(abs(g - w) <= tolerance * w for (g, _), (w, _) in zip(got, want)), f"{name}: {got}")


def check_telegraf(arguments, influx):
    by_memory, by_busy, by_container, how_many = documented_queries(arguments, "Telegraf")
    ordered = sorted((-row["top"], (row["gpu"], row["process"], row["container"] or ""))
                     for row in rows(influx, by_memory, "gtel"))
    check_top("Telegraf: most memory", [(-value, what) for value, what in ordered], [
        (16384 * MIB, (GPUS[0], "python3", SHORT[0])), (10240 * MIB, (GPUS[1], "ollama", SHORT[1])),
        (8192 * MIB, (GPUS[0], "python3", SHORT[1])), (4096 * MIB, (GPUS[0], "ffmpeg", "")),
        (2048 * MIB, (GPUS[1], "python3", SHORT[0]))], 0)
    ordered = sorted((-row["top"], (row["gpu"], row["process"], row["container"] or ""))
                     for row in rows(influx, by_busy, "gtel"))[:4]
    check_top("Telegraf: busiest", [(-value, what) for value, what in ordered], [
        (60, (GPUS[0], "python3", SHORT[1])), (50, (GPUS[1], "ollama", SHORT[1])),
        (30, (GPUS[0], "python3", SHORT[0])), (20, (GPUS[0], "ffmpeg", ""))], 1e-3)
    found = {row["container"]: row["sum"] for row in rows(influx, by_container, "gtel")}
    check([found.get(c) for c in SHORT] == [18432 * MIB, 18432 * MIB], f"Telegraf: containers: {found}")

    series = number(influx, how_many, "gtel")
    minutes = STEPS // 6
    # ProcessLimit first and one a minute; in the long run ten times as many and one in ten minutes.
    promised = min(STEP_LIMIT + minutes, STEP_LIMIT * 10 + minutes // 10) + 1  # "other"
    print(f"Telegraf: {series} series of {SHORT_LIVED} names in {minutes} minutes; "
          f"promised: {promised} per GPU")
    check(series <= promised * len(GPUS), f"Telegraf: {series} series")


def check_telegraf_sums(influx):
    """Nobody is lost or counted twice, and who stays is never folded."""
    stays = sum(len(uses) for _, _, _, uses in STAYING) * STEPS
    for measurement in ("gpu", "gpu_process"):
        n = number(influx, f'SELECT sum("processes") FROM "{measurement}"', "gtel")
        check(n == stays + SHORT_LIVED, f"Telegraf: {measurement} has seen {n} processes")
    memory = sum(mib for _, _, _, uses in STAYING for mib, _, _ in uses.values()) * STEPS * MIB
    for field in ("memory_bytes", "memory_vram_bytes"):
        n = number(influx, f'SELECT sum("{field}") FROM "gpu_process"', "gtel")
        check(n == memory + SHORT_LIVED * SHORT_MIB * MIB, f"Telegraf: {field} of all lines is {n}")
    for name, _, _, uses in STAYING:
        n = number(influx, f'SELECT count("processes") FROM "gpu_process" WHERE "process" = \'{name}\'',
                   "gtel")
        lines = sum(len(other) for same, _, _, other in STAYING if same == name)
        check(n == lines * STEPS, f"Telegraf: {name} has {n} points, not {lines * STEPS}: {uses}")


def check_collectd(arguments, influx):
    # agents.py lets InfluxDB split values: another name of the measurement, as its README says.
    queries = [text.replace("(clients|nvml)$/", "(clients|nvml)_value$/")
               for text in documented_queries(arguments, "collectd")]
    by_memory, by_busy, of_container, how_many = queries
    found = sorted((-row["top"], (row["instance"], row["type_instance"]))
                   for row in rows(influx, by_memory, "collectd"))
    check_top("collectd: most memory", [(-value, what) for value, what in found], [
        (16384 * MIB, (GPUS[0], f"process-python3-memory-{SHORT[0]}")),
        (10240 * MIB, (GPUS[1], f"process-ollama-memory-{SHORT[1]}")),
        (8192 * MIB, (GPUS[0], f"process-python3-memory-{SHORT[1]}")),
        (4096 * MIB, (GPUS[0], "process-ffmpeg-memory")),
        (2048 * MIB, (GPUS[1], f"process-python3-memory-{SHORT[0]}"))], 0)
    found = sorted((-row["top"], (row["instance"], row["type_instance"]))
                   for row in rows(influx, by_busy, "collectd"))[:4]
    check_top("collectd: busiest", [(-value, what) for value, what in found], [
        (60, (GPUS[0], f"process-python3-busy-{SHORT[1]}")),
        (50, (GPUS[1], f"process-ollama-busy-{SHORT[1]}")),
        (30, (GPUS[0], f"process-python3-busy-{SHORT[0]}")),
        (20, (GPUS[0], "process-ffmpeg-busy"))], 0.2)
    check("0123456789ab" in of_container, "collectd: the documented container")
    n = number(influx, of_container.replace("0123456789ab", SHORT[0]), "collectd")
    check(n == 18432 * MIB, f"collectd: memory of a container: {n}")
    for kind in ("memory", "vram"):
        n = number(influx, 'SELECT max("value") FROM "gpu_clients_value" WHERE "type" = \'memory\' AND '
                   f'"type_instance" = \'process-ffmpeg-{kind}\'', "collectd")
        check(n == 4096 * MIB, f"collectd: {kind} of ffmpeg: {n}")
    found = influx.query(how_many, "collectd")
    names = {row[0] for series in found for row in series["values"]}
    processes = sum("type_instance=process-" in name and "-processes" in name for name in names)
    promised = (COLLECTD_LIMIT + 1 + 1) * len(GPUS)  # one minute at most, and "other"
    print(f"collectd: {processes} series of {SHORT_LIVED} names (promised: {promised}), "
          f"{len(names)} with all values")
    check(0 < processes <= promised, f"collectd: {processes} series")
    n = number(influx, 'SELECT max("value") FROM "gpu_clients_value" WHERE "type_instance" = \'processes\'',
               "collectd")
    # A read may see the processes of two steps, or of none.
    check(n and n >= SHORT_LIVED // COLLECTD_STEPS // 2, f"collectd: {n} processes seen together")


# The agents

def start_collectd(arguments, scratch, influx):
    program = shutil.which("collectd", path=os.environ.get("PATH", "") + ":/usr/sbin:/usr/local/sbin")
    if not program:
        print("skipped: collectd is not installed")
        return None
    tree = os.path.join(scratch, "collectd.tree")
    machine(tree, int(time.time()), COLLECTD_STEPS, COLLECTD_MORE, COLLECTD_STEP_MS)
    block = (f'<LoadPlugin gpu_clients>\n  Interval {COLLECTD_STEP_MS / 1000}\n</LoadPlugin>\n'
             f'<Plugin gpu_clients>\n  Helper "{arguments.gtel}"\n  Root "{tree}"\n'
             '  ProcessTags "container"\n</Plugin>\n')
    config = agents.collectd_config(scratch, block, arguments.plugins, influx.collectd_port)
    return agents.Process("collectd", [program, "-f", "-C", config], scratch)


def run_telegraf(arguments, scratch, influx, running):
    """Steps through the whole machine, as fast as Telegraf asks."""
    tree = os.path.join(scratch, "telegraf.tree")
    machine(tree, int(time.time()) - STEPS * 10 + 15, STEPS, 0, 10000)
    command = [arguments.gtel, "--root", tree, "--stepped", "--count", str(STEPS), "--process-tags",
               "container", "--process-limit", str(STEP_LIMIT)]
    output = agents.OUTPUT_INFLUX.format(url=influx.url, database="gtel")
    config = agents.telegraf_config(scratch, command, output, interval="20ms")
    running.append(agents.Process("telegraf", [arguments.telegraf, "--config", config], scratch))
    if not agents.wait_until(
            lambda: number(influx, 'SELECT count("gpus") FROM "gtel"', "gtel") == STEPS, 60, *running):
        raise agents.Failure(f"after 60 s not all gathers are stored\n{running[-1].tail()}")


def run(arguments, scratch, running):
    influx = agents.Influx(scratch, arguments.influxd, with_collectd=True)
    running.append(influx.process)
    for database in ("gtel", "collectd"):
        influx.create(database)
    collectd = start_collectd(arguments, scratch, influx)
    running.extend([collectd] if collectd else [])
    started = time.monotonic()
    if arguments.telegraf:
        run_telegraf(arguments, scratch, influx, running)
        print(f"Telegraf: {STEPS} gathers in {time.monotonic() - started:.1f} s")
        check_telegraf(arguments, influx)
        check_telegraf_sums(influx)
    if collectd:
        # collectd's network plugin waits until a packet is full
        seconds = COLLECTD_STEPS * COLLECTD_STEP_MS / 1000 + 4
        time.sleep(max(0, started + seconds - time.monotonic()))
        check(not collectd.ended(), f"collectd ended\n{collectd.tail()}")
        check_collectd(arguments, influx)


def main():
    parser = argparse.ArgumentParser()
    for name in ("--gtel", "--plugins", "--influxd", "--source"):
        parser.add_argument(name, required=True)
    parser.add_argument("--telegraf", default="")
    arguments = parser.parse_args()
    running = []
    with tempfile.TemporaryDirectory(prefix="gtel-e2e-") as scratch:
        try:
            run(arguments, scratch, running)
        finally:
            for agent in reversed(running):
                agent.stop()
    print(f"{len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except agents.Failure as failure:
        print(failure)
        sys.exit(1)
