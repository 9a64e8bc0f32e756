#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The packages: built twice, inspected, installed, upgraded, removed and purged in small Debians.

    packages.py --source DIR --root FILE.tar... [--telegraf FILE] [--launcher PROGRAM]
    packages.py --source DIR --build DIR ARCHITECTURE

The first needs root, since dpkg's files belong to it; nothing outside a scratch folder is written.
FILE.tar is a Debian with collectd (need_package_roots in contrib/ci/setup.sh). The second inspects
what a finished build for another architecture gives.
"""
import argparse
import concurrent.futures
import glob
import hashlib
import io
import os
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import time

import expand

NAMES = ("collectd-gtel", "gtel", "telegraf-gtel")
PLUGINS = ("gpu_amd", "gpu_clients", "gpu_drm", "gpu_intel", "gpu_nvml")
EPOCH = "1700000000"
OLDER = "0.0.9"
LIBRARIES = {"libc.so.6", "libm.so.6", "libdrm.so.2", "libyajl.so.2"}
MACHINES = {"amd64": "X86-64", "arm64": "AArch64", "armhf": "ARM"}
AGENTS = {"collectd": "/etc/collectd/collectd.conf.d", "telegraf": "/etc/telegraf/telegraf.d"}
# What dpkg and ldconfig keep for themselves.
THEIRS = ("var/lib/dpkg/", "var/cache/", "var/log/", "etc/ld.so.cache", "tmp/", "dev/", "proc/")
TELEGRAF_CONF = """[agent]
  interval = "1s"
  flush_interval = "1s"
[[inputs.socket_listener]]
  service_address = "unix:///tmp/socket"
[[outputs.file]]
  files = ["/tmp/telegraf.lp"]
"""
# Of Debian's own file: without a network, without what its plugins for the rest of a host need.
COLLECTD_CONF = """FQDNLookup false
LoadPlugin csv
<Plugin csv>
  DataDir "/tmp/csv"
</Plugin>
<Include "/etc/collectd/collectd.conf.d">
  Filter "*.conf"
</Include>
"""
# Instead of this machine's GPUs.
MACHINE_CONF = """<Plugin gpu_intel>
  Root "/machine"
</Plugin>
"""
failures = []
checks = 0


def check(is_ok, what):
    global checks
    checks += 1
    if not is_ok:
        failures.append(what)
        print(f"  failed: {what}", flush=True)
    return is_ok


def output(*command, **options):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors="replace", check=False, **options)
    return done.returncode, done.stdout


def must(*command, **options):
    code, text = output(*command, **options)
    if code != 0:
        print(text[-6000:])
        sys.exit(f"exit status {code}: {' '.join(command)}")
    return text


def cpack(folder, launcher):
    """The packages of the sources in a folder."""
    env = dict(os.environ, SOURCE_DATE_EPOCH=EPOCH, CMAKE_C_COMPILER_LAUNCHER=launcher)
    shutil.rmtree(os.path.join(folder, "build/package/packages"), ignore_errors=True)
    must("cmake", "--preset", "package", cwd=folder, env=env)
    must("cpack", "--preset", "package", cwd=folder, env=env)
    return packages_in(os.path.join(folder, "build/package/packages"))


def packages_in(folder):
    return (sorted(glob.glob(os.path.join(folder, "*.deb"))),
            sorted(glob.glob(os.path.join(folder, "*.tar.gz"))))


def build(source, folder, launcher):
    """The packages of a copy of the sources in a folder."""
    for name in ("common", "plugins", "contrib"):
        shutil.copytree(os.path.join(source, name), os.path.join(folder, name))
    for name in ("CMakeLists.txt", "CMakePresets.json", "CHANGELOG.md", "LICENSE", "SECURITY.md"):
        shutil.copy(os.path.join(source, name), folder)
    return cpack(folder, launcher)


def build_older(folder, launcher):
    """The same as an older version, with another configuration."""
    edit(os.path.join(folder, "CMakeLists.txt"), r"(project\(gtel VERSION )[0-9.]+",
         r"\g<1>" + OLDER)
    for name in ("plugins/execd/gpu.conf", "plugins/collectd/gpu.conf"):
        edit(os.path.join(folder, name), r"\A", "# older\n")
    return cpack(folder, launcher)


def edit(path, pattern, new):
    with open(path, encoding="utf-8") as file:
        text, count = re.subn(pattern, new, file.read(), count=1)
    check(count == 1, f"{path} has {pattern}")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def digest(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def contents(deb):
    """The paths of a package, with mode and owner."""
    listed = {}
    for line in must("dpkg-deb", "-c", deb).splitlines():
        mode, owner, _, _, _, path = line.split(None, 5)
        listed[path.lstrip(".")] = (mode, owner)
    return listed


def check_contents(debs):
    want = {
        "gtel": ["/usr/bin/gtel", "/usr/share/man/man1/gtel.1.gz",
                 "/usr/share/man/man5/gtel.tree.5.gz", "/usr/share/doc/gtel/changelog.gz",
                 "/usr/share/gtel/dashboards/telegraf-prometheus.conf",
                 "/usr/share/gtel/dashboards/vmui/host.json",
                 "/usr/share/gtel/dashboards/alerts/prometheus.yml"],
        "telegraf-gtel": ["/usr/share/telegraf-gtel/gpu.conf"] + [
            f"/usr/lib/systemd/system/telegraf.service.d/{n}.conf"
            for n in ("gtel", "gtel-processes")],
        "collectd-gtel": [f"/usr/lib/collectd/{p}.so" for p in PLUGINS] + [
            "/usr/share/collectd-gtel/gpu.conf", "/usr/share/man/man5/collectd-gtel.5.gz"],
    }
    owned = {}
    for name, deb in debs.items():
        listed = contents(deb)
        want[name] += [f"/usr/share/doc/{name}/{n}" for n in ("copyright", "changelog.Debian.gz")]
        for path in want[name]:
            check(path in listed, f"{name} has {path}")
        for path, (mode, owner) in listed.items():
            check(owner == "root/root", f"{name}: {path} belongs to root")
            check(mode[5] != "w" and mode[8] != "w" and "s" not in mode,
                  f"{name}: {path} is {mode}")
            check(not path.startswith(("/etc", "/var")), f"{name} brings nothing like {path}")
            if not path.endswith("/"):
                check(owned.setdefault(path, name) == name, f"{path} is in one package")
        control = must("dpkg-deb", "--ctrl-tarfile", deb, encoding="latin-1")
        check("conffiles" not in control, f"{name} has no conffiles")


def by_name(debs):
    named = {os.path.basename(path).split("_")[0]: path for path in debs}
    check(tuple(sorted(named)) == NAMES, f"three packages: {sorted(named)}")
    return named


def check_dependencies(debs, architecture):
    """The C library and the two libraries by name: dpkg-shlibdeps has known all of them."""
    for name in ("gtel", "collectd-gtel"):
        fields = must("dpkg-deb", "-f", debs[name], "Architecture", "Depends")
        check(f"Architecture: {architecture}\n" in fields, f"{name}: {fields}")
        for library in ("libc6 (>= ", "libdrm2 (>= ", "libyajl2 (>= "):
            check(library in fields, f"{name} depends on {library}: {fields}")


def check_lintian(debs):
    code, text = output("lintian", "--allow-root", "--fail-on", "error,warning",
                        "--suppress-tags", "initial-upload-closes-no-bugs", *debs)
    check(code == 0, f"lintian: {text}")


def check_tarball(path, debs):
    """One archive of the same programs, without owners and without what is Debian's."""
    want = {"gtel": "usr/bin/gtel", "collectd-gtel": "usr/lib/collectd/gpu_intel.so",
            "telegraf-gtel": "usr/share/telegraf-gtel/gpu.conf"}
    with tarfile.open(path) as archive:
        top = os.path.basename(path)[:-len(".tar.gz")]
        for name, file in want.items():
            mine = hashlib.sha256(archive.extractfile(f"{top}/{file}").read()).hexdigest()
            listed = subprocess.run(["dpkg-deb", "--fsys-tarfile", debs[name]], check=True,
                                    stdout=subprocess.PIPE).stdout
            with tarfile.open(fileobj=io.BytesIO(listed)) as deb:
                theirs = hashlib.sha256(deb.extractfile(f"./{file}").read()).hexdigest()
            check(mine == theirs, f"{file} is the same in {name}")
        for entry in archive.getmembers():
            check(entry.uid == 0 and entry.gid == 0 and entry.mtime == int(EPOCH),
                  f"{entry.name}: owner {entry.uid}, time {entry.mtime}")
            check(not entry.name.endswith("changelog.Debian.gz"), f"{entry.name} is Debian's")


def check_hardening(folder, debs, architecture, names):
    files = []
    for name, deb in debs.items():
        must("dpkg-deb", "-x", deb, os.path.join(folder, name))
    files = glob.glob(f"{folder}/collectd-gtel/usr/lib/collectd/*.so")
    check(len(files) == len(PLUGINS), f"{len(files)} plugins")
    for path in files + [f"{folder}/gtel/usr/bin/gtel"]:
        text = must("readelf", "-W", "-h", "-l", "-d", "-S", "--dyn-syms", path)
        name = os.path.basename(path)
        check(re.search(rf"Machine:.*{MACHINES[architecture]}", text),
              f"{name} is for {architecture}")
        check(re.search(r"Type:\s+DYN", text), f"{name} is position independent")
        check("BIND_NOW" in text, f"{name} resolves its symbols at the start")
        check("GNU_RELRO" in text, f"{name} has read-only relocations")
        check(re.search(r"GNU_STACK.* RW ", text), f"{name} has a stack without code")
        check("__stack_chk_fail" in text, f"{name} has stack protection")
        check(re.search(r"__\w+_chk@", text), f"{name} has checked calls")
        check("RPATH" not in text and "RUNPATH" not in text, f"{name} has no path for libraries")
        check(".symtab" not in text and ".debug" not in text, f"{name} is stripped")
        needed = set(re.findall(r"\(NEEDED\).*\[(.*)\]", text))
        needed = {library for library in needed if not library.startswith("ld-linux")}
        check(needed <= LIBRARIES, f"{name} needs {needed}")
        with open(path, "rb") as file:
            bytes_of = file.read()
        for place in names:
            check(place.encode() not in bytes_of, f"{name} has no path of the build")


class Root:
    """A Debian in a folder; commands run in it without other processes and without a network."""

    def __init__(self, folder, tar):
        self.folder = folder
        os.mkdir(folder)
        must("tar", "-x", "-f", tar, "-C", folder, "--numeric-owner", "--xattrs")
        os.makedirs(self.path("debs"))

    def path(self, name):
        return os.path.join(self.folder, name.lstrip("/"))

    def read(self, name):
        try:
            with open(self.path(name), encoding="utf-8", errors="replace") as file:
                return file.read()
        except OSError:
            return ""

    def read_linked(self, name):
        """Of a file behind a link, which is meant for the root."""
        return self.read(os.readlink(self.path(name)))

    def write(self, name, text):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)

    def command(self, *words):
        return ["unshare", "-m", "-p", "-n", "-f", "--kill-child", f"--root={self.folder}",
                "--wd=/", "--mount-proc", "/usr/bin/env", "-i", "LC_ALL=C", "HOME=/root",
                "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "DEBIAN_FRONTEND=noninteractive", *words]

    def run(self, *words):
        return output(*self.command(*words), stdin=subprocess.DEVNULL, timeout=120)

    def dpkg(self, *words):
        code, text = self.run("dpkg", *words)
        check(code == 0, f"dpkg {' '.join(words)}: {text}")
        return text

    def stays(self, what, condition, *words):
        """Runs an agent until condition, 3 s at least, and ends it; its status and what it says."""
        start = time.monotonic()
        with open(self.path("tmp/agent.log"), "w", encoding="utf-8") as log:
            agent = subprocess.Popen(self.command("sh", "-c", '"$@" & p=$!; trap "kill $p" TERM; '
                                                  'wait $p || wait $p', "sh", *words),
                                     stdin=subprocess.DEVNULL, stdout=log, stderr=log)
            while agent.poll() is None and time.monotonic() < start + 40 and (
                    time.monotonic() < start + 3 or not condition()):
                time.sleep(0.1)
            is_running = agent.poll() is None
            if is_running:
                # The shell, the first process in there, ends the agent and waits for it.
                children = output("pgrep", "-P", str(agent.pid))[1].split()
                for child in children:
                    os.kill(int(child), signal.SIGTERM)
            try:
                code = agent.wait(30)
            except subprocess.TimeoutExpired:
                agent.kill()
                code = agent.wait()
        said = self.read("tmp/agent.log")
        check(is_running, f"{what}: the agent stays: {said[-2000:]}")
        check(condition(), f"{what}: the values that are expected: {said[-2000:]}")
        check(code == 0, f"{what}: exit status {code}: {said[-1000:]}")
        return said

    def files(self):
        """Everything below the folder but what belongs to dpkg."""
        found = set()
        for path, folders, names in os.walk(self.folder):
            for name in folders + names:
                full = os.path.relpath(os.path.join(path, name), self.folder)
                if not (full + "/").startswith(THEIRS):
                    found.add(full)
        return found


def run_collectd(root, what, is_with):
    shutil.rmtree(root.path("tmp/csv"), ignore_errors=True)
    machine = f"{AGENTS['collectd']}/machine.conf"
    root.write(machine, MACHINE_CONF if is_with else "")

    def condition():
        return bool(glob.glob(root.path("tmp/csv/*/gpu_intel-*/*"))) == is_with
    said = root.stays(f"collectd {what}", condition, "collectd", "-f")
    check("Could not find plugin" not in said and "stat" not in said, f"collectd {what}: {said}")


def run_telegraf(root, what, is_with):
    root.write("tmp/telegraf.lp", "")
    for name in glob.glob(root.path("tmp/socket")):
        os.remove(name)

    def condition():
        return ("gtel," in root.read("tmp/telegraf.lp")) == is_with
    root.stays(f"telegraf {what}", condition, "telegraf", "--config", "/etc/telegraf/telegraf.conf",
               "--config-directory", AGENTS["telegraf"])


def prepare_agents(root, args):
    """Configurations of the agents; returns {agent: function that runs it}."""
    conf = root.read("etc/collectd/collectd.conf")
    include = COLLECTD_CONF[COLLECTD_CONF.index("<Include"):]
    check(include.split() == re.search(r"^<Include .*?^</Include>", conf, re.M | re.S)[0].split(),
          "collectd reads the folder, as the test does")
    root.write("etc/collectd/collectd.conf", COLLECTD_CONF)
    root.write(f"{AGENTS['collectd']}/machine.conf", "")
    expand.expand(os.path.join(args.source, "tests/fixtures/xe-b580.tree"), root.path("machine"))
    runs = {"collectd": run_collectd}
    if args.telegraf:
        shutil.copy(args.telegraf, root.path("usr/bin/telegraf"))
        root.write("etc/telegraf/telegraf.conf", TELEGRAF_CONF)
        os.mkdir(root.path(AGENTS["telegraf"]))
        runs["telegraf"] = run_telegraf
    return runs


def spy_on_restarts(root):
    """For the packages systemd runs; a restart becomes a line, with the state of Telegraf's drop-in."""
    os.makedirs(root.path("run/systemd/system"), exist_ok=True)
    path = "usr/bin/deb-systemd-invoke"
    root.write(path, """#!/bin/sh
drop_in=gone
[ ! -e /usr/lib/systemd/system/telegraf.service.d/gtel.conf ] || drop_in=there
echo "$* $drop_in" >>/tmp/restarts
""")
    os.chmod(root.path(path), 0o755)


def walk(root, runs):
    """Install, run, remove, run, install, purge."""
    spy_on_restarts(root)
    before = root.files()
    root.dpkg("-i", "/debs/gtel.deb")
    version = root.run("gtel", "--version")
    check(version[0] == 0 and version[1].startswith("gtel "), f"gtel --version: {version}")
    check(root.run("gtel", "--once")[0] == 0, "gtel --once")
    for agent in AGENTS:
        walk_agent(root, agent, runs.get(agent))
    walk_upgrade(root, runs)
    root.dpkg("-r", *NAMES)
    for agent, run in runs.items():
        run(root, "after all were removed", False)
    root.dpkg("-P", *NAMES)
    check(root.files() == before, f"purge leaves {sorted(root.files() ^ before)}")


def walk_agent(root, agent, run):
    package = f"{agent}-gtel"
    link = f"{AGENTS[agent]}/gpu.conf"
    target = f"/usr/share/{package}/gpu.conf"
    is_there = run is not None
    root.dpkg("-i", f"/debs/{package}.deb")
    check(os.readlink(root.path(link)) == target, f"{link} leads to {target}")
    check("/usr/local" not in root.read(target), f"{target} names the installed program")
    if is_there:
        run(root, "with the package", True)
    root.write("tmp/restarts", "")
    root.dpkg("-r", package)
    restarts = [f"try-restart {agent}.service {'there' if agent == 'telegraf' else 'gone'}",
                f"try-restart {agent}.service gone"]  # without the program, then without its rights
    check(root.read("tmp/restarts").splitlines() == restarts, f"{package}: {root.read('tmp/restarts')}")
    check(not os.path.lexists(root.path(link)), f"{link} goes with the package")
    if is_there:
        check(os.path.isdir(root.path(AGENTS[agent])), f"{agent}'s folder stays")
        run(root, "after remove", False)
    # The administrator's own file, and one that he has deleted.
    root.dpkg("-i", f"/debs/{package}.deb")
    os.remove(root.path(link))
    root.dpkg("-i", f"/debs/{package}.deb")
    check(not os.path.lexists(root.path(link)), f"{link}: an upgrade does not bring it back")
    root.write(link, "# mine\n")
    root.dpkg("-i", f"/debs/{package}.deb")
    check(root.read(link) == "# mine\n", f"{link}: an upgrade keeps the own file")
    root.dpkg("-r", package)
    check(not os.path.lexists(root.path(link)) and root.read(link + ".removed") == "# mine\n",
          f"{link}: the own file is put aside")
    root.dpkg("-i", f"/debs/{package}.deb")
    check(root.read(link) == "# mine\n", f"{link}: the own file is back")
    root.dpkg("-P", package)
    check(not os.path.lexists(root.path(link + ".removed")), f"{link}.removed goes with purge")


def walk_upgrade(root, runs):
    """From an older version: a link leads to the new configuration, an own file stays as it is."""
    links = {agent: f"{folder}/gpu.conf" for agent, folder in AGENTS.items()}
    root.dpkg("-i", *(f"/debs/older/{name}.deb" for name in NAMES))
    version = root.run("gtel", "--version")[1]
    check(f"gtel {OLDER}" in version, f"the older version: {version}")
    for link in links.values():
        check(root.read_linked(link).startswith("# older\n"), f"{link}: the older configuration")
    own = root.read_linked(links["telegraf"]) + "# mine\n"
    os.remove(root.path(links["telegraf"]))
    root.write(links["telegraf"], own)
    for run in runs.values():
        run(root, "with the older version", True)
    root.dpkg("-i", *(f"/debs/{name}.deb" for name in NAMES))
    version = root.run("gtel", "--version")[1]
    check(OLDER not in version and version.startswith("gtel "), f"the new version: {version}")
    new = root.read_linked(links["collectd"])
    check(new and "# older" not in new, "collectd's link leads to the new configuration")
    check(root.read(links["telegraf"]) == own, "Telegraf's own file stays")
    for run in runs.values():
        run(root, "after the upgrade", True)


def walk_all(args, scratch, debs, older):
    def one(n, tar):
        root = Root(os.path.join(scratch, f"root{n}"), tar)
        for folder, named in (("debs", debs), ("debs/older", older)):
            os.makedirs(root.path(folder), exist_ok=True)
            for name, path in named.items():
                shutil.copy(path, root.path(f"{folder}/{name}.deb"))
        walk(root, prepare_agents(root, args))
    # They wait most of the time.
    with concurrent.futures.ThreadPoolExecutor() as pool:
        for done in [pool.submit(one, n, tar) for n, tar in enumerate(args.root)]:
            done.result()


def inspect(build, architecture, source):
    """The packages of a finished build."""
    with tempfile.TemporaryDirectory(prefix="gtel-packages-") as scratch:
        must("cpack", "--config", os.path.join(build, "CPackConfig.cmake"), "-B", scratch,
             cwd=scratch, env=dict(os.environ, SOURCE_DATE_EPOCH=EPOCH))
        debs, tarballs = packages_in(scratch)
        named = by_name(debs)
        check_contents(named)
        check_dependencies(named, architecture)
        check_hardening(scratch, named, architecture, (source, build))
        check(len(tarballs) == 1, f"one tarball: {tarballs}")
        check_tarball(tarballs[0], named)
        check_lintian(debs)


def build_and_walk(args):
    with tempfile.TemporaryDirectory(prefix="gtel-packages-") as scratch:
        other = os.path.join(scratch, "another/place/tree")
        first, tarballs = build(args.source, os.path.join(scratch, "one"), args.launcher)
        second, more = build(args.source, other, args.launcher)
        check(len(tarballs) == len(more) == 1, f"a tarball: {tarballs}")
        for a, b in zip(first + tarballs, second + more):
            check(digest(a) == digest(b), f"the same bytes twice: {os.path.basename(a)}")
        debs = by_name(first)
        check_contents(debs)
        check_hardening(scratch, debs, "amd64", (scratch,))
        check_dependencies(debs, "amd64")
        check_tarball(tarballs[0], debs)
        check_lintian(first)
        walk_all(args, scratch, debs, by_name(build_older(other, args.launcher)[0]))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--source", required=True)
    parser.add_argument("--root", action="append")
    parser.add_argument("--telegraf", default="")
    parser.add_argument("--launcher", default="")
    parser.add_argument("--build", nargs=2)
    args = parser.parse_args()
    if args.build:
        inspect(*args.build, args.source)
    else:
        build_and_walk(args)
    print(f"{checks} checks, {len(failures)} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
