# SPDX-License-Identifier: MIT
"""InfluxDB takes every line of the expected outputs.

    influx_lines.py --influxd FILE --golden FOLDER
"""

import argparse
import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "contrib", "ci"))
import agents  # noqa: E402


def refused_lines(influx, database, path):
    """Yields (number, why) of each line of the file that is not taken."""
    with open(path, "rb") as file:
        text = file.read()
    if influx.write(database, text) is None:
        return
    for number, line in enumerate(text.split(b"\n"), 1):
        why = influx.write(database, line) if line else None
        if why:
            yield number, why


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--influxd", required=True)
    parser.add_argument("--golden", required=True)
    arguments = parser.parse_args()
    names = sorted(n for n in os.listdir(arguments.golden) if n.endswith(".lp"))
    failures = 0
    with tempfile.TemporaryDirectory(prefix="gtel-e2e-") as scratch:
        influx = agents.Influx(scratch, arguments.influxd)
        try:
            # One database for all: the types of the fields must agree between machines too.
            influx.create("golden")
            for name in names:
                for number, why in refused_lines(influx, "golden", os.path.join(arguments.golden, name)):
                    failures += 1
                    print(f"{os.path.join(arguments.golden, name)}:{number}: {why}")
        finally:
            influx.stop()
    print(f"{len(names)} files, {failures} lines refused")
    return 1 if failures or not names else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except agents.Failure as failure:
        print(failure)
        sys.exit(1)
