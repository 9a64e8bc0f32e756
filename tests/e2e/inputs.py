# SPDX-License-Identifier: MIT
"""What users name for the program: files of all kinds, and any bytes in options, names and files.

Usage: inputs.py GTEL. Nothing hangs, and nothing that is written to either output steers a terminal.
"""

import os
import re
import subprocess
import sys
import tempfile
import time

from collectd import check, failures

GTEL = sys.argv[1]
TIMEOUT = 20


def run(*arguments):
    """Returns status, lines, messages."""
    done = subprocess.run([GTEL, *arguments], stdin=subprocess.DEVNULL, capture_output=True,
                          timeout=TIMEOUT, check=False)
    return done.returncode, done.stdout.decode().splitlines(), done.stderr.decode()


def scratch_file(name, text):
    path = os.path.join(SCRATCH.name, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def test_files_of_other_kinds():
    """What has no end, waits for somebody or does something when it is opened: an error instead."""
    fifo = os.path.join(SCRATCH.name, "fifo")
    os.mkfifo(fifo)
    folder = os.path.join(SCRATCH.name, "folder")
    os.mkdir(folder)
    huge = os.path.join(SCRATCH.name, "huge")
    with open(huge, "wb") as file:
        file.truncate(1 << 40)
    long = scratch_file("long.conf", "#" * 65536)
    most = scratch_file("most.conf", "#" * 65535)
    cases = [("config", fifo, "it is a FIFO"), ("config", folder, "it is a directory"),
             ("config", "/dev/zero", "it is a device"), ("config", "/proc/self/status", "no length"),
             ("config", huge, "longer than 65535 bytes"), ("config", long, "longer than 65535 bytes"),
             ("root", fifo, "it is a FIFO"), ("root", "/dev/zero", "it is a device"),
             ("root", "/proc/self/maps", "no length"), ("root", huge, "longer than 67108864 bytes")]
    if os.geteuid() == 0:
        cases += [("config", "/proc/kmsg", "no length"), ("root", "/proc/kmsg", "no length")]
    for option, path, want in cases:
        began = time.monotonic()
        status, lines, messages = run(f"--{option}", path, "--once")
        check(status == 2 and not lines, f"--{option} {path}: status {status}, {lines}")
        check(f"--{option} {path}: " in messages and want in messages, f"{path}: {messages!r}")
        check(messages.count("\n") == 1, f"--{option} {path}: one message, {messages!r}")
        check(time.monotonic() - began < 5, f"--{option} {path}: no wait")
    status, _, messages = run("--config", most, "--version")
    check(status == 0, f"65535 bytes: {messages!r}")
    # Also where nothing could be gathered: the target is checked first.
    status, _, messages = run("capture", "/nonexistent/x", "--root", scratch_file("odd.tree", "odd\n"))
    check(status == 1 and messages == "E! capture /nonexistent/x: No such file or directory\n", messages)
    for path, want in ((fifo, "it is a FIFO"), (folder, "it is a directory"),
                       ("/dev/full", "it is a device")):
        status, _, messages = run("capture", path, "--root", scratch_file("empty.tree", "end\n"))
        check(status != 0 and f"capture {path}: {want}" in messages, f"capture: {messages!r}")
    path = scratch_file("there.tree", "mine\n")
    status, _, messages = run("capture", path, "--root", scratch_file("empty.tree", "end\n"))
    check(status == 1 and messages == f"E! capture {path}: it exists already; give another name\n",
          messages)
    with open(path, encoding="utf-8") as file:
        check(file.read() == "mine\n", "capture: a file that is there stays")


def test_capture_to_a_full_disk():
    """An error instead of the report of what is in the file."""
    with open("/dev/full", "wb") as full:
        done = subprocess.run([GTEL, "capture", "--root", scratch_file("empty.tree", "end\n")],
                              stdin=subprocess.DEVNULL, stdout=full, stderr=subprocess.PIPE,
                              timeout=TIMEOUT, check=False, text=True)
    check(done.returncode == 1 and
          done.stderr == "E! capture: standard output: No space left on device\n", f"full: {done}")


HOSTILE = b"x\x1b]0;t\x07\x1b[31m\x9b31m\xc2\x9b31m\x7f\xff\xed\xa0\x80"
STEERS = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\ufffd]")


def run_hostile(*arguments):
    """The program with any bytes; what it writes to either output is text that steers nothing."""
    done = subprocess.run([os.fsencode(GTEL), *arguments], stdin=subprocess.DEVNULL, check=False,
                          capture_output=True, timeout=TIMEOUT)
    for out in (done.stdout, done.stderr):
        found = STEERS.search(out.decode("utf-8", "replace"))
        check(not found, f"hostile {arguments}: {found} in {out!r}")
    return done


def hostile_machine():
    """Its names and texts come from a driver, a vendor's library, a process."""
    card = b"sys/devices/pci0000:00/0000:03:00.0"
    path = os.path.join(SCRATCH.name, "hostile.tree").encode()
    with open(path, "wb") as file:
        file.write(b"file proc/sys/kernel/osrelease\n| 6.8" + HOSTILE + b"\n"
                   b"file proc/sys/kernel/perf_event_paranoid\n| " + HOSTILE + b"\n"
                   b"link sys/class/drm/card0 -> ../../devices/pci0000:00/0000:03:00.0/drm/card0\n"
                   b"dir " + card + b"/drm/card0\n"
                   b"link " + card + b"/drm/card0/device -> ../../../0000:03:00.0\n"
                   b"link " + card + b"/driver -> ../../../bus/pci/drivers/xe\n"
                   b"dir sys/bus/pci/drivers/xe\n"
                   b"file " + card + b"/vendor\n| 0x8086\nfile " + card + b"/device\n| 0xe20b\n"
                   b"file " + card + b"/class\n| 0x030000\n"
                   b"file " + card + b"/hwmon/hwmon1/name\n| xe\n"
                   b"file " + card + b"/hwmon/hwmon1/temp1_label\n| " + HOSTILE + b"\n"
                   b"file " + card + b"/hwmon/hwmon1/temp1_input\n| 40000\n"
                   b"error " + card + b"/hwmon/hwmon1/energy1_input EIO\n"
                   b"link sys/class/drm/card1" + HOSTILE + b" -> ../" + HOSTILE + b"\n"
                   b"link sys/class/drm/card1/device -> ../../devices/" + HOSTILE + b"\n"
                   b"link sys/class/drm/card1/device/driver -> ../" + HOSTILE + b"\n"
                   b"library libnvidia-ml.so.1\ndir sys/module/nvidia\n"
                   b"call nvmlInit_v2 = 0\ncall nvmlSystemGetDriverVersion = \"" + HOSTILE + b"\"\n"
                   b"end\n")
    return path


def test_hostile_bytes():
    path = os.path.join(os.fsencode(SCRATCH.name), b"n" + HOSTILE)
    with open(path, "wb") as file:
        file.write(HOSTILE + b" = 1\nend\n")
    text = os.path.join(os.fsencode(SCRATCH.name), b"hostile.conf")
    with open(text, "wb") as file:
        file.write(b"interval = '" + HOSTILE.replace(b"\x1b", b"") + b"'\n")
    for arguments in ((HOSTILE,), (b"--" + HOSTILE,), (b"--interval", HOSTILE), (b"--root", HOSTILE),
                      (b"--root", path), (b"--config", path), (b"--config", text),
                      (b"--config", HOSTILE), (b"--count", HOSTILE), (b"--once=" + HOSTILE,),
                      (b"--sources", HOSTILE, b"--once"), (b"--wake", HOSTILE),
                      (b"--process-tags", HOSTILE), (b"--lane", HOSTILE),
                      (b"--interval", b"1" + 300 * "\u20ac".encode())):
        done = run_hostile(*arguments)
        check(done.returncode == 2 and done.stderr, f"hostile {arguments}: {done}")
    machine = hostile_machine()
    for arguments in ((b"--once",), (b"--once", b"--explain"), (b"doctor",),
                      (b"--once", b"--host-tag", HOSTILE)):
        done = run_hostile(*arguments, b"--root", machine)
        check(b"0000:03:00.0" in done.stdout, f"hostile {arguments}: {done}")


def test_capture_to_a_terminal():
    """What goes to a file stays as it is."""
    master, slave = os.openpty()
    process = subprocess.Popen([GTEL, "capture", "--root", hostile_machine(), "--stepped"],
                               stdin=subprocess.DEVNULL, stdout=slave, stderr=subprocess.DEVNULL)
    os.close(slave)
    shown = b""
    while True:
        try:
            part = os.read(master, 65536)
        except OSError:  # the terminal's other end is closed
            break
        shown += part
    os.close(master)
    check(process.wait(timeout=TIMEOUT) == 0, "capture to a terminal: status")
    shown = shown.replace(b"\r\n", b"\n").decode("utf-8", "replace")
    check("temp1_label" in shown and not STEERS.search(shown), f"capture: {shown!r}")


SCRATCH = tempfile.TemporaryDirectory(prefix="gtel-inputs-")


def main():
    for function in (test_files_of_other_kinds, test_capture_to_a_full_disk, test_hostile_bytes,
                     test_capture_to_a_terminal):
        began = time.monotonic()
        try:
            function()
        except Exception as error:  # pylint: disable=broad-except
            check(False, f"{function.__name__}: {error!r}")
        print(f"{function.__name__} {time.monotonic() - began:.1f} s", flush=True)
    SCRATCH.cleanup()
    print(f"{len(failures)} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
