# SPDX-License-Identifier: MIT
"""Compares what was seen in the virtual machine with what is true there (module/guest.h)."""

import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
import lines as line_protocol  # noqa: E402  (a module of ours)

# Percent by (engine, field): 32nds in guest.h. A class is the mean of its engines.
I915 = {
    ("render", "busy_percent"): 62.5, ("render", "wait_percent"): 6.25,
    ("render", "sema_percent"): 3.125, ("video", "busy_percent"): 37.5,
    ("video", "wait_percent"): 0, ("copy", "busy_percent"): 0, ("video-enhance", "busy_percent"): 0,
}
XE = {key: share for key, share in I915.items() if key[1] == "busy_percent"}
# The same in the words of intel_gpu_top.
TOP = {"Render/3D/0": 62.5, "Video/0": 25, "Video/1": 50, "Blitter/0": 0, "VideoEnhance/0": 0}
POINTS = 0.1

failures = []


def check(is_fine, text):
    if not is_fine:
        failures.append(text)
        print(f"failed: {text}")


def points_of(lines):
    """Line protocol of a part as a list of gathers, each {(measurement, engine, field): value}."""
    gathers = {}
    for line in lines:
        if not line or line.startswith("!"):
            continue
        measurement, tags, when, fields = line_protocol.parse(line)
        tags = dict(tags)
        name = tags.get("engine") or tags.get("domain") or ""
        if "kind" in tags:
            name = f"{tags['kind']} {tags['severity']}"
        for field, value in fields.items():
            gathers.setdefault(when, {})[measurement, name, field] = value
    return [gathers[when] for when in sorted(gathers)]


def messages_of(lines):
    return [line[2:] for line in lines if line.startswith("! ")]


def judge_shares(what, lines, truth, wanted, without=1):
    """
    Every share of every gather but the first one, which has no rates yet; xe's bursts begin when the
    second gather has seen the GPU work, so the third is the first one with shares.
    """
    gathers = points_of(lines)
    check(len(gathers) >= wanted, f"{what}: {len(gathers)} gathers of {wanted}")
    worst, n = 0.0, 0
    for gather in gathers[without:]:
        for (engine, field), share in truth.items():
            value = gather.get(("gpu_engine", engine, field))
            check(value is not None, f"{what}: no {field} of {engine}")
            if value is not None:
                n += 1
                worst = max(worst, abs(value - share))
    check(n > 0 and worst <= POINTS, f"{what}: {worst:.6f} points off")
    print(f"{what}: {n} shares in {len(gathers) - without} gathers, at most {worst:.6f} points off")


def judge_top(what, lines):
    """What Intel's own tool says of the same engines: shown, not judged."""
    text = "\n".join(lines)
    # One object after the other, joined by commas or by nothing.
    objects = re.findall(r"(?ms)^\{.*?^\}", text)
    worst, n = 0.0, 0
    for found in objects[1:]:  # the first covers the few milliseconds of its start
        engines = json.loads(found)["engines"]
        n += 1
        for name, share in TOP.items():
            worst = max(worst, abs(engines[name]["busy"] - share))
    check(n > 0, f"{what}: intel_gpu_top has shown nothing: {text[-300:]}")
    print(f"{what}: intel_gpu_top beside it, {n} intervals, at most {worst:.6f} points off")


def judge_held(what, lines, most_ms):
    """For how long xe's events were open at most, as the kernel saw it; None: all the time."""
    held_ms = int(lines[0]) / 1000
    check(held_ms > 1000 if most_ms is None else held_ms <= most_ms, f"{what}: events open for {held_ms} ms")
    print(f"{what}: events open for at most {held_ms} ms at a time")


def judge_means(what, lines):
    """What i915's PMU counts of the GT: means over intervals of a second, and the time asleep."""
    gathers = points_of(lines)
    for gather in gathers[1:]:
        for field, value in {"mean_mhz": 1100, "requested_mean_mhz": 1300, "idle_percent": 28.125}.items():
            got = gather.get(("gpu_frequency", "graphics", field))
            # The clocks' counters are whole MHz times seconds.
            slack = POINTS if field == "idle_percent" else 2
            check(got is not None and abs(got - value) <= slack, f"{what}: {field} is {got} instead of {value}")
    raised = [gather.get(("gpu", "", "interrupts"), -1) for gather in gathers]
    steps = [after - before for before, after in zip(raised[1:], raised[2:])]  # the first second is shorter
    check(all(abs(step - 250) <= 5 for step in steps), f"{what}: interrupts per second: {steps} instead of 250")
    print(f"{what}: clocks, idle time and interrupts of {len(gathers)} gathers")


def judge_constants(what, lines):
    last = points_of(lines)[-1]
    busy = last.get(("gpu", "", "busy_percent"))
    check(busy is not None and abs(busy - 62.5) <= POINTS, f"{what}: busy for {busy} % instead of 62.5")
    for key, value in {("gpu", "", "up"): 1, ("gpu", "", "awake"): 1, ("gpu", "", "frequency_mhz"): 1100,
                       ("gpu_frequency", "graphics", "actual_mhz"): 1100,
                       ("gpu_frequency", "graphics", "requested_mhz"): 1300,
                       ("gpu_frequency", "graphics", "min_mhz"): 300,
                       ("gpu_frequency", "graphics", "max_mhz"): 1500}.items():
        check(last.get(key) == value, f"{what}: {key} is {last.get(key)} instead of {value}")
    # The file has whole milliseconds.
    idle = last.get(("gpu_frequency", "graphics", "idle_percent"))
    check(idle is not None and abs(idle - 28.125) < 0.4, f"{what}: idle for {idle} % instead of 28.125")


def judge_rights(parts, is_granted, without_node):
    """is_granted: {configuration: whether engine use must be there}; a message for each refusal, no other one."""
    for name, granted in is_granted.items():
        lines = parts[f"rights {name}"]
        gather = points_of(lines)[-1]
        messages = messages_of(lines)
        engine = gather.get(("gpu_engine", "render", "busy_percent"))
        check(gather.get(("gpu", "", "up")) == 1, f"{name}: the GPU is up")
        check(gather.get(("gpu", "", "frequency_mhz")) == 1100, f"{name}: the rest is there")
        check((engine is not None) == granted, f"{name}: engine use is {engine}")
        check(engine is None or abs(engine - 62.5) <= POINTS, f"{name}: engine use is {engine}")
        wanted = [] if granted else [("engine use", "CAP_PERFMON", f"perf_event_paranoid is {name[-1]}")]
        wanted += [("memory", "/dev/dri/renderD128", "group")] if name in without_node else []
        unheard = [words for words in wanted
                   if not any(m.startswith("W! ") and all(word in m for word in words) for m in messages)]
        check(not unheard and len(messages) == len(wanted), f"{name}: messages {messages}; not {unheard}")
        print(f"rights {name}: engine use {'there' if engine is not None else 'missing'}; "
              f"{' '.join(messages) or 'no message'}")


def clients_of(lines):
    """{(process, descriptor): {key: value}}, and the processes by their part in the play."""
    files, roles, entry = {}, {}, {}
    for line in lines:
        if line.startswith("clients "):
            roles = {int(pid): role for role, pid in re.findall(r"(\w+)=(\d+)", line)}
        elif line.startswith("fd "):
            _, pid, number = line.split()
            entry = files.setdefault((roles[int(pid)], int(number)), {})
        elif line.startswith("drm-"):
            key, _, value = line.partition(":")
            entry[key] = value.strip()
    return files


def judge_clients(parts, driver, engine_key):
    """One client in five descriptors of three processes, and one in a descriptor of its own."""
    looks = [clients_of(parts[f"clients {n}"]) for n in (1, 2)]
    first, second = looks
    check(sorted(role for role, _ in first) == ["heir"] * 2 + ["owner"] * 3 + ["receiver"],
          f"clients: {sorted(first)}")
    ids = {}
    for key, entry in first.items():
        check(entry["drm-driver"] == driver and entry["drm-pdev"] == "0000:00:02.0", f"clients: {entry}")
        ids.setdefault(entry["drm-client-id"], []).append(key)
    check(sorted(len(keys) for keys in ids.values()) == [1, 5], f"clients: {ids}")
    growth = {}
    for key in first.keys() & second.keys():
        before, after = (int(look[key][engine_key].split()[0]) for look in looks)
        check(after > before > 0, f"clients: {key} {engine_key} {before} {after}")
        growth.setdefault(first[key]["drm-client-id"], []).append(after - before)
    # 62.5 % and 12.5 % of render; the files are read one after the other, a second apart.
    means = sorted(sum(steps) / len(steps) for steps in growth.values())
    check(len(means) == 2 and abs(means[1] / means[0] - 5) < 0.25, f"clients: {growth}")
    print(f"clients: {len(first)} descriptors, {len(ids)} clients, times as 1 to {means[1] / means[0]:.3f}")


def numbers_of(line):
    return {key: value for key, value in re.findall(r"(\w+)=([\d,]+)", line)}


def judge_files(rows):
    """The same number of open files after all cycles as before the first one."""
    counts = [re.findall(r"(?:program|helper)=(\d+)", row) for row in rows]
    check(len(counts) >= 2 and all(count == counts[0] for count in counts),
          "cycles: open files " + "; ".join(rows))
    print(f"cycles: open files in program and helpers {counts[0]} before, {counts[-1]} after")


def judge_messages(messages, cycles):
    """At most one line for each loss and each return of each thing, never one for each interval."""
    check(len(messages) <= 6 * cycles + 10, f"cycles: {len(messages)} messages")
    kinds = {}
    for message in messages:
        kinds[re.sub(r"\d+", "N", message)] = kinds.get(re.sub(r"\d+", "N", message), 0) + 1
    for kind, n in sorted(kinds.items()):
        print(f"cycles: {n} x {kind}")


def judge_cycles(parts, wanted, has_engines_at_once):
    """Engines of xe need a burst, and those of a PMU that was opened this very moment may have no time yet."""
    lines = parts["cycles"]
    losses = [numbers_of(line) for line in lines if line.startswith("lost ")]
    returns = [numbers_of(line) for line in lines if line.startswith("back ")]
    late_losses = [row["n"] for row in losses if row["up"] != "0"]
    late_returns = [row["n"] for row in returns if row["up"] != "1" or row["clocks"] != "1" or
                    (has_engines_at_once and row["engines"] != "1")]
    check(len(losses) == wanted and len(returns) == wanted, f"cycles: {len(losses)} of {wanted}; {lines[-3:]}")
    check(not late_losses, f"cycles: {len(late_losses)} losses not in the next gather: {late_losses[:10]}")
    check(not late_returns, f"cycles: {len(late_returns)} returns not in the next gather: {late_returns[:10]}")
    for line in lines:
        row = numbers_of(line)
        if line.startswith(("before ", "quiet ")):
            check(row["up"] == row["clocks"] == "1" and row["shares"] == "1", f"cycles: {line}")
    judge_files([line for line in lines if line.startswith("files ")])
    end = [line for line in lines if line.startswith("end ")]
    check(end and end[0].startswith("end status=0 ") and int(numbers_of(end[0])["ms"]) < 2000,
          f"cycles: {end}")
    others = [line for line in lines if line.startswith("guest:")]
    check(not others, f"cycles: {others}")
    judge_messages([m for m in parts["cycles messages"] if m], wanted)
    print(f"cycles: {len(losses)} done, {len(late_losses)} losses and {len(late_returns)} returns late")


def judge_hotplug(parts, driver):
    """xe's burst on the CPU that goes is lost, and the next one is reported a gather later."""
    check(parts["hotplug masks"][:2] == ["1", "0"], f"hotplug: masks {parts['hotplug masks']}")
    gathers = points_of(parts["hotplug"])
    shares = [g.get(("gpu_engine", "render", "busy_percent")) for g in gathers]
    known = [share for share in shares if share is not None]
    check(len(known) >= len(shares) - (2 if driver == 'i915' else 5) and shares[-1] is not None, f"hotplug: {shares}")
    worst = max((abs(share - 62.5) for share in known), default=100)
    print(f"hotplug: {len(known)} shares in {len(shares)} gathers, at most {worst:.6f} points off")


def judge_sleep(parts):
    """Awake, then left to fall asleep while gtel reads, and never called back; awake again at the end."""
    rows = {line.split()[0]: line.split()[1:] for line in parts["sleep states"] if line}
    check(rows["fallen"][0] == "suspended", f"sleep: {rows}")
    check(rows["before"] == rows["after"] and rows["after"][0] == "suspended", f"sleep: {rows}")
    awake = [g.get(("gpu", "", "awake")) for g in points_of(parts["sleep falling"])]
    check(awake[0] == 1 and awake[-1] == 0 and awake == sorted(awake, reverse=True), f"sleep: awake {awake}")
    asleep = [g.get(("gpu", "", "awake")) for g in points_of(parts["sleep asleep"])]
    check(asleep and set(asleep) == {0}, f"sleep: awake {asleep}")
    up = [g.get(("gpu", "", "up")) for g in points_of(parts["sleep asleep"])]
    check(set(up) == {1}, f"sleep: up {up}")
    print(f"sleep: fallen asleep after {awake.count(1)} of {len(awake)} gathers, {len(asleep)} more have not "
          f"woken it; awake for {rows['after'][1]} ms in all")


# Bytes by (region, field). An integrated GPU has the host's alone, and i915 does not tell what it uses of that.
OWN_MEMORY = {
    "i915": {},
    "xe": {("system", "used_bytes"): 3 << 26,
           ("vram0", "total_bytes"): 12 << 30, ("vram0", "used_bytes"): 5 << 29,
           ("vram0", "visible_bytes"): 1 << 28, ("vram0", "visible_used_bytes"): 3 << 26},
}


def regions_of(lines):
    """{(region, field): value} of the last gather."""
    found = {}
    for line in lines:
        if line.startswith("gpu_memory,"):
            _, tags, _, fields = line_protocol.parse(line)
            for field, value in fields.items():
                found[dict(tags)["region"], field] = value
    return found


def judge_hangs(parts, driver):
    """Three hangs, heard of through the kernel's own messages."""
    gathers = points_of(parts["hangs"])
    wanted = {("gpu_error", "hang nonfatal", "count"): 3, ("gpu", "", "resets"): 3}
    if driver == "xe":
        wanted = {("gpu_error", "wedged corrected", "count"): 3}
    for key, value in wanted.items():
        seen = [gather.get(key) for gather in gathers]
        check(seen[0] in (0, None) and seen[-1] == value, f"hangs: {key} {seen}")
    print(f"hangs: {[gather.get(next(iter(wanted))) for gather in gathers]}")


def judge_doctor(parts):
    """What gtel doctor says of engine use and memory without the rights to them, and with them."""
    for user, is_granted in (("nobody", False), ("agent", True), ("root", True)):
        text = " ".join(" ".join(parts[f"doctor {user}"]).split())
        row = re.search(r"gpu_engine (yes|part|no)", text)
        check(row and (row.group(1) == "yes") == is_granted, f"doctor {user}: {text}")
        check(is_granted or ("CAP_PERFMON" in text and "perf_event_paranoid" in text), f"doctor {user}: {text}")
        check(is_granted != ("render node" in text and "as a rule render" in text), f"doctor {user}: {text}")
        print(f"doctor {user}: engine use {row.group(1) if row else 'not named'}")


def judge_memory(parts, driver, is_told):
    """is_told: {configuration: None without the node, or whether what is used is told, by CAP_PERFMON}."""
    kib = int(re.search(r"MemTotal: +(\d+) kB", " ".join(parts["meminfo"])).group(1))
    sizes = {("system", "total_bytes"): kib << 10, **OWN_MEMORY[driver]}
    for name, told in is_told.items():
        found = {key: value for key, value in regions_of(parts[f"rights {name}"]).items()
                 if key[1] != "used_percent"}
        wanted = {key: value for key, value in sizes.items()
                  if told is not None and (told or "used" not in key[1])}
        check(found == wanted, f"memory {name}: {found} instead of {wanted}")
        print(f"memory {name}: {len(found)} figures")


def judge_kernel(parts):
    check(not [line for line in parts["kernel"] if line], f"kernel: {parts['kernel']}")


def finish():
    print(f"{len(failures)} failures")
    sys.exit(1 if failures else 0)
