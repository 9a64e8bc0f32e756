# SPDX-License-Identifier: MIT
"""What a capture gives away of a machine full of secrets, and that it still plays.

    capture_secrets.py PROGRAM FIXTURES OUT

Two machines are made from a recorded one. On the first, secrets stand in every place that a capture
writes: none of them may be anywhere in its file. On the second, users are called like words of the
kernel: the captured machine says what the original says.
"""

import os
import re
import subprocess
import sys

# Secrets, as a reader of a bug report would search for them, in any case.
SECRETS = [
    "rack17", "node4", "acme", "example", "maria", "jose", "annalena", "48213", "50017", "jsmith",
    "1a2b3c4d5e6f", "7881ed9e", "ac55a08ae939", "00112233", "aabbccddeeff", "89abcdef01234567",
    "00:1b:21", "0a:ff:e0", "10.20.30.41", "fe80::21b", "secret project", "otto", "ukb7", "00412345",
    "9a3f1c20b7d4e611", "4c4c4544", "customer", "zebralab",
    "yardstick", "vasquez", "export", "fileserver", "192.0.2.7", "katharina", "token", "/srv",
    "alphaville", "mustermann", "zanzibar", "xavier",
]
KEPT = "wombat-job"  # an account of each Windows is no secret
OF_STARTER = ["brandt", "kowalski", "nguyen", "atlas07"]
OF_HOMES = ["zacharias", "quentin"]
# Each of another file.
OF_HOSTS = ["rack17", "tangerine", "seahorse"]
SECRETS += OF_HOMES + OF_HOSTS[1:]
SECRETS += OF_STARTER
# Who started the program, of whom nothing else of the machine says.
ENVIRON = b"HOME=/\0USER=brandt\0LOGNAME=kowalski\0SUDO_USER=nguyen\0HOSTNAME=atlas07\0"
HEAD = """file proc/sys/kernel/osrelease
| 6.12.9-jsmith-rack17-node4-g1a2b3c4d5e6f
file proc/sys/kernel/hostname
| Rack17-Node4
file proc/sys/kernel/domainname
| tangerine
file etc/hostname
| seahorse.hpc.acme.example.org
file etc/resolv.conf
| nameserver 10.0.0.1
|
| search hpc.acme.example.org zebralab.test
| domain zanzibar.test
| options wombat
file etc/passwd
| root:x:0:0:root:/root:/bin/bash
| maria:x:48213:48213:Maria:/home/maria:/bin/bash
| jose:x:50017:50017:Jose:/home/jose:/bin/zsh
file windows/system
| User: NT AUTHORITY\\wombat
| User: YARDSTICK\\vasquez
| User: xavier
| Name: wombat
dir home/annalena
dir home/quentin
dir home/zacharias
binary proc/self/environ
|""" + "".join(f" 1:{byte}" for byte in ENVIRON) + "\n"
# Lines behind the name of a file in the fixture, and the one to be replaced in it.
COMMS = ["maria-train", "xJOSEx", "rack17_node4", "annalena", "00:1b:21:0a:ff:e0", "10.20.30.41",
         "otto@acme.invalid", "wlxaabbccddeeff", "brandt", "kowalski-1", "nguyen", "atlas07",
         "zebralab.test", "quentin-job", "zacharias", "tangerine", "seahorse-sim",
         "zanzibar", "xavier-job", "vasquez-job", KEPT]
CGROUPS = [
    "0::/user.slice/user-48213.slice/user@48213.service/maria.scope",
    "0::/kubepods/burstable/pod7881ed9e-c63e-4425-b5e0-ac55a08ae939/"
    "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
    "0::/lxc.payload.customer/system.slice/jose.service",
    "0::/machine.slice/machine-customer.scope/7881ED9EC63E4425B5E0AC55A08AE939",
]
# Of each process, for the name of its container.
MOUNTS = """| 21 1 0:52 / / rw - overlay overlay rw,lowerdir=/srv/acme/layers
| 22 21 0:53 / /data rw - nfs4 fileserver:/export/acme rw,addr=192.0.2.7
| 23 21 0:54 / /mnt rw - cifs //fileserver/acme rw,username=katharina
| 24 21 0:55 / /run/secrets/otto-token ro - tmpfs tmpfs rw
| 25 21 8:1 /srv/acme/pods/7881ed9e-c63e-4425-b5e0-ac55a08ae939/containers/trainer/5d8a1f2c /dev/acme-log rw
"""
CLIENTS = ["Secret Project (Otto)", "00-1B-21-0A-FF-E0", "fe80::21b:21ff:fe0a:ffe0", "maria",
           "job=alphaville Mustermann"]
TAGS = ("--process-tags", "container,pod")
PLAY = ("--isolation", "none", "--stepped", "--interval", "1s", "--count", "3")
NAMES = """file etc/hostname
| card0
file proc/sys/kernel/hostname
| gpu
file etc/passwd
"""
WORDS = ["max", "ras", "drm", "card", "pci", "render", "energy", "temp", "fan", "hwmon", "xe", "pmu",
         "engine", "device", "uevent", "cur", "act", "freq", "vendor", "proc", "fdinfo", "memory",
         "abe", "ada", "dad", "bea", "cafe", "name", "label", "input", "total", "class", "sys"]


def run(*words, status=(0,)):
    """What the program writes to standard output."""
    done = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)
    if done.returncode not in status:
        sys.exit(f"{' '.join(words)}: exit status {done.returncode}\n{done.stderr}")
    return done.stdout


def capture(program, path, *words, **options):
    """A file of an earlier run would not be replaced."""
    if os.path.exists(path):
        os.remove(path)
    run(program, "capture", path, *words, **options)


def insert(text, head):
    """head before the first entry of a recorded machine; what it names is removed from there."""
    for path in re.findall(r"^file (\S+)", head, re.M):
        text = re.sub(rf"^file {re.escape(path)}\n(\|.*\n)*", "", text, flags=re.M)
    lines = text.splitlines(keepends=True)
    at = next(i for i, line in enumerate(lines) if not line.startswith(("#", "wall")))
    return "".join(lines[:at]) + head + "".join(lines[at:])


def replace_contents(text, pattern, contents):
    """The first line of the n-th file that matches becomes the n-th of contents, then again."""
    count = 0

    def change(match):
        nonlocal count
        count += 1
        return f"{match[1]}| {contents[(count - 1) % len(contents)]}\n"

    return re.sub(rf"^(file {pattern}\n)\|.*\n", change, text, flags=re.M)


def add_clients(text):
    """A name for each client of a GPU."""
    names = iter(CLIENTS * 100)
    return re.sub(r"^(\| drm-driver:.*\n)", lambda m: f"{m[1]}| drm-client-name:\t{next(names)}\n",
                  text, flags=re.M)


def add_mounts(text):
    """What is mounted for each process."""
    return re.sub(r"^(file proc/\d+/)cgroup\n(?:\|.*\n)*", lambda m: f"{m[0]}{m[1]}mountinfo\n{MOUNTS}",
                  text, flags=re.M)


def rename_processes(text, comms):
    """Names of processes in proc/N/stat, "N (name) S …"."""
    names = iter(comms * 100)
    return re.sub(r"^(\| \d+ \()[^)]*(\) S)", lambda m: f"{m[1]}{next(names)}{m[2]}", text,
                  flags=re.M)


def values(output):
    """Lines of line protocol that are not about processes, without what names the kernel."""
    lines = [line for line in output.splitlines() if not line.startswith("gpu_process,")]
    return [re.sub(r'kernel="[^"]*",?', "", line) for line in lines]


def check_secrets(program, source, out, comms):
    """None of the secrets is in the file, and the values are the same. Returns those that were there."""
    text = insert(source, HEAD)
    text = replace_contents(text, r"proc/\d+/comm", comms)
    text = replace_contents(text, r"proc/\d+/cgroup", CGROUPS)
    text = rename_processes(add_clients(add_mounts(text)), comms)
    with open(f"{out}.secrets.tree", "w", encoding="utf-8") as file:
        file.write(text)
    there = [s for s in SECRETS if s in text.lower()]
    capture(program, f"{out}.clean.tree", "--root", f"{out}.secrets.tree", "--interval", "1s",
            *TAGS)
    with open(f"{out}.clean.tree", encoding="utf-8") as file:
        clean = file.read()
    found = [s for s in SECRETS if s in clean.lower()]
    if found:
        sys.exit(f"{out}.clean.tree has {found} of {there}")
    if re.search("(?:[vx]user|host)[0-9]+-job", clean):
        sys.exit(f"{out}.clean.tree has a user's first letter, or takes one for a host")
    if values(run(program, *PLAY, *TAGS, "--root", f"{out}.secrets.tree")) != \
            values(run(program, *PLAY, *TAGS, "--root", f"{out}.clean.tree")):
        sys.exit(f"{out}.clean.tree says something else than {out}.secrets.tree")
    return there + [KEPT] * (KEPT in clean)


def check_words(program, source, out):
    """Users with names of the kernel's words change nothing."""
    users = "".join(f"| {word}:x:{1001 + i}:100::/:/bin/sh\n" for i, word in enumerate(WORDS))
    with open(f"{out}.words.tree", "w", encoding="utf-8") as file:
        file.write(insert(source, NAMES + users))
    capture(program, f"{out}.played.tree", "--root", f"{out}.words.tree", "--interval", "1s")
    before = run(program, *PLAY, "--root", f"{out}.words.tree")
    if not before or before != run(program, *PLAY, "--root", f"{out}.played.tree"):
        sys.exit(f"{out}.played.tree says something else than {out}.words.tree")


def check_long(program, out):
    """A list of users that does not fit is an error, not a list that ends early."""
    for size, status in ((4 << 20, 1), ((4 << 20) - 1, 0)):
        os.makedirs(f"{out}.root/etc", exist_ok=True)
        with open(f"{out}.root/etc/passwd", "w", encoding="utf-8") as file:
            file.write("#" * (size - 1) + "\n")
        capture(program, f"{out}.long.tree", "--root", f"{out}.root", "--interval", "1s",
                status=(status,))


def main():
    """All machines."""
    program, fixtures, out = sys.argv[1:]
    seen = set()
    for name in ("clients-xe", "clients-i915"):
        with open(f"{fixtures}/{name}.tree", encoding="utf-8") as file:
            source = file.read()
        for first in range(0, len(COMMS), 4):  # there are only so many processes
            seen.update(check_secrets(program, source, f"{out}-{name}", COMMS[first:] + COMMS[:first]))
    if "container=trainer," not in run(program, *PLAY, *TAGS, "--root", f"{out}-clients-i915.clean.tree"):
        sys.exit("the name of a container is not in the record")
    print(len(seen), "secrets")
    wanted = OF_STARTER + OF_HOSTS + ["zanzibar", "xavier", "vasquez", KEPT]
    if not seen.issuperset(wanted):
        sys.exit(f"nowhere: {set(wanted) - seen}")
    check_long(program, out)
    for name in ("clients-xe", "xe-b580", "i915-a770", "clients-amdgpu-6.14", "xe-ras", "intel-12"):
        with open(f"{fixtures}/{name}.tree", encoding="utf-8") as file:
            check_words(program, file.read(), f"{out}-{name}")


main()
