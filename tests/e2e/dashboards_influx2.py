# SPDX-License-Identifier: MIT
"""By hand: every query of the dashboards and every check, in Flux and InfluxQL, on InfluxDB 2.

    dashboards_influx2.py --source FOLDER --influxd FILE

FILE is influxd 2.7: contrib/dashboards/README.md says how to build one. It is no part of contrib/check.
As in dashboards.py each expected output of tests/golden is a host; faults and alerts are those of
alerts.py. Flux has to answer what InfluxQL answers.
"""

import argparse
import csv
import glob
import io
import json
import os
import re
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request

sys.path.insert(0, os.path.dirname(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "contrib", "ci"))
import agents  # noqa: E402
import alerts  # noqa: E402
import dashboards  # noqa: E402

ORG, TOKEN = "gtel", "only-in-this-scratch-folder"
# What a check of InfluxDB cannot see, after contrib/dashboards/README.md.
NOT_CHECKS = {"GpuMissing", "GpuLinkDown", "GpuPcieNarrow"}


class Influx2:
    """InfluxDB 2 with its data in the scratch folder; a database of InfluxQL is a bucket of that name."""

    def __init__(self, scratch, program):
        self.url = f"http://127.0.0.1:{agents.free_port()}"
        self.process = agents.Process("influxd", [
            program, "run", f"--bolt-path={scratch}/influxd.bolt", f"--engine-path={scratch}/engine",
            f"--sqlite-path={scratch}/influxd.sqlite", f"--http-bind-address={self.url[7:]}", "--reporting-disabled",
            "--log-level=warn"], scratch)
        if not agents.wait_until(self.is_ready, 60, self.process):
            self.stop()
            raise agents.Failure(f"InfluxDB does not answer at {self.url}\n{self.process.tail()}")
        self.org = self.ask("/api/v2/setup", {"username": "gtel", "password": TOKEN, "org": ORG, "bucket": "gtel",
                                              "token": TOKEN})["org"]["id"]

    def request(self, path, data=None, kind="application/json", **parameters):
        url = f"{self.url}{path}?{urllib.parse.urlencode(parameters)}"
        headers = {"Authorization": f"Token {TOKEN}", "Content-Type": kind, "Accept": "*/*"}
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(urllib.request.Request(url, data=data, headers=headers), timeout=60) as answer:
                return answer.status, answer.read()
        except urllib.error.HTTPError as error:
            return error.code, error.read()

    def is_ready(self):
        try:
            return self.request("/health")[0] == 200
        except OSError:
            return False

    def ask(self, path, data=None, **parameters):
        status, body = self.request(path, data=json.dumps(data).encode() if data else None, **parameters)
        if status >= 300:
            raise agents.Failure(f"InfluxDB refuses {path}: {status} {body.decode()}")
        return json.loads(body)

    def create(self, bucket):
        self.ask("/api/v2/buckets", {"orgID": self.org, "name": bucket})

    def write(self, bucket, lines):
        status, body = self.request("/api/v2/write", data=lines, kind="text/plain", bucket=bucket, org=ORG)
        return None if status == 204 else f"{status} {body.decode(errors='replace').strip()}"

    def query(self, text, database=None):
        """InfluxQL."""
        status, body = self.request("/query", q=text, epoch="ns", **({"db": database} if database else {}))
        answer = json.loads(body) if body.startswith(b"{") else {"error": body.decode()}
        errors = [answer.get("error")] + [r.get("error") for r in answer.get("results", [])]
        if status != 200 or any(errors):
            raise agents.Failure(f"InfluxDB refuses {text!r}: {[e for e in errors if e]}")
        return [s for r in answer["results"] for s in r.get("series", [])]

    def flux(self, text):
        """The rows of all tables, as dictionaries."""
        status, body = self.request("/api/v2/query", data=text.encode(), kind="application/vnd.flux", org=ORG)
        if status != 200:
            raise agents.Failure(f"Flux: {body.decode()}: {text}")
        rows = []
        # Tables of other columns begin with a header of their own, after a blank line.
        for table in re.split(r"\r\n\r\n", body.decode()):
            rows += list(csv.DictReader(io.StringIO(table)))
        if any(row.get("error") for row in rows):
            raise agents.Failure(f"Flux: {rows[0]['error']}: {text}")
        return rows

    def stop(self):
        return self.process.stop()


def moment(seconds):
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


def fill_in(text, start, end, bucket):
    """What Grafana does with the variables."""
    for name in ("host", "gpu", "model"):
        text = text.replace("${" + name + ":regex}", ".*")
    return text.replace("${bucket}", bucket).replace("v.timeRangeStart", moment(start)) \
        .replace("v.timeRangeStop", moment(end)).replace("v.windowPeriod", f"{dashboards.STEP}s")


def values_of(rows):
    return sorted(round(float(row["_value"]), 6) for row in rows if row["_value"])


def values_of_influxql(series):
    """The column after the time, without gaps."""
    return sorted(round(float(row[1]), 6) for one in series for row in one["values"] if row[1] is not None)


def try_flux(arguments, influx, start, report):
    """After the InfluxQL queries: the data is there."""
    end = start + dashboards.STEP * dashboards.GATHERS
    other = [target["query"] for _, _, target in dashboards.targets(arguments.source, "influxql")]
    every = {"timeFilter": f"time >= {start}s AND time <= {end}s", "__interval": f"{dashboards.STEP}s", "host": ".*",
             "gpu": ".*", "model": ".*"}
    compared = 0
    for (name, _, target), same in zip(dashboards.targets(arguments.source, "flux"), other):
        text = fill_in(target["query"], start, end, "all")
        try:
            rows = influx.flux(text)
        except agents.Failure as failure:
            report.check(False, f"{name}: {failure}")
            continue
        report.check([row for row in rows if row.get("_value", "x") != ""], f"{name}: no answer: {text}")
        # InfluxQL takes a percentile from the values, Flux between two of them.
        if rows and "_value" in rows[0] and "quantile(" not in text:
            # Of equal values either may be in a list: only values are compared.
            mine, theirs = values_of(rows), values_of_influxql(influx.query(dashboards.fill_in(same, every), "all"))
            report.check(mine == theirs, f"{name}: {len(mine)} and {len(theirs)} values, {sum(mine)} and {sum(theirs)}: {text}")
            compared += 1
    for name, variable in dashboards.variables(arguments.source, "flux"):
        text = fill_in(variable["query"], start, end, "all")
        report.check(influx.flux(text), f"{name}: variable {variable['name']} has no values: {text}")
    print(f"Flux: {compared} answers compared with those of InfluxQL")


def main():
    parser = argparse.ArgumentParser()
    for name in ("--source", "--influxd"):
        parser.add_argument(name, required=True)
    arguments = parser.parse_args()
    machines = sorted(glob.glob(os.path.join(arguments.source, "tests/golden/*.lp")))
    start = int(time.time()) // 60 * 60 - 600
    report = dashboards.Report()
    with tempfile.TemporaryDirectory(prefix="gtel-influx2-") as scratch:
        influx = Influx2(scratch, arguments.influxd)
        try:
            dashboards.try_influxql(arguments, influx, machines, start, report)
            print(f"InfluxQL: {report.asked} questions")
            try_flux(arguments, influx, start, report)
        finally:
            influx.stop()
    print(f"{report.asked} questions, {len(report.failures)} failures")
    return 1 if report.failures else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except agents.Failure as failure:
        print(failure)
        sys.exit(1)
