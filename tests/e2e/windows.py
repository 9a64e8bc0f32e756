# SPDX-License-Identifier: MIT
"""gtel.exe under Wine: what it needs, what it says of recorded machines, and how it lives and ends.

    windows.py --gtel FILE --played FILE --wine PROGRAM --objdump PROGRAM --source FOLDER
               --nvml FOLDER --zes FOLDER [--telegraf FILE --crypto FILE] [CASE...]

WINEPREFIX is that of the tests (contrib/ci/wine). FILE of --played opens the played libraries of a
recorded machine; FOLDER of --nvml has VARIANT/nvml.dll, that of --zes VARIANT/ze_loader.dll. The agent is Telegraf for Windows; newer
programs in Go ask for a DLL that Wine lacks, which is FILE of --crypto.
"""

import argparse
import glob
import os
import pty
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "..", "contrib", "ci")]
import faults  # noqa: E402
from collectd import check, failures, wait_for  # noqa: E402

END_S = 1  # after the end of the input, on an idle host
SLOW = 4  # how many times longer a busy one may take
OTHERS = ("jobs", "i915-pvc-l0m", "xe-b580-stall")  # the tests on Linux have them


class Program:
    """One run. Its words must name the scratch folder somewhere, by which its processes are found."""

    def __init__(self, arguments, file, *words, reads=True, **options):
        self.child = subprocess.Popen([arguments.wine, file, *words],
                                      **{"stdin": subprocess.PIPE, **options},
                                      stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.lines, self.messages = [], []
        self.threads = [threading.Thread(target=self.read, args=pair, daemon=True) for pair in
                        ((self.child.stdout, self.lines), (self.child.stderr, self.messages))]
        for thread in self.threads[0 if reads else 1:]:
            thread.start()

    @staticmethod
    def read(file, lines):
        for line in file:
            lines.append(line.decode())

    def ask(self, n=1):
        self.child.stdin.write(b"\n" * n)
        self.child.stdin.flush()

    def answers(self):
        return sum(line.startswith(("gtel ", "gtel,")) for line in self.lines)

    def gather(self, wait_s=10):
        before = self.answers()
        self.ask()
        check(wait_for(lambda: self.answers() > before, wait_s), "an answer comes")
        return self.answers() - before

    def end(self, what, limit_s=END_S * SLOW, how=None):
        """Returns how long it took after the end of its input, or after how()."""
        began = time.monotonic()
        if how:
            how()
        else:
            self.child.stdin.close()
        try:
            self.child.wait(30)
        except subprocess.TimeoutExpired:
            self.child.kill()
        took = time.monotonic() - began
        check(took < limit_s, f"{what}: it ended {took:.2f} s after its input")
        check(self.child.returncode == 0, f"{what}: exit status {self.child.returncode}")
        print(f"{what}: ended within {took:.2f} s")
        return took


def helpers(folder, lane="--lane"):
    """Pids of the helpers whose command line has that folder's name, or of a lane."""
    found = []
    for path in glob.glob("/proc/[0-9]*/cmdline"):
        try:
            with open(path, "rb") as file:
                words = file.read()
        except OSError:
            continue
        if b"--lane" in words and lane.encode() in words and \
                os.path.basename(folder).encode() in words:
            found.append(int(path.split("/")[2]))
    return found


def none_left(folder, what):
    check(wait_for(lambda: not helpers(folder), 5 * SLOW), f"{what}: helpers are left")


def run(arguments, file, *words, **options):
    return subprocess.run([arguments.wine, file, *words], capture_output=True, timeout=60,
                          check=False, **options)


def fixture(arguments, name, folder=None):
    path = os.path.join(arguments.source, "tests", "fixtures", name + ".tree")
    return shutil.copy(path, folder) if folder else path


# ---- cases ----

def case_imports(arguments, _):
    """Nothing but what each Windows has: no library has to be shipped."""
    done = subprocess.run([arguments.objdump, "-p", arguments.gtel], capture_output=True, check=True)
    found = re.findall(r"DLL Name: (\S+)", done.stdout.decode())
    check(sorted(name.lower() for name in found) == ["kernel32.dll", "msvcrt.dll"],
          f"imports: {found}")
    check("pei-x86-64" in done.stdout.decode(), "64 bits")


def options(arguments, golden):
    """The program's options for a golden file."""
    path = os.path.join(arguments.source, "tests", "golden", "options.txt")
    with open(path, encoding="utf-8") as file:
        lines = [line.split() for line in file]
    return next((words[1:] for words in lines if words[0] == golden), [])


def play(arguments, name, words):
    with open(fixture(arguments, name), encoding="utf-8", errors="replace") as file:
        has_libraries = any(line.startswith("library ") for line in file)
    program = arguments.played if has_libraries else arguments.gtel
    return run(arguments, program, *words, "--root", fixture(arguments, name),
               stdin=subprocess.DEVNULL)


def case_golden(arguments, _):
    """The recorded machines of Linux: the same lines, byte for byte."""
    compared = 0
    for path in sorted(glob.glob(os.path.join(arguments.source, "tests", "golden", "*.lp"))):
        name = os.path.basename(path)[:-3]
        if name in OTHERS or name.startswith(("apple-", "option-")):  # macmon is for macOS
            continue
        with open(path, "rb") as file:
            golden = file.read()
        count = sum(line.startswith(b"gtel ") for line in golden.split(b"\n"))
        words = ["--isolation", "none", "--stepped", "--interval", "1s", "--count", str(count),
                 *options(arguments, name + ".lp")]
        done = play(arguments, name, words)
        check(done.returncode == 0, f"{name}: exit status {done.returncode}")
        check(done.stdout == golden, f"{name}: other lines than on Linux")
        compared += 1
    check(compared > 80, f"{compared} machines were compared")


def case_explain(arguments, _):
    done = play(arguments, "xe-b580-6.17", ["--isolation", "none", "--stepped", "--interval", "1s",
                                             "--count", "2", "--explain"])
    with open(os.path.join(arguments.source, "tests", "golden", "xe-b580-6.17.explain"),
              "rb") as file:
        check(done.stdout == file.read(), "--explain says something else than on Linux")


def case_doctor_golden(arguments, _):
    """Recorded machines: the same words as on Linux."""
    paths = sorted(glob.glob(os.path.join(arguments.source, "tests", "golden", "*.doctor")))
    # Each takes seconds: those that are there for doctor or of Windows, and a fourth of the others.
    own = [path for path in paths if re.match("win|doctor-", os.path.basename(path))]
    paths = own + sorted(set(paths) - set(own))[::4]
    check(len(paths) > 40, f"machines: {len(paths)}")
    for path in paths:
        name = os.path.basename(path)[:-7]
        if name.startswith("apple-") or name == "doctor-amd-tool":  # tools that Windows lacks
            continue
        with open(path, "rb") as file:
            golden = file.read()
        done = play(arguments, name, ["doctor", *options(arguments, name + ".doctor")])
        check(done.stdout == golden, f"doctor, {name}: other words than on Linux")
        status = int(b"\nWhat can be fixed\n" in golden)
        check(done.returncode == status, f"doctor, {name}: exit status {done.returncode}")


def case_doctor(arguments, _):
    """Of this host: nothing about Linux."""
    place = os.path.join(system32(), "nvml.dll")
    with open(place, "wb"):  # one that cannot be loaded
        pass
    try:
        done = run(arguments, arguments.gtel, "doctor", stdin=subprocess.DEVNULL)
    finally:
        os.remove(place)
    said = done.stdout.decode()
    check(re.search(r"^  system        Windows, version \d+\.\d+\.\d+\n"
                    r"  user          \S+; administrator: (yes|no)\n"
                    r"(  in use .*\n)?"
                    r"  library       NVML \(nvml\): installed, %SystemRoot%/System32/nvml.dll\n",
                    said, re.M), f"doctor here: {said}")
    check(not re.search("kernel|perf|CAP_|render|ld.so|/etc|/proc|dmesg", said),
          f"doctor here speaks of Linux: {said}")


def case_loop(arguments, folder):
    """With helpers: an answer to each newline, and the end with the input."""
    program = Program(arguments, arguments.gtel, "--root", fixture(arguments, "intel-8", folder))
    for _ in range(3):
        program.gather()
        time.sleep(0.3)
    check(len(helpers(folder)) > 0, "lanes run in helpers")
    gpus = {line.split("gpu=")[1][:12] for line in program.lines if line.startswith("gpu,")}
    check(len(gpus) == 8, f"GPUs: {sorted(gpus)}")
    program.end("loop", END_S)
    none_left(folder, "loop")
    check(not program.messages, f"messages: {program.messages}")


def case_unread(arguments, folder):
    """Newlines are taken in, without a wait, even while nobody reads the answers, and so is the end."""
    tree = fixture(arguments, "intel-8", folder)
    ends = []
    for _ in range(3):  # a busy host may be late
        program = Program(arguments, arguments.gtel, "--root", tree, reads=False)
        began = time.monotonic()
        for _ in range(50):
            program.ask(100)
            time.sleep(0.02)
        took = time.monotonic() - began
        check(took < 3 * SLOW, f"5,000 newlines took {took:.1f} s")
        time.sleep(1)
        program.ask(100)
        ends.append(program.end("unread"))
        none_left(folder, "unread")
        if ends[-1] < END_S:
            break
    check(min(ends) < END_S, f"it ends within a second: {ends}")
    check(min(ends) > END_S / 2, f"a slow reader has some time: {ends}")


def case_console(arguments, folder):
    """A console in the place of the pipe: a gather for each line, and an end by Ctrl-C or with it."""
    tree = fixture(arguments, "xe-b580", folder)
    for what in ("Ctrl-C", "closed"):
        master, slave = pty.openpty()
        program = Program(arguments, arguments.gtel, "--root", tree, stdin=slave,
                          start_new_session=True)
        os.close(slave)
        check(wait_for(lambda: helpers(folder), 20), f"console, {what}: it starts")
        for n in range(1, 3):
            for _ in range(20):  # what is typed before it reads the console is lost
                os.write(master, b"\r")
                if wait_for(lambda n=n: program.answers() >= n, 1):
                    break
            check(program.answers() >= n, f"console, {what}: answer {n}")
        if what == "Ctrl-C":
            program.end(what, how=lambda: program.child.send_signal(signal.SIGINT))
        else:
            program.end(what, how=lambda end=master: os.close(end))
        check(not program.messages, f"console, {what}: {program.messages}")
        none_left(folder, what)
        if what == "Ctrl-C":
            os.close(master)
    # As output: a table for people.
    master, slave = pty.openpty()
    child = subprocess.Popen([arguments.wine, arguments.gtel, "--root", tree, "--once"],
                             stdin=slave, stdout=slave, stderr=slave, start_new_session=True)
    os.close(slave)
    shown = []
    thread = threading.Thread(target=lambda: read_all(master, shown), daemon=True)
    thread.start()
    check(child.wait(30) == 0, "console: exit status of --once")
    thread.join(10)
    check(b"0000:03:00.0  Intel Arc B580" in b"".join(shown), f"console: the table: {shown}")
    none_left(folder, "console")


def read_all(file, parts):
    try:
        while part := os.read(file, 4096):
            parts.append(part)
    except OSError:  # the console is gone
        pass
    os.close(file)


def case_messages(arguments, folder):
    """What a library prints comes as messages of the program, a limited number of them; one that
    prints more than a pipe holds, in one call, waits for nobody."""
    for says, want in (("say the library says \x1b[31m so", "the library says"),
                       ("flood 200", "the flood....")):
        path = faults.machine(arguments, folder, "crash")
        with open(path, encoding="utf-8") as file:
            text = file.read()
        text = re.sub(r"call double .*\n", "", text)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text.replace("at 1s\n", f"at 1s\ncall double {faults.CALL} = {says}\n", 1))
        program = Program(arguments, arguments.played, "--root", path)
        late = 0
        for _ in range(40):
            asked = time.monotonic()
            program.gather()
            late = max(late, time.monotonic() - asked)
            time.sleep(0.1)
        last = "".join(program.lines[-40:])
        program.end("messages")
        none_left(folder, "messages")
        log = "".join(program.messages)
        said = [line for line in program.messages if "standard error of the helper" in line]
        check(3 <= len(said) <= 33, f"{says}: {len(said)} lines of the library: {log}")
        check(all(line.startswith("W! lane sysman: standard error of the helper: ")
                  for line in said), f"{says}: as the program's own: {said[:2]}")
        check(want in "".join(said), f"{says}: {said[:2]}")
        check("more lines, which are dropped" in "".join(said), f"{says}: {said[-1:]}")
        check("\x1b" not in log and "\r" not in log, f"{says}: raw control characters: {log}")
        check("ended" not in log, f"{says}: its helper works: {log}")
        check("pcie_rx_" in last and late < 2.5, f"{says}: values ({late:.1f} s): {last[-2000:]}")


def case_inputs(arguments, folder):
    """What standard input may be instead of a pipe; the end of the output."""
    tree = fixture(arguments, "xe-b580", folder)
    for what, options in (("empty", {"stdin": subprocess.DEVNULL}),
                          ("closed", {"preexec_fn": lambda: os.close(0)})):
        began = time.monotonic()
        done = run(arguments, arguments.gtel, "--root", tree, **options)
        took = time.monotonic() - began
        check(done.returncode == 0 and took < END_S * SLOW,
              f"{what}: exit status {done.returncode} after {took:.1f} s: {done.stderr}")
    program = Program(arguments, arguments.gtel, "--root", tree, reads=False)
    program.child.stdout.close()
    for _ in range(20):
        try:
            program.ask()
        except OSError:
            break
        time.sleep(0.1)
    check(wait_for(lambda: program.child.poll() is not None, 5), "it ends when nobody reads it")
    none_left(folder, "inputs")


def case_files(arguments, folder):
    """Configuration files as Windows has them, and names of any kind."""
    tree = fixture(arguments, "xe-b580", folder)
    deep = os.path.join(folder, *["f" * 100] * 3)
    os.makedirs(deep)
    deep = os.path.join(deep, "g" * 200)  # the whole path: far beyond MAX_PATH
    os.mkdir(deep)
    check(len(deep) > 500, "a long path")
    shutil.copy(tree, os.path.join(deep, "deep.tree"))
    for name in ("plain.conf", "gr\u00f6\u00dfe \u4e2d.conf", os.path.join(deep, "deep.conf")):
        path = os.path.join(folder, name)
        with open(path, "wb") as file:
            file.write(b"\xef\xbb\xbf[[inputs.gtel]]\r\n  # a comment\r\n"
                       b"  host_tag = \"box\"\r\n  sources = [\"xe\",\r\n \"drm\"]\r\n")
        done = run(arguments, arguments.gtel, "--config", path, "--root", tree, "--once",
                   env={**os.environ, "LC_ALL": "C.UTF-8"})
        check(done.returncode == 0 and b"host=box" in done.stdout,
              f"{name!r}: {done.returncode} {done.stderr}")
    written = os.path.join(deep, "captured.tree")
    done = run(arguments, arguments.gtel, "capture", written, "--root",
               os.path.join(deep, "deep.tree"), stdin=subprocess.DEVNULL)
    check(done.returncode == 0 and os.path.getsize(written) > 1000, f"long: capture: {done.stderr}")
    done = run(arguments, arguments.gtel, "capture", os.path.join(folder, "plain.conf"), "--root", tree,
               stdin=subprocess.DEVNULL)
    check(done.returncode == 1 and b"it exists already" in done.stderr, f"exists: {done.stderr}")
    program = Program(arguments, arguments.gtel, "--root", written)  # its helpers get the path, too
    program.gather()
    check(wait_for(lambda: program.gather() and "B580" in "".join(program.lines), 10),
          f"long: {program.lines} {program.messages}")
    program.end("long")
    none_left(folder, "long")
    for words, say in ((["--config", folder], b"it is a directory"),
                       (["--config", "NUL"], b"it is a device"),
                       (["--root", tree + ".none"], b"No such file"),
                       (["--interval", "x"], b"interval"), (["--lane", "kernel"], b"--lane is how")):
        done = run(arguments, arguments.gtel, *words, stdin=subprocess.DEVNULL)
        check(done.returncode == 2 and say in done.stderr, f"{words}: {done.stderr}")


def case_faults(arguments, folder):
    """A library that goes wrong: everything else is there in time, and its own values come back."""
    for fault in ("crash", "hang", "leak"):
        program = Program(arguments, arguments.played, "--root",
                          faults.machine(arguments, folder, fault))
        began, late = time.monotonic(), 0
        while time.monotonic() - began < faults.WELL:
            asked = time.monotonic()
            program.gather()
            late = max(late, time.monotonic() - asked)
            time.sleep(max(0, 0.5 - (time.monotonic() - asked)))
        check(late < 2.5, f"{fault}: a gather took {late:.1f} s")
        log = "".join(program.messages)
        check(faults.FAULTS[fault][1] in log, f"{fault}: the log says: {log}")
        last = "".join(program.lines[-40:])
        check("pcie_rx_" in last, f"{fault}: its values are back: {last}")
        program.end(fault)
        none_left(folder, fault)


def case_killed(arguments, folder):
    """The front end dies, with a library that hangs: its helpers go with it."""
    path = faults.machine(arguments, folder, "hang")
    with open(path, encoding="utf-8") as file:
        text = file.read()
    with open(path, "w", encoding="utf-8") as file:
        file.write(text.replace("at 1s\n", f"at 1s\ncall double {faults.CALL} = hang 3600000\n", 1))
    for how in ("end", "kill"):
        program = Program(arguments, arguments.played, "--root", path)
        program.gather()
        time.sleep(2)
        program.gather()
        check(len(helpers(folder)) > 1, f"{how}: helpers run")
        if how == "end":
            program.end("hanging")
        else:
            program.child.kill()
        none_left(folder, how)


def system32():
    return os.path.join(os.environ["WINEPREFIX"], "drive_c", "windows", "system32")


def case_nvml(arguments, folder):
    """nvml.dll in the folder of the system, on this machine and no recorded one."""
    place = os.path.join(system32(), "nvml.dll")
    for variant, has_gpu in (("new", True), ("no_driver", False), ("missing", False)):
        shutil.copy(os.path.join(arguments.nvml, variant, "nvml.dll"), place)
        try:
            done = run(arguments, arguments.gtel, "--once", stdin=subprocess.DEVNULL)
            lines = [line for line in done.stdout.decode().split("\n") if "vendor=nvidia" in line]
            check(bool(lines) == has_gpu, f"{variant}: {done.stdout} {done.stderr}")
            check(not has_gpu or "power_watts=150.25" in lines[0], f"{variant}: {lines}")
        finally:
            os.remove(place)
    done = run(arguments, arguments.gtel, "--once", stdin=subprocess.DEVNULL)
    check(b"vendor=nvidia" not in done.stdout, "without the library there is nothing")


CLASS = "{4D36E968-E325-11CE-BFC1-08002BE10318}"
DEVICE = (r"HKEY_LOCAL_MACHINE\System\CurrentControlSet\Enum\PCI"
          r"\VEN_8086&DEV_E20B&SUBSYS_11008086&REV_00")
# What Wine's own WMI calls its display device, and what that has.
CONTROLLER = (r"HKEY_LOCAL_MACHINE\System\CurrentControlSet\Enum\PCI"
              r"\VEN_0000&DEV_0000&SUBSYS_00000000&REV_00\0&DEADBEEF&0&DEAD")
CONTROLLER_RAM = 536870912
DRIVER = rf"HKEY_LOCAL_MACHINE\System\CurrentControlSet\Control\Class\{CLASS}\0077"


def registry_text(power, device, size):
    """A display device as Plug and Play writes it, in that power state: 1 is D0, 4 is D3."""
    properties = device + r"\Properties\{A45C254E-DF1C-4EFD-8020-67D146A850E0}"
    version = device + r"\Properties\{A8B865DD-2E3D-4094-AD97-E593A70C75D6}"

    def data(kind, content):
        return f"@=hex(ffff{kind}):" + ",".join(f"{byte:02x}" for byte in content)
    values = [
        (device, [f'"ClassGUID"="{CLASS}"', '"Class"="Display"',
                  '"DeviceDesc"="@oem7.inf,%b580%;Intel(R) Arc(TM) B580 Graphics"',
                  f'"Driver"="{CLASS}\\\\0077"']),
        (properties + r"\0017", [data("0007", struct.pack("<I", 3))]),
        (properties + r"\001E", [data("0007", struct.pack("<I", 0))]),
        (properties + r"\0020", [data("1003", struct.pack("<II48x", 56, power))]),
        (version + r"\0003", [data("0012", "32.0.101.6734\0".encode("utf-16-le"))]),
        (DRIVER, ['"HardwareInformation.qwMemorySize"=hex(b):'
                  + ",".join(f"{byte:02x}" for byte in struct.pack("<Q", size))] if size else []),
    ]
    lines = ["Windows Registry Editor Version 5.00"]
    for name, content in values:
        lines += ["", f"[{name}]", *content]
    return "\r\n".join(lines) + "\r\n"


def write_registry(arguments, folder, power, device=DEVICE + r"\6&1A2B3C4D&0&00080008",
                   size=12 << 30):
    path = os.path.join(folder, "gpu.reg")
    with open(path, "w", encoding="utf-16", newline="") as file:
        file.write(registry_text(power, device, size))
    done = run(arguments, "regedit", "/S", "Z:" + path.replace("/", "\\"))
    check(done.returncode == 0, f"regedit: {done.stderr}")


def clear_registry(arguments):
    for name in (DEVICE, CONTROLLER, DRIVER):
        run(arguments, "reg", "delete", name, "/f")


def case_level_zero(arguments, folder):
    """ze_loader.dll in the folder of the system and a GPU in the registry: one GPU of both, at the
    address that stands in the UUID. While it sleeps Level Zero is not called."""
    place = os.path.join(system32(), "ze_loader.dll")
    gpu = "gpu=0000:03:00.0,model=Intel(R)\\ Arc(TM)\\ B580\\ Graphics,"
    try:
        for power, variant, wanted, has_ended in (
                (1, "windows", ("sensor=gpu,vendor=intel celsius=61.5", "awake=1i",
                                'metrics_source="WDDM + registry + Level Zero"'), False),
                (1, "untouched", ("awake=1i", 'metrics_source="WDDM + registry"'), True),
                (4, "untouched", ("awake=0i",), False)):
            what = f"power state {power}, {variant}"
            write_registry(arguments, folder, power)
            shutil.copy(os.path.join(arguments.zes, variant, "ze_loader.dll"), place)
            done = run(arguments, arguments.gtel, "--once", stdin=subprocess.DEVNULL)
            text = "".join(line + "\n" for line in done.stdout.decode().splitlines()
                           if line.startswith("gpu"))
            for word in wanted:
                check(word in text, f"{what}: {word} is not in {text} {done.stderr}")
            check(text.count("gpu=") == text.count(gpu), f"{what}: another GPU: {text}")
            check(text.count("\ngpu,") + text.startswith("gpu,") == 1, f"{what}: GPUs: {text}")
            check((b"lane sysman: helper ended" in done.stderr) == has_ended,
                  f"{what}: Level Zero was called, or not: {done.stderr}")
    finally:
        clear_registry(arguments)
        os.remove(place)
    done = run(arguments, arguments.gtel, "--once", stdin=subprocess.DEVNULL)
    check(b"gpus=0i" in done.stdout, f"the GPU is removed: {done.stdout}")


def case_l0metrics(arguments, folder):
    """The same with metrics, which are asked for: measured after a gather and reported with the next
    one. While the GPU sleeps Level Zero is not called, and without the option never."""
    place = os.path.join(system32(), "ze_loader.dll")
    gpu = "driver=wddm,gpu=0000:03:00.0,model=Intel(R)\\ Arc(TM)\\ B580\\ Graphics,"
    # As on Linux, from the same answers: tests/golden/xe-b580-l0m.hand.
    measured = (f"gpu_activity,{gpu}unit=eu,vendor=intel active_percent=58,stall_percent=22.4,"
                "samples=3i,dropped=0i ",
                f"gpu_activity,{gpu}unit=alu2,vendor=intel active_percent=33.2,samples=3i,",
                f"gpu_stall,{gpu}reason=control,vendor=intel share_percent=1.11111111,samples=10i,")
    try:
        for power, variant, words, wanted, has_ended in (
                (1, "metrics", ["--l0-metrics=on"], measured, False),
                (1, "metrics_crash", [], (), False),
                (1, "metrics_crash", ["--l0-metrics=on"], (), True),
                (4, "metrics_crash", ["--l0-metrics=on"], (), False)):
            what = f"power state {power}, {variant}, {words}"
            write_registry(arguments, folder, power)
            shutil.copy(os.path.join(arguments.zes, variant, "ze_loader.dll"), place)
            program = Program(arguments, arguments.gtel, "--sources=wddm,l0metrics", *words)
            for _ in range(4):
                program.gather()
                time.sleep(0.5)
            program.end(what, END_S)
            text = "".join(program.lines)
            for word in wanted:
                check(word in text, f"{what}: {word} is not in {text} {program.messages}")
            check(f"gpu,{gpu}" in text and f"awake={1 if power == 1 else 0}i" in text,
                  f"{what}: the GPU: {text}")
            check(bool(wanted) == ("gpu_activity" in text), f"{what}: activity: {text}")
            ended = any("lane l0metrics: helper ended" in line for line in program.messages)
            check(ended == has_ended, f"{what}: Level Zero was called, or not: {program.messages}")
    finally:
        clear_registry(arguments)
        os.remove(place)


def case_registry(arguments, folder):
    """A GPU in the registry, through the real SetupAPI: name, version, 12 GiB, D0 and D3."""
    common = ("gpu=0000:03:00.0,model=Intel(R)\\ Arc(TM)\\ B580\\ Graphics,vendor=intel up=1i",)
    awake = ("awake=1i", "memory_total_bytes=12884901888i", 'pci_id="8086:e20b"',
             'driver_version="32.0.101.6734"', 'metrics_source="WDDM + registry"')
    try:
        for power, wanted, unwanted in ((1, awake, ("awake=0i", "memory_used")),
                                        (4, ("awake=0i",), ("awake=1i", "memory_"))):
            write_registry(arguments, folder, power)
            done = run(arguments, arguments.gtel, "--once", stdin=subprocess.DEVNULL)
            text = "".join(line + "\n" for line in done.stdout.decode().splitlines()
                           if line.startswith("gpu"))
            for word in common + wanted:
                check(word in text, f"power state {power}: {word} is not in {text} {done.stderr}")
            for word in unwanted:
                check(word not in text, f"power state {power}: {word} is in {text}")
    finally:
        clear_registry(arguments)
    done = run(arguments, arguments.gtel, "--once", stdin=subprocess.DEVNULL)
    check(b"gpus=0i" in done.stdout, f"the GPU is removed: {done.stdout}")


def case_capture(arguments, folder):
    """What a user sends of a GPU in the registry says the same when it is played, without the names
    of the host and of the device."""

    def lines_of(done):
        return sorted(line.rsplit(" ", 1)[0] for line in done.stdout.decode().splitlines()
                      if line.startswith("gpu"))
    try:
        for power in (1, 4):
            write_registry(arguments, folder, power)
            path = os.path.join(folder, f"captured{power}.tree")
            done = run(arguments, arguments.gtel, "capture", "Z:" + path, "--count", "2",
                       "--interval", "500ms", stdin=subprocess.DEVNULL)
            check(done.returncode == 0, f"capture: {done.stderr}")
            real = lines_of(run(arguments, arguments.gtel, "--once", stdin=subprocess.DEVNULL))
            with open(path, encoding="utf-8") as file:
                text = file.read()
            played = lines_of(run(arguments, arguments.played, "--root", path, "--once",
                                  stdin=subprocess.DEVNULL))
            check(len(real) > 1 and real == played, f"power state {power}: {real}, played {played}")
            check("VEN_8086&DEV_E20B&SUBSYS_11008086&REV_00\\" in text, f"the GPU: {text}")
            check("1A2B3C4D" not in text and "0078" not in text, f"its number: {text}")
            host = socket.gethostname()
            check(len(host) < 3 or host.lower() not in text.lower(), f"the host: {text}")
            check(b"NOT IN HERE" not in done.stderr and "a GPU: no source" not in text,
                  f"what is missing: {text}")
    finally:
        clear_registry(arguments)


def case_wmi(arguments, folder):
    """A GPU whose size only WMI knows, by the real COM: it comes late, as the first answer takes
    ten seconds, and no gather waits for it. With a size in the registry nobody asks."""
    # A helper has the options that were given, by which it is found.
    tag = "--host-tag=" + os.path.basename(folder)
    try:
        for size, wanted in ((0, f"memory_total_bytes={CONTROLLER_RAM}i"),
                             (3 << 30, f"memory_total_bytes={3 << 30}i")):
            write_registry(arguments, folder, 1, CONTROLLER, size)
            program = Program(arguments, arguments.gtel, tag)
            worst = 0
            for _ in range(60):
                asked = time.monotonic()
                program.gather()
                worst = max(worst, time.monotonic() - asked)
                if wanted in "".join(program.lines):
                    break
                time.sleep(0.5)
            text = "".join(program.lines)
            has_lane = bool(helpers(folder, "\0wmi\0"))
            program.end("wmi", 15 if size == 0 else END_S * SLOW)
            none_left(folder, "wmi")
            check(wanted in text, f"size {size}: {text[-2000:]} {program.messages}")
            check(("WDDM + WMI" in text) == (size == 0), f"size {size}: {text[-2000:]}")
            check(has_lane == (size == 0), f"size {size}: a lane for WMI: {has_lane}")
            check(worst < 0.6 * SLOW, f"size {size}: a gather took {worst:.1f} s")
            print(f"wmi: size {size}: the longest gather took {worst:.2f} s")
    finally:
        clear_registry(arguments)


TELEGRAF = """[agent]
  interval = "1s"
  round_interval = false
  flush_interval = "1s"
  omit_hostname = true
[[inputs.execd]]
  command = ['Z:{gtel}', '--root', 'Z:{tree}']
  signal = "STDIN"
  restart_delay = "1s"
  data_format = "influx"
[[outputs.file]]
  files = ['Z:{out}']
  data_format = "influx"
"""


def case_telegraf(arguments, folder):
    """The real agent: lines from all GPUs at each interval, nothing to complain of, and a quick
    end. The signal is for it alone: Wine hands one to the whole group on to the plugin."""
    if not arguments.telegraf:
        return
    shutil.copy(arguments.crypto, os.path.join(system32(), "bcryptprimitives.dll"))
    out = os.path.join(folder, "out.lp")
    config = os.path.join(folder, "telegraf.conf")
    with open(config, "w", encoding="utf-8") as file:
        file.write(TELEGRAF.format(gtel=arguments.gtel, out=out,
                                   tree=fixture(arguments, "intel-8", folder)))
    with subprocess.Popen([arguments.wine, arguments.telegraf, "--config", "Z:" + config],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, start_new_session=True) as agent:
        time.sleep(8 if wait_for(lambda: os.path.exists(out) and os.path.getsize(out), 30) else 0)
        began = time.monotonic()
        agent.send_signal(signal.SIGINT)
        try:
            log = agent.communicate(timeout=30)[0].decode()
        except subprocess.TimeoutExpired:
            agent.kill()
            log = agent.communicate()[0].decode()
        took = time.monotonic() - began
    check(took < 2 * SLOW, f"Telegraf ended within {took:.1f} s")
    check(" E! " not in log and " W! [inputs" not in log, f"Telegraf says: {log}")
    with open(out, encoding="utf-8") as file:
        lines = file.read().splitlines()
    times = sorted({line.rsplit(" ", 1)[1] for line in lines if line.startswith("gpu,")})
    check(len(times) >= 6, f"gathers: {len(times)}")
    for each in times:
        gpus = [line for line in lines if line.startswith("gpu,") and line.endswith(each)]
        check(len(gpus) == 8, f"{each}: {len(gpus)} GPUs")
    none_left(folder, "telegraf")
    print(f"Telegraf: {len(times)} gathers of 8 GPUs, ended within {took:.2f} s")


CASES = {name[5:]: function for name, function in list(globals().items())
         if name.startswith("case_")}


def main():
    parser = argparse.ArgumentParser()
    for name in ("gtel", "played", "wine", "objdump", "source", "nvml", "zes"):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("--telegraf")
    parser.add_argument("--crypto")
    parser.add_argument("case", nargs="*")
    arguments = parser.parse_args()
    for name in arguments.case or CASES:
        with tempfile.TemporaryDirectory(prefix=f"gtel-windows-{name}-") as folder:
            CASES[name](arguments, folder)
        print(f"{name}: {len(failures)} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
