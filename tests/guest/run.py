#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs gtel beside a made-up i915 or xe driver in a virtual machine, and compares with the truth.

    run.py --personality i915 --gtel build/release/plugins/gtel --kernel FOLDER --headers FOLDER \\
        --work FOLDER [--cycles N]

--kernel is an unpacked Debian package linux-image-*; README.md beside this file says more.
"""

import argparse
import os
import shutil

import host
import judge
import machine
import players


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--personality", required=True, choices=("i915", "xe"))
    parser.add_argument("--gtel", required=True)
    parser.add_argument("--kernel", required=True, help="folder with boot/ and lib/modules/")
    parser.add_argument("--headers", required=True, help="the same kernel's headers")
    parser.add_argument("--work", required=True, help="where to build; keeps the machines' output")
    parser.add_argument("--compiler", default="gcc")
    parser.add_argument("--qemu", default="qemu-system-x86_64")
    parser.add_argument("--busybox", default="/bin/busybox", help="linked statically")
    parser.add_argument("--intel-gpu-top", default=shutil.which("intel_gpu_top"))
    parser.add_argument("--cycles", type=int, default=int(os.environ.get("GTEL_GUEST_CYCLES", "300")),
                        help="unbind and bind so often (environment: GTEL_GUEST_CYCLES)")
    parser.add_argument("--churn", type=int, default=int(os.environ.get("GTEL_GUEST_CHURN", "6")),
                        help="seconds of clients that come and go (environment: GTEL_GUEST_CHURN)")
    parser.add_argument("--only", choices=("exact", "smp"), help="one of the two machines")
    return parser.parse_args()


def judge_shares(parts, truth, without):
    judge.judge_shares("shares at 1 s", parts["1s"], truth, 6, without)
    judge.judge_shares("shares at 300 ms", parts["300ms"], truth, 15, without)
    # Debian's level 3 asks for CAP_SYS_ADMIN.
    judge.judge_rights(parts, {"nobody-3": False, "nobody-0": True, "render-2": False, "agent-3": False,
                               "agent-2": True, "root-3": True}, ("nobody-3", "nobody-0"))


def judge_changes(parts, what, is_sampled):
    lines = parts[f"changes {what}"]
    judge.judge_changes(what, lines, [line for line in parts[f"changes {what} messages"] if line], is_sampled)


def judge_i915(parts):
    judge_shares(parts, judge.I915, 1)
    judge.judge_means("means at 1 s", parts["1s"])
    judge.judge_top("shares at 1 s", parts["1s intel_gpu_top"])
    judge.judge_top("shares at 300 ms", parts["300ms intel_gpu_top"])


def judge_xe(parts):
    judge_shares(parts, judge.XE, 2)
    judge.judge_shares("shares at 300 ms, hold", parts["300ms hold"], judge.XE, 8)
    # 100 ms, or a tenth of the interval, and what the kernel takes to call the program.
    judge.judge_held("burst at 1 s", parts["1s held"], 105)
    judge.judge_held("burst at 300 ms", parts["300ms held"], 33)
    judge.judge_held("hold", parts["300ms hold held"], None)
    judge.judge_held("off", parts["300ms off held"], 0)
    judge_changes(parts, "300ms hold", False)


def judge_exact(parts, arguments):
    {"i915": judge_i915, "xe": judge_xe}[arguments.personality](parts)
    judge_changes(parts, "1s", arguments.personality == "xe")
    judge_changes(parts, "300ms", arguments.personality == "xe")
    judge.judge_constants("files", parts["1s"])
    judge.judge_memory(parts, arguments.personality,
                       {"nobody-0": None, "render-2": False, "agent-3": True, "agent-2": True, "root-3": True})
    judge.judge_doctor(parts)
    judge.judge_hangs(parts, arguments.personality)
    key = "drm-engine-render" if arguments.personality == "i915" else "drm-cycles-rcs"
    judge.judge_clients(parts, arguments.personality, key)
    players.judge_who(parts)
    players.judge_shares(parts, "1s", arguments.personality)
    players.judge_shares(parts, "300ms", arguments.personality)
    players.judge_shares(parts, "300ms clients", arguments.personality)
    players.judge_engines(parts, "300ms clients")
    players.judge_churn(parts, "exact", (judge.POINTS,))
    judge.judge_sleep(parts)
    is_xe = arguments.personality == "xe"
    # A burst takes a tenth of the interval of 100 ms, and the counters are read one after the other.
    bounds = (0.5, 0.1) if is_xe else (judge.POINTS,)
    judge.judge_cycles(parts, "cycles", arguments.cycles["exact"], bounds, has_engines_first=not is_xe)
    if is_xe:
        judge.judge_cycles(parts, "cycles hold", arguments.held["exact"], (judge.POINTS,))
        host.judge_ras(parts)
    else:
        host.judge_power(parts)
    judge.judge_kernel(parts)


# The host runs the virtual CPUs when it likes, so between two counters, or a counter and perf's clock, one of them may
# stand still: single shares are up to 20 points off on a busy host, one too high and the next too low. The median is
# judged, more coarsely than in the other machine.
SMP_BOUNDS = (None, 1)


def judge_smp(parts, arguments):
    judge.judge_hotplug(parts, arguments.personality, SMP_BOUNDS)
    players.judge_churn(parts, "smp", SMP_BOUNDS, judge.LATE)
    judge.judge_cycles(parts, "cycles", arguments.cycles["smp"], SMP_BOUNDS, judge.LATE)
    if arguments.personality == "xe":
        judge.judge_cycles(parts, "cycles hold", arguments.held["smp"], SMP_BOUNDS, judge.LATE)
    judge.judge_kernel(parts)


def main():
    arguments = parse()
    # Two real CPUs take the host's time, a second for each cycle: they are for races only.
    arguments.cycles = {"exact": arguments.cycles, "smp": 10}
    arguments.held = {"exact": max(arguments.cycles["exact"] // 10, 10), "smp": 5}
    arguments.churn = {"exact": min(arguments.churn, 4), "smp": arguments.churn}
    os.makedirs(arguments.work, exist_ok=True)
    disk = machine.build_disk(arguments, arguments.work)
    for scenario, rule in (("exact", judge_exact), ("smp", judge_smp)):
        if arguments.only in (None, scenario):
            timeout = 120 + arguments.cycles[scenario] + arguments.held[scenario] + 3 * arguments.churn[scenario]
            rule(machine.boot(arguments, disk, scenario, timeout), arguments)
    judge.finish()


main()
