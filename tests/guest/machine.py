# SPDX-License-Identifier: MIT
"""A virtual machine by software emulation: builds its modules and its disk in memory, and runs it."""

import glob
import lzma
import os
import shutil
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))


def run(command, **more):
    done = subprocess.run(command, capture_output=True, text=True, check=False, **more)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


class Archive:
    """The files of a first disk in memory: a cpio archive of the form newc (cpio(5))."""

    def __init__(self):
        self.data = bytearray()
        self.folders = set()
        self.count = 0

    def entry(self, name, mode, content=b"", device=(0, 0)):
        if len(name.split("/")) > 1:
            self.folder(os.path.dirname(name))
        self.count += 1
        encoded = name.encode() + b"\0"
        numbers = (self.count, mode, 0, 0, 1, 0, len(content), 0, 0, *device, len(encoded), 0)
        self.data += b"070701" + b"".join(b"%08x" % number for number in numbers)
        for part in (encoded, content):
            self.data += part
            self.data += b"\0" * (-len(self.data) % 4)

    def folder(self, name):
        if name and name not in self.folders:
            self.folders.add(name)
            self.entry(name, 0o40755)

    def file(self, source, name, mode=0o100755):
        with open(source, "rb") as file:
            self.entry(name, mode, file.read())

    def program(self, source):
        """A program with the shared libraries that it loads, at the places where it looks for them."""
        self.file(source, "bin/" + os.path.basename(source))
        listed = subprocess.run(["ldd", source], capture_output=True, text=True, check=False).stdout
        for word in listed.split():
            if word.startswith("/") and word not in self.folders:
                self.folders.add(word)
                self.file(os.path.realpath(word), word[1:])

    def write(self, path):
        self.entry("TRAILER!!!", 0)
        with open(path, "wb") as file:
            file.write(self.data)


def build_module(headers, work, personality):
    """Returns the path of the module i915.ko, xe.ko or host.ko."""
    folder = os.path.join(work, "module-" + personality)
    os.makedirs(folder, exist_ok=True)
    for source in glob.glob(os.path.join(HERE, "module", "*")):
        copy = os.path.join(folder, os.path.basename(source))
        if not os.path.exists(copy) or os.path.getmtime(copy) != os.path.getmtime(source):
            shutil.copy2(source, copy)
    # Nothing of the outer make or compiler settings may reach the kernel's own make.
    environment = {"PATH": os.environ["PATH"], "LC_ALL": "C"}
    run(["make", "-s", "-C", headers, f"M={folder}", f"GUEST={personality}", "modules"], env=environment)
    return os.path.join(folder, personality + ".ko")


def build_client(compiler, work):
    path = os.path.join(work, "guest")
    run([compiler, "-std=c11", "-D_GNU_SOURCE", "-O2", "-Wall", "-Wextra", "-Werror", "-static",
         *sorted(glob.glob(os.path.join(HERE, "*.c"))), "-o", path])
    return path


def build_disk(arguments, work):
    disk = Archive()
    for name in ("proc", "sys", "dev", "tmp", "run", "etc"):
        disk.folder(name)
    disk.entry("dev/console", 0o20600, device=(5, 1))
    disk.entry("dev/null", 0o20666, device=(1, 3))
    disk.file(arguments.busybox, "bin/busybox")
    disk.entry("bin/sh", 0o120777, b"busybox")
    disk.program(arguments.gtel)
    if arguments.intel_gpu_top:
        disk.program(arguments.intel_gpu_top)
    disk.program(build_client(arguments.compiler, work))
    drm, = glob.glob(os.path.join(arguments.kernel, "lib/modules/*/kernel/drivers/gpu/drm/drm.ko*"))
    with (lzma.open if drm.endswith(".xz") else open)(drm, "rb") as file:
        disk.entry("drm.ko", 0o100755, file.read())
    name = arguments.personality
    for module in (name, "host"):
        disk.file(build_module(arguments.headers, work, module), module + ".ko")
    disk.file(os.path.join(HERE, "init"), "init")
    path = os.path.join(work, "disk.cpio")
    disk.write(path)
    return path


# One CPU whose time is the number of its instructions: nothing that the host does shows in it, and
# sleep costs nothing. Or two CPUs together, in the host's time.
CLOCKS = {
    "exact": ("-icount", "shift=2,sleep=off", "-smp", "1"),
    "smp": ("-accel", "tcg,thread=multi", "-smp", "2"),
}


def boot(arguments, disk, scenario, timeout):
    """Runs a scenario. Returns {part: [line...]}; ends the test when the machine does not."""
    kernel, = glob.glob(os.path.join(arguments.kernel, "boot/vmlinuz-*"))
    command = [arguments.qemu, *CLOCKS[scenario], "-cpu", "max", "-m", "512", "-nodefaults",
               "-display", "none", "-serial", "stdio", "-no-reboot",
               "-device", "pci-testdev,addr=02.0", "-kernel", kernel, "-initrd", disk, "-append",
               f"console=ttyS0 quiet panic=-1 guest={arguments.personality} scenario={scenario} "
               f"cycles={arguments.cycles[scenario]} held={arguments.held[scenario]} "
               f"churn={arguments.churn[scenario]}"]
    began = time.monotonic()
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT) as process:
        try:
            output = process.communicate(timeout=timeout)[0]
        except subprocess.TimeoutExpired:
            process.kill()
            output = process.communicate()[0]
    text = output.decode(errors="replace").replace("\r", "")
    with open(os.path.join(arguments.work, f"{scenario}.log"), "w", encoding="utf-8") as file:
        file.write(text)
    parts, lines = {}, []
    for line in text.split("\n"):
        if line.startswith("@@ "):
            lines = parts.setdefault(line[3:], [])
        else:
            lines.append(line)
    if "done" not in parts:
        sys.exit(f"the machine did not reach its end in {timeout} s; its last words:\n" +
                 "\n".join(text.split("\n")[-40:]))
    print(f"{scenario}: {time.monotonic() - began:.1f} s, in the machine's time "
          f"{parts['seconds'][0].split()[0]} s")
    return parts
