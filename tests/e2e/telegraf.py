# SPDX-License-Identifier: MIT
"""Telegraf runs gtel on a recorded machine and writes to InfluxDB; every value comes back.

    telegraf.py --gtel FILE --telegraf FILE --influxd FILE --machine FILE.tree

What gtel prints goes through a small tee into a file, so that "printed", "Telegraf's file output" and
"stored" are compared point by point and field by field.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "contrib", "ci"))
import agents  # noqa: E402
import lines  # noqa: E402

SECONDS = 6
TRIES = 10
DATABASE = "gtel"
# Runs gtel with Telegraf's own standard input, and copies what it prints.
TEE = """
import os, subprocess, sys, time
with open(sys.argv[1], "ab", buffering=0) as copy:
    child = subprocess.Popen(sys.argv[2:], stdout=subprocess.PIPE)
    while True:
        data = os.read(child.stdout.fileno(), 65536)
        if not data:
            break
        copy.write(data)
        view = memoryview(data)
        while view:
            view = view[os.write(1, view):]
status = child.wait()
os.close(1)
os.close(2)
time.sleep(0.05)
sys.exit(status)
"""

failures = []


def check(is_ok, text):
    if not is_ok:
        failures.append(text)
        print("failed: " + text)
    return is_ok


def read(path):
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except FileNotFoundError:
        return ""


def same(first, second):
    """Equal, where InfluxDB's JSON may show a whole float as an integer."""
    if isinstance(first, str) or isinstance(second, str):
        return first == second
    return float(first) == float(second)


def compare(name, wanted, got):
    """Every wanted point is there with every field and value, and nothing else is."""
    n = 0
    for measurement, points in sorted(wanted.items()):
        there = got.get(measurement, {})
        for key, fields in sorted(points.items()):
            if not check(key in there, f"{name}: {measurement} {dict(key[0])} at {key[1]} is missing"):
                continue
            for field, value in sorted(fields.items()):
                n += 1
                stored = there[key].get(field)
                check(stored is not None and same(value, stored),
                      f"{name}: {measurement} {dict(key[0])} {field}: {value!r} became {stored!r}")
            check(set(there[key]) == set(fields), f"{name}: {measurement} fields were added: "
                  f"{sorted(set(there[key]) ^ set(fields))}")
        check(set(there) <= set(points), f"{name}: {measurement}: points that nobody printed")
    check(set(got) <= set(wanted), f"{name}: measurements that nobody printed: {set(got) - set(wanted)}")
    return n


def command(arguments, scratch, name):
    tee = os.path.join(scratch, "tee.py")
    with open(tee, "w", encoding="utf-8") as file:
        file.write(TEE)
    printed = os.path.join(scratch, name)
    return printed, [sys.executable, "-B", tee, printed, arguments.gtel, "--root", arguments.machine]


def test_stored(arguments, scratch, influx):
    """Runs Telegraf for some seconds, stops it in the middle, and compares the three views."""
    printed, gtel = command(arguments, scratch, "printed.lp")
    written = os.path.join(scratch, "written.lp")
    outputs = agents.OUTPUT_FILE.format(path=written) + agents.OUTPUT_INFLUX.format(
        url=influx.url, database=DATABASE)
    config = agents.telegraf_config(scratch, gtel, outputs)
    telegraf = agents.Process("telegraf", [arguments.telegraf, "--config", config], scratch)
    try:
        agents.wait_until(lambda: read(printed).count("\n") > 0, 15, telegraf)
        time.sleep(SECONDS)
    finally:
        started = time.monotonic()
        status = telegraf.stop(30)
    seconds = time.monotonic() - started
    check(status == 0, f"telegraf ended with status {status}\n{telegraf.tail()}")
    check(seconds < 5, f"telegraf took {seconds:.1f} s to stop: gtel did not end by itself")
    log = read(telegraf.log)
    for word in ("E!", "panic", "W! [inputs.execd]", "already closed"):
        check(word not in log, f"telegraf's log says {word}\n{telegraf.tail()}")

    wanted = lines.points(read(printed))
    gathers = {time_ns for points in wanted.values() for _, time_ns in points}
    check(len(gathers) >= SECONDS - 1, f"{len(gathers)} gathers in {SECONDS} s")
    check("gpu" in wanted and "gtel" in wanted, f"measurements printed: {sorted(wanted)}")
    compare("file output", wanted, lines.points(read(written)))
    stored = {m: influx.points(DATABASE, m) for m in influx.measurements(DATABASE)}
    n = compare("InfluxDB", wanted, stored)
    print(f"{len(gathers)} gathers, {len(wanted)} measurements, {n} values stored as printed; "
          f"stopped in {seconds:.2f} s")


def test_once(arguments, scratch):
    """telegraf --once: one gather, and it is written."""
    printed, gtel = command(arguments, scratch, "once-printed.lp")
    written = os.path.join(scratch, "once-written.lp")
    config = agents.telegraf_config(scratch, gtel, agents.OUTPUT_FILE.format(path=written),
                                    name="once")
    done = subprocess.run([arguments.telegraf, "--once", "--config", config], cwd=scratch, timeout=60,
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    check(done.returncode == 0, f"telegraf --once: status {done.returncode}\n{done.stderr}")
    wanted = lines.points(read(printed))
    check("gpu" in wanted, f"telegraf --once: measurements printed: {sorted(wanted)}")
    n = compare("telegraf --once", wanted, lines.points(read(written)))
    print(f"telegraf --once: {n} values")


def test_try_out(arguments, scratch):
    """telegraf --test shows all lines without --test-wait, each time, with nothing in between.

    Telegraf closes the pipe as soon as the program has ended: what it has not read then is lost.
    """
    config = agents.telegraf_config(scratch, [arguments.gtel, "--root", arguments.machine],
                                    agents.OUTPUT_FILE.format(path="stdout"), name="try")
    counts = set()
    for _ in range(TRIES):
        done = subprocess.run([arguments.telegraf, "--test", "--config", config], cwd=scratch,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60,
                              check=False)
        check(done.returncode == 0, f"telegraf --test: status {done.returncode}\n{done.stderr}")
        check("already closed" not in done.stderr, f"telegraf --test complains:\n{done.stderr}")
        shown = [line for line in done.stdout.splitlines() if line.startswith("> ")]
        counts.add(len(shown))
        check(shown and shown[0].startswith("> gpu,") and shown[-1].startswith("> gtel "),
              f"telegraf --test lost lines:\n{done.stdout}")
    check(len(counts) == 1, f"telegraf --test: different numbers of lines: {sorted(counts)}")
    print(f"telegraf --test: {sorted(counts)} lines, {TRIES} times")


def test_own_clock(arguments, scratch):
    """signal = "none": the program gathers by itself, and still ends when Telegraf does."""
    printed, gtel = command(arguments, scratch, "clock-printed.lp")
    written = os.path.join(scratch, "clock-written.lp")
    path = agents.telegraf_config(scratch, gtel + ["--interval=500ms"],
                                  agents.OUTPUT_FILE.format(path=written), name="clock")
    config = read(path)
    check(config.count('signal = "STDIN"') == 1, "the configuration asks by newlines")
    with open(path, "w", encoding="utf-8") as file:
        file.write(config.replace('signal = "STDIN"', 'signal = "none"'))
    telegraf = agents.Process("telegraf-clock", [arguments.telegraf, "--config", path], scratch)
    try:
        agents.wait_until(lambda: read(printed).count("\ngtel ") >= 4, 15, telegraf)
    finally:
        status = telegraf.stop(30)
    check(status == 0, f"own clock: status {status}\n{telegraf.tail()}")
    n = compare("own clock", lines.points(read(printed)), lines.points(read(written)))
    check(n > 0, "own clock: values")
    print(f"own clock: {n} values")


def main():
    parser = argparse.ArgumentParser()
    for name in ("--gtel", "--telegraf", "--influxd", "--machine"):
        parser.add_argument(name, required=True)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="gtel-e2e-") as scratch:
        influx = agents.Influx(scratch, arguments.influxd)
        try:
            influx.create(DATABASE)
            test_stored(arguments, scratch, influx)
        finally:
            influx.stop()
        test_once(arguments, scratch)
        test_try_out(arguments, scratch)
        test_own_clock(arguments, scratch)
    print(f"{len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except agents.Failure as failure:
        print(failure)
        sys.exit(1)
