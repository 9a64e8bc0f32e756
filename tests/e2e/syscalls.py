# SPDX-License-Identifier: MIT
"""System calls of the real program fail, while it starts and while it runs.

Usage: syscalls.py GTEL MACHINE.tree [NAME...]     as root: device nodes, and strace -p

Writes the recorded machine as files, with three processes that use its first GPU, and lets the
kernel lie to `gtel --root FOLDER` and to its helpers with strace's injection. The first eleven
schedules are those under which other programs were tried: five from the start on, six in a program
that runs. Energy and the clients' work grow in real time, everything else stands.

In each schedule: faults happen; no process ends or hangs; every value in every answer is as in the
run without faults, so none is wrong and none is 0 for want of a reading; what is missing is reported in
a message that names the reason; everything is back soon after the last fault; the end of the input
ends the program with status 0.
"""

import concurrent.futures
import os
import re
import select
import stat
import subprocess
import sys
import tempfile
import threading
import time

import expand
import lines

GTEL, MACHINE = os.path.abspath(sys.argv[1]), sys.argv[2]
READ = "read,pread64"
OPEN = "openat,openat2"
ABSENT, EMPTY = "error=ENOENT", "Invalid argument|No data available"
# Name, [(calls, fault, when)], what is said of it (None: nothing is wrong then). Up to the call that
# is named behind `..` of each process; the helper that reads 8 GPUs starts with 1,800 openat.
AT_START = [
    ("eio", [(READ, "error=EIO", "200..900+50")], "Input/output error"),
    ("emfile", [(OPEN, "error=EMFILE", "300..1700+40")], "Too many open files"),
    ("enoent", [(OPEN, ABSENT, "300..1700+7")], None),
    # not `read`: an input that has ended ends the program
    ("empty", [("pread64", "retval=0", "150..900+10")], EMPTY),
    ("list", [("getdents64", "error=EIO", "5..270+5")], "Input/output error"),
    # beside the eleven; the first calls are the loader's of the C library, and a refused brk gives
    # an address
    ("early", [(OPEN, "error=EMFILE", "15..60+3")], "Too many open files"),
    ("memory", [("brk", "retval=0", "4..60+1"), ("mmap", "error=ENOMEM", "21..60+2")],
     "Cannot allocate memory"),
    ("signals", [("poll,ppoll,recvfrom", "error=EINTR", "2..60+3")], None),
    ("slow", [(READ, "delay_enter=20000", "100..400+20")], None),
]
# The same, each so often of the calls of each process of a running program.
RUNNING = [
    ("emfile", [(OPEN, "error=EMFILE", "3+5")], "Too many open files"),
    ("enoent", [(OPEN, ABSENT, "3+5")], None),
    ("eio", [(READ, "error=EIO", "5+20")], "Input/output error"),
    ("empty", [("pread64", "retval=0", "5+20")], EMPTY),
    ("list", [("getdents64", "error=EIO", "2+3")], "Input/output error"),
    ("stat", [("newfstatat,statx", "error=EACCES", "2+3")], "Permission denied"),
]
PAUSE = 0.3  # between two questions, and how often the program looks for GPUs
TIMEOUT = 10
WATTS = 100.0  # of each energy counter
SHARE = 0.5  # of the first GPU's render engine, by each of its clients
MOVING = {"power_watts", "watts", "energy_joules", "busy_percent", "busy_seconds", "render_busy_percent"}
FDINFO = """pos:\t0
flags:\t02100002
mnt_id:\t28
ino:\t412
drm-driver:\ti915
drm-client-id:\t{client}
drm-pdev:\t{gpu}
drm-total-local0:\t64 MiB
drm-resident-local0:\t64 MiB
drm-engine-render:\t{busy:015d} ns
drm-engine-copy:\t0 ns
"""


class Machine:
    """The recorded machine's first state as files; energy and work move in real time."""

    def __init__(self, folder, recording):
        self.folder = folder
        self.is_over = threading.Event()
        self.energy = [path for path in expand.expand(recording, folder) if "/energy" in path]
        first = os.readlink(os.path.join(folder, "sys/class/drm/card0/device"))
        self.gpu = os.path.basename(first)
        self.texts = [self.client(pid, 20 + pid) for pid in (5, 6, 7)]
        self.files = {p: os.open(p, os.O_WRONLY) for p in self.energy + [p for p, _ in self.texts]}
        self.began = time.monotonic()
        self.write()
        self.thread = threading.Thread(target=self.work)
        self.thread.start()

    def put(self, path, text):
        return expand.put(os.path.join(self.folder, path), text)

    def client(self, pid, client):
        """A process that has the GPU open: (path, text) of what the kernel says of its descriptor."""
        self.put(f"proc/{pid}/comm", "worker\n")
        self.put(f"proc/{pid}/stat", f"{pid} (worker) S 1 {pid} {pid} 0 -1 4194304 0 0 0 0 0 0 0 0 "
                 f"20 0 1 0 {9000 + pid} 9000000 800\n")
        os.makedirs(os.path.join(self.folder, f"proc/{pid}/fd"))
        os.mknod(os.path.join(self.folder, f"proc/{pid}/fd/3"), stat.S_IFCHR, os.makedev(226, 128))
        text = FDINFO.format(client=client, gpu=self.gpu, busy=0)
        return self.put(f"proc/{pid}/fdinfo/3", text), client

    def write(self):
        """Whole files in one call each, of the same length, into the files that the program has open."""
        seconds = time.monotonic() - self.began
        for path in self.energy:
            self.set(path, f"{int(1e9 + WATTS * 1e6 * seconds):012d}\n")
        for path, client in self.texts:
            busy = int(SHARE * 1e9 * seconds)
            self.set(path, FDINFO.format(client=client, gpu=self.gpu, busy=busy))

    def set(self, path, text):
        os.pwrite(self.files[path], text.encode(), 0)

    def work(self):
        while not self.is_over.wait(0.005):
            self.write()

    def end(self):
        self.is_over.set()
        self.thread.join()
        for file in self.files.values():
            os.close(file)


class Program:
    """The program, alone or below strace, and what it has answered."""

    def __init__(self, folder, log=None, schedule=None):
        command = [GTEL, "--root", folder, "--poll-interval-disabled"]
        # Calls below strace take their time: lanes get half of the interval, and a rate needs a tenth.
        command += ["--interval", "2500ms", "--deadline", "2s"]
        command += ["--rescan", f"{int(PAUSE * 1000)}ms", "--info-interval", "1h"]
        if schedule:
            command = strace(log, schedule) + ["--seccomp-bpf"] + command
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        self.answers = []  # (time, {(measurement, tags): fields})
        self.messages = b""
        self.problem = None
        threading.Thread(target=self.listen, daemon=True).start()

    def listen(self):
        for line in self.process.stderr:
            self.messages += line

    def ask(self):
        """One more answer. False when none comes."""
        time.sleep(PAUSE)
        try:
            os.write(self.process.stdin.fileno(), b"\n")
        except BrokenPipeError:
            self.problem = "the program has ended"
            return False
        out = self.process.stdout.fileno()
        text = b""
        until = time.monotonic() + TIMEOUT
        # the line about the program itself is the last one
        while not re.search(rb"^gtel .*\n\Z", text, re.M):
            ready = select.select([out], [], [], max(0, until - time.monotonic()))[0]
            more = os.read(out, 1 << 20) if ready else b""
            text += more
            if not more:
                self.problem = "no answer" if not ready else "the program has ended"
                return False
        found = {}
        for measurement, series in lines.points(text.decode()).items():
            for (tags, _), fields in series.items():
                found[(measurement, tags)] = fields
        self.answers.append((time.time(), found))
        return True

    def pids(self):
        """Of the program and its helpers."""
        pids = [self.process.pid]
        for pid in pids:
            try:
                with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
                    pids += [int(child) for child in file.read().split()]
            except OSError:
                pass
        return pids

    def end(self):
        """The end of its input. The exit status, or what is wrong."""
        try:
            self.process.stdin.close()
        except BrokenPipeError:
            pass
        try:
            return self.process.wait(TIMEOUT)
        except subprocess.TimeoutExpired:
            for pid in reversed(self.pids()):
                os.kill(pid, 9)
            self.process.wait()
            return "it does not end with its input"


def strace(log, schedule):
    faults = [f"inject={calls}:{fault}:when={when}" for calls, fault, when in schedule[1]]
    traced = ",".join(calls for calls, _, _ in schedule[1])  # no others, for they cost time
    command = ["strace", "-f", "-ttt", "-o", log, "-e", f"trace={traced}"]
    return command + [word for fault in faults for word in ("-e", fault)]


def flat(answer):
    """{(measurement, tags, field): value} of what an answer says about GPUs.

    A name that is not known yet is left away: what a GPU is called counts as a value of it.
    """
    found = {}
    for (measurement, tags), fields in answer.items():
        names = {f"the tag {k}": v for k, v in tags if k in ("vendor", "model", "driver")}
        tags = tuple((k, v) for k, v in tags if f"the tag {k}" not in names)
        for field, value in {**fields, **names}.items():
            if measurement not in ("gtel", "gpu_info") and field != "readings_failed":
                found[(measurement, tags, field)] = value
    return found


def is_right(key, value, clean):
    """Whether a value is as without faults."""
    measurement, tags, field = key
    want = clean[key]
    if field not in MOVING or want == 0:
        return value == want
    if field in ("energy_joules", "busy_seconds"):
        return value >= want  # they grow, and began before
    return abs(value - want) <= 0.45 * want  # a busy host moves the counters late


def wrong_values(answer, clean, is_absence):
    """Values that are no truth about the machine, as it looks when files are not there."""
    found = []
    for key, value in flat(answer).items():
        is_number = dict(key[1]).get("sensor", "").isdigit()
        if (key[2] == "up" and value == 0) or (is_absence and is_number):
            continue  # a GPU that answers nothing; a sensor without a label goes by its number
        if key not in clean:
            found.append(f"{key} = {value}: never there without faults")
        elif not is_right(key, value, clean):
            found.append(f"{key} = {value}, not {clean[key]}")
    return found


def faults_in(log):
    """[time] of the faults, and what ended by a signal."""
    with open(log, encoding="utf-8", errors="replace") as file:
        text = file.read()
    times = [float(t) for t in re.findall(r"^\d+ +(\d+\.\d+) .*\((?:INJECTED|DELAYED)\)$", text, re.M)]
    return times, re.findall(r"\+\+\+ killed by (\w+)", text)


def is_whole(answer, clean):
    return set(flat(answer)) >= set(clean)


def late_in(answers):
    """For each answer, whether a busy host, and not a fault, may be why values are missing."""
    counts = [answer[("gtel", ())]["lanes_late"] for _, answer in answers]
    return [now > before for before, now in zip([0] + counts, counts)]


def judge(name, program, schedule, log, clean, status):
    """What is wrong about a run."""
    problems = [program.problem] if program.problem else []
    times, killed = faults_in(log)
    last = program.answers[-1][0] if program.answers else 0
    times = [t for t in times if t < last]  # some happen while the program ends
    if not times:
        return problems + ["no fault happened: the schedule shows nothing"]
    problems += [f"killed by {signal}" for signal in killed]
    problems += [f"ends with status {status}"] if status != 0 else []
    is_absence = schedule[1][0][1] == ABSENT
    for _, answer in program.answers:
        problems += wrong_values(answer, clean, is_absence)[:3]
    after = [
        (t, is_whole(answer, clean))
        for (t, answer), is_late in zip(program.answers, late_in(program.answers))
        if t > times[-1] and (is_whole(answer, clean) or not is_late)
    ]
    missing = [t for t, answer in program.answers if not is_whole(answer, clean)]
    back = next((n for n, (_, whole) in enumerate(after, 1) if whole), None)
    # One look for GPUs, two questions for a rate; and a pause is no longer than the failure was.
    limit_s = PAUSE + 2 * (times[-1] - times[0])
    if back is None or (back > 4 and after[back - 1][0] - times[-1] > limit_s):
        problems.append(f"values are missing in {back or len(after)} answers after the last fault")
    messages = program.messages.decode(errors="replace")
    if schedule[2] and missing and not re.search(f"^[WE]! .*(?:{schedule[2]})", messages, re.M):
        problems.append(f"no message says {schedule[2]}: {messages[:400]}")
    print(f"{name}: {len(times)} faults, {len(missing)} of {len(program.answers)} answers lack values, "
          f"whole again in answer {back} after, {messages.count(chr(10))} messages, "
          f"{len(problems)} problems", flush=True)
    return problems


def run_at_start(folder, log, schedule, clean):
    program = Program(folder, log, schedule)
    ask_until_whole(program, log, clean)
    return judge(f"start-up, {schedule[0]}", program, schedule, log, clean, program.end())


def ask_until_whole(program, log, clean):
    """At least six answers, and until one is whole that came after the faults."""
    until = time.monotonic() + 20
    while program.ask() and (len(program.answers) < 16 or time.monotonic() < until):
        when, answer = program.answers[-1]
        times = faults_in(log)[0]
        if len(program.answers) >= 6 and is_whole(answer, clean) and (not times or when > times[-1]):
            break


def run_running(folder, log, schedule, clean):
    program = Program(folder)
    while program.ask() and not is_whole(program.answers[-1][1], clean):
        if len(program.answers) > 6:
            program.problem = "not whole before the faults"
            break
    pids = program.pids()
    attach = [word for pid in pids for word in ("-p", str(pid))]
    tracer = subprocess.Popen(strace(log, schedule) + attach, stderr=subprocess.PIPE)
    while tracer.poll() is None and b"attached" not in tracer.stderr.readline():
        pass
    for _ in range(5):
        program.ask()
    tracer.terminate()
    tracer.communicate(timeout=TIMEOUT)
    ask_until_whole(program, log, clean)
    same = program.pids() == pids
    problems = judge(f"running, {schedule[0]}", program, schedule, log, clean, program.end())
    return problems + ([] if same else ["a helper has ended and was started again"])


def without_openat2(folder):
    """No link would be kept in a folder then: what is wrong with how it is refused."""
    done = subprocess.run(
        ["strace", "-f", "-o", "/dev/null", "-e", "inject=openat2:error=ENOSYS", GTEL, "--once",
         "--root", folder], capture_output=True, check=False, timeout=TIMEOUT)
    is_refused = done.returncode == 2 and not done.stdout and b"--root FILE.tree" in done.stderr
    return [] if is_refused else [f"status {done.returncode}: {done.stderr.decode()}"]


def main():
    with tempfile.TemporaryDirectory() as scratch:
        folder = os.path.join(scratch, "machine")
        machine = Machine(folder, MACHINE)
        try:
            program = Program(folder)
            for _ in range(4):
                program.ask()
            status = program.end()
            clean = flat(program.answers[-1][1]) if program.answers else {}
            print(f"without faults: {len(clean)} values, status {status}", flush=True)
            power = [v for (_, _, field), v in clean.items() if field == "power_watts" and v]
            if status != 0 or len(clean) < 500 or not any(abs(v - WATTS) < 20 for v in power):
                sys.exit(f"the machine shows nothing: {program.problem} {program.messages} {power}")
            jobs = [(run_at_start, s) for s in AT_START] + [(run_running, s) for s in RUNNING]
            jobs = [job for job in jobs if not sys.argv[3:] or job[1][0] in sys.argv[3:]]
            with concurrent.futures.ThreadPoolExecutor(3) as pool:
                tasks = [
                    (run, schedule, pool.submit(run, folder, f"{scratch}/{n}.log", schedule, clean))
                    for n, (run, schedule) in enumerate(jobs)
                ]
                failed = False
                for problem in without_openat2(folder):
                    failed = True
                    print(f"without openat2: {problem}")
                for run, schedule, task in tasks:
                    for problem in task.result():
                        failed = True
                        print(f"{run.__name__} {schedule[:2]}: {problem}")
        finally:
            machine.end()
    print(f"{len(jobs)} schedules")
    sys.exit(1 if failed or not jobs else 0)


if __name__ == "__main__":
    main()
