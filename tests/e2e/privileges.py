# SPDX-License-Identifier: MIT
"""Who, with which right, tries what, and gets what: the program has rights that its user lacks.

Usage: privileges.py GTEL FOLDER_OF_A_FAKE_NVML     as root: capabilities of files, setpriv

Real capabilities of a file (as from setcap) and ambient ones (as from a unit of systemd), for a user
who may do nothing. What root alone may read has a text that must not come out anywhere; each row says
what the user gets instead. Prints the rows as a table.
"""

import errno
import os
import re
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import time

from collectd import check, failures

GTEL, FAKES = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
USER = 65534
SECRET = "cantaloupe-4711"
# linux/capability.h: enough to read and write every file, and what the READMEs recommend.
BITS = {"dac_override": 1, "dac_read_search": 2, "sys_ptrace": 19, "perfmon": 38}
MASK = sum(1 << bit for bit in BITS.values())
CARD = "sys/devices/pci0000:00/0000:03:00.0"
TIMEOUT = 20
REQUEST = struct.pack("=IIIQB", 0x4C455447, 4, 9, 1, 0)  # as common/lanes/wire.c writes it


def write(path, text, mode=0o644, owner=0):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(path, mode)
    os.chown(path, owner, owner)
    return path


class Place:
    """A folder with the program, root's files, and what the user has made."""

    def __init__(self, top):
        self.top = top
        os.chmod(top, 0o755)
        self.plain = self.copy("gtel")
        self.raised = self.copy("gtel-with-capabilities")
        self.set_id = self.copy("gtel-set-user-id")
        os.chmod(self.set_id, 0o4755)
        self.secret = write(f"{top}/secret", f"{SECRET} = '{SECRET}'\n", 0o600)
        self.table = write(f"{top}/secret.tree", f"{SECRET}\nend\n", 0o600)
        self.word = write(f"{top}/word", f"{SECRET}\n", 0o600)
        self.owned = write(f"{top}/owned", "root's\n")
        os.mkdir(f"{top}/folder", 0o755)
        self.made = f"{top}/made"
        self.make_machine()
        self.config = write(f"{top}/gtel.conf", "interval = '200ms'\n", owner=USER)
        self.empty = write(f"{top}/empty.tree", "end\n", owner=USER)
        self.root_process = subprocess.Popen(  # pylint: disable=consider-using-with
            ["sleep", "600"], env={"PATH": "/usr/bin:/bin", "TEXT": SECRET})

    def copy(self, name):
        path = shutil.copy(GTEL, f"{self.top}/{name}")
        os.chmod(path, 0o755)
        return path

    def make_machine(self):
        """A card whose labels are links to what root alone may read."""
        card = f"{self.made}/{CARD}"
        for folder in (f"{card}/hwmon/hwmon1", f"{card}/drm/card0", f"{self.made}/sys/class/drm",
                       f"{self.made}/sys/bus/pci/drivers/xe"):
            os.makedirs(folder)
        for name, text in (("vendor", "0x8086"), ("device", "0xe20b"), ("class", "0x030000"),
                           ("hwmon/hwmon1/name", "xe"), ("hwmon/hwmon1/temp1_input", "40000"),
                           ("hwmon/hwmon1/temp2_input", "41000")):
            write(f"{card}/{name}", text + "\n")
        up = "../" * 20
        os.symlink("../../../bus/pci/drivers/xe", f"{card}/driver")
        os.symlink("../../../0000:03:00.0", f"{card}/drm/card0/device")
        os.symlink(f"../../../{CARD}/drm/card0", f"{self.made}/sys/class/drm/card0")
        os.symlink(self.word, f"{card}/hwmon/hwmon1/temp1_label")
        os.symlink(f"{up}{self.word[1:]}", f"{card}/hwmon/hwmon1/temp2_label")

    def close(self):
        self.root_process.terminate()
        self.root_process.wait()


def words_of(kind, place, arguments):
    """The command of a user who starts the program: with capabilities of the file, or ambient ones."""
    if kind == "file":
        return ["setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups", place.raised,
                *arguments]
    names = ",".join(f"+{name}" for name in BITS)
    return ["setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups", "--inh-caps", names,
            "--ambient-caps", names, place.plain, *arguments]


def run(words, **keywords):
    keywords.setdefault("stdin", subprocess.DEVNULL)
    done = subprocess.run(words, capture_output=True, timeout=TIMEOUT, check=False, cwd="/", **keywords)
    return done.returncode, (done.stdout + done.stderr).decode("utf-8", "replace")


def status_of(pid):
    with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as file:
        return dict(re.findall(r"(?m)^(\w+):\s*(\S*)", file.read()))


def children_of(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
        return [int(word) for word in file.read().split()]


# ---- rows: what a user tries, how it ends, what is said ----

def rows(place):
    pid = place.root_process.pid
    denied = "Permission denied"
    there = "it exists already"
    return [
        ("--root FILE of root's", ["--once", "--root", place.secret], 2, denied),
        ("--root FILE.tree of root's", ["--root", place.table], 2, denied),
        ("--root /proc/PID/maps of root's", ["--once", "--root", f"/proc/{pid}/maps"], 2, denied),
        ("--root /proc/PID/environ", ["--once", "--root", f"/proc/{pid}/environ"], 2, denied),
        ("doctor --root FILE of root's", ["doctor", "--root", place.secret], 2, denied),
        ("capture --root FILE of root's", ["capture", "--root", place.secret], 2, denied),
        ("--root FOLDER with links to them", ["--once", "--explain", "--root", place.made], 0,
         "0000:03:00.0"),
        ("doctor of that folder", ["doctor", "--root", place.made], None, "0000:03:00.0"),
        ("capture of that folder", ["capture", "--count=1", "--root", place.made], 0, "temp1_input"),
        ("--config FILE of root's", ["--once", "--config", place.secret], 2, denied),
        ("--config /proc/PID/environ", ["--config", f"/proc/{pid}/environ"], 2, denied),
        ("capture over a FILE of root's", ["capture", place.owned, "--root", place.empty], 1, there),
        ("the same, of the real machine", ["capture", place.owned, "--count=1", "--interval=100ms"], 1,
         there),
        ("capture into a FOLDER of root's", ["capture", f"{place.top}/folder/new", "--root",
                                             place.empty], 1, denied),
        ("--isolation none", ["--once", "--isolation", "none"], 2, "not run inside a program"),
    ]


def try_rows(kind, place, table):
    for label, arguments, status, said in rows(place):
        got, out = run(words_of(kind, place, arguments))
        is_right = (status is None or got == status) and said in out
        check(SECRET not in out, f"{kind}, {label}: comes out: {out[-600:]}")
        check(is_right, f"{kind}, {label}: status {got}, {out[-600:]}")
        table.append((kind, label, said if status in (1, 2) else "nothing of them"))
    with open(place.owned, encoding="utf-8") as file:
        check(file.read() == "root's\n", f"{kind}: root's file is as it was")
    check(os.listdir(f"{place.top}/folder") == [], f"{kind}: root's folder is as it was")


def ask_helper(words):
    """Starts a helper by hand, asks it once, and returns all that it sends within a second."""
    ours, theirs = socket.socketpair()
    words = ["sh", "-c", 'exec "$@" 3<&0', "sh", *words]
    with subprocess.Popen(words, stdin=theirs, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          cwd="/") as process:
        theirs.close()
        ours.sendall(REQUEST)
        ours.settimeout(1)
        data = b""
        try:
            while part := ours.recv(65536):
                data += part
        except TimeoutError:
            pass
        ours.close()
        out, _ = process.communicate(timeout=TIMEOUT)
    return data, out


def try_helper(kind, place, table):
    data, out = ask_helper(words_of(kind, place, ["--lane", "kernel", "--root", place.made]))
    check(b"0000:03:00.0" in data, f"{kind}, helper by hand: answers, {data[:200]!r} {out!r}")
    check(SECRET.encode() not in data + out, f"{kind}, helper by hand: {data!r}")
    table.append((kind, "a helper by hand, --root FOLDER with links", "nothing of them"))


def try_library(kind, place, table):
    """A library with NVML's name in a folder of the user's, and a machine that seems to have it."""
    script = ("mount -t tmpfs none /proc/driver && mkdir /proc/driver/nvidia && "
              "touch /proc/driver/nvidia/version && exec \"$@\"")
    env = {"PATH": "/usr/bin:/bin:/usr/sbin:/sbin", "LD_LIBRARY_PATH": FAKES}
    inside = ["unshare", "-m", "sh", "-c", script, "sh", "env", f"LD_LIBRARY_PATH={FAKES}"]
    for mode in ("process", "none"):
        words = words_of(kind, place, ["--once", "--isolation", mode])
        _, out = run(inside + words, env=env)
        check("vendor=nvidia" not in out, f"{kind}, library, --isolation {mode}: {out}")
        check(("not run inside" in out) == (mode == "none"), f"{kind}, --isolation {mode}: {out}")
        table.append((kind, f"LD_LIBRARY_PATH, --isolation {mode}", "not loaded"))


def watch(kind, place, arguments, is_raised, table):
    """The rights of the program and of its helpers while they run."""
    with subprocess.Popen(words_of(kind, place, arguments), stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd="/") as process:
        line = process.stdout.readline()
        check(line, f"{kind}, {arguments}: a gather")
        pids = [process.pid, *children_of(process.pid)]
        time.sleep(0.1)
        for pid in pids:
            status = status_of(pid)
            sets = [int(status[name], 16) for name in ("CapPrm", "CapEff")]
            want = MASK if is_raised else 0
            check(sets == [want, want], f"{kind}, {arguments}: sets {status['CapPrm']} {status['CapEff']}")
            check(status["NoNewPrivs"] == ("0" if is_raised else "1"), f"{kind}: no_new_privs")
        check(len(pids) > 1 or is_raised, f"{kind}, {arguments}: has helpers")
        process.stdin.close()
        process.stdout.read()
        check(process.wait(timeout=TIMEOUT) == 0, f"{kind}, {arguments}: status")
    table.append((kind, " ".join(os.path.basename(word) for word in arguments),
                  "keeps its capabilities" if is_raised else "has none left"))


def try_all(kind, place, table):
    _, out = run(words_of(kind, place, ["doctor"]))
    rights = re.search(r"(?m)^  rights +(.*)$", out)
    if not check(rights and "CAP_PERFMON" in rights.group(1) and "CAP_SYS_PTRACE" in rights.group(1),
                 f"{kind}: the capabilities are in force: {out}"):
        return
    try_rows(kind, place, table)
    try_helper(kind, place, table)
    try_library(kind, place, table)
    watch(kind, place, ["--config", place.config, "--interval=200ms"], True, table)
    watch(kind, place, ["--root", place.made, "--interval=200ms"], False, table)


def try_set_id(place, table):
    words = ["setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups", place.set_id]
    status, out = run([*words, "--once", "--root", place.secret])
    check(status == 2 and "set-user-ID" in out and SECRET not in out, f"set-user-ID: {status} {out}")
    table.append(("set-user-ID", "anything", "refused"))


def set_capabilities(path):
    """As setcap(8): VFS_CAP_REVISION_2 of linux/capability.h. An errno, or 0."""
    value = struct.pack("<IIIII", 0x02000001, MASK & 0xFFFFFFFF, 0, MASK >> 32, 0)
    try:
        os.setxattr(path, "security.capability", value)
    except OSError as error:
        return error.errno
    return 0


def has_file_capabilities(place):
    """False where this machine has none, which it says: then ambient ones are tried alone."""
    error = set_capabilities(place.raised)
    words = ["setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups", place.raised]
    flags = os.statvfs(place.top).f_flag
    is_off = status_of(os.getpid())["NoNewPrivs"] == "1" or flags & os.ST_NOSUID
    if error == 0 and not is_off:
        return True
    why = os.strerror(error) if error else "no_new_privs, or a file system mounted with nosuid"
    print(f"*** REFUSED by this machine: capabilities of files in {place.top}: {why}. "
          f"The rows 'file' prove nothing here ({words[-1]}).", flush=True)
    could = int(status_of(os.getpid())["CapEff"], 16) >> 31 & 1  # CAP_SETFCAP of linux/capability.h
    if could and not is_off and error not in (errno.EOPNOTSUPP, errno.EPERM):
        check(not os.environ.get("GTEL_REQUIRE_ALL"), "capabilities of files")
    return False


def main():
    table = []
    for parent in (None, "/var/tmp", "."):  # the first may be mounted with nosuid
        with tempfile.TemporaryDirectory(prefix="gtel-privileges-", dir=parent) as top:
            place = Place(top)
            try:
                is_able = has_file_capabilities(place)
                if not is_able and parent != ".":
                    continue
                for kind in ("file", "ambient") if is_able else ("ambient",):
                    try_all(kind, place, table)
                try_set_id(place, table)
                break
            finally:
                place.close()
    for row in table:
        print("{:12}{:44}{}".format(*row))
    print(f"{len(failures)} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
