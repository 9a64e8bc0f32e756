# SPDX-License-Identifier: MIT
"""What is left behind when the program, or the agent around it, ends while a vendor library hangs.

    ends.py --gtel PROGRAM --source FOLDER
    ends.py --gtel PROGRAM --source FOLDER --plugins FOLDER      under the real collectd

PROGRAM loads Level Zero's played loader as a shared object (tests/fakes/libze_loader), in which one
call sleeps, or uses a processor at full speed, for an hour. However the program ends: no helper is
left a moment later, nothing that reads its messages waits, and it ends within a second itself.
"""

import argparse
import concurrent.futures
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "..", "contrib", "ci")]
import collectd  # noqa: E402
import faults  # noqa: E402
from collectd import SLOW, check, failures, is_alive, wait_for  # noqa: E402

FAULTS = ("hang", "spin")
HOUR_MS = 3600 * 1000
LEFT_S = 5  # after the end of the program, on a busy host; 1 s else


def machine(arguments, folder, fault, second=0):
    """The recorded machine with two cards; from that second on the library hangs."""
    path = os.path.join(arguments.source, "tests", "fixtures", "workstation.tree")
    with open(path, encoding="utf-8") as file:
        text = file.read().rsplit("end\n", 1)[0]
    path = os.path.join(folder, f"{fault}-{second}.tree")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text + faults.LEVEL_ZERO +
                   (f"at {second}s\n" if second else "") +
                   f"call double {faults.CALL} = {fault} {HOUR_MS}\nend\n")
    return path


def helpers_of(pid):
    """{lane: pid} of the helpers that a process has started."""
    found = {}
    for child, words in collectd.children(pid).items():
        if "--lane" in words:
            found[words[words.index("--lane") + 1]] = child
    return found


def check_none_left(pids, what):
    began = time.monotonic()
    wait_for(lambda: not any(map(is_alive, pids)), LEFT_S)
    left = [pid for pid in pids if is_alive(pid)]
    check(not left, f"{what}: helpers are left: {left}")
    print(f"  {what}: none left after {time.monotonic() - began:.2f} s", flush=True)
    for pid in left:
        os.kill(pid, signal.SIGKILL)


def start(arguments, root, **keywords):
    return subprocess.Popen(
        [arguments.gtel, "--root", root, "--interval=200ms", "--deadline=50ms"],
        stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, **keywords)


def check_own(pid, what):
    """What a vendor library starts would hold the helper's way to its front end open."""
    with open(f"/proc/{pid}/fdinfo/3", encoding="ascii") as file:
        flags = int(re.search(r"^flags:\s*(\d+)", file.read(), re.M).group(1), 8)
    check(flags & os.O_CLOEXEC, f"{what}: no child of a helper gets its socket")


def hang(arguments, root, what):
    """A program whose helper sysman hangs: (process, helpers), as its own message says."""
    process = start(arguments, root)
    message = b""
    while b"lane sysman: no answer within" not in message:
        more = process.stderr.readline()
        if not check(more, f"{what}: the helper hangs, {message!r}"):
            break
        message += more
    helpers = helpers_of(process.pid)
    check("sysman" in helpers and "kernel" in helpers, f"{what}: helpers {helpers}")
    for pid in helpers.values():
        check_own(pid, what)
    return process, list(helpers.values())


def end(process, way):
    if way == "SIGKILL":
        process.kill()
    elif way == "SIGTERM":
        process.terminate()
    else:
        process.stdin.close()
    began = time.monotonic()
    process.wait(60)
    return time.monotonic() - began


def case_program(arguments, folder, fault):
    """Each way to end, in turn; the helper of each is to be gone before the next begins."""
    root = machine(arguments, folder, fault, 1)
    for way in ("SIGKILL", "SIGTERM", "end of stdin"):
        what = f"{fault}, {way}"
        process, helpers = hang(arguments, root, what)
        seconds = end(process, way)
        check(seconds < 1 * SLOW, f"{what}: it ends within a second ({seconds:.2f} s)")
        if way == "SIGTERM":
            check(process.returncode == 0, f"{what}: status {process.returncode}")
        if way != "SIGKILL":
            check(not any(map(is_alive, helpers)), f"{what}: no helper outlives it")
        check_none_left(helpers, what)
        message = process.stderr.read()
        check((b"the helper hangs: killed" in message) == (way != "SIGKILL"),
              f"{what}: it says that a helper was killed: {message!r}")


def case_stopped(arguments, folder, _):
    """A helper that is stopped hears of nothing, and ends all the same."""
    process, helpers = hang(arguments, machine(arguments, folder, "hang"), "stopped")
    for pid in helpers:
        os.kill(pid, signal.SIGSTOP)
    end(process, "end of stdin")
    check_none_left(helpers, "stopped")


def case_restarts(arguments, folder, fault):
    """An agent that kills and starts its program again and again."""
    root = machine(arguments, folder, fault, 1)
    seen = []
    for _ in range(5):
        process, helpers = hang(arguments, root, f"5 restarts, {fault}")
        seen += helpers
        end(process, "SIGKILL")
    check_none_left(seen, f"5 restarts, {fault}")


def case_pipe(arguments, folder, fault):
    """gtel 2>&1 | cat: the reader of its messages sees their end, although a library hangs."""
    root = machine(arguments, folder, fault)
    began = time.monotonic()
    done = subprocess.run(
        ["/bin/sh", "-c", '"$0" --root "$1" --interval=200ms --deadline=50ms --count=5 2>&1 | cat',
         arguments.gtel, root], stdin=subprocess.DEVNULL, capture_output=True, timeout=100,
        check=False)
    seconds = time.monotonic() - began
    check(b"\ngtel " in done.stdout, f"pipe, {fault}: values {done.stdout[-200:]!r}")
    check(seconds < 2 * SLOW, f"pipe, {fault}: {seconds:.1f} s")


def case_folder(arguments, folder, _):
    """Helpers do not run in the caller's folder; a root may be relative to that all the same."""
    root = machine(arguments, folder, "hang", 3600)
    process = start(arguments, os.path.basename(root), cwd=folder)
    check(wait_for(lambda: len(helpers_of(process.pid)) >= 3, 5 * SLOW), "folder: helpers")
    helpers = helpers_of(process.pid)

    def folders():
        return {os.readlink(f"/proc/{pid}/cwd") for pid in helpers.values()}
    check(wait_for(lambda: folders() == {"/"}, 5 * SLOW), f"folder: helpers run in {folders()}")
    end(process, "SIGTERM")
    check(b"E!" not in process.stderr.read(), "folder: no error")


def case_agent(arguments, folder, _):
    """Nor do those of an agent that stays in a folder of its own (collectd's BaseDir)."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    dup = "import os, sys; os.dup2(int(sys.argv[1]), 3); os.execv(sys.argv[2], sys.argv[2:])"
    with ours, theirs, subprocess.Popen(
            [sys.executable, "-c", dup, str(theirs.fileno()), arguments.gtel, "--lane", "clients"],
            cwd=folder, pass_fds=(theirs.fileno(),), stdin=subprocess.DEVNULL) as process:
        theirs.close()
        check(wait_for(lambda: os.readlink(f"/proc/{process.pid}/cwd") == "/", 5 * SLOW),
              "agent: its helper leaves the folder")
        process.kill()


def case_signals(arguments, folder, _):
    """Helpers have a signal mask of their own, and ignore what is meant for the agent's group."""
    root = machine(arguments, folder, "hang", 3600)
    process = start(arguments, root, preexec_fn=lambda: signal.pthread_sigmask(
        signal.SIG_BLOCK, signal.valid_signals()))
    check(wait_for(lambda: len(helpers_of(process.pid)) >= 3, 5 * SLOW), "signals: helpers")

    def blocked(pid):
        with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as file:
            return int(re.search(r"(?m)^SigBlk:\s*([0-9a-f]+)", file.read()).group(1), 16)

    # A helper blocks all of them for as long as it takes to start its thread.
    for lane, pid in helpers_of(process.pid).items():
        check(wait_for(lambda n=pid: blocked(n) == 0, 5 * SLOW),
              f"signals: the helper {lane} blocks {blocked(pid):x}")
    end(process, "end of stdin")


def case_messages(arguments, folder, _):
    """What a library prints comes as messages of the program, a limited number of them."""
    root = machine(arguments, folder, "say")
    with open(root, encoding="utf-8") as file:
        text = file.read().replace(f"say {HOUR_MS}", "say the library says \x1b[31m so")
    with open(root, "w", encoding="utf-8") as file:
        file.write(text)
    process = subprocess.Popen(
        [arguments.gtel, "--root", root, "--interval=100ms", "--count=60"],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    messages = process.communicate(timeout=60)[1].decode().splitlines()
    said = [line for line in messages if "standard error of the helper" in line]
    check(3 <= len(said) <= 33, f"messages: {len(said)} lines of the library")
    check(all(line.startswith("W! lane sysman: standard error of the helper: ") for line in said),
          f"messages: as the program's own: {said[:2]}")
    check(any("the library says" in line for line in said), f"messages: {said[:2]}")
    check(any("more lines, which are dropped" in line for line in said), f"messages: {said[-1:]}")
    check("\x1b" not in "".join(messages), "messages: no raw control characters")


CASES = [(case_program, fault) for fault in FAULTS] + [
    (case_restarts, "hang"), (case_restarts, "spin"), (case_stopped, ""), (case_pipe, "hang"),
    (case_pipe, "spin"), (case_folder, ""), (case_agent, ""), (case_signals, ""), (case_messages, "")]


def under_collectd(arguments, folder, fault, way):
    """The daemon with a hanging library: stopped, and killed."""
    root = machine(arguments, folder, fault, 3)
    what = f"collectd, {fault}, {way}"
    plugins = {"gpu_intel": {"Helper": f'"{arguments.gtel}"', "Root": f'"{root}"'}}
    with collectd.Daemon(arguments, plugins) as daemon:
        daemon.start()
        check(wait_for(lambda: "no answer within" in daemon.log(), 10 * SLOW),
              f"{what}: the helper hangs\n{daemon.log()}")
        helpers = list(helpers_of(daemon.process.pid).values())
        check(len(helpers) >= 2, f"{what}: helpers {helpers}")
        if way == "SIGKILL":
            os.kill(daemon.process.pid, signal.SIGKILL)
        else:
            seconds, status = daemon.stop()
            check(seconds < 1 * SLOW and status == 0, f"{what}: it stops ({seconds:.2f} s, {status})")
        check_none_left(helpers, what)


def main():
    parser = argparse.ArgumentParser()
    for name in ("--gtel", "--source"):
        parser.add_argument(name, required=True)
    parser.add_argument("--plugins")
    parser.add_argument("case", nargs="*")
    arguments = parser.parse_args()
    if arguments.plugins and not collectd.is_there():
        return collectd.SKIPPED
    cases = CASES
    if arguments.plugins:
        cases = [(lambda a, f, c: under_collectd(a, f, *c), (fault, way))
                 for fault in FAULTS for way in ("SIGTERM", "SIGKILL")]
    elif arguments.case:
        cases = [case for case in CASES if case[0].__name__[5:] in arguments.case]

    def run(number, function, what):
        with tempfile.TemporaryDirectory(prefix=f"gtel-ends-{number}-") as folder:
            function(arguments, folder, what)
    with concurrent.futures.ThreadPoolExecutor(len(cases)) as pool:  # each mostly waits
        tasks = [pool.submit(run, number, *case) for number, case in enumerate(cases)]
        for task in tasks:
            problem = task.exception()
            check(problem is None, f"{problem!r}")
    print(f"{len(failures)} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
