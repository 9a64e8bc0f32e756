# SPDX-License-Identifier: MIT
"""A first scan of very many descriptors takes several gathers: --once and doctor wait for it.

    first_gather.py PROGRAM

The host is a folder: a GPU that nobody uses, and processes with so many descriptors that reading all of them takes
longer than one gather may.
"""

import os
import re
import subprocess
import sys
import tempfile
import threading
import time

import lines

PROCESSES, DESCRIPTORS = 60, 1000
CARD = "sys/devices/pci0000:00/0000:03:00.0"


def write(root, path, text):
    path = os.path.join(root, path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="ascii") as file:
        file.write(text + "\n")


def link(root, path, target):
    path = os.path.join(root, path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    os.symlink(target, path)


def make_process(root, pid):
    write(root, f"proc/{pid}/comm", "server")
    write(root, f"proc/{pid}/stat", f"{pid} (server) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 5 0 0")
    os.makedirs(os.path.join(root, f"proc/{pid}/fdinfo"))
    link(root, f"proc/{pid}/fd", "../../descriptors")  # the same for all: many are slow to make


def make_host(root):
    write(root, f"{CARD}/uevent", "DRIVER=i915\nPCI_ID=8086:56A0\nPCI_SLOT_NAME=0000:03:00.0")
    write(root, f"{CARD}/power/runtime_status", "active")
    for node in ("card0", "renderD128"):
        link(root, f"sys/class/drm/{node}", f"../../devices/pci0000:00/0000:03:00.0/drm/{node}")
        link(root, f"{CARD}/drm/{node}/device", "../../../0000:03:00.0")
    for fd in range(DESCRIPTORS):
        link(root, f"descriptors/{fd}", "/dev/null")
    for pid in (1, *range(2000, 2000 + PROCESSES)):
        make_process(root, pid)


def gathers_of(text):
    """[{field: value}]: the fields of the GPU and of the program itself, by gather."""
    gathers = {}
    for line in text.splitlines():
        measurement, _, when, fields = lines.parse(line)
        if measurement in ("gpu", "gtel"):
            gathers.setdefault(when, {}).update(fields)
    return [gathers[when] for when in sorted(gathers)]


def run(*words):
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True,
                          timeout=60, check=False)
    return done.stdout, done.stderr


def check_gather(fields, may_wait):
    """Nothing is reported of all processes before all were scanned, nor where the helper was late."""
    if may_wait and not {"processes", "processes_visible", "processes_readable"} & set(fields):
        assert fields.get("processes_waiting", 1) > 0, fields
        return True
    assert "processes_waiting" not in fields, fields
    assert fields["processes_visible"] == fields["processes_readable"] == PROCESSES + 1, fields
    assert fields["processes"] == 0, fields
    return False


def check_rates(program):
    """--once and doctor have rates, however long the interval of the configuration is."""
    with tempfile.TemporaryDirectory(prefix="gtel-first-") as root:
        write(root, f"{CARD}/uevent", "DRIVER=i915\nPCI_ID=8086:56A0\nPCI_SLOT_NAME=0000:03:00.0")
        link(root, "sys/class/drm/card0", "../../devices/pci0000:00/0000:03:00.0/drm/card0")
        link(root, f"{CARD}/drm/card0/device", "../../../0000:03:00.0")
        write(root, f"{CARD}/hwmon/hwmon1/name", "i915")
        write(root, f"{CARD}/hwmon/hwmon1/energy1_input", "1000000000")
        with open(os.path.join(root, f"{CARD}/hwmon/hwmon1/energy1_input"), "r+b", 0) as file:
            is_over = threading.Event()
            began = time.monotonic()

            def work():
                while not is_over.wait(0.01):  # 50 W, in microjoules of ten digits
                    os.pwrite(file.fileno(), b"%d\n" % (1000000000 + (time.monotonic() - began) * 5e7), 0)

            worker = threading.Thread(target=work)
            worker.start()
            try:
                once, _ = run(program, "--once", "--root", root, "--interval", "1m")
                doctor, _ = run(program, "doctor", "--root", root, "--interval", "1m")
            finally:
                is_over.set()
                worker.join()
    watts = [fields["power_watts"] for fields in gathers_of(once) if "power_watts" in fields]
    assert watts and 20 < watts[0] < 100, once
    assert re.search(r"gpu_power_domain +yes +2 fields", doctor), doctor


def check_span(program):
    """What --once reports is of half a second at least, also of a host on which there is little to scan."""
    with tempfile.TemporaryDirectory(prefix="gtel-first-") as root:
        write(root, f"{CARD}/uevent", "DRIVER=i915\nPCI_ID=8086:56A0\nPCI_SLOT_NAME=0000:03:00.0")
        for words in (["--once"], ["doctor"]):
            began = time.monotonic()
            run(program, *words, "--root", root)
            assert time.monotonic() - began >= 0.5, words


def main():
    program = sys.argv[1]
    check_span(program)
    check_rates(program)
    with tempfile.TemporaryDirectory(prefix="gtel-first-") as root:
        make_host(root)
        out, _ = run(program, "--root", root, "--interval", "100ms", "--count", "5")
        waiting = [check_gather(fields, True) for fields in gathers_of(out)]
        assert len(waiting) == 5, waiting
        out, err = run(program, "--root", root, "--once")
        gathers = gathers_of(out)
        is_late = "could not be scanned in 5 s" in err  # on a machine that is very busy
        assert len(gathers) == 1 and check_gather(gathers[0], is_late) == is_late, (gathers, err)
        out, _ = run(program, "doctor", "--root", root)
        own = out.partition("All GPUs of a source")[2]
        assert "SYS_PTRACE" not in own, own
    print(f"{waiting.count(True)} of 5 gathers were too early; --once {'gave up' if is_late else 'had all'}")


main()
