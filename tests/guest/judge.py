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
            got = gather.get(("gpu_frequency_domain", "graphics", field))
            # The clocks' counters are whole MHz times seconds, and the first second is shorter.
            slack = POINTS if field == "idle_percent" else 5
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
                       ("gpu_frequency_domain", "graphics", "actual_mhz"): 1100,
                       ("gpu_frequency_domain", "graphics", "requested_mhz"): 1300,
                       ("gpu_frequency_domain", "graphics", "min_mhz"): 300,
                       ("gpu_frequency_domain", "graphics", "max_mhz"): 1500}.items():
        check(last.get(key) == value, f"{what}: {key} is {last.get(key)} instead of {value}")
    # The file has whole milliseconds.
    idle = last.get(("gpu_frequency_domain", "graphics", "idle_percent"))
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
    return {key: float(value) for key, value in re.findall(r"(\w+)=(-?[\d.]+)", line)}


def rows_of(lines, *words):
    """Lines that begin with one of these words, as (word, {key: number})."""
    return [(line.split()[0], numbers_of(line)) for line in lines if line.split(" ")[0] in words]


def shares_of(parts):
    """What is true while rcs0 works for so many 32nds of the time: vcs0 for 8, vcs1 for 36 less those (guest.h)."""
    render, video = parts / 32 * 100, (44 - parts) / 64 * 100
    return {"render": render, "video": video, "busy": max(render, video)}


class Errors:
    """Distances from the truth: the largest, and the median, which a few late moments do not move. most: None for any."""

    def __init__(self):
        self.all = []

    def add(self, value, truth):
        self.all.append(abs(value - truth))

    def judge(self, what, most, median=POINTS):
        ordered = sorted(self.all)
        worst, middle = (ordered[-1], ordered[len(ordered) // 2]) if ordered else (100, 100)
        check(ordered and (most is None or worst <= most) and middle <= median, f"{what}: {worst:.6f} points off, the median {middle:.6f}")
        print(f"{what}: {len(ordered)} shares, at most {worst:.6f} points off, the median {middle:.6f}")


def judge_changes(what, lines, messages, is_sampled):
    """
    The engines' work changes between two gathers. Each share is that of its own interval; with bursts, that of the
    first moments of the interval before the gather which reports it.
    """
    rows = [row for _, row in rows_of(lines, "gather")]
    changes = [(0, 20.0)] + [(row["at_us"], row["parts"]) for _, row in rows_of(lines, "change")]
    check(len(rows) >= 12 and len(changes) >= 4 and not messages, f"changes {what}: {lines[-3:]} {messages}")
    errors, mixed, n = Errors(), Errors(), 0
    for last, row in zip(rows[2 * is_sampled:], rows[2 * is_sampled + 1:]):
        begin, end = last["asked_us"], row["asked_us"]
        before = [parts for at, parts in changes if at <= begin][-1]
        inside = [(at, parts) for at, parts in changes if begin < at <= end]
        truth = shares_of(before)
        if inside and not is_sampled:
            (at, parts), = inside
            part = (at - begin) / (end - begin)
            truth = {key: share * part + shares_of(parts)[key] * (1 - part) for key, share in truth.items()}
        for key in ("render", "video"):
            n += 1
            if row[key] >= 0:
                (mixed if inside and not is_sampled else errors).add(row[key], truth[key])
    check(len(errors.all) + len(mixed.all) == n, f"changes {what}: {n} shares wanted")
    errors.judge(f"changes {what}", POINTS)
    if mixed.all:  # the counters are read some time after the question
        mixed.judge(f"changes {what}, intervals with a change", 0.3)


def judge_files(what, rows):
    """The same number of open files after all cycles as before the first one."""
    counts = [re.findall(r"(?:program|helper)=(\d+)", row) for row in rows]
    check(len(counts) >= 2 and all(count == counts[0] for count in counts),
          f"{what}: open files " + "; ".join(rows))
    print(f"{what}: open files in program and helpers {counts[0]} before, {counts[-1]} after")


# The answers of `guest cycles`.
WORDS = ("first", "lost", "back", "race", "more", "quiet", "alone")
# What may be said in the host's time: a machine that gets none for a while answers late. Beyond so many late answers
# the host had no time for the test.
BUSY_HOST = 3
LATE = (r"W! lane \w+: no answer within \d+ ms; .*", r"I! lane \w+: works again",
        r"[WI]! \w+: [\w:.]+: engine use: (No such device; .*|works again.*)")


def judge_messages(what, messages, known):
    """A driver that goes and comes is an ordinary thing: there is nothing to say of it. Returns the late answers."""
    others = [message for message in messages if not any(re.fullmatch(kind, message) for kind in known)]
    check(not others, f"{what}: {len(others)} messages: {others[:5]}")
    return sum(message.startswith("W! lane") for message in messages)


def judge_cycles(parts, what, wanted, bounds, known=(), has_engines_first=False):
    """
    bounds: of the errors. Engines of xe need a burst, and those of a PMU that was opened this very moment may have no
    time yet.
    """
    lines = parts[what]
    rows = rows_of(lines, *WORDS)
    losses = [row for word, row in rows if word == "lost"]
    returns = [row for word, row in rows if word == "back"]
    late_losses = [row["n"] for row in losses if row["up"] != 0]
    late_returns = [row["n"] for row in returns if row["up"] != 1 or row["clocks"] != 1 or
                    (has_engines_first and row["engines"] != 1)]
    late_answers = judge_messages(what, [m for m in parts[f"{what} messages"] if m], known)
    if late_answers > BUSY_HOST:  # nothing is known of the order of things then; what stays behind is
        print(f"{what}: {late_answers} late answers: too busy a host to judge each answer")
        rows, wanted, late_losses, late_returns = [], len(losses), [], []
    check(len(losses) == wanted and len(returns) == wanted, f"{what}: {len(losses)} of {wanted}; {lines[-3:]}")
    check(len(late_losses) + len(late_returns) <= late_answers,
          f"{what}: losses {late_losses[:10]} and returns {late_returns[:10]} not in the next gather")
    errors, idle = Errors(), Errors()
    for word, row in rows:
        if row["busy"] >= 0 > row["render"]:  # what the files say: not idle, in whole milliseconds of the host's time
            idle.add(row["busy"], 71.875)
            row["busy"] = -1
        for key, truth in shares_of(row["parts"]).items():
            check(word != "quiet" or row[key] >= 0, f"{what}: quiet without {key}: {row}")
            check(word != "lost" or row[key] < 0, f"{what}: lost with {key}: {row}")
            if row[key] >= 0:
                errors.add(row[key], truth)
        check(word != "lost" or row["load"] < 0 or known, f"{what}: lost with clients: {row}")
    if rows:
        errors.judge(what, *bounds)
    if idle.all:
        idle.judge(f"{what}, busy without engines", 10, 2.5)
    for _, row in rows_of(lines, *WORDS):
        check(row["restarts"] == 0, f"{what}: a helper was started again: {row}")
    with_clients = [row["load"] >= 0 for word, row in rows if word == "quiet" and row["n"] > 0]
    check(not rows or (any(with_clients) if known else all(with_clients)), f"{what}: answers with clients: {with_clients}")
    judge_files(what, [line for line in lines if line.startswith("files ")])
    end = [line for line in lines if line.startswith("end ")]
    check(end and end[0].startswith("end status=0 ") and numbers_of(end[0])["ms"] < 2000, f"{what}: {end}")
    others = [line for line in lines if line.startswith("guest:")]
    check(not others, f"{what}: {others}")
    print(f"{what}: {len(losses)} done, {len(late_losses)} losses and {len(late_returns)} returns late; "
          f"{late_answers} late answers")


def judge_hotplug(parts, driver, bounds):
    """
    xe's burst on the CPU that goes is lost, and the next one is reported a gather later. On a busy host the first
    answers come late.
    """
    check(parts["hotplug masks"][:2] == ["1", "0"], f"hotplug: masks {parts['hotplug masks']}")
    gathers = points_of(parts["hotplug"])
    shares = [g.get(("gpu_engine", "render", "busy_percent")) for g in gathers]
    known = [share for share in shares if share is not None]
    check(len(known) >= len(shares) - (4 if driver == 'i915' else 6) and shares[-1] is not None, f"hotplug: {shares}")
    errors = Errors()
    for share in known:
        errors.add(share, 62.5)
    errors.judge(f"hotplug: {len(shares)} gathers", *bounds)


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


# Bytes by (region, field). An integrated GPU has the host's alone, and i915 does not report what it uses of that.
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
        if line.startswith("gpu_memory_region,"):
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
        check(is_granted != ("render node" in text and "usually render" in text), f"doctor {user}: {text}")
        print(f"doctor {user}: engine use {row.group(1) if row else 'not named'}")


def judge_memory(parts, driver, is_reported):
    """is_reported: {configuration: None without the node, or whether what is used is reported, by CAP_PERFMON}."""
    kib = int(re.search(r"MemTotal: +(\d+) kB", " ".join(parts["meminfo"])).group(1))
    sizes = {("system", "total_bytes"): kib << 10, **OWN_MEMORY[driver]}
    for name, reported in is_reported.items():
        found = {key: value for key, value in regions_of(parts[f"rights {name}"]).items()
                 if key[1] != "used_percent"}
        wanted = {key: value for key, value in sizes.items()
                  if reported is not None and (reported or "used" not in key[1])}
        check(found == wanted, f"memory {name}: {found} instead of {wanted}")
        print(f"memory {name}: {len(found)} values")


def judge_kernel(parts):
    check(not [line for line in parts["kernel"] if line], f"kernel: {parts['kernel']}")


def finish():
    print(f"{len(failures)} failures")
    sys.exit(1 if failures else 0)
