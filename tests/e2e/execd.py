#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The program as Telegraf drives it: through pipes, signals and the end of its input.

Usage: execd.py GTEL SOURCE_DIR [slow] [NAME...]. Without names all tests of the chosen kind run.
Needs no GPU: the machine is a recorded one without any.
"""

import fcntl
import os
import re
import resource
import select
import signal
import subprocess
import sys
import tempfile
import threading
import time

GTEL = sys.argv[1]
SOURCE = sys.argv[2]
LINE = re.compile(
    r"^[a-z_]+(,[a-z_]+=([^,= \\]|\\[,= ])+)* "
    r"[a-z_]+=(-?\d+i|-?\d+(\.\d+)?(e[+-]\d+)?|\"([^\"\\]|\\.)*\")"
    r"(,[a-z_]+=(-?\d+i|-?\d+(\.\d+)?(e[+-]\d+)?|\"([^\"\\]|\\.)*\"))* \d{19}$")
F_SETPIPE_SZ = 1031
TIMEOUT = 20
failures = []


def check(condition, what):
    """Notes a failure and goes on."""
    if not condition:
        failures.append(what)
        print(f"failed: {what}", flush=True)
    return condition


def empty_machine():
    """Written aside and renamed: threads that come at the same time all see a whole file."""
    path = os.path.join(SCRATCH.name, "empty.tree")
    if not os.path.exists(path):
        with tempfile.NamedTemporaryFile("w", dir=SCRATCH.name, delete=False) as file:
            file.write("# a machine without a GPU\nend\n")
        os.replace(file.name, path)
    return path


def start(*arguments, **keywords):
    keywords.setdefault("stdin", subprocess.PIPE)
    keywords.setdefault("stdout", subprocess.PIPE)
    keywords.setdefault("stderr", subprocess.PIPE)
    return subprocess.Popen([GTEL, "--root", empty_machine(), *arguments], **keywords)


def run(*arguments, text=b""):
    """The whole program with a given input, or none at all. Returns status, lines, messages."""
    given = {"stdin": subprocess.DEVNULL} if text is None else {"input": text}
    done = subprocess.run([GTEL, *arguments], capture_output=True, timeout=TIMEOUT, check=False,
                          **given)
    return done.returncode, done.stdout.decode().splitlines(), done.stderr.decode()


def end(process, what):
    """Closes the input and collects what is left. The program must end by itself with status 0."""
    began = time.monotonic()
    try:
        out, messages = process.communicate(timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        process.kill()
        out, messages = process.communicate()
        check(False, f"{what}: does not end")
    check(time.monotonic() - began < 5, f"{what}: ends within 5 s")
    check(process.returncode == 0, f"{what}: status {process.returncode}, {messages!r}")
    return out, messages


def read_line(process, timeout=5.0):
    """One line, or None; unbuffered, so that select sees what is there."""
    line = b""
    until = time.monotonic() + timeout
    while not line.endswith(b"\n"):
        ready, _, _ = select.select([process.stdout], [], [], max(0, until - time.monotonic()))
        if not ready:
            return None
        byte = os.read(process.stdout.fileno(), 1)
        if not byte:
            return None
        line += byte
    return line


def newline(process, count=1):
    os.write(process.stdin.fileno(), b"\n" * count)


def check_lines(lines, what):
    for line in lines:
        check(LINE.match(line), f"{what}: no sound line: {line!r}")


def test_trigger():
    process = start()
    time.sleep(0.1)
    check(not select.select([process.stdout], [], [], 0.5)[0], "trigger: silent until asked")
    for _ in range(3):
        newline(process)
        line = read_line(process)
        check(line is not None and line.startswith(b"gtel "), f"trigger: an answer, {line!r}")
    out, messages = end(process, "trigger")
    check(out == b"", f"trigger: nothing unasked, {out!r}")
    check(messages.count(b"no GPU") == 1, f"trigger: says once that there is no GPU, {messages!r}")
    check(messages.startswith(b"W! "), "trigger: a warning")


def test_first_has_rates():
    began = time.monotonic()
    process = start()
    newline(process)
    check(read_line(process) is not None, "first: an answer")
    waited = time.monotonic() - began
    check(0.25 <= waited < 2, f"first: waits for rates, {waited}")
    end(process, "first")


def test_newlines_are_one_request():
    process = start()
    newline(process, 5000)
    check(read_line(process) is not None, "coalesce: an answer")
    out, _ = end(process, "coalesce")
    check(out.count(b"\n") <= 1, f"coalesce: at most one more, {out.count(10)}")


def lose_nothing(runs):
    def one():
        status, lines, _ = run("--root", empty_machine(), text=b"\n")
        check(status == 0 and len(lines) == 1, f"loss: one line and status 0, {status} {lines}")
        check_lines(lines, "loss")
    for _ in range(runs // 10):
        threads = [threading.Thread(target=one) for _ in range(10)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()


def test_end_answers_what_was_asked():
    lose_nothing(20)


def slow_end_answers_what_was_asked():
    lose_nothing(100)


def test_reader_gets_all_before_the_end():
    """A reader as Telegraf's: what is in the pipe when the program ends is lost."""
    for _ in range(10):
        reading, writing = os.pipe()
        process = start(stdout=writing)
        os.close(writing)
        newline(process)
        process.stdin.close()
        got = b""
        while process.poll() is None:
            if select.select([reading], [], [], 0.01)[0]:
                got += os.read(reading, 7)
        os.close(reading)
        check(got.endswith(b"\n") and got.count(b"\n") == 1, f"drain: the whole line, {got!r}")
        process.stderr.close()


def test_end_without_a_request():
    status, lines, messages = run("--root", empty_machine())
    check((status, lines) == (0, []), f"end: nothing asked, nothing said, {status} {lines}")
    check(messages == "", f"end: quiet, {messages!r}")


def test_closed_output_ends():
    process = start()
    newline(process)
    read_line(process)
    process.stdout.close()
    process.stdout = None
    try:
        process.wait(5)
    except subprocess.TimeoutExpired:
        check(False, "closed output: ends by itself")
        process.kill()
    check(process.wait() == 0, f"closed output: status {process.returncode}")
    process.stdin.close()
    process.stderr.close()


def test_no_output_at_all():
    done = subprocess.run(["/bin/sh", "-c", 'exec "$0" --root "$1" >&-', GTEL, empty_machine()],
                          stdin=subprocess.PIPE, stderr=subprocess.PIPE, timeout=TIMEOUT,
                          check=False)
    check(done.returncode == 0, f"no output: status {done.returncode}")


def test_full_pipe():
    """Nobody reads for a while: newlines queue up and are answered once; nothing is cut."""
    process = start("--interval", "100ms")
    fcntl.fcntl(process.stdout.fileno(), F_SETPIPE_SZ, 4096)
    time.sleep(1.5)
    newline(process, 1000)
    time.sleep(0.2)
    out, _ = end(process, "full pipe")
    lines = out.decode().splitlines()
    check(out.endswith(b"\n") and 1 <= len(lines) < 60, f"full pipe: {len(lines)} lines")
    check_lines(lines, "full pipe")


def slow_end_with_a_full_pipe():
    """The reader never reads again: the end is bounded all the same."""
    for way in ("eof", "term"):
        process = start("--interval", "100ms")
        fcntl.fcntl(process.stdout.fileno(), F_SETPIPE_SZ, 4096)
        time.sleep(1.0)
        began = time.monotonic()
        if way == "eof":
            process.stdin.close()
        else:
            process.send_signal(signal.SIGTERM)
        try:
            check(process.wait(5) == 0, f"stuck, {way}: status {process.returncode}")
        except subprocess.TimeoutExpired:
            check(False, f"stuck, {way}: ends")
            process.kill()
        check(time.monotonic() - began < 4, f"stuck, {way}: within 4 s")
        process.stdout.close()
        process.stderr.close()
        if way == "term":
            process.stdin.close()
        process.wait()


def slow_reader():
    process = start("--interval", "100ms")
    fcntl.fcntl(process.stdout.fileno(), F_SETPIPE_SZ, 4096)
    got = b""
    for _ in range(6):
        got += os.read(process.stdout.fileno(), 1)
        time.sleep(1)
    out, _ = end(process, "slow reader")
    lines = (got + out).decode().splitlines()
    check(len(lines) >= 1 and (got + out).endswith(b"\n"), "slow reader: whole lines")
    check_lines(lines, "slow reader")


def test_signals():
    for number in (signal.SIGTERM, signal.SIGINT):
        process = start()
        newline(process)
        check(read_line(process) is not None, "signal: an answer")
        process.send_signal(number)
        try:
            check(process.wait(2) == 0, f"signal {number}: status {process.returncode}")
        except subprocess.TimeoutExpired:
            check(False, f"signal {number}: ends")
            process.kill()
        end(process, f"signal {number}")
    process = start()
    newline(process)
    read_line(process)
    process.send_signal(signal.SIGUSR1)
    check(read_line(process) is not None, "SIGUSR1: an answer")
    end(process, "SIGUSR1")


def test_once():
    began = time.monotonic()
    with tempfile.TemporaryDirectory(dir=SCRATCH.name) as folder:
        status, lines, _ = run("--root", folder, "--once")
    check(status == 0 and len(lines) == 1, f"once: one line, {status} {lines}")
    check(0.5 <= time.monotonic() - began < 3, "once: two samples half a second apart")
    check_lines(lines, "once")
    began = time.monotonic()
    twice = [run("--root", fixture("xe-b580.tree"), "--once")[1] for _ in range(2)]
    check(time.monotonic() - began < 0.5, "once: a recorded machine is not waited for")
    check(twice[0] == twice[1] and "power_watts=145," in twice[0][0],
          f"once: a second of its time, the same each time, {twice[0][:1]}")


def shares(lines):
    """The busy values of all engines and processes, by line."""
    return {re.split(r"(?<!\\) ", line, maxsplit=1)[0]: re.findall(r"\b[a-z_]*busy_percent=[^, ]+", line) for line in lines
            if line.startswith(("gpu,", "gpu_engine,", "gpu_process,"))}


def test_once_recorded():
    """A single reading of recorded counters spans whole recorded intervals, as each gather does."""
    for name, of_line, want in (("clients-i915", "process=gnome-shell", "render_busy_percent=12"),
                                ("clients-panfrost", "process=kodi.bin", "render_busy_percent=22"),
                                ("clients-amdgpu-6.14", "process=python3", "compute_busy_percent=95"),
                                ("clients-amdgpu-video", "engine=encode", "busy_percent=80")):
        tree = fixture(f"{name}.tree")
        short = os.path.join(SCRATCH.name, "short.tree")  # with one interval
        with open(tree, encoding="utf-8") as source, open(short, "w", encoding="utf-8") as file:
            file.write(source.read().partition("at 2s\n")[0] + "end\n")
        for path, count in ((tree, 2), (short, 1)):
            once = shares(run("--root", path, "--once")[1])
            _, lines, _ = run("--root", path, "--stepped", "--interval=1s", f"--count={count}")
            begin = max(i for i in range(len(lines)) if i == 0 or lines[i - 1].startswith("gtel "))
            check(once == shares(lines[begin:]), f"once, {name}, {count}: {once}")
            check(any(of_line in head and want in once[head] for head in once),
                  f"once, {name}, {count}: {want}, {once}")


def test_count_and_clock():
    began = time.monotonic()
    done = subprocess.run([GTEL, "--root", empty_machine(), "--interval=200ms", "--count=4"],
                          stdin=subprocess.DEVNULL, capture_output=True, timeout=TIMEOUT,
                          check=False)
    lines = done.stdout.decode().splitlines()
    check(done.returncode == 0 and len(lines) == 4, f"count: four lines, {lines}")
    check(0.6 <= time.monotonic() - began < 2, "count: at 0, 200, 400 and 600 ms")
    times = [int(line.split()[-1]) for line in lines]
    steps = [(after - before) / 1e6 for before, after in zip(times, times[1:])]
    check(all(100 < step < 300 for step in steps), f"clock: steps in ms {steps}")


def test_clock_after_a_stall():
    """A program that was stopped does not make up for the ticks that it missed."""
    process = start("--interval", "100ms")
    check(read_line(process, 2) is not None, "stall: the first gather comes immediately")
    process.send_signal(signal.SIGSTOP)
    time.sleep(1)
    process.send_signal(signal.SIGCONT)
    time.sleep(0.35)
    out, _ = end(process, "stall")
    check(1 <= out.count(b"\n") <= 6, f"stall: no burst, {out.count(10)} lines")


def test_clock_and_newlines():
    """An interval in the file of --config beside signal = "STDIN": both gather, which is logged."""
    process = start("--config", scratch_file("both.conf", 'interval = "1h"\n'))
    for asks in range(3):
        check(read_line(process) is not None, f"both: the clock's gather and two more, {asks}")
        if asks < 2:
            newline(process)
    _, messages = end(process, "both")
    check(messages.count(b"--interval") == 1 and messages.count(b"signal") == 1,
          f"both: logged once, naming both, {messages!r}")
    process = start("--interval=1h")
    check(read_line(process) is not None, "a signal: the clock's gather")
    process.send_signal(signal.SIGUSR1)
    check(read_line(process) is not None, "a signal: one more")
    _, messages = end(process, "a signal")
    check(messages.count(b"--interval") == 0, f"a signal: nothing to log, {messages!r}")


def test_stepped():
    arguments = ("--root", empty_machine(), "--isolation", "none", "--stepped", "--interval", "1s",
                 "--count", "3")
    first = run(*arguments)
    times = [line.split()[-1] for line in first[1]]
    check(times == [f"17672256{n:02d}000000000" for n in (1, 2, 3)], f"stepped: {times}")
    check(first[:2] == run(*arguments)[:2], "stepped: the same again")


def test_explain():
    status, lines, _ = run("--root", empty_machine(), "--explain")
    check(status == 0 and lines[0] == "gtel", f"explain: {status} {lines[:1]}")
    check(any(re.match(r"  gpus +0i +gtel: ", line) for line in lines), f"explain: {lines}")


BAD = [
    (["--nonsense"], ["--nonsense", "--help"]),
    (["--interval", "soon"], ["--interval", "'soon'", "100ms to 1h"]),
    (["--interval=1ms"], ["--interval", "'1ms'", "100ms to 1h"]),
    (["--wake", "sometimes"], ["--wake", "'sometimes'", "never,always"]),
    (["--isolation=some"], ["--isolation", "'some'", "process,none"]),
    (["--count", "0"], ["--count", "'0'", "1 or more"]),
    (["--count"], ["--count", "needs a value"]),
    (["--once=1"], ["--once", "no value"]),
    (["now"], ["'now'", "not an option"]),
    (["--stepped"], ["--stepped", "--root FILE.tree"]),
    (["--stepped", "--root", "/"], ["--stepped", "--root FILE.tree"]),
    (["--root", "/nonexistent"], ["/nonexistent", "No such file"]),
    (["--sources", "nosuch"], ["--sources: 'nosuch' is no source", "--list-sources"]),
    (["--config", "/nonexistent"], ["/nonexistent", "No such file"]),
    (["--lane", "kernel"], ["--lane"]),
    (["--bad\nname\x1b[31m"], ["--bad"]),
]


def test_bad_options():
    for arguments, words in BAD:
        status, lines, messages = run(*arguments)
        what = f"bad {arguments}: {status} {messages!r}"
        check(status == 2 and lines == [], what)
        check(messages.startswith("E! ") and messages.count("\n") == 1, what)
        check(all(word in messages for word in words), what)
        check("\x1b" not in messages and len(messages) <= 500, what)


def scratch_file(name, text):
    path = os.path.join(SCRATCH.name, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def test_bad_files():
    cut = scratch_file("cut.tree", "file a/b\n| 1\n")
    status, _, messages = run("--root", cut, "--once")
    check(status == 2 and "line 2" in messages and "cut" in messages, f"cut tree: {messages!r}")
    half = scratch_file("half.tree", "file a/b\n| 1\nlink sys/class/drm/card0/device -")
    status, _, messages = run("--root", half, "--once")
    check(status == 2 and "line 3" in messages and "cut" in messages, f"half tree: {messages!r}")
    odd = scratch_file("odd.tree", "file a\n\nnonsense here\nend\n")
    status, _, messages = run("--root", odd, "--once")
    check(status == 2 and "line 3" in messages, f"odd tree: {messages!r}")
    config = scratch_file("bad.conf", "# mine\n\nspeed = 3\n")
    status, _, messages = run("--config", config, "--once")
    check(status == 2 and f"{config}:3: unknown option: " in messages, f"config: {messages!r}")


def test_sources_of_other_drivers():
    """--sources that was left over from another machine: the messages name it as a reason."""
    tree = fixture("xe-b580.tree")
    for words, is_named in (([], False), (["--sources", "nvml"], True)):
        status, lines, _ = run("doctor", "--root", tree, *words)
        text = " ".join(" ".join(lines).split())
        check(("no source in the option Sources reads it" in text) == is_named and
              ("No GPU was found that a source in the option Sources reads." in text) == is_named and
              ("fix. Try without the option Sources (--sources)." in text) == is_named,
              f"doctor {words}: {status}, {text}")
    _, _, messages = run("--once", "--root", tree, "--sources", "nvml")
    check("no GPU found by the sources in the option Sources: " in messages, f"gather: {messages!r}")


def test_sample_config():
    """The commands in Telegraf's sample, and the configuration file in the documents."""
    with open(os.path.join(SOURCE, "plugins/execd/gpu.conf"), encoding="utf-8") as file:
        sample = file.read()
    commands = re.findall(r"(?m)^ *(?:# )?command = (\[.*\])$", sample)
    check(len(commands) == 3, f"sample: commands {commands}")
    for command in commands:
        words = re.findall(r'"([^"]*)"', command)
        status, _, messages = run(*words[1:], "--version")
        check(status == 0, f"sample {command}: {messages!r}")
    with open(os.path.join(SOURCE, "plugins/execd/README.md"), encoding="utf-8") as file:
        readme = file.read()
    shown = sample[sample.index("[[inputs.execd]]"):]
    check(shown in readme, "sample: the README shows it as it is")
    with open(os.path.join(SOURCE, "contrib/docs/options.md"), encoding="utf-8") as file:
        blocks = re.findall(r"(?s)```toml\n([^`]*inputs\.gtel[^`]*)```", file.read())
    check(len(blocks) == 1, "options.md: one configuration file")
    # Also with every optional setting in force: their defaults must be good values.
    for text in blocks + [re.sub(r"(?m)^( *)# ([a-z_]+ = )", r"\1\2", block) for block in blocks]:
        path = scratch_file("sample.conf", text)
        status, _, messages = run("--config", path, "--version")
        check(status == 0, f"options.md's file: {messages!r}")


def test_lists():
    status, lines, _ = run("--list-metrics")
    with open(os.path.join(SOURCE, "common/tables/catalogue.def"), encoding="utf-8") as file:
        text = file.read()
    fields = re.findall(r"GTEL_METRIC\(\s*[A-Z_0-9]+,\s*[A-Z_]+,\s*\"([a-z_0-9]+)\"", text)
    listed = [line.split("`")[1] for line in lines if line.startswith("| `")]
    check(status == 0 and listed == fields and len(fields) > 50, "--list-metrics: the catalogue")
    status, lines, _ = run("--list-sources")
    check(status == 0 and lines[0].startswith("| source |"), "--list-sources")
    status, lines, _ = run("--list-options")
    check(status == 0 and any("`--interval`" in line for line in lines), "--list-options")
    status, lines, _ = run("--list-options-collectd")
    check(status == 0 and any("`Helper`" in line for line in lines), "--list-options-collectd")
    status, lines, _ = run("--version")
    check(status == 0 and re.match(r"gtel \d+\.\d+\.\d+$", lines[0]), "--version")
    status, lines, _ = run("--help")
    check(status == 0 and lines[0].startswith("Usage: gtel"), "--help")


def test_messages_do_not_block():
    """Nobody reads the messages and their pipe is full: the output comes all the same."""
    reading, writing = os.pipe()
    fcntl.fcntl(writing, F_SETPIPE_SZ, 4096)
    os.write(writing, b"x" * 4096)
    process = start(stderr=writing)
    os.close(writing)
    newline(process)
    check(read_line(process) is not None, "messages: an answer")
    end(process, "messages")
    os.close(reading)


def fixture(name):
    return os.path.join(SOURCE, "tests/fixtures", name)


def open_files(pid):
    """How many files a process may open: the soft and the hard limit."""
    with open(f"/proc/{pid}/limits", encoding="ascii") as file:
        return re.search(r"(?m)^Max open files +(\d+|unlimited) +(\d+|unlimited)", file.read()).groups()


def test_helper_may_open_files():
    process = subprocess.Popen(
        [GTEL, "--root", fixture("i915-a770.tree")], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (256, 2048)))
    newline(process)
    check(read_line(process) is not None, "limit: an answer")
    with open(f"/proc/{process.pid}/task/{process.pid}/children", encoding="ascii") as file:
        helpers = file.read().split()
    limits = [open_files(helper) for helper in helpers]
    check(len(limits) > 0 and all(limit == ("2048", "2048") for limit in limits), f"limit: {limits}")
    check(open_files(process.pid) == ("256", "2048"), "limit: the program keeps its own")
    end(process, "limit")


def shape(line):
    """What a line is about and the names of its fields, without the values."""
    identity, fields = re.match(r"(.*?[^\\]) (.*)", line).groups()
    names = re.findall(r"(?:^|,)([a-z_0-9]+)=", fields)
    return identity, set(names)


def test_readme_example():
    for path, machine in (("contrib/docs/processes.md", "clients-i915.tree"),
                          ("plugins/execd/README.md", "i915-a770.tree")):
        with open(os.path.join(SOURCE, path), encoding="utf-8") as file:
            texts = re.findall(r"begin example -->\n```text\n(.*?)```", file.read(), re.DOTALL)
        check(len(texts) == 1, f"{path}: {len(texts)} examples")
        _, lines, _ = run("--root", fixture(machine), "--isolation", "none", "--stepped",
                          "--interval", "1s", "--count", "2")
        real = {}
        for identity, names in map(shape, lines):
            real[identity] = real.get(identity, set()) | names
        for line in texts[0].splitlines():
            identity, names = shape(line)
            check(names <= real.get(identity, set()), f"{path}'s example: {line}")
            check(LINE.match(line), f"{path}'s example: {line}")


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
        return [int(word) for word in file.read().split()]


def is_running(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def start_on(name, *arguments):
    return subprocess.Popen([GTEL, "--root", fixture(name), *arguments], stdin=subprocess.PIPE,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def read_gather(process, timeout=5.0):
    """The lines up to that about the program itself, which comes last."""
    lines = []
    while not lines or not lines[-1].startswith("gtel"):
        line = read_line(process, timeout)
        if line is None:
            return lines
        lines.append(line.decode().rstrip("\n"))
    return lines


def gpu_lines(lines):
    return [line for line in lines if line.startswith("gpu,")]


def test_helper_gives_the_same():
    """In a helper process and inside the program: the same lines but for values."""
    inside = run("--root", fixture("xe-b580.tree"), "--once", "--isolation=none")
    helper = run("--root", fixture("xe-b580.tree"), "--interval=300ms", "--count=3", text=None)
    check(inside[0] == 0 and helper[0] == 0, "helper: status 0")
    check_lines(helper[1], "helper")
    shapes = [{shape(line)[0] for line in done[1]} for done in (inside, helper)]
    check(len(shapes[0]) > 5 and shapes[0] == shapes[1], f"helper: the same lines {shapes}")
    check(helper[2] == "", f"helper: quiet, {helper[2]!r}")
    check("power_watts=" in "".join(helper[1]), "helper: rates immediately")


def test_end_waits_for_a_helper():
    """As telegraf --test: a newline and the end of the input, before any helper has started."""
    process = start_on("xe-b580.tree")
    newline(process)
    out, messages = end(process, "test mode")
    check(b"power_watts=" in out, f"test mode: rates, {out!r}")
    check(messages == b"", f"test mode: quiet, {messages!r}")


def test_helper_dies():
    process = start_on("xe-b580.tree")
    newline(process)
    check(gpu_lines(read_gather(process)), "dead helper: values before")
    helpers = children(process.pid)
    check(len(helpers) >= 1, "dead helper: there is one")
    for pid in helpers:
        os.kill(pid, signal.SIGKILL)
    back = None
    for request in range(8):
        newline(process)
        lines = read_gather(process)
        check(lines and lines[-1].startswith("gtel"), "dead helper: an answer all the same")
        if len(gpu_lines(lines)) > 0 and "power_watts" in "".join(gpu_lines(lines)):
            back = request
            break
        time.sleep(0.1)
    check(back is not None, "dead helper: values again")
    helpers += children(process.pid)
    _, messages = end(process, "dead helper")
    check(1 <= messages.count(b"\n") <= 3, f"dead helper: said once each, {messages!r}")
    check(not any(is_running(pid) for pid in helpers), "dead helper: none is left")


def test_helper_hangs():
    """A helper that does not answer costs its values and nothing else."""
    process = start_on("xe-b580.tree")
    newline(process)
    check(gpu_lines(read_gather(process)), "hung helper: values before")
    helpers = children(process.pid)
    for pid in helpers:
        os.kill(pid, signal.SIGSTOP)
    began = time.monotonic()
    newline(process)
    lines = read_gather(process)
    check(lines and lines[-1].startswith("gtel"), "hung helper: an answer all the same")
    check(time.monotonic() - began < 1.5, "hung helper: after the deadline")
    check("lanes_late=1i" in lines[-1], f"hung helper: counted, {lines[-1]}")
    began = time.monotonic()
    process.send_signal(signal.SIGTERM)
    check(process.wait(5) == 0, "hung helper: status 0")
    check(time.monotonic() - began < 1, "hung helper: ends immediately")
    check(not any(is_running(pid) for pid in helpers), "hung helper: it does not outlive us")
    end(process, "hung helper")


def later_machine(name, changes):
    """The machine of two vendors, in another state from some time on."""
    with open(fixture("workstation.tree"), encoding="utf-8") as file:
        text = file.read().rsplit("end\n", 1)[0]
    return scratch_file(name, changes(text) + "end\n")


def gathers(arguments, seconds, is_done):
    """Gathers by the program's own clock until one will do, and the messages."""
    process = subprocess.Popen([GTEL, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE)
    seen = []
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        seen.append(read_gather(process))
        if not seen[-1] or is_done(seen):
            break
    _, messages = end(process, arguments[1])
    return seen, messages.decode()


def of_driver(lines, driver):
    return [line for line in lines if line.startswith("gpu,") and f"driver={driver}," in line]


def test_cards_appear_later():
    """No GPU, no driver, no library at first: said once; then all of them, without a restart."""
    path = later_machine("late.tree", lambda text: "at 1s\n" + text)
    seen, messages = gathers(
        ["--root", path, "--interval=200ms", "--rescan=100ms"], 10,
        lambda all_: all("power_watts=" in "".join(of_driver(all_[-1], driver))
                         for driver in ("xe", "nvidia")))
    check("gpus=0i" in seen[0][-1] and len(seen[0]) == 1, f"late cards: none at first, {seen[0]}")
    check("gpus=2i" in seen[-1][-1], f"late cards: both later, {seen[-1][-1:]}")
    check(messages.count("no GPU found") == 1, f"late cards: said once, {messages!r}")
    check(messages.count("GPUs found: 2") == 1 and messages.count("\n") == 2,
          f"late cards: and that they came, {messages!r}")


def test_library_vanishes():
    """The driver is unloaded and its library removed while the program runs."""
    path = later_machine("gone.tree", lambda text: text + "at 1s\n" + "".join(
        f"call {call} = !9\n" for call in re.findall(r"(?m)^call (nvml[^=]*) =", text)) +
        "call nvmlInit_v2 = !9\nlibrary libnvidia-ml.so.1 gone\n")
    seen, messages = gathers(
        ["--root", path, "--interval=200ms", "--rescan=100ms"], 10,
        lambda all_: len(all_) > 15)
    check(len(seen) == 16, "vanished library: the program goes on")
    check_no_loss(seen, "vanished library")
    check("gpus=2i" in seen[1][-1] and "gpus=1i" in seen[-1][-1],
          f"vanished library: counted, {seen[-1][-1:]}")
    lost = of_driver(seen[-1], "nvidia")
    check(len(lost) == 1 and " up=0i," in lost[0] and "power" not in lost[0],
          f"vanished library: its GPU is not up and has no values, {lost}")
    check("kernel driver is not loaded" in messages and 1 <= messages.count("\n") <= 3,
          f"vanished library: said once, {messages!r}")


def slow_library_comes_back():
    """The same for a while: tried again after 10 s, and all values are there again."""
    def changes(text):
        calls = re.findall(r"(?m)^call (nvml[^=]*) =", text)
        library = "".join(re.findall(r"(?m)^(?:call|library) .*\n", text))
        return (text + "call nvmlInit_v2 = ok\nat 1s\n" +
                "".join(f"call {call} = !9\n" for call in ["nvmlInit_v2"] + calls) +
                "library libnvidia-ml.so.1 gone\nat 3s\ncall nvmlInit_v2 = ok\n" + library)
    state = []

    def is_back(all_):
        state.append("gpus=1i" in all_[-1][-1])
        return True in state and "power_watts=" in "".join(of_driver(all_[-1], "nvidia"))
    seen, messages = gathers(["--root", later_machine("back.tree", changes), "--interval=500ms",
                              "--rescan=100ms"], 30, is_back)
    check_no_loss(seen, "returned library")
    check(True in state and "gpus=2i" in seen[-1][-1], "returned library: its GPU is back")
    check(" up=1i," in "".join(of_driver(seen[-1], "nvidia")), "returned library: and up")
    check(messages.count("works again") == 1, f"returned library: said once, {messages!r}")


def check_no_loss(seen, what):
    """The other vendor's lane has all its values in each gather, rates from the second on."""
    for lines in seen[1:]:
        check("power_watts=" in "".join(of_driver(lines, "xe")) and "lanes_late=0i" in lines[-1],
              f"{what}: the other lane loses nothing, {lines[-1:]}")


def test_min_and_max():
    process = start_on("xe-b580.tree", "--interval=400ms", "--sample-interval=100ms", "--count=2")
    lines = read_gather(process) + read_gather(process)
    end(process, "sample interval")
    check("temperature_celsius_min=" in "".join(lines), "sample interval: minimum")
    check("power_watts_max=" in "".join(lines), "sample interval: maximum")
    _, lines, _ = run("--root", fixture("xe-b580.tree"), "--once")
    check("_min=" not in "".join(lines), "once: no minimum")


SCRATCH = tempfile.TemporaryDirectory(prefix="gtel-execd-")


def main():
    kind = "slow" if "slow" in sys.argv[3:] else "test"
    names = [name for name in sys.argv[3:] if name != "slow"]
    for name, function in list(globals().items()):
        if name.startswith(kind + "_") and (not names or name in names):
            began = time.monotonic()
            try:
                function()
            except Exception as error:  # pylint: disable=broad-except
                check(False, f"{name}: {error!r}")
            print(f"{name} {time.monotonic() - began:.1f} s", flush=True)
    SCRATCH.cleanup()
    print(f"{len(failures)} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
