# SPDX-License-Identifier: MIT
"""500 signals to the program and to its helpers, at random moments.

    signals.py GTEL MACHINE.tree

What ends neither: those that a system sends by itself (SIGCHLD, SIGWINCH, SIGURG, SIGCONT,
SIGPIPE), stops (SIGSTOP, SIGTSTP) with SIGCONT after them, and SIGUSR1, which asks the program for
a gather. A helper also ignores what is meant for the agent's whole group: SIGTERM, SIGINT, SIGHUP. Any other signal ends
a helper, and there is a new one soon. SIGTERM and SIGINT end the program with status 0; SIGHUP,
SIGQUIT, SIGALRM, SIGUSR2, SIGSEGV and SIGKILL end it as they end any program, and no helper is left.
"""

import os
import random
import re
import select
import signal
import subprocess
import sys
import threading
import time

import collectd
from collectd import check, failures, is_alive, wait_for

GTEL, MACHINE = sys.argv[1:3]
SIGNALS = 500
HARMLESS = (signal.SIGCHLD, signal.SIGWINCH, signal.SIGURG, signal.SIGCONT, signal.SIGPIPE,
            signal.SIGSTOP, signal.SIGTSTP)
FOR_PROGRAM = HARMLESS + (signal.SIGUSR1,)
FOR_HELPERS = HARMLESS + (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
DEADLY = (signal.SIGKILL, signal.SIGSEGV, signal.SIGUSR1, signal.SIGALRM)
ENDS = {signal.SIGTERM: 0, signal.SIGINT: 0, signal.SIGHUP: -signal.SIGHUP,
        signal.SIGALRM: -signal.SIGALRM, signal.SIGUSR2: -signal.SIGUSR2,
        signal.SIGQUIT: -signal.SIGQUIT, signal.SIGSEGV: -signal.SIGSEGV,
        signal.SIGKILL: -signal.SIGKILL}


def start():
    return subprocess.Popen([GTEL, "--root", MACHINE, "--interval=100ms"], stdin=subprocess.PIPE,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                            preexec_fn=lambda: (signal.signal(signal.SIGQUIT, signal.SIG_DFL),
                                                os.setpgid(0, 0)))


class Reader:
    """Takes what the program writes, and knows when that was."""

    def __init__(self, file):
        self.file = file
        self.text = ""
        self.thread = threading.Thread(target=self.read)
        self.thread.start()

    def read(self):
        for line in self.file:
            self.text += line

    def gathers(self):
        return len(re.findall("(?m)^gtel ", self.text))


def helpers_of(process):
    return [pid for pid, words in collectd.children(process.pid).items() if "--lane" in words]


def send(pid, number):
    """One signal; what stops is continued. False: there is no such process any more."""
    try:
        os.kill(pid, number)
        if number in (signal.SIGSTOP, signal.SIGTSTP):
            time.sleep(0.002)
            os.kill(pid, signal.SIGCONT)
    except ProcessLookupError:
        return False
    return True


def is_whole(reader):
    """Whether the last gather has both GPUs with what their lanes read."""
    last = reader.text.rsplit("gtel gather_seconds", 2)
    return len(last) > 1 and last[-2].count("\ngpu,") + last[-2].startswith("gpu,") >= 2 and \
        "gpus=2i" in reader.text.rsplit("\ngtel ", 1)[-1]


def bombard(dice):
    process = start()
    out, messages = Reader(process.stdout), Reader(process.stderr)
    check(wait_for(lambda: is_whole(out), 20), "both GPUs at the start")
    first = helpers_of(process)
    helpers = first
    sent = deadly = 0
    while sent < SIGNALS and process.poll() is None:
        if sent % 50 == 0:
            helpers = helpers_of(process)
        if not helpers or dice.random() < 0.5:
            sent += send(process.pid, dice.choice(FOR_PROGRAM))
        elif deadly < 6 and sent > 300 and dice.random() < 0.1:
            victim = helpers.pop(dice.randrange(len(helpers)))
            sent += send(victim, DEADLY[deadly % len(DEADLY)])
            deadly += 1
        else:
            sent += send(dice.choice(helpers), dice.choice(FOR_HELPERS))
        if sent == 300:
            check(set(first) <= set(helpers_of(process)), "no helper has ended of harmless ones")
        time.sleep(0.004)
    check(process.poll() is None, f"the program lives after {sent} signals: {process.returncode}")
    check(deadly > 0, "some helpers were ended")
    before = out.gathers()
    check(wait_for(lambda: out.gathers() > before + 2, 20), "gathers go on")
    check(wait_for(lambda: is_whole(out), 30), f"all values are back: {messages.text[-500:]}")
    helpers = helpers_of(process)
    process.stdin.close()
    check(process.wait(30) == 0, f"status {process.returncode}")
    check(wait_for(lambda: not any(map(is_alive, first + helpers)), 10), "no helper is left")
    out.thread.join()
    messages.thread.join()
    check(out.text.endswith("\n"), "the last line is whole")
    print(f"{sent} signals, {deadly} of them deadly, {out.gathers()} gathers, "
          f"{messages.text.count(chr(10))} messages", flush=True)


def test_ends():
    """Each signal that ends the program: how, and that its helpers end, too."""
    running = {}
    for number in ENDS:
        running[number] = start()
    for number, process in running.items():
        ready = select.select([process.stdout], [], [], 20)[0]
        check(ready, f"{number!r}: values before")
        check(wait_for(lambda: len(helpers_of(process)) >= 2, 10),  # pylint: disable=cell-var-from-loop
              f"{number!r}: helpers")
        helpers = helpers_of(process)
        os.kill(process.pid, number)
        process.communicate(timeout=30)
        is_right = process.returncode == ENDS[number]
        if number == signal.SIGSEGV:  # sanitizers make a report and a status of it
            is_right = process.returncode != 0
        check(is_right, f"{number!r}: status {process.returncode}")
        check(wait_for(lambda: not any(map(is_alive, helpers)), 10),  # pylint: disable=cell-var-from-loop
              f"{number!r}: no helper is left")


def main():
    seed = 20261122
    bombard(random.Random(seed))
    test_ends()
    print(f"{len(failures)} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
