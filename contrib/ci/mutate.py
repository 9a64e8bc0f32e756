# SPDX-License-Identifier: MIT
"""Builds random mutants of the code (mutants.py), one after the other, and runs the fast tests on each
until one fails. The checkout stays as it is: all happens in a copy in a scratch folder.

A mutant is killed by the compiler (warnings are errors), by a test that fails twice, or by one that
twice takes several times as long as without the mutant, the second time with more time by as much as
other work on the machine slows it down. What no test can notice does not count: it compiles to
the same machine code, or is listed, with the reason, in mutate.equivalent beside this file.

Fast are tests of up to 20 s, in the build with sanitizers: only they notice what is read or written
outside, or never freed. First all tests run once on code that writes down which of the functions to be
changed a test reaches: a mutant gets only those. Of these, what is quick, killed in that folder before or
mentions the module is first, and those of whole agents (e2e) are for what agents are near to. Tests run
in a process namespace (unshare): a mutant may kill every process that it finds, or leave one behind.
"""

import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import queue
import random
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

import mutants

TOP = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = ("common", "plugins")
NOT_FAST = "guest|bench"  # labels
# They compare the text of the code; known to be long.
NOT_TESTS = r"^check\.|^soak\.|_soak_long$|^e2e\.execd_slow$|^unit\.lane_lives$"
CONFIGURE = ["-G", "Ninja", "-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_C_FLAGS_DEBUG=-O0", "-DGTEL_WERROR=ON",
             "-DGTEL_TESTS=ON"]
# In a process namespace: no core files, 8 GiB of memory, of which sanitizers reserve more.
LIMITS = "ulimit -c 0; "
PLAIN = "ulimit -v 8388608; "
SANITIZED = "export ASAN_OPTIONS=hard_rss_limit_mb=8192; "
PROGRAM = "plugins/gtel"
BUILDING = 0.3  # seconds, of one test
NEAR_AGENTS = ("plugins/", "common/context.c", "common/host/", "common/lanes/", "common/sinks/")
SKIPPED = 77
WORTH_A_BUILD = 50  # mutants: for fewer, one build more takes longer than it saves
SURVIVED, COMPILER, EQUIVALENT = "SURVIVED", "the compiler", "equivalent"

# Writes down that the function of a mutant is reached, whatever happens to the process afterwards.
REACHED = """#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
static inline void mutate_reached(int number)
{
    static unsigned char *map;
    if (!map) {
        int file = open("%s", O_RDWR | O_CLOEXEC);
        map = mmap(0, %d, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        (void)close(file);
    }
    if (map != MAP_FAILED)
        map[number] = 1;
}
"""

# reached: indices of mutants
Test = collections.namedtuple("Test", "name command folder environment files about seconds reached")


def stop(text):
    sys.exit(f"mutate: {text}")


# Does 0.1 s of work and prints how many times as long that took.
WORK = """import time
start, used = time.monotonic(), time.process_time()
while time.process_time() - used < 0.1: pass
print((time.monotonic() - start) / 0.1)"""


def load():
    """How many times as long everything takes because of other work on this machine, in the last minute."""
    return max(1, os.getloadavg()[0] / os.cpu_count())


def slowness():
    """The same, and now."""
    now = subprocess.run([sys.executable, "-c", WORK], capture_output=True, text=True, check=True)
    return max(load(), float(now.stdout))


def namespace():
    """The beginning of a command. A shell ignores signals in what it starts in the background."""
    words = ["env", "--default-signal=HUP,INT,QUIT",
             "unshare", "--pid", "--fork", "--mount-proc", "--kill-child"]
    return words if os.geteuid() == 0 else words + ["--map-root-user"]


class Build:
    """A copy of the checkout and its build. One mutant at a time is in it."""

    def __init__(self, scratch, sanitize):
        self.code = scratch / "code"
        self.build = scratch / "build"
        shutil.copytree(TOP, self.code, ignore=shutil.ignore_patterns("build", ".git", "__pycache__"))
        os.environ.setdefault("CCACHE_BASEDIR", str(scratch.parent))
        self.must(["cmake", "-S", self.code, "-B", self.build, *CONFIGURE, f"-DGTEL_SANITIZE={sanitize}"])
        self.must(["ninja", "-C", self.build])
        known = self.must(["ninja", "-C", self.build, "-t", "targets", "all"])
        self.targets = {line.split(":")[0] for line in known.splitlines()}
        self.kills = collections.defaultdict(collections.Counter)  # of a folder, by test
        self.tests = []
        self.limits = LIMITS + (SANITIZED if sanitize else PLAIN)

    @staticmethod
    def must(command):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            stop(f"{' '.join(map(str, command))}:\n{done.stdout}{done.stderr}")
        return done.stdout

    def compiled(self):
        """Each object file and its source, relative to build and code."""
        for entry in json.loads((self.build / "compile_commands.json").read_text()):
            output = re.search(r" -o (\S+)", entry["command"]).group(1)
            yield output, os.path.relpath(entry["file"], self.code)

    def run(self, test, limit, before=""):
        """The exit status, or None for a test that took longer; and the seconds. before: shell commands."""
        command = [*namespace(), "sh", "-c", f'{before}{self.limits}"$@"; exit $?', "sh", *test.command]
        start = time.monotonic()
        with subprocess.Popen(command, cwd=test.folder, start_new_session=True,
                              env=os.environ | test.environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            try:
                status = process.wait(limit)
            except subprocess.TimeoutExpired:
                process.kill()
                status = None
        return status, time.monotonic() - start

    def programs(self, command):
        """What of this build a command runs: files, or all in a folder, that it has as words."""
        found = set()
        for word in re.findall(re.escape(str(self.build)) + r"/([^\s;,=\"']+)", " ".join(command)):
            found.update(t for t in self.targets if t == word or t.startswith(word + "/"))
        return sorted(f for f in found if (self.build / f).is_file() and not f.endswith(".o"))

    def list_tests(self):
        """All that run something of this build; what they are about is the text of their sources."""
        listed = json.loads(self.must(["ctest", "--test-dir", self.build, "--show-only=json-v1",
                                       "-LE", NOT_FAST, "-E", NOT_TESTS]))["tests"]
        sources = collections.defaultdict(list)
        for output, source in self.compiled():
            if source.startswith("tests/"):
                sources[output.split(".dir/")[0].split("/")[-1]].append(source)
        for item in listed:
            properties = {p["name"]: p["value"] for p in item.get("properties", [])}
            files = self.programs(item["command"])
            if not files or properties.get("DISABLED"):
                continue
            about = "".join((self.code / s).read_text(errors="replace")
                            for f in files for s in sources[os.path.basename(f)])
            yield Test(item["name"], item["command"], properties.get("WORKING_DIRECTORY"),
                       dict(e.split("=", 1) for e in properties.get("ENVIRONMENT", [])), files, about, 0, set())

    def write_marks(self, drawn):
        """Changes the copy so that it writes down what is reached, and returns the file for that."""
        reached = self.code.parent / "reached"
        reached.write_bytes(bytes(len(drawn)))
        reached.chmod(0o666)
        header = self.code.parent / "reached.h"
        header.write_text(REACHED % (reached, len(drawn)))
        for path in {m.path for m in drawn}:
            text = (self.code / path).read_text()
            marks = [(m.body, i) for i, m in enumerate(drawn) if m.path == path]
            for body, i in sorted(marks, reverse=True):
                text = f"{text[:body]} mutate_reached({i});{text[body:]}"
            (self.code / path).write_text(f'#include "{header}"\n{text}')
        return reached

    def measure(self, drawn, longest, jobs):
        """Keeps the tests that take at most that long and pass, and what they reach. Several run side by
        side: each in a namespace in which the file for the marks is another one."""
        original = {m.path: (self.code / m.path).read_text() for m in drawn}
        reached = self.write_marks(drawn)
        self.must(["ninja", "-C", self.build])
        unclear = []  # fail, because of the marks perhaps

        def measure_one(number, test):
            own = reached.with_suffix(f".{number}")
            shutil.copy(reached, own)
            status, seconds = self.run(test, longest * load(), f"mount --bind '{own}' '{reached}'; ")
            if status == 0:
                found = {i for i, byte in enumerate(own.read_bytes()) if byte}
                self.tests.append(test._replace(seconds=seconds, reached=found))
            elif status not in (None, SKIPPED):
                unclear.append(test)
            own.unlink()

        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            list(pool.map(lambda numbered: measure_one(*numbered), enumerate(self.list_tests())))
        for path, text in original.items():
            (self.code / path).write_text(text)
        self.must(["ninja", "-C", self.build])
        for test in unclear:
            status, seconds = self.run(test, longest * load())
            if status not in (0, None, SKIPPED):
                print(f"{test.name} fails without a mutant and is not used", flush=True)
            if status == 0:
                self.tests.append(test._replace(seconds=seconds, reached=set(range(len(drawn)))))

    def adopt(self, other):
        """The tests of another build, here."""
        known = {t.name: t for t in other.tests}
        self.tests = [t._replace(seconds=known[t.name].seconds, reached=known[t.name].reached)
                      for t in self.list_tests() if t.name in known]

    def in_order(self, number, mutant):
        """The tests that reach it, the quick and likely ones first."""
        folder, name = os.path.split(mutant.path)
        stem, near = name[:-2], os.path.basename(folder)

        def rank(test):
            words = set(re.split(r"[._-]", test.name))
            mentioned = f'"{near}/{stem}.h"' in test.about or f"gtel_{stem}_" in test.about
            likely = 3 * (stem in words or stem in test.name) + 2 * mentioned + (near in words)
            return (test.seconds + BUILDING) / (1 + likely + self.kills[folder][test.name]) ** 2

        is_near = mutant.path.startswith(NEAR_AGENTS)
        return sorted((t for t in self.tests
                       if number in t.reached and (is_near or not t.name.startswith("e2e."))), key=rank)

    def compiles(self, files):
        return subprocess.run(["ninja", "-C", self.build, *files], check=False, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL).returncode == 0

    def run_twice(self, test):
        """As run; what fails, or takes too long, does so twice."""
        limit = max(5, min(10 * test.seconds, 20), 4 * test.seconds)
        status, _ = self.run(test, limit)
        if status != 0:
            status, _ = self.run(test, limit * max(2, slowness()))
        return status

    def killer(self, number, mutant):
        """Who notices what is in the copy now."""
        if not self.compiles([PROGRAM]):
            return COMPILER
        for test in self.in_order(number, mutant):
            if not self.compiles(test.files):
                return COMPILER
            status = self.run_twice(test)
            if status != 0:
                self.kills[os.path.dirname(mutant.path)][test.name] += 1
                return test.name if status is not None else f"{test.name} (time-out)"
        return SURVIVED

    def machine_code(self, path):
        """What the optimizing compiler makes of a file."""
        entry = next(e for e in json.loads((self.build / "compile_commands.json").read_text())
                     if os.path.relpath(e["file"], self.code) == path)
        command = shlex.split(entry["command"])
        output = self.code.parent / "same.o"
        command[command.index("-o") + 1] = str(output)
        self.must(["env", "-C", entry["directory"], *command, "-O2", "-g0", "-Wno-error"])
        return output.read_bytes()

    def judge(self, number, mutant):
        file = self.code / mutant.path
        text = file.read_text()
        code = None
        file.write_text(text[:mutant.start] + mutant.new + text[mutant.end:])
        try:
            verdict = self.killer(number, mutant)
            if verdict == SURVIVED:
                code = self.machine_code(mutant.path)
        finally:
            file.write_text(text)
        return EQUIVALENT if code is not None and code == self.machine_code(mutant.path) else verdict


def equivalents(code):
    """What mutate.equivalent lists: lines that begin with a blank give the reason."""
    lines = (code / "contrib/ci/mutate.equivalent").read_text().splitlines()
    return {line for line in lines if line and line[0] not in " #"}


def draw(args, build):
    """The mutants to judge: of a log the survivors, else of each line at most one."""
    found = [m for path in sorted({source for _, source in build.compiled()})
             if path.startswith(FOLDERS) and path.startswith(tuple(args.only))
             for m in mutants.mutants(path, (build.code / path).read_text())]
    if args.again:
        names = set(re.findall(rf"^(\S+?):\d+: (.*): {SURVIVED}$", args.again.read_text(), re.M))
        return [m for m in found if (m.path, f"{m.before} -> {m.after}") in names]
    random.Random(args.seed).shuffle(found)
    by_line = {(m.path, m.line): m for m in reversed(found)}
    return [m for m in found if by_line[m.path, m.line] is m][:args.count]


def print_row(mutant, verdict):
    print(f"{mutant.path}:{mutant.line}: {mutant.before} -> {mutant.after}: {verdict}", flush=True)


def percent(verdicts):
    counted = [v for v in verdicts if v != EQUIVALENT]
    killed = [v for v in counted if v != SURVIVED]
    compiled = [v for v in counted if v != COMPILER]
    by_tests = [v for v in compiled if v != SURVIVED]
    text = f"{len(killed)} of {len(counted)} killed, {100 * len(killed) / max(1, len(counted)):.1f} %"
    return text + (f"; of the {len(compiled)} that compile {len(by_tests)}, "
                   f"{100 * len(by_tests) / max(1, len(compiled)):.1f} %")


def print_scores(results, seconds):
    folders = collections.defaultdict(list)
    for mutant, verdict in results:
        folders["/".join(mutant.path.split("/")[:2])].append(verdict)
    print()
    for folder in sorted(folders):
        print(f"{folder:20} {percent(folders[folder])}")
    verdicts = [v for _, v in results]
    print(f"{'all':20} {percent(verdicts)}")
    print(f"{len(results)} mutants, {verdicts.count(EQUIVALENT)} equivalent, {verdicts.count(SURVIVED)} "
          f"survived, {seconds / max(1, len(results)):.1f} s for each")


def judge_all(builds, drawn, known):
    free = queue.Queue()
    for build in builds:
        free.put(build)

    def judge(number, mutant):
        if str(mutant) in known:
            return mutant, EQUIVALENT
        build = free.get()
        try:
            verdict = build.judge(number, mutant)
        finally:
            free.put(build)
        print_row(mutant, verdict)
        return mutant, verdict

    with concurrent.futures.ThreadPoolExecutor(len(builds)) as pool:
        return list(pool.map(judge, range(len(drawn)), drawn))


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--only", action="append", metavar="PATH", help="of these files or folders")
    parser.add_argument("--jobs", type=int, default=1, help="tests, then builds, side by side")
    parser.add_argument("--longest", type=float, default=20, metavar="SECONDS",
                        help="of a fast test")
    parser.add_argument("--again", type=pathlib.Path, metavar="LOG", help="the survivors of that run")
    parser.add_argument("--sanitize", default="address,undefined", metavar="NAMES",
                        help="as GTEL_SANITIZE; empty: none, which is faster")
    parser.add_argument("--list", action="store_true", help="only show the mutants")
    args = parser.parse_args()
    args.only = args.only or FOLDERS
    return args


def main():
    args = arguments()
    with tempfile.TemporaryDirectory(prefix="mutate.") as folder:
        build = Build(pathlib.Path(folder) / "1", args.sanitize)
        drawn = draw(args, build)
        if args.list or not drawn:
            for mutant in drawn:
                print_row(mutant, "not run")
            return
        os.chmod(folder, 0o755)  # some tests give up root
        build.measure(drawn, args.longest, args.jobs)
        print(f"{len(build.tests)} tests, {sum(t.seconds for t in build.tests):.0f} s", flush=True)
        builds = [build]
        for number in range(1, min(args.jobs, len(drawn) // WORTH_A_BUILD + 1)):
            builds.append(Build(pathlib.Path(folder) / str(number + 1), args.sanitize))
            builds[-1].adopt(build)
        start = time.monotonic()
        results = judge_all(builds, drawn, equivalents(build.code))
        seconds = (time.monotonic() - start) * len(builds)
    print("\nIn the order of the code:")
    for mutant, verdict in sorted(results):
        print_row(mutant, verdict)
    print_scores(results, seconds)


if __name__ == "__main__":
    main()
