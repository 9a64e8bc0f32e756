# SPDX-License-Identifier: MIT
"""Compares what is said of processes with what they did (shares.c, churn.c) and with the kernel's own texts."""

import judge
from judge import POINTS, check, line_protocol, messages_of, numbers_of

CLASSES = ("render", "copy", "video", "video-enhance")
CAPACITY = {"video": 2}
KERNEL = {"i915": CLASSES, "xe": ("rcs", "bcs", "vcs", "vecs")}
# Bytes that each client has of the GPU's memory, and shares with others (module/client.c).
MEMORY = {"i915": 3584 << 10, "xe": 11776 << 10}
SHARED = 1 << 20
# Where the work changed in an interval, or began with a process: clients are read up to 5 ms after the question.
CHANGE_POINTS = 2


def word_of(line, key):
    return line.split(f" {key}=")[1].split()[0]


def gathers_of(lines):
    """
    [{when, row, texts: {(who, client): (ns, {key: value})}, processes: {name: fields}, engines: {class: fields}, gpu,
    self}], and the events
    [(at_us, who, client, class or None, parts)].
    """
    gathers, events, texts, text = [], [], {}, {}
    for line in lines:
        word = line.split(" ")[0].split(",")[0]
        if word in ("work", "gone"):
            row = numbers_of(line)
            name = CLASSES[int(row["class"])] if word == "work" else None
            events.append((row["at_us"], word_of(line, "who"), row.get("client"), name, row.get("parts")))
        elif word == "text":
            text = {}
            texts[word_of(line, "who"), int(word_of(line, "client"))] = (int(word_of(line, "at_ns")), text)
        elif line.startswith("drm-"):
            key, _, value = line.partition(":")
            text[key] = value.strip()
        elif word in ("gather", "before", "churn", "after"):
            gathers.append({"what": word, "row": numbers_of(line), "texts": texts, "processes": {}, "engines": {}, "gpu": {},
                            "self": {}})
            texts = {}
        elif word in ("gpu_process", "gpu_engine", "gpu", "gtel"):
            _, tags, _, fields = line_protocol.parse(line)
            if word == "gpu_process":
                gathers[-1]["processes"][dict(tags)["process"]] = fields
            elif word == "gpu_engine":
                gathers[-1]["engines"][dict(tags)["engine"]] = fields
            else:
                gathers[-1]["gpu" if word == "gpu" else "self"].update(fields)
    return gathers, events


def work_at(events, who, at_us):
    """{(client, class): percent} of what a process does then; None before and after its life."""
    work = None
    for when, name, client, engine, parts in events:
        if name != who or when > at_us:
            continue
        if engine is None:
            return None
        work = work or {}
        work[client, engine] = parts / 32 / CAPACITY.get(engine, 1) * 100
    return work


def mean_work(events, who, begin_us, end_us):
    """{class: percent} on average, and whether it changed in between."""
    times = sorted({begin_us, end_us, *(at for at, name, *_ in events if name == who and begin_us < at <= end_us)})
    mean = dict.fromkeys(CLASSES, 0.0)
    for begin, end in zip(times, times[1:]):
        for (_, engine), share in (work_at(events, who, begin) or {}).items():
            mean[engine] += share * (end - begin) / (end_us - begin_us)
    return mean, len(times) > 2


def kernel_work(driver, before, after, who):
    """The same from the kernel's texts, or None when a client of the process was not there before."""
    mean = dict.fromkeys(CLASSES, 0.0)
    for (name, client), (at_ns, text) in after["texts"].items():
        if name != who:
            continue
        if (name, client) not in before["texts"]:
            return None
        old_ns, old = before["texts"][name, client]
        for engine, key in zip(CLASSES, KERNEL[driver]):
            word, span = ("drm-engine-", at_ns - old_ns) if driver == "i915" else ("drm-cycles-", None)
            if span is None:
                span = int(text[f"drm-total-cycles-{key}"]) - int(old[f"drm-total-cycles-{key}"])
            grown = int(text[word + key].split()[0]) - int(old[word + key].split()[0])
            mean[engine] += grown / span / int(text.get(f"drm-engine-capacity-{key}", 1)) * 100
    return mean


def share_of(fields, engine):
    return fields.get(engine.replace("-", "_") + "_busy_percent")


class Book:
    """The errors of one run."""

    def __init__(self):
        self.steady, self.changing, self.kernel = judge.Errors(), judge.Errors(), judge.Errors()

    def add(self, what, fields, truth, is_changing):
        for engine, share in truth.items():
            value = share_of(fields, engine)
            check(value is not None, f"{what}: no share of {engine}")
            if value is not None:
                (self.changing if is_changing else self.steady).add(value, share)
        busiest = max(share_of(fields, engine) or 0 for engine in CLASSES)
        check(abs(fields.get("busy_percent", -1) - busiest) < 1e-6, f"{what}: busy_percent of {fields}")

    def judge(self, what):
        self.steady.judge(what, POINTS)
        self.kernel.judge(f"{what}, against the kernel's texts", POINTS)
        self.changing.judge(f"{what}, intervals with a change", CHANGE_POINTS, CHANGE_POINTS)


def judge_gather(book, what, driver, events, last, gather):
    begin, end = last["row"]["asked_us"], gather["row"]["asked_us"]
    alive = {who: work_at(events, who, end) for who in {name for _, name, *_ in events}}
    wanted = {who for who, work in alive.items() if work is not None}
    heirs = set(gather["processes"]) - wanted
    # When the owner is gone, what it shared belongs to one of the other two.
    may_inherit = {"heir", "receiver"} if any(name == "owner" and engine is None and at <= end
                                              for at, name, _, engine, _ in events) else set()
    check(heirs <= may_inherit and wanted <= set(gather["processes"]),
          f"{what}: {sorted(gather['processes'])} instead of {sorted(wanted)}")
    check(gather["gpu"].get("processes") == len(gather["processes"]), f"{what}: {gather['gpu'].get('processes')} processes")
    counts = gather["self"]
    check(counts.get("processes_visible") == counts.get("processes_readable") > 20, f"{what}: {counts}")
    for who in wanted & set(gather["processes"]):
        fields = gather["processes"][who]
        clients = len({client for client, _ in alive[who]})
        truth, is_changing = mean_work(events, who, begin, end)
        book.add(f"{what}, {who}", fields, truth, is_changing)
        check(fields.get("processes") == 1 and fields.get("memory_bytes") == clients * MEMORY[driver] and
              fields.get("memory_shared_bytes") == clients * SHARED, f"{what}: memory of {who}: {fields}")
        seen = kernel_work(driver, last, gather, who)
        for engine, share in (seen or {}).items():
            if not is_changing:
                book.kernel.add(share_of(fields, engine) or 0, share)
    if may_inherit:
        lines = [gather["processes"][who] for who in heirs]
        judge_heirs(what, lines, work_at([event for event in events if event[3]], "owner", end))


def judge_heirs(what, lines, work):
    for engine in CLASSES:
        share = sum(percent for (_, name), percent in work.items() if name == engine)
        reported = sum(share_of(fields, engine) or 0 for fields in lines)
        check(abs(reported - share) <= POINTS, f"{what}: {reported} of {engine} with the heirs instead of {share}")


def has_numbers(parts):
    """Since Linux 6.2; before, a client may be there that was not found yet, and a sum would lack it."""
    release = next(line.split()[1] for line in parts["doctor root"] if line.split()[:1] == ["kernel"])
    return tuple(int(part) for part in release.split(".")[:2]) >= (6, 2)


def judge_engines(parts, name):
    """
    With clients alone the GPU does what they do, all of them together. In an interval in which one of them changes its
    work, comes or goes nothing need be said; what is said then is what was done in it.
    """
    what = f"engines from clients at {name}"
    gathers, events = gathers_of(parts[f"shares {name}"])
    if not has_numbers(parts):
        reported = [gather for gather in gathers if gather["engines"] or "busy_percent" in gather["gpu"]]
        check(not reported, f"{what}: reported without numbers of descriptors: {reported}")
        print(f"{what}: nothing, for this kernel does not report how many descriptors a process has")
        return
    # What the owner shared goes on after it; what it had alone stood still by then.
    going_on = [event for event in events if event[3] or event[1] != "owner"]
    names = {who for _, who, *_ in events}
    steady, changing, silent = judge.Errors(), judge.Errors(), 0
    for n in range(3, 20):
        begin, end = gathers[n - 1]["row"]["asked_us"], gathers[n]["row"]["asked_us"]
        reported = gathers[n]["engines"]
        is_changing = any(begin < at <= end for at, *_ in events)
        silent += is_changing and not reported
        works = [mean_work(going_on, who, begin, end)[0] for who in names]
        for engine in CLASSES if reported or not is_changing else ():
            truth = min(sum(work[engine] for work in works), 100)  # the module lets each client do what it likes
            share = reported.get(engine, {}).get("busy_percent")
            check(share is not None, f"{what}, gather {n}: no share of {engine}: {reported}")
            if share is not None:
                (changing if is_changing else steady).add(share, truth)
        busiest = max((fields.get("busy_percent", 0) for fields in reported.values()), default=None)
        busy = gathers[n]["gpu"].get("busy_percent")
        check(busy == busiest or abs(busy - busiest) < 1e-6, f"{what}, gather {n}: {gathers[n]['gpu']}")
    check(len(steady.all) >= 4 * 10, f"{what}: {len(steady.all)} shares")
    steady.judge(what, POINTS)
    if changing.all:
        changing.judge(f"{what}, intervals with a change", CHANGE_POINTS, CHANGE_POINTS)
    print(f"{what}: nothing said in {silent} intervals with a change")


def judge_shares(parts, name, driver):
    what = f"processes at {name}"
    lines = parts[f"shares {name}"]
    gathers, events = gathers_of(lines)
    check(len(gathers) == 22 and not messages_of(lines) and not [m for m in parts[f"shares {name} messages"] if m],
          f"{what}: {len(gathers)} gathers; {lines[-3:]} {parts[f'shares {name} messages']}")
    book = Book()
    for n in range(2, 20):  # the first two are for finding them, and for a base
        judge_gather(book, f"{what}, gather {n}", driver, events, gathers[n - 1], gathers[n])
    for gather in gathers[20:]:
        check(not gather["processes"] and gather["gpu"].get("processes") == 0, f"{what}: left over: {gather['processes']}")
    book.judge(what)
    names = {process for gather in gathers for process in gather["processes"]}
    check(names <= {"owner", "copier", "coder", "newcomer", "heir", "receiver"}, f"{what}: {names}")
    print(f"{what}: {sorted(names)} in {len(gathers)} gathers")


def judge_churn(parts, name, bounds, known=()):
    what = f"churn {name}"
    lines = parts[what]
    gathers, _ = gathers_of(lines)
    late_answers = judge.judge_messages(what, [m for m in parts[f"{what} messages"] if m], known)
    check(not [line for line in lines if line.startswith("guest:")], f"{what}: {lines[-3:]}")
    errors, workers, most = judge.Errors(), 0, 0
    for gather in gathers:
        names = set(gather["processes"])
        is_quiet = gather["what"] == "before" or (gather["what"] == "after" and gather["row"]["n"] > 0)
        check(names <= ({"steady"} if is_quiet else {"steady", "worker", "other"}), f"{what}: {names}")
        check(gather["row"]["restarts"] == 0, f"{what}: a helper was started again")
        share = gather["processes"].get("steady", {}).get("render_busy_percent")
        if share is not None:
            errors.add(share, 50)
        seen = gather["processes"].get("worker", {}).get("processes", 0)
        workers += seen
        most = max(most, seen)
    check(workers > 0 and len(errors.all) >= len(gathers) - 2 - 2 * late_answers,
          f"{what}: {workers} workers, {len(errors.all)} shares in {len(gathers)} gathers")
    end = gathers[-1]["processes"]
    check(set(end) == {"steady"} and end["steady"].get("processes") == 1, f"{what}: at the end {end}")
    errors.judge(what, *bounds)
    print(f"{what}: {len(gathers)} gathers, {workers} clients of workers seen, at most {most} in one of them")


def judge_who(parts):
    """Who may see the processes of another user: root, and an agent by CAP_SYS_PTRACE."""
    for user, may_see in (("nobody", False), ("agent", True), ("root", True), ("tags", True)):
        last, counts = {}, {}
        for line in parts[f"who {user}"]:
            if line.startswith("gpu_process,"):
                _, tags, when, fields = line_protocol.parse(line)
                last.setdefault(when, {})[dict(tags)["process"]] = (dict(tags), fields)
            elif line.startswith("gtel"):
                counts = line_protocol.parse(line)[3]
        found = last[max(last)] if last else {}
        check(sorted(found) == (["guest"] if may_see else []), f"who {user}: {sorted(found)}")
        visible, readable = counts.get("processes_visible", 0), counts.get("processes_readable", 0)
        check(visible > 20 and (readable == visible) == may_see, f"who {user}: {readable} of {visible} readable")
        for tags, fields in found.values():
            check(abs(fields.get("render_busy_percent", -1) - 75) <= POINTS and
                  abs(fields.get("video_busy_percent", -1) - 62.5) <= POINTS, f"who {user}: {fields}")
            check((user == "tags") == ("pid" in tags and "user" in tags), f"who {user}: {tags}")
        noise = [m for m in messages_of(parts[f"who {user}"]) if "engine use" not in m and "drm_memory" not in m]
        check(not noise, f"who {user}: {noise}")
        print(f"who {user}: {sorted(found)}, {readable} of {visible} processes readable")
