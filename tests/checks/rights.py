# SPDX-License-Identifier: MIT
"""The rights in the table of Intel GPUs (support.def) are those without which values are missing.

Usage: rights.py ROOT --gtel PROGRAM

Takes rights away from the recorded machines: what the kernel refuses or hides without them (the
functions below, each with the kernel's word for it) is refused or hidden in the recording. Then each
value that a source gives with all rights must be gone without the ones that its row names, and be
there with no others. Of several rows of one value one must fit. Each row that names a right must
have been tried, in each of its ways; and each source that needs a right says so in its `needs`. A count of processes is
gone when it is 0: none could be seen. That a real kernel refuses and hides the same is shown in the
virtual machine (tests/guest) for counters, memory and clients.
"""

import argparse
import os
import re
import subprocess
import tempfile

import intel
import tree

PERFMON, PTRACE, NET_ADMIN = "CAP_PERFMON", "CAP_SYS_PTRACE", "CAP_NET_ADMIN"
RENDER, TELEM, ROOT = "render", "telem", "root"
ALL = frozenset((PERFMON, PTRACE, NET_ADMIN, RENDER, TELEM, ROOT))
AGENT = frozenset((PERFMON, PTRACE, RENDER))  # as the documents recommend
GRANTS = [ALL] + [ALL - {r} for r in sorted(ALL)] + [AGENT, frozenset()]
# The text of a cell: what is needed, one of each set; or a function of (driver, in the CPU, kernel)
# that gives it, or gives several in a tuple: some machines have the one way, some the other.
TEXTS = {
    "none": [],
    "none, and the network namespace of the host": [],
    "CAP_PERFMON": [{PERFMON}],
    "CAP_PERFMON; with xe also the group render": lambda driver, _, __: (
        [{PERFMON}] if driver == "i915" else ([{PERFMON, RENDER}], [{PERFMON}])
    ),
    "CAP_SYS_PTRACE: every process must be readable": [{PTRACE}],
    "CAP_SYS_PTRACE for processes of other users": [{PTRACE}],
    "CAP_PERFMON, and group render": [{PERFMON}, {RENDER}],
    "CAP_NET_ADMIN": [{NET_ADMIN}],
    "group render": [{RENDER}],
    "group render; CAP_PERFMON with i915, and with xe up to 6.16": lambda driver, _, kernel: (
        [{RENDER}, {PERFMON}] if driver == "i915" or is_hidden(kernel) else [{RENDER}]
    ),
    "none for a card; else CAP_PERFMON, or root": lambda _, is_integrated, __: (
        ([{PERFMON}], [{ROOT}]) if is_integrated else []
    ),
    "root": [{ROOT}],
    "root, or read access to the telem files": [{ROOT, TELEM}],
    "none; chip and memory: root, or read access to the telem files": lambda driver, _, __: (
        [] if driver == "i915" else [{ROOT, TELEM}]
    ),
}
AS_ITS_ROW = "as the row it comes from"
ITS_ROWS = {("gpu", "busy_percent"): [("gpu_engine", "busy_percent"), ("gpu_frequency_domain", "idle_percent")]}
# Words of a source's `needs` that stand for a right.
NEEDS = {
    PERFMON: PERFMON,
    PTRACE: PTRACE,
    NET_ADMIN: NET_ADMIN,
    RENDER: "group render",
    ROOT: "root",
    TELEM: "telem",
}
OWN = "4242"  # the program's own process in recorded machines
LINE = re.compile(r"^  (\w+) +(\S.*?) {2,}(\w+): (.*)$")
UNKNOWN = "!0x7ffffffe"  # ZE_RESULT_ERROR_UNKNOWN
REFUSED = "!0x70010000"  # ZE_RESULT_ERROR_INSUFFICIENT_PERMISSIONS


def is_hidden(kernel):
    """Whether xe hides used memory (xe_query.c asks for perfmon_capable() up to 6.16)."""
    return kernel is None or kernel <= (6, 16)


def split(text):
    """The machine's first state, and what comes later."""
    at = re.search(r"^(?:at |end$)", text, re.M).start()
    return text[:at], text[at:]


def without_perfmon(text, kernel):
    """Counters of system-wide PMUs are refused (kernel/events/core.c), use of memory is hidden.

    So are streams of metrics (i915_perf.c, xe_oa.c, xe_eu_stall.c), with the driver's one code.
    """
    names = sorted(set(re.findall(r"^pmu (\S+) ", text, re.M)))
    text = re.sub(r"^pmu_error .*\n", "", text, flags=re.M)
    text = without_stalls(refuse_calls(text, "zetMetricStreamerOpen", UNKNOWN))
    first, later = split(text)
    first += "".join(f"pmu_error {name} EACCES\n" for name in names)
    return re.sub(r"(^query \S+ (\S+) (\d+)\n)((?:\|.*\n)+)", lambda q: hide(q, kernel), first + later,
                  flags=re.M)


def hide(query, kernel):
    """i915_query.c: nothing is allocated; xe_query.c: nothing is used."""
    head, driver, item, regions = query.groups()
    if driver == "i915" and item == "4":
        regions = re.sub(r" 8:(\d+) 8:\d+ 8:(\d+) 8:\d+ ", r" 8:\1 8:\1 8:\2 8:\2 ", regions)
    if driver == "xe" and item == "1" and is_hidden(kernel):
        regions = re.sub(r" 8:(\d+) 8:\d+ 8:(\d+) 8:\d+ ", r" 8:\1 8:0 8:\2 8:0 ", regions)
    return head + regions


def without_render(text, _):
    """Render nodes cannot be opened: 0660, of the group render (systemd, 50-udev-default.rules)."""
    text = re.sub(r"^query (\S+ \S+ \d+)\n(?:\|.*\n)+", r"query_error \1 EACCES\n", text, flags=re.M)
    return without_stalls(text)


def without_stalls(text):
    """Opened through the render node, and refused by xe_observation.c."""
    return re.sub(r"^call stall (\S+ \d+) = .*$", r"call stall_error \1 = EACCES", text, flags=re.M)


def without_net_admin(text, _):
    """drm_ras: GENL_ADMIN_PERM (Documentation/netlink/specs/drm_ras.yaml)."""
    if not re.search(r"^ras ", text, re.M):
        return text
    first, later = split(re.sub(r"^ras_error .*\n", "", text, flags=re.M))
    return first + "ras_error EPERM\n" + later


def processes(text):
    return sorted(set(re.findall(r"\bproc/(\d+)/", text)) - {OWN})


def without_ptrace(text, _):
    """/proc/PID/fd and fdinfo of others (fs/proc/fd.c); these machines' clients are all others'."""
    return refuse(text, [f"proc/{pid}/{name}" for pid in processes(text) for name in ("fd", "fdinfo")])


def refuse(text, paths):
    """Refused in each state: a path that comes later is another file."""
    lines = "".join(f"refuse {path} EACCES\n" for path in paths)
    return re.sub(r"^(?=at |end$)", lines, text, flags=re.M) if paths else text


def without_root(text, _):
    """Mode 0400 (powercap's energy_uj), and what Intel's Level Zero driver gives to uid 0 alone.

    CAP_SYS_PTRACE lets fdinfo be listed, not fd. Level Zero: errors and fabric come from files and
    events of root, ECC from the firmware's device, and processes of others from what is theirs.
    """
    text = refuse(text, [f"proc/{pid}/fd" for pid in processes(text)])
    text = re.sub(r"^grow (\S+/energy_uj) .*$", r"refuse \1 EACCES", text, flags=re.M)
    return refuse_calls(text, r"zesDeviceEnum(?:RasErrorSets|FabricPorts)|"
                        r"zesDevice(?:EccAvailable|GetEccState|ProcessesGetState)")


def without_telem(text, _):
    """Level Zero reads these through intel_pmt's telem files, mode 0440."""
    calls = "zesTemperatureGetState|zesMemoryGetBandwidth|zesDevicePciGetStats"
    if re.search(r"^\| PCI_ID=8086:E2", text, re.M):  # Battlemage
        calls += "|zesPowerGetEnergyCounter"
    return refuse_calls(text, calls)


def refuse_calls(text, names, code=REFUSED):
    return re.sub(rf"^(call (?:{names})\b[^=]*= ).*$", rf"\g<1>{code}", text, flags=re.M)


def with_rights(text, granted, kernel):
    """The recording of the machine for a program with these rights."""
    for right, take in (
        (PERFMON, without_perfmon),
        (RENDER, without_render),
        (NET_ADMIN, without_net_admin),
        (PTRACE, without_ptrace),
        (ROOT, without_root),
    ):
        text = text if right in granted else take(text, kernel)
    return text if {ROOT, TELEM} & granted else without_telem(text, kernel)


def values_of(program, text):
    """{(driver, in the CPU, measurement, field, source)} of what the program prints of a machine."""
    with tempfile.NamedTemporaryFile("w", suffix=".tree") as file:
        file.write(text)
        file.flush()
        command = [program, "--root", file.name, "--isolation", "none", "--stepped", "--explain"]
        command += ["--l0-metrics", "on", "--xe-stalls", "on", "--i915-sampling", "on"]
        done = subprocess.run(
            command + ["--interval", "1s", "--count", "3"],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            encoding="utf-8",
            timeout=60,
            check=True,
        )
    found = set()
    identity = None
    for line in done.stdout.splitlines():
        match = LINE.match(line)
        is_none = match and match[1] == "processes" and match[2].strip() == "0i"
        if match and identity and match[3] != "gtel" and not is_none:
            found.add(identity + (match[1], match[3]))
        elif not line.startswith(" "):
            tags = dict(re.findall(r",(driver|gpu)=([^, ]+)", line))
            column = (tags.get("driver"), tags.get("gpu") == intel.INTEGRATED)
            measurement = line.split(",")[0]
            is_meant = column in intel.COLUMN and measurement not in intel.SKIPPED
            identity = column + (measurement,) if is_meant else None
    return found


class Row:
    """A row of the table: its values and sources, and what its right means."""

    def __init__(self, row):
        self.line = row.line
        self.measurements = row.measurements
        self.fields = row.fields
        self.sources = row.sources
        self.text = row.right
        kinds = [(driver, is_integrated, (6, 1)) for driver, is_integrated in intel.COLUMN]
        ways = [way for kind in kinds for way in self.ways(*kind)] if self.text in TEXTS else []
        self.unseen = [way for i, way in enumerate(ways) if way and way not in ways[:i]]
        self.rights = {right for way in ways for needed in way for right in needed}

    def ways(self, driver, is_integrated, kernel):
        """([set of which one is needed] of each way to the value)."""
        needs = TEXTS[self.text]
        needs = needs(driver, is_integrated, kernel) if callable(needs) else needs
        return needs if isinstance(needs, tuple) else (needs,)


def rows_of(rows, value):
    """The rows that a value of a source may belong to."""
    _, _, measurement, field, source = value
    found = []
    for m, f in [(measurement, field)] + ITS_ROWS.get((measurement, field), []):
        named = [r for r in rows if m in r.measurements and f in r.fields and source in r.sources]
        found += [r for r in named if r.text != AS_ITS_ROW]
    return found


def check_machine(name, text, kernel, program, rows, found):
    """Each value of the machine with and without each right."""
    seen = {}
    for granted in GRANTS:
        changed = with_rights(text, granted, kernel)
        if changed not in seen:
            seen[changed] = values_of(program, changed)
    there = [(granted, seen[with_rights(text, granted, kernel)]) for granted in GRANTS]
    for value in sorted(there[0][1]):
        driver, is_integrated, measurement, field, source = value
        candidates = rows_of(rows, value)
        has = [value in values for _, values in there]
        fits = []
        for row in candidates:
            for way in row.ways(driver, is_integrated, kernel):
                if has == [all(needed & granted for needed in way) for granted, _ in there]:
                    fits.append(row)
                    row.unseen = [w for w in row.unseen if w != way]
        if fits or (not candidates and source in intel.OTHER_WAYS):
            continue
        lost = [", ".join(sorted(ALL - g)) for (g, _), h in zip(there, has) if not h]
        why = f"gone without: {'; '.join(lost)}" if lost else "there without any right"
        said = f"{measurement} {field} of {source} in {name} is {why}"
        for row in candidates:
            found.add(intel.TABLE, row.line, f"{said}; the table says: {row.text}")
        if not candidates:
            found.add(intel.TABLE, 1, f"{said}; it has no row")
    return len(there[0][1])


def check_sources(root, rows, found):
    """Each source says in its list of needs which rights its rows name."""
    for path in tree.files(root, (".c",), ("common/sources",)):
        source = tree.read(root, path)
        names = intel.NAME.findall(source)
        needs = re.search(r'^    \.needs =\s*((?:"[^"]*"\s*)+)', source, re.M)
        if not names or not needs or not intel.VENDOR.search(source):
            continue
        said = "".join(re.findall(r'"([^"]*)"', needs[1]))
        for row in [r for r in rows if r.sources == [names[0]]]:  # what several share may be one's
            words = {NEEDS[right] for right in row.rights}
            words |= {"AF_NETLINK"} if "network namespace" in row.text else set()
            for word in sorted(w for w in words if w not in said):
                found.add(path, 1, f"by {intel.TABLE}:{row.line} {names[0]} needs {word}: {said}")
            if "AF_NETLINK" in said and "network namespace" not in row.text:
                found.add(intel.TABLE, row.line, f"{names[0]} gets messages of one network namespace only")


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("root")
    arguments.add_argument("--gtel", required=True)
    options = arguments.parse_args()
    root = options.root
    found = tree.Findings("rights")
    rows = [Row(row) for row in intel.support.rows(root)]
    for row in rows:
        if row.text not in TEXTS and row.text != AS_ITS_ROW:
            found.add(intel.TABLE, row.line, f"not understood, add it to TEXTS: {row.text}")
        elif "network namespace" in row.text and row.sources != ["uevents"]:
            found.add(intel.TABLE, row.line, "only uevents depend on the network namespace")
    if found.lines:
        return found.finish()
    for path in tree.files(root, (".lp",), ("tests/golden",)):
        name = os.path.basename(path)[:-3]
        machine = f"tests/fixtures/{name}.tree"
        if os.path.exists(os.path.join(root, machine)):
            kernel = intel.kernel_of(root, path)
            found.checked += check_machine(
                name, tree.read(root, machine), kernel, options.gtel, rows, found
            )
    for row in rows:
        for way in row.unseen:
            names = ", and ".join(" or ".join(sorted(needed)) for needed in way)
            found.add(intel.TABLE, row.line, f"no recorded machine shows a need of {names}: {row.text}")
    check_sources(root, rows, found)
    return found.finish()


if __name__ == "__main__":
    main()
