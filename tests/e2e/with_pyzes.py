# SPDX-License-Identifier: MIT
"""pyzes, Intel's own Python bindings of Sysman, reads our played loader of Level Zero.

    with_pyzes.py --pyzes FOLDER --player FILE --machine FILE.tree --declarations PROGRAM

FOLDER holds pyzes as its wheel has it; each of its files is checked against the wheel's own list. It
opens the loader by an absolute path: in a private mount namespace our file lies there, and nothing
else is changed. Its example and its black box test run as they are. Then all of its functions are
called, and each must say what the recording says; and its structures and constants must be those of
our own header. At last counts change between two calls, and the GPU is lost and comes back.
"""

import argparse
import base64
import csv
import ctypes
import hashlib
import os
import re
import subprocess
import sys
import tempfile

VERSION = "0.1.3"
LOADER = "/usr/lib/x86_64-linux-gnu/libze_loader.so.1"
FUNCTIONS = 37
# What comes out of each call, in the order of the recording (tests/fakes/libze_loader/played.h).
SPEED = ("speed.gen", "speed.width", "speed.maxBandwidth")
TILE = ("onSubdevice", "subdeviceId")
GETS = {
    "zesDeviceGetProperties": ("zes_device_properties_t",
                               ("core.type", "core.vendorId", "numSubdevices", "core.uuid.id")),
    "zesDevicePciGetProperties": (
        "zes_pci_properties_t",
        ("address.domain", "address.bus", "address.device", "address.function", "maxSpeed.gen",
         "maxSpeed.width", "maxSpeed.maxBandwidth", "haveBandwidthCounters", "havePacketCounters",
         "haveReplayCounters")),
    "zesDevicePciGetState": ("zes_pci_state_t", ("status",) + SPEED),
    "zesDevicePciGetStats": ("zes_pci_stats_t", ("timestamp", "replayCounter", "packetCounter",
                                                 "rxCounter", "txCounter")),
    "zesDeviceEccAvailable": ("ze_bool_t", ("value",)),
    "zesDeviceEccConfigurable": ("ze_bool_t", ("value",)),
    "zesDeviceGetEccState": ("zes_device_ecc_properties_t",
                             ("currentState", "pendingState", "pendingAction")),
    "zesMemoryGetProperties": ("zes_mem_properties_t",
                               ("type",) + TILE + ("location", "physicalSize")),
    "zesMemoryGetState": ("zes_mem_state_t", ("health", "free", "size")),
    "zesMemoryGetBandwidth": ("zes_mem_bandwidth_t", ("readCounter", "writeCounter",
                                                      "maxBandwidth", "timestamp")),
    "zesPowerGetProperties": ("zes_power_properties_t",
                              TILE + ("defaultLimit", "minLimit", "maxLimit")),
    "zesPowerGetEnergyCounter": ("zes_power_energy_counter_t", ("energy", "timestamp")),
    "zesFrequencyGetProperties": ("zes_freq_properties_t", ("type",) + TILE),
    "zesFrequencyGetState": ("zes_freq_state_t", ("currentVoltage", "request", "tdp", "efficient",
                                                  "actual", "throttleReasons")),
    "zesFrequencyGetRange": ("zes_freq_range_t", ("min", "max")),
    "zesFrequencyGetThrottleTime": ("zes_freq_throttle_time_t", ("throttleTime", "timestamp")),
    "zesTemperatureGetProperties": ("zes_temp_properties_t",
                                    ("type",) + TILE + ("maxTemperature",)),
    "zesTemperatureGetConfig": (
        "zes_temp_config_t",
        ("enableCritical", "threshold1.enableLowToHigh", "threshold1.enableHighToLow",
         "threshold1.threshold", "threshold2.enableLowToHigh", "threshold2.enableHighToLow",
         "threshold2.threshold")),
    "zesTemperatureGetState": ("c_double", ("value",)),
    "zesEngineGetProperties": ("zes_engine_properties_t", ("type",) + TILE),
    "zesEngineGetActivity": ("zes_engine_stats_t", ("activeTime", "timestamp")),
}
LISTS = {  # a list of structures
    "zesDeviceProcessesGetState": ("zes_process_state_t",
                                   ("processId", "memSize", "sharedSize", "engines")),
    "zesDeviceGetSubDevicePropertiesExp": ("zes_subdevice_exp_properties_t",
                                           ("subdeviceId", "uuid.id")),
    "zesPowerGetLimitsExt": ("zes_power_limit_ext_desc_t", ("level", "source", "limitUnit",
                                                            "enabled", "interval", "limit")),
    "zesFrequencyGetAvailableClocks": ("c_double", ("value",)),
}
PARTS = {  # enumeration -> type of its handles, and what the names of calls on them begin with
    "zesDeviceEnumMemoryModules": ("zes_mem_handle_t", "zesMemory"),
    "zesDeviceEnumPowerDomains": ("zes_pwr_handle_t", "zesPower"),
    "zesDeviceEnumFrequencyDomains": ("zes_freq_handle_t", "zesFrequency"),
    "zesDeviceEnumTemperatureSensors": ("zes_temp_handle_t", "zesTemperature"),
    "zesDeviceEnumEngineGroups": ("zes_engine_handle_t", "zesEngine"),
}
# What happens on the machine in its second life: three sensors where two are counted, four processes
# where one is, and of the calls for energy the second to the fourth say that the GPU is lost.
UNSTEADY = """call zesDeviceEnumTemperatureSensors 0 = 2 3
call zesDeviceProcessesGetState 0 = counts 1 {processes}
call double zesPowerGetEnergyCounter = fail 0x70000001 2 3
"""
INVALID_SIZE = 0x78000008
DEVICE_LOST = 0x70000001
# Structures that we have none of: only for calls that we do not make, or a part of others.
NOT_OURS = {"ze_device_uuid_t", "zes_device_ecc_desc_t", "zes_pci_address_t"}
failures = []
checks = 0


def check(is_ok, text):
    global checks
    checks += 1
    if not is_ok:
        failures.append(text)
        print("failed: " + text)
    return is_ok


class Recording:
    """What each call answers, over all states of the machine."""

    def __init__(self, path):
        self.answers = {}
        with open(path, encoding="utf-8") as file:
            for key, answer in re.findall(r"(?m)^call ([^=]*?) =(.*)$", file.read()):
                self.answers.setdefault(key, []).append(answer.split())

    def may_say(self, key, words):
        """Whether those words are the answer of some state."""
        return any([number(a) for a in answer[:len(words)]] == [number(w) for w in words]
                   for answer in self.answers.get(key, []))

    def code(self, key):
        """The result code of a call that never says anything else; None: it succeeds."""
        first = self.answers.get(key, [["!0x78000003"]])[0][:1]
        return int(first[0][1:], 0) if first and first[0].startswith("!") else None


def number(word):
    """A word of the recording or of pyzes, so that equal ones are equal."""
    if isinstance(word, str) and len(word) == 32:
        return word
    return float(int(word, 0) if isinstance(word, str) and word.startswith("0x") else word)


def member(whole, path):
    for name in path.split("."):
        whole = getattr(whole, name)
    return bytes(whole).hex() if isinstance(whole, ctypes.Array) else whole


class Reader:
    """Calls pyzes for every handle, and compares."""

    def __init__(self, pyzes, recording):
        self.pyzes = pyzes
        self.recording = recording

    def make(self, name):
        kind = getattr(ctypes, name, None) or getattr(self.pyzes, name)
        one = kind()
        if hasattr(one, "stype"):
            one.stype = getattr(self.pyzes, STYPES[name])
        return one

    def call(self, name, key, *arguments):
        """Whether the call succeeds; what it says otherwise must be what is recorded."""
        code = getattr(self.pyzes, name)(*arguments) & 0xffffffff
        wanted = self.recording.code(key) or 0
        check(code == wanted, f"{key}: code 0x{code:x}, not 0x{wanted:x}")
        return code == 0

    def get(self, name, key, handle):
        kind, members = GETS[name]
        one = self.make(kind)
        if self.call(name, key, handle, ctypes.byref(one)):
            words = [member(one, m) for m in members]
            check(self.recording.may_say(key, words), f"{key}: {words} is not recorded")

    def get_list(self, name, key, handle):
        kind, members = LISTS[name]
        count = ctypes.c_uint32(0)
        if not self.call(name, key, handle, ctypes.byref(count), None):
            return
        made = [self.make(kind) for _ in range(count.value)]
        some = (type(self.make(kind)) * count.value)(*made)
        if self.call(name, key, handle, ctypes.byref(count), some):
            words = [member(one, m) if kind != "c_double" else one
                     for one in some for m in members]
            check(words and self.recording.may_say(key, words), f"{key}: {words} is not recorded")

    def handles(self, name, key, kind, *arguments):
        count = ctypes.c_uint32(0)
        if not self.call(name, key, *arguments, ctypes.byref(count), None):
            return []
        some = (getattr(self.pyzes, kind) * count.value)()
        self.call(name, key, *arguments, ctypes.byref(count), some)
        check(self.recording.may_say(key, [count.value]), f"{key}: {count.value}")
        return list(some)

    def calls_on(self, prefix):
        names = [name for name in {**GETS, **LISTS} if name.startswith(prefix)]
        return [(name, self.get if name in GETS else self.get_list) for name in names]

    def device(self, number_, handle):
        for name, get in self.calls_on("zesDevice"):
            get(name, f"{name} {number_}", handle)
        for name, (kind, prefix) in PARTS.items():
            parts = self.handles(name, f"{name} {number_}", kind, handle)
            for i, part in enumerate(parts):
                for call, get in self.calls_on(prefix):
                    get(call, f"{call} {number_} {i}", part)
                self.set_part(prefix, f"{number_} {i}", part)
        wanted = self.make("zes_device_ecc_desc_t")
        state = self.make("zes_device_ecc_properties_t")
        if self.call("zesDeviceSetEccState", f"zesDeviceSetEccState {number_}", handle,
                     ctypes.byref(wanted), ctypes.byref(state)):
            words = [state.currentState, state.pendingState, state.pendingAction]
            check(self.recording.may_say(f"zesDeviceSetEccState {number_}", words), f"ECC {words}")

    def set_part(self, prefix, key, part):
        """What the source never does: the player takes it."""
        if prefix == "zesFrequency":
            asked = self.pyzes.zes_freq_range_t(900, 1000)
            self.call("zesFrequencySetRange", f"zesFrequencySetRange {key}", part,
                      ctypes.byref(asked))
        elif prefix == "zesPower":
            limit = self.make("zes_power_limit_ext_desc_t")
            count = ctypes.c_uint32(1)
            self.call("zesPowerSetLimitsExt", f"zesPowerSetLimitsExt {key}", part,
                      ctypes.byref(count), ctypes.byref(limit))

    def look_up(self, driver, number_, handle):
        """The device behind its UUID and those of its tiles."""
        key = f"zesDeviceGetSubDevicePropertiesExp {number_}"
        tiles = self.recording.answers.get(key, [[]])[0]
        own = self.recording.answers[f"zesDeviceGetProperties {number_}"][0][3]
        for uuid, tile in [(own, None)] + list(zip(tiles[1::2], tiles[0::2])):
            wanted = self.pyzes.zes_uuid_t()
            wanted.id[:] = bytes.fromhex(uuid)
            found = self.pyzes.zes_device_handle_t()
            on_tile = self.pyzes.ze_bool_t()
            number_of_tile = ctypes.c_uint32()
            code = self.pyzes.zesDriverGetDeviceByUuidExp(
                driver, wanted, ctypes.byref(found), ctypes.byref(on_tile),
                ctypes.byref(number_of_tile))
            got = (code, found.value == handle.value, bool(on_tile.value), number_of_tile.value)
            check(got == (0, True, tile is not None, int(tile or 0)), f"UUID {uuid}: {got}")


STYPES = {
    "zes_device_properties_t": "ZES_STRUCTURE_TYPE_DEVICE_PROPERTIES",
    "zes_pci_properties_t": "ZES_STRUCTURE_TYPE_PCI_PROPERTIES",
    "zes_pci_state_t": "ZES_STRUCTURE_TYPE_PCI_STATE",
    "zes_device_ecc_properties_t": "ZES_STRUCTURE_TYPE_DEVICE_ECC_PROPERTIES",
    "zes_device_ecc_desc_t": "ZES_STRUCTURE_TYPE_DEVICE_ECC_DESC",
    "zes_mem_properties_t": "ZES_STRUCTURE_TYPE_MEM_PROPERTIES",
    "zes_mem_state_t": "ZES_STRUCTURE_TYPE_MEM_STATE",
    "zes_power_properties_t": "ZES_STRUCTURE_TYPE_POWER_PROPERTIES",
    "zes_power_limit_ext_desc_t": "ZES_STRUCTURE_TYPE_POWER_LIMIT_EXT_DESC",
    "zes_freq_properties_t": "ZES_STRUCTURE_TYPE_FREQ_PROPERTIES",
    "zes_freq_state_t": "ZES_STRUCTURE_TYPE_FREQ_STATE",
    "zes_temp_properties_t": "ZES_STRUCTURE_TYPE_TEMP_PROPERTIES",
    "zes_temp_config_t": "ZES_STRUCTURE_TYPE_TEMP_CONFIG",
    "zes_engine_properties_t": "ZES_STRUCTURE_TYPE_ENGINE_PROPERTIES",
    "zes_process_state_t": "ZES_STRUCTURE_TYPE_PROCESS_STATE",
    "zes_subdevice_exp_properties_t": "ZES_STRUCTURE_TYPE_SUBDEVICE_EXP_PROPERTIES",
}


def read_all(pyzes, recording):
    """Every function of pyzes, on every handle."""
    reader = Reader(pyzes, recording)
    names = [name for name in vars(pyzes) if re.fullmatch(r"zes[A-Z]\w*", name) and
             callable(getattr(pyzes, name))]
    check(len(names) == FUNCTIONS, f"pyzes has {len(names)} functions, not {FUNCTIONS}")
    check(pyzes.zesInit(0) == 0, "zesInit")
    drivers = reader.handles("zesDriverGet", "zesDriverGet", "zes_driver_handle_t")
    for d, driver in enumerate(drivers):
        devices = reader.handles("zesDeviceGet", f"zesDeviceGet {d}", "zes_device_handle_t", driver)
        for i, device in enumerate(devices):
            reader.device(16 * d + i, device)
            reader.look_up(driver, 16 * d + i, device)
    called = set(pyzes._getFunctionPointerList)  # pylint: disable=protected-access
    check(called == set(names), f"not called: {sorted(set(names) - called)}")
    return len(called)


def read_unsteady(pyzes):
    """What changes between two calls, as a program sees it that goes by the specification."""
    reader = Reader(pyzes, None)

    def ask(name, *arguments):
        return getattr(pyzes, name)(*arguments) & 0xffffffff

    def one(name, kind, *arguments):
        count = ctypes.c_uint32(1)
        some = (getattr(pyzes, kind) * 1)()
        check(ask(name, *arguments, ctypes.byref(count), some) == 0 and count.value == 1, name)
        return some[0]

    check(pyzes.zesInit(0) == 0, "zesInit")
    driver = one("zesDriverGet", "zes_driver_handle_t")
    device = one("zesDeviceGet", "zes_device_handle_t", driver)
    # Two are counted, and where there is room for more three are there.
    for room, wanted in ((2, 2), (8, 3), (1, 1)):
        count = ctypes.c_uint32(0)
        check(ask("zesDeviceEnumTemperatureSensors", device, ctypes.byref(count), None) == 0 and
              count.value == 2, f"{count.value} sensors counted")
        count = ctypes.c_uint32(room)
        sensors = (pyzes.zes_temp_handle_t * room)()
        check(ask("zesDeviceEnumTemperatureSensors", device, ctypes.byref(count), sensors) == 0 and
              count.value == wanted, f"{count.value} sensors, room for {room}")
    # A list that is too short is refused, with its length; the next one fits.
    count = ctypes.c_uint32(0)
    check(ask("zesDeviceProcessesGetState", device, ctypes.byref(count), None) == 0 and
          count.value == 1, f"{count.value} processes counted")
    codes = []
    for _ in range(2):
        made = [reader.make("zes_process_state_t") for _ in range(count.value)]
        some = (pyzes.zes_process_state_t * count.value)(*made)
        codes.append(ask("zesDeviceProcessesGetState", device, ctypes.byref(count), some))
        check(count.value == 4 and some[0].processId == 4711, f"{count.value} processes")
    check(codes == [INVALID_SIZE, 0], f"processes: {codes}")
    check([state.processId for state in some] == [4711, 4712, 4712, 4799], "processes")
    # Lost, and back with the same handle.
    power = one("zesDeviceEnumPowerDomains", "zes_pwr_handle_t", device)
    codes = []
    for _ in range(5):
        energy = pyzes.zes_power_energy_counter_t()
        codes.append(ask("zesPowerGetEnergyCounter", power, ctypes.byref(energy)))
        check(energy.energy == 0 or codes[-1] == 0, "a lost GPU reports energy")
    check(codes == [0] + 3 * [DEVICE_LOST] + [0], f"energy: {codes}")
    check(energy.energy >= 90000000000, f"energy: {energy.energy}")


def unsteady_machine(path):
    """The text of the machine with what changes, before its first later state."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    processes = re.search(r"(?m)^call zesDeviceProcessesGetState 0 = (.*)$", text)[1]
    return text.replace("\nat 1s\n", "\n" + UNSTEADY.format(processes=processes) + "at 1s\n", 1)


def same_declarations(pyzes, lines):
    """Our header's sizes, offsets and constants, as far as pyzes has them, too."""
    seen = set()
    n = 0
    for kind, name, *rest in (line.split() for line in lines):
        theirs = getattr(pyzes, name, None)
        if theirs is None:
            continue
        n += 1
        if kind == "constant":
            check(theirs & 0xffffffff == int(rest[0]) & 0xffffffff, f"{name}: {theirs}, {rest}")
        elif kind == "size":
            seen.add(name)
            check(ctypes.sizeof(theirs) == int(rest[0]), f"{name}: {ctypes.sizeof(theirs)}, {rest}")
        else:
            field = getattr(theirs, rest[0])
            check(field.offset == int(rest[1]), f"{name}.{rest[0]}: {field.offset}, {rest}")
            # The address is one structure there and four members here.
            check(field.size == int(rest[2]) or rest[0] == "address",
                  f"{name}.{rest[0]}: {field.size} bytes, {rest}")
    structures = {name for name, kind in vars(pyzes).items() if isinstance(kind, type) and
                  issubclass(kind, ctypes.Structure) and name.startswith("ze")}
    check(structures - seen == NOT_OURS, f"not compared: {sorted((structures - seen) ^ NOT_OURS)}")
    check(n >= 250, f"{n} declarations to compare")
    return n


def inside(arguments):
    """In the namespace, with pyzes in the path."""
    import pyzes  # pylint: disable=import-outside-toplevel,import-error
    if arguments.unsteady:
        read_unsteady(pyzes)
        print(f"counts that change, a GPU that is lost: {checks} checks, {len(failures)} failed")
        return 1 if failures else 0
    lines = subprocess.run([arguments.declarations], check=True, capture_output=True, text=True,
                           timeout=30).stdout.splitlines()
    declarations = same_declarations(pyzes, lines)
    functions = read_all(pyzes, Recording(arguments.machine))
    print(f"{functions} functions, {declarations} declarations, {checks} checks, "
          f"{len(failures)} failed")
    return 1 if failures else 0


def is_unmodified(folder):
    """Each file of the wheel is what its list says."""
    info = os.path.join(folder, f"pyzes-{VERSION}.dist-info")
    if not check(os.path.isdir(info), f"pyzes {VERSION} is not in {folder}"):
        return
    with open(os.path.join(info, "RECORD"), encoding="utf-8") as file:
        rows = [row for row in csv.reader(file) if row[1]]
    check(sum(row[0].endswith(".py") for row in rows) == 4, f"files of pyzes: {len(rows)}")
    for name, digest, _ in rows:
        if name.startswith("pyzes/"):
            with open(os.path.join(folder, name), "rb") as file:
                found = base64.urlsafe_b64encode(hashlib.sha256(file.read()).digest()).decode()
            check("sha256=" + found.rstrip("=") == digest, f"{name} was changed")


def namespace(player):
    """What begins a command in a mount namespace of its own; None: nothing of it is allowed."""
    ways = [["unshare", "-m"], ["unshare", "-Urm"], ["sudo", "-n", "unshare", "-m"]]
    for way in ways[os.geteuid() != 0:]:
        try:
            done = subprocess.run([*way, "mount", "--bind", player, os.path.realpath(LOADER)],
                                  timeout=20, check=False, capture_output=True)
        except OSError:
            continue
        if done.returncode == 0:
            return way
    return None


def run(arguments, *command, machine=None):
    """A Python program in a mount namespace of its own, with our file as the loader."""
    script = 'mount --bind "$0" "$1" && shift && exec env "$@"'
    env = [f"PYTHONPATH={arguments.pyzes}", "PYTHONDONTWRITEBYTECODE=1", "LC_ALL=C.UTF-8",
           f"GTEL_PLAY={os.path.abspath(machine or arguments.machine)}"]
    done = subprocess.run([*arguments.way, "sh", "-c", script, os.path.abspath(arguments.player),
                           os.path.realpath(LOADER), *env, sys.executable, *command],
                          capture_output=True, text=True, timeout=120, check=False)
    return done.returncode, done.stdout + done.stderr


def own_programs(arguments):
    """The example and the black box test of the wheel."""
    folder = os.path.join(arguments.pyzes, "pyzes", "examples")
    wanted = {
        "pyzes_example.py": [],
        # What was recorded, in its words.
        "pyzes_black_box_test.py": [
            "Number of Subdevices: 2", "UUID mapping successful", "Same handle: True",
            "Subdevice ID: 1", "PID: 4711", "Memory Size: 8589934592 bytes", "Bus: 0x29",
            "Max Bandwidth: 63015384615", "Current State: ZES_DEVICE_ECC_STATE_ENABLED",
            "Current Power: 432.000000 W for rootDevice", "Set power limit successfully",
            "Throttle Reasons: BURST_PWR_CAP", "Current Temperature: 57.0", "1600.0 MHz",
            "Physical Size: 68719476736", "Threshold 2: 90.5", "Test Completed"],
    }
    for name, texts in wanted.items():
        words = [] if name == "pyzes_example.py" else ["-a"]
        status, output = run(arguments, os.path.join(folder, name), *words)
        check(status == 0, f"{name}: status {status}\n{output}")
        for text in texts:
            check(text in output, f"{name} says: {text}\n{output}")
        for line in output.splitlines():
            check(not re.search(r"^\s*ERROR|Traceback|exception", line), f"{name}: {line}")
        print(f"{name}: status {status}, {len(output.splitlines())} lines")


def main():
    parser = argparse.ArgumentParser()
    for name in ("--pyzes", "--player", "--machine", "--declarations"):
        parser.add_argument(name, required=True)
    parser.add_argument("--inside", action="store_true")
    parser.add_argument("--unsteady", action="store_true")
    arguments = parser.parse_args()
    if arguments.inside:
        return inside(arguments)
    is_unmodified(arguments.pyzes)
    arguments.way = namespace(os.path.abspath(arguments.player))
    if not check(os.path.exists(LOADER), f"{LOADER} is missing: install libze1") or \
       not check(arguments.way, "no mount namespace: unshare is refused, and sudo, too"):
        return 1
    status, output = run(arguments, "-B", os.path.abspath(__file__), *sys.argv[1:], "--inside")
    print(output, end="")
    check(status == 0, f"all functions: status {status}")
    with tempfile.NamedTemporaryFile("w", suffix=".tree", encoding="utf-8") as file:
        file.write(unsteady_machine(arguments.machine))
        file.flush()
        status, output = run(arguments, "-B", os.path.abspath(__file__), *sys.argv[1:], "--inside",
                             "--unsteady", machine=file.name)
    print(output, end="")
    check(status == 0, f"what changes: status {status}")
    own_programs(arguments)
    print(f"{len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
