# SPDX-License-Identifier: MIT
"""Processes in InfluxDB through both agents: top lists per container, and few series.

    processes.py --gtel FILE --plugins FOLDER --influxd FILE [--telegraf FILE]

A recorded machine is made up: four processes that stay, and each second 250 others with names that never
come again, 10,000 in all, whose pids are used over and over. Without Telegraf collectd alone is tested.
"""

import argparse
import os
import shutil
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "contrib", "ci"))
import agents  # noqa: E402

SECONDS = 40
EACH_SECOND = 250
STATES = 10  # of those that stay, per second
LIMIT = 20   # ProcessLimit, its default
MIB = 2**20
ADDRESS = "0000:03:00.0"
CONTAINERS = ("1a" * 32, "2b" * 32)
# Name, pid, cgroup, MiB, share of the compute engine, share of the decoder.
STAYING = (
    ("python3", 700, f"/system.slice/docker-{CONTAINERS[0]}.scope", 16384, 0.3, 0),
    ("python3", 701, f"/system.slice/docker-{CONTAINERS[1]}.scope", 8192, 0.6, 0),
    ("ffmpeg", 702, "/system.slice/jellyfin.service", 4096, 0, 0.2),
    ("Xorg", 703, "/user.slice/user-1000.slice/session-2.scope", 512, 0, 0),
)
DEVICE = f"""file sys/devices/pci0000:00/{ADDRESS}/uevent
| DRIVER=amdgpu
| PCI_SLOT_NAME={ADDRESS}
file sys/devices/pci0000:00/{ADDRESS}/vendor
| 0x1002
file sys/devices/pci0000:00/{ADDRESS}/device
| 0x744c
file sys/devices/pci0000:00/{ADDRESS}/power/runtime_status
| active
link sys/class/drm/card0 -> ../../devices/pci0000:00/{ADDRESS}/drm/card0
link sys/devices/pci0000:00/{ADDRESS}/drm/card0/device -> ../../../{ADDRESS}
link sys/class/drm/renderD128 -> ../../devices/pci0000:00/{ADDRESS}/drm/renderD128
link sys/devices/pci0000:00/{ADDRESS}/drm/renderD128/device -> ../../../{ADDRESS}
file proc/sys/kernel/osrelease
| 6.14.0-amd64
link proc/self/ns/pid -> pid:[4026531836]
file proc/self/stat
| 4242 (gtel) S 1 4242 4242 0 -1 4194304 900 0 0 0 12 4 0 0 20 0 1 0 50 9000000 800
file proc/1/stat
| 1 (systemd) S 1 1 1 0 -1 4194304 900 0 0 0 12 4 0 0 20 0 1 0 0 9000000 800
dir proc/1/fd
dir proc/1/fdinfo
"""

failures = []


def check(is_ok, text):
    if not is_ok:
        failures.append(text)
        print("failed: " + text)
    return is_ok


def process(pid, start, name, cgroup):
    return (f"file proc/{pid}/stat\n| {pid} ({name}) S 1 {pid} {pid} 0 -1 4194304 900 0 0 0 12 4 0 0 20 0 1 0 "
            f"{start} 9000000 800\nfile proc/{pid}/cgroup\n| 0::{cgroup}\nchar proc/{pid}/fd/7 226:128\n")


def fdinfo(pid, client, mib, compute_ns=0, decode_ns=0):
    """(kernel: amdgpu/amdgpu_fdinfo.c)"""
    return (f"file proc/{pid}/fdinfo/7\n| pos:\t0\n| drm-driver:\tamdgpu\n| drm-client-id:\t{client}\n"
            f"| drm-pdev:\t{ADDRESS}\n| drm-memory-vram:\t{mib * 1024} KiB\n"
            f"| drm-engine-compute:\t{compute_ns} ns\n| drm-engine-dec:\t{decode_ns} ns\n")


def machine(path):
    """Writes the recorded machine; returns how many processes came and went."""
    n = 0
    with open(path, "w", encoding="utf-8") as file:
        file.write(DEVICE)
        for name, pid, cgroup, _, _, _ in STAYING:
            file.write(process(pid, 100, name, cgroup))
        for step in range((SECONDS + 30) * STATES):
            if step:
                file.write(f"at {step * 1000 // STATES}ms\n")
            for _, pid, _, mib, compute, decode in STAYING:
                file.write(fdinfo(pid, pid, mib, int(1e12 + step / STATES * compute * 1e9),
                                  int(1e12 + step / STATES * decode * 1e9)))
            second, rest = divmod(step, STATES)
            if rest or second > SECONDS:
                continue
            for i in range(EACH_SECOND):
                if second:
                    file.write(f"gone proc/{1000 + (second - 1) % 2 * EACH_SECOND + i}\n")
                if second < SECONDS:
                    pid = 1000 + second % 2 * EACH_SECOND + i
                    file.write(process(pid, 1000 + second * 100, f"job-{n}", "/system.slice/jobs.service"))
                    file.write(fdinfo(pid, 10000 + n, 10))
                    n += 1
        file.write("end\n")
    return n


def rows(influx, text, database):
    """The rows of a query with their tags, as dictionaries."""
    return [{**series.get("tags", {}), **dict(zip(series["columns"], row))}
            for series in influx.query(text, database) for row in series["values"]]


def check_telegraf(influx):
    names = {row["value"] for row in
             rows(influx, 'SHOW TAG VALUES FROM "gpu_process" WITH KEY = "process"', "gtel")}
    print(f"Telegraf: {len(names)} names in gpu_process")
    check({"python3", "ffmpeg", "Xorg", "other"} <= names, f"who stays has a series: {sorted(names)}")
    check(len(names) <= LIMIT + 3, f"few series: {len(names)}")
    most = rows(influx, 'SELECT max("processes") FROM "gpu"', "gtel")[0]["max"]
    check(most >= EACH_SECOND, f"all of them were seen: {most}")
    rest = rows(influx, 'SELECT max("processes") FROM "gpu_process" WHERE "process" = \'other\'',
                "gtel")[0]["max"]
    check(rest >= EACH_SECOND - LIMIT, f"the rest of them is in other: {rest}")

    top = rows(influx, 'SELECT top("memory_bytes", "process", "container", 3) FROM "gpu_process" '
               'WHERE time > now() - 5s', "gtel")
    top = sorted(((row["top"], row["process"], row["container"] or "") for row in top), reverse=True)
    want = [(16384 * MIB, "python3", CONTAINERS[0][:12]), (8192 * MIB, "python3", CONTAINERS[1][:12]),
            (4096 * MIB, "ffmpeg", "")]
    check(top == want, f"top by memory: {top}")
    busy = rows(influx, 'SELECT mean("compute_busy_percent") FROM "gpu_process" WHERE time > now() - 20s '
                'GROUP BY "process", "container"', "gtel")
    busy = sorted(((row["mean"], row["container"]) for row in busy if row["process"] == "python3" and
                   row["mean"] is not None), reverse=True)
    check(len(busy) == 2 and [c for _, c in busy] == [CONTAINERS[1][:12], CONTAINERS[0][:12]] and
          abs(busy[0][0] - 60) < 6 and abs(busy[1][0] - 30) < 3, f"top by engine: {busy}")


def check_collectd(influx):
    found = rows(influx, 'SELECT last("value") FROM "gpu_clients_value" WHERE "type" = \'memory\' '
                 'AND time > now() - 5m GROUP BY "type_instance"', "collectd")
    memory = {row["type_instance"]: row["last"] for row in found
              if row["type_instance"].startswith("process-") and "-memory" in row["type_instance"]}
    print(f"collectd: {len(memory)} names with memory")
    check(len(memory) <= LIMIT + 3, f"few series: {len(memory)}")
    for name, mib in ((f"process-python3-memory-{CONTAINERS[0][:12]}", 16384),
                      (f"process-python3-memory-{CONTAINERS[1][:12]}", 8192),
                      ("process-ffmpeg-memory", 4096), ("process-Xorg-memory", 512)):
        check(memory.get(name) == mib * MIB, f"{name} is {memory.get(name)}")
    busy = rows(influx, 'SELECT mean("value") FROM "gpu_clients_value" WHERE "type" = \'percent\' '
                'AND time > now() - 20s GROUP BY "type_instance"', "collectd")
    busy = {row["type_instance"]: row["mean"] for row in busy}
    for name, percent in ((f"process-python3-compute-{CONTAINERS[1][:12]}", 60),
                          ("process-ffmpeg-decode", 20), ("engine-compute", 90)):
        check(abs((busy.get(name) or -1) - percent) < percent / 10, f"{name} is {busy.get(name)}")


def start(arguments, scratch, tree, influx, running):
    block = ('<LoadPlugin gpu_clients>\n  Interval 1\n</LoadPlugin>\n<Plugin gpu_clients>\n'
             f'  Helper "{arguments.gtel}"\n  Root "{tree}"\n  ProcessTags "container"\n</Plugin>\n')
    config = agents.collectd_config(scratch, block, arguments.plugins, influx.collectd_port)
    program = shutil.which("collectd", path=os.environ.get("PATH", "") + ":/usr/sbin:/usr/local/sbin")
    if program:
        running.append(agents.Process("collectd", [program, "-f", "-C", config], scratch))
    if arguments.telegraf:
        command = [arguments.gtel, "--root", tree, "--process-tags", "container"]
        output = agents.OUTPUT_INFLUX.format(url=influx.url, database="gtel")
        config = agents.telegraf_config(scratch, command, output)
        running.append(agents.Process("telegraf", [arguments.telegraf, "--config", config], scratch))
    return program


def run(arguments, scratch, running):
    tree = os.path.join(scratch, "machine.tree")
    print(f"{machine(tree)} short-lived processes")
    influx = agents.Influx(scratch, arguments.influxd, with_collectd=True)
    running.append(influx.process)
    for database in ("gtel", "collectd"):
        influx.create(database)
    has_collectd = start(arguments, scratch, tree, influx, running)
    time.sleep(SECONDS + 12)  # collectd's network plugin waits until a packet is full
    for agent in running:
        check(not agent.ended(), f"{agent.name} ended\n{agent.tail()}")
    if arguments.telegraf:
        check_telegraf(influx)
    if has_collectd:
        check_collectd(influx)


def main():
    parser = argparse.ArgumentParser()
    for name in ("--gtel", "--plugins", "--influxd"):
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
