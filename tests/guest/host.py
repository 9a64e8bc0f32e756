# SPDX-License-Identifier: MIT
"""Compares what gtel reports of the host's counters with what is true there (module/host.h)."""

from judge import check, line_protocol, messages_of

GPU_WATTS, PACKAGE_WATTS = 12.5, 40
ERROR = 0.001  # of the truth
# Name of the part, where the values come from, and whether this user may have them.
POWER = [
    ("power powercap root", "RAPL powercap", True),
    ("power powercap agent", None, False),  # energy_uj has the mode 0400
    ("power pmu root", "RAPL PMU", True),
    ("power pmu agent", "RAPL PMU", True),
    ("power pmu nobody", None, False),
]
RAS = [("ras root", True), ("ras net_admin", True), ("ras agent", False)]
# Counters by kind and severity; those of core-compute grow from 5 to 9.
CONSTANT = {("device-memory", "corrected"): 2, ("core-compute", "uncorrected"): 0,
            ("device-memory", "uncorrected"): 1}
GROWING = ("core-compute", "corrected")


def gathers_of(lines):
    """[{(measurement, tags): fields}] with the time in nanoseconds as \"time\"."""
    gathers = {}
    for line in lines:
        if line and not line.startswith("!"):
            measurement, tags, when, fields = line_protocol.parse(line)
            tags = tuple(tag for tag in tags if tag[0] in ("domain", "kind", "severity"))
            gathers.setdefault(when, {"time": when}).setdefault((measurement, tags), {}).update(fields)
    return [gathers[when] for when in sorted(gathers)]


def judge_watts(what, gathers):
    """The power in each gather but the first, and the energy over all of them."""
    worst, n = 0.0, 0
    wanted = [(("gpu", ()), "power_watts", GPU_WATTS),
              (("gpu_power_domain", (("domain", "gpu"),)), "watts", GPU_WATTS),
              (("gpu_power_domain", (("domain", "package"),)), "watts", PACKAGE_WATTS)]
    for before, gather in zip(gathers, gathers[1:]):
        for key, field, watts in wanted:
            got = gather.get(key, {}).get(field)
            check(got is not None, f"{what}: no {field} of {key}")
            if got is not None:
                worst, n = max(worst, abs(got - watts) / watts), n + 1
            energy = [g.get(key, {}).get("energy_joules") for g in (before, gather)]
            check(None not in energy and energy[1] > energy[0], f"{what}: energy of {key}: {energy}")
    # The first gather takes its time between its timestamp and the counters.
    first, last = ((g["time"], g[("gpu", ())].get("energy_joules", 0)) for g in (gathers[1], gathers[-1]))
    joules, seconds = last[1] - first[1], (last[0] - first[0]) / 1e9
    check(abs(joules - GPU_WATTS * seconds) <= 0.01 * joules, f"{what}: {joules} J in {seconds} s")
    print(f"{what}: {n} values of power, worst {100 * worst:.4f} % off")
    check(n >= 6 and worst <= ERROR, f"{what}: {n} values of power, {100 * worst} % off")


def judge_power(parts):
    for name, origin, is_there in POWER:
        gathers = gathers_of(parts[name])
        check(len(gathers) >= 3, f"{name}: {len(gathers)} gathers")
        reported = [key for gather in gathers for key in gather if key[0] == "gpu_power_domain"]
        sources = " ".join(str(fields.get("metrics_source", "")) for gather in gathers
                           for key, fields in gather.items() if key[0] == "gpu_info")
        if not is_there:
            headline = [gather[("gpu", ())].get("power_watts") for gather in gathers]
            check(not reported and headline.count(None) == len(headline), f"{name}: there without the right")
            check("RAPL" not in sources, f"{name}: from {sources}")
            continue
        check(origin in sources, f"{name}: from {sources}, not {origin}")
        judge_watts(name, gathers)


def judge_ras(parts):
    for name, is_there in RAS:
        gathers = gathers_of(parts[name])
        counts = [{key[1]: fields["count"] for key, fields in gather.items() if key[0] == "gpu_error"}
                  for gather in gathers]
        counts = [{(dict(tags)["kind"], dict(tags)["severity"]): value for tags, value in count.items()
                   if dict(tags)["kind"] not in ("hang", "wedged")} for count in counts]
        check(len(gathers) >= 3, f"{name}: {len(gathers)} gathers")
        if not is_there:
            check(not any(counts), f"{name}: there without the right: {counts[-1]}")
            continue
        growing = [count.pop(GROWING, None) for count in counts]
        check(all(count == CONSTANT for count in counts), f"{name}: {counts}")
        wanted = [5, 9] if name == "ras root" else [9]
        check(sorted(set(growing)) == wanted and growing == sorted(growing), f"{name}: {growing}")
        check(not messages_of(parts[name]) or name != "ras root", f"{name}: {messages_of(parts[name])}")
        print(f"{name}: {len(counts)} gathers with {len(CONSTANT) + 1} counters, {growing}")
