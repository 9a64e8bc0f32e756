# SPDX-License-Identifier: MIT
"""The system refuses what the program cannot do without: it says what, and never waits at full speed.

    refused.py GTEL MACHINE.tree

Calls are refused by a filter of the kernel (seccomp), which an ordinary user may set up for a
process; files by their limit, on the recorded machine as real files.
"""

import concurrent.futures
import ctypes
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time

import expand

GTEL, MACHINE = sys.argv[1:3]
TIMEOUT = 60
# Linux: include/uapi/asm-generic/unistd.h, arch/x86/entry/syscalls/syscall_64.tbl
CALLS = {"x86_64": {"ppoll": (271,), "clone": (56, 435)},
         "aarch64": {"ppoll": (73,), "clone": (220, 435)}}.get(platform.machine())
EPERM, EIO, EAGAIN, ENOMEM = 1, 5, 11, 12
failures = []


def check(is_ok, what):
    if not is_ok:
        failures.append(what)
        print(f"failed: {what}", flush=True)
    return is_ok


class Filter(ctypes.Structure):
    _fields_ = [("code", ctypes.c_ushort), ("jt", ctypes.c_ubyte), ("jf", ctypes.c_ubyte),
                ("k", ctypes.c_uint)]


class Program(ctypes.Structure):
    _fields_ = [("n", ctypes.c_ushort), ("filter", ctypes.POINTER(Filter))]


def refuse(call, error):
    """For preexec_fn: the calls of that name fail from then on (seccomp(2), SECCOMP_RET_ERRNO)."""
    numbers = CALLS[call]
    lines = [Filter(0x20, 0, 0, 0)]  # the number of the call
    for left, number in zip(range(len(numbers), 0, -1), numbers):
        lines.append(Filter(0x15, left, 0, number))  # when it is this one, go to the last line
    lines += [Filter(0x06, 0, 0, 0x7FFF0000), Filter(0x06, 0, 0, 0x00050000 | error)]
    program = Program(len(lines), (Filter * len(lines))(*lines))
    libc = ctypes.CDLL(None, use_errno=True)

    def apply():
        if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, ctypes.byref(program)):
            raise OSError(ctypes.get_errno(), "seccomp")
    return apply


def run(*arguments, **keywords):
    """Status, output, messages and processor time in seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    keywords.setdefault("stdin", subprocess.PIPE)
    process = subprocess.Popen([GTEL, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               text=True, **keywords)
    try:
        if process.stdin:  # it stays open: the end of the input is an end of its own
            process.wait(TIMEOUT)
        out, messages = process.communicate(timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        process.kill()
        out, messages = process.communicate()
        check(False, f"{arguments}: it does not end: {messages!r}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (process.returncode, out, messages,
            after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def test_waiting():
    """ppoll fails: the end, with a message and a status, in each way to run."""
    for error, text in ((EPERM, "Operation not permitted"), (ENOMEM, "Cannot allocate memory"),
                        (EIO, "Input/output error")):
        for words in ([], ["--interval=1s"], ["--once"], ["--interval=1s", "--isolation=none"]):
            status, out, messages, seconds = run("--root", TREE, *words,
                                                 preexec_fn=refuse("ppoll", error))
            what = f"ppoll, {text}, {words}: status {status}, {messages!r}, {seconds:.2f} s"
            said = [line for line in messages.splitlines() if "no GPU found" not in line]
            check(status == 1 and out == "", what)
            check(len(said) == 1 and said[0].startswith("E! ") and "ppoll: " + text in said[0],
                  what)
            check(seconds < 4, what)


def test_starting():
    """No helper can be started: the reason, and what to do about it."""
    for error, text, fix in ((EAGAIN, "Resource temporarily unavailable", "TasksMax="),
                             (ENOMEM, "Cannot allocate memory", "out of memory"),
                             (EPERM, "Operation not permitted", "seccomp")):
        _, out, messages, _ = run("--root", MACHINE, "--interval=100ms", "--count=3",
                                  preexec_fn=refuse("clone", error), stdin=subprocess.DEVNULL)
        what = f"clone, {text}: {messages!r}"
        check(out.count("gtel ") == 3, what)
        check(text in messages and fix in messages, what)
        check("install gtel" not in messages and "no GPU" not in messages, what)


def test_files():
    """Too few files may be open: never "no GPU found", but what is wrong."""
    folder = os.path.join(SCRATCH, "machine")
    expand.expand(MACHINE, folder)

    def try_limit(limit):
        status, out, messages, _ = run(
            "--root", folder, "--interval=200ms", "--count=4", stdin=subprocess.DEVNULL,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit)))
        what = f"at most {limit} files: status {status}, {messages!r}"
        if "error while loading shared libraries" in messages and "gtel " not in out:
            return False  # not even the program
        check("no GPU found" not in messages, what)
        is_logged = "Too many open files" in messages and "LimitNOFILE=" in messages
        has_values = "gpu,gpu=" in out or "\ngpu," in "\n" + out
        check(is_logged or has_values, what)
        return is_logged
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        shown = sum(pool.map(try_limit, range(3, 20)))
    check(shown > 2, f"limits under which it had to say something: {shown}")
    # gtel doctor: neither that there is no GPU, nor that all is well.
    for limit in (4, 5, 6, 7):
        status, out, messages, _ = run(
            "doctor", "--root", folder, stdin=subprocess.DEVNULL,
            preexec_fn=lambda n=limit: resource.setrlimit(resource.RLIMIT_NOFILE, (n, n)))
        what = f"doctor with {limit} files: status {status}, {out!r}, {messages!r}"
        if "error while loading shared libraries" in messages:
            continue
        check("No GPU was found" not in out and "Nothing is missing" not in out and "nothing that" not in out,
              what)
        check("LimitNOFILE=" in " ".join(out.split()) and status == 1, what)


def main():
    if not CALLS:
        sys.exit(f"which number has ppoll on {platform.machine()}?")
    for test in (test_waiting, test_starting, test_files):
        began = time.monotonic()
        test()
        print(f"{test.__name__} {time.monotonic() - began:.1f} s", flush=True)
    print(f"{len(failures)} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="gtel-refused-") as SCRATCH:
        TREE = os.path.join(SCRATCH, "empty.tree")
        with open(TREE, "w", encoding="utf-8") as FILE:
            FILE.write("end\n")
        sys.exit(main())
