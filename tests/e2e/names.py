# SPDX-License-Identifier: MIT
"""Hostile names of processes and cgroups come back from InfluxDB once each, whole or as documented.

    names.py --gtel FILE --influxd FILE

Each of 31 names runs in each of 14 cgroups, all with memory of one GPU. The output must pass a
strict parser, and InfluxDB must give each value back under the same tags.
"""

import argparse
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "contrib", "ci"))
import agents  # noqa: E402
import lines  # noqa: E402

NAMES = [
    b"plain", b"two words", b" lead", b"trail ", b"a,b", b"a=b", b'say "hi"', b"it's", b"end\\", b"\\",
    b"a\\,b", b"a\\ b=c,d", b"new\nline", b"tab\there", b"bell\x07", b"esc\x1b[31mred", b"del\x7f",
    b"c1\xc2\x9bx", b"bad\xff\xfe", b"cut at end \xf0\x9f\x92", b"\xf0\x9f\x92\xa9 emoji", b"rtl\xe2\x80\xae",
    "näme".encode(), b"other", b"NULL", b"../../x", b"a/b/c", b"(par) ens)", b"#hash", b"123i", b'"quoted"']
ID = "0123456789abcdef" * 4
CGROUPS = [
    "0::/", f"0::/system.slice/docker-{ID}.scope", f"3:memory:/docker/{ID}", f"0::/machine.slice/libpod-{ID}.scope/x",
    f"0::/kubepods.slice/kubepods-pod12345678_1234_1234_1234_123456789abc.slice/cri-containerd-{ID}.scope",
    f"5:cpu:/kubepods/burstable/pod12345678-1234-1234-1234-123456789abc/{ID}",
    f"0::/kubepods.slice/kubepods-pod12345678_1234_1234_1234_123456789abc.slice/crio-{ID}.scope",
    "0::/system.slice/my\\x2dunit\\x2ca.service", "0::/" + "long" * 900 + ".service", "0::/../../../etc/x.service",
    "0::/system.slice/a, b=c\"\\.service", "0::/system.slice/\x1b[31m\udcff\u202e.service",
    "0::/system.slice/slurmstepd.scope/job_4711/step_0/user/task_0",
    "4:cpuset:/torque/1\x1b[31m\udcff, b=c\"\\.example"]
JOBS = {len(CGROUPS) - 2: "4711", len(CGROUPS) - 1: "1?[31m?, b=c\"/.example"}


def shown(name):
    """As plugins/execd/README.md has it: "/" for a backslash, "?" for what cannot be shown. At most 15 bytes."""
    text, name = "", name[:15]
    while name:
        for n in range(4, 0, -1):
            try:
                char = name[:n].decode()
            except UnicodeDecodeError:
                continue
            if len(char) == 1:
                break
        else:
            if len(name) < 4 and 0xc2 <= name[0] < 0xf5 and all(0x80 <= b < 0xc0 for b in name[1:]):
                break  # cut in two at the end
            char, n = "?", 1
        text += "?" * len(char.encode()) if ord(char) < 32 or 127 <= ord(char) < 160 else "/" if char == "\\" else char
        name = name[n:]
    return text


def machine():
    """The processes from 1000 on, and the name of each."""
    pci = "sys/devices/pci0000:00/0000:03:00.0"
    text = (f"file {pci}/uevent\n| DRIVER=amdgpu\n| PCI_ID=1002:744C\n| PCI_SLOT_NAME=0000:03:00.0\n"
            f"link sys/class/drm/renderD128 -> ../../devices/pci0000:00/0000:03:00.0/drm/renderD128\n"
            f"link {pci}/drm/renderD128/device -> ../../../0000:03:00.0\n").encode()
    names = {}
    for i, (name, cgroup) in enumerate((n, c) for n in NAMES for c in CGROUPS):
        pid = 1000 + i
        if name != b"other":  # that is the name of the line of all further processes
            names[pid] = shown(name)
        stat = f"{pid} (".encode() + name[:15] + b") S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 900 0 0"
        text += f"file proc/{pid}/stat\n".encode() + b"".join(b"| %s\n" % line for line in stat.split(b"\n"))
        text += f"file proc/{pid}/cgroup\n| ".encode() + cgroup.encode(errors="surrogateescape") + b"\n"
        text += (f"char proc/{pid}/fd/5 226:128\nfile proc/{pid}/fdinfo/5\n| drm-driver:\tamdgpu\n| drm-client-id:\t{pid}\n"
                 f"| drm-pdev:\t0000:03:00.0\n| drm-memory-vram:\t{pid} KiB\n").encode()
    text += f"link var/log/containers/train-0_ml_main-{ID}.log -> /x\n".encode()
    return text + b"end\n", names


def check_lines(output, names):
    """Every process is there once under its name; the tags are clean."""
    found = {}
    for line in output.split("\n")[:-1]:
        measurement, tags, _, fields = lines.parse(line)
        tags = dict(tags)
        if measurement != "gpu_process":
            continue
        if "pid" not in tags:
            assert tags["process"] == "other" and fields["processes"] == len(CGROUPS), line
            continue
        pid = int(tags["pid"])
        assert pid not in found, line
        assert tags["process"] in (names[pid], names[pid].strip()), (line, names[pid])  # blanks at the ends are cut
        assert not any(ord(c) < 32 or 127 <= ord(c) < 160 for v in tags.values() for c in v), line
        assert fields["memory_bytes"] == pid * 1024, line
        names_of_pod = ("train-0", "ml", "main") if "pod_uid" in tags else (None, None, tags.get("container"))
        assert (tags.get("pod"), tags.get("namespace"), tags.get("container")) == names_of_pod, line
        assert tags.get("job_id") == JOBS.get((pid - 1000) % len(CGROUPS)), line
        found[pid] = tags
    assert found.keys() == names.keys(), sorted(names.keys() - found.keys())[:20]
    return found


def check_influx(influxd, output, found, scratch):
    influx = agents.Influx(scratch, influxd)
    try:
        influx.create("names")
        why = influx.write("names", output.encode())
        assert why is None, why
        points = influx.points("names", "gpu_process")
        assert len(points) == len(found) + 1, (len(points), len(found))
        for (tags, _), fields in points.items():
            tags = dict(tags)
            if "pid" not in tags:
                continue
            assert tags == found[int(tags["pid"])], (tags, found[int(tags["pid"])])
            assert fields["memory_bytes"] == int(tags["pid"]) * 1024, (tags, fields)
    finally:
        influx.stop()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--gtel", required=True)
    parser.add_argument("--influxd", required=True)
    arguments = parser.parse_args()
    text, names = machine()
    with tempfile.TemporaryDirectory(prefix="gtel-names-") as scratch:
        tree = os.path.join(scratch, "names.tree")
        with open(tree, "wb") as file:
            file.write(text)
        done = subprocess.run([arguments.gtel, "--root", tree, "--stepped", "--interval=1s", "--count=1",
                               "--process-limit=1000", "--process-tags=container,pod,namespace,pod_uid,job_id,unit,pid"],
                              stdout=subprocess.PIPE, timeout=60, check=True)
        output = done.stdout.decode()
        found = check_lines(output, names)
        check_influx(arguments.influxd, output, found, scratch)
    print(f"{len(found)} processes")


if __name__ == "__main__":
    main()
