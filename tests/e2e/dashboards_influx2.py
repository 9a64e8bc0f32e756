# SPDX-License-Identifier: MIT
"""By hand: every query of the dashboards and every check, in Flux and InfluxQL, on InfluxDB 2.

    dashboards_influx2.py --source FOLDER --influxd FILE

FILE is influxd 2.7: contrib/dashboards/README.md says how to build one. It is no part of contrib/check.
As in dashboards.py each expected output of tests/golden is a host; faults and alerts are those of
alerts.py. Flux has to answer what InfluxQL answers.
"""

import argparse
import csv
import functools
import http.server
import io
import json
import os
import re
import sys
import tempfile
import threading
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
# A check sees the margin, not two values.
CHANGED = {"GpuHot": (r"(sensor=gpu,.*,)margin_celsius=\d+", r"\g<1>margin_celsius=0")}
NOT_CHECKS = {"GpuMissing", "GpuLinkDown", "GpuPcieNarrow"}
# It was throttled in each gather of an hour, of which it was there for a part: a check sees no gaps.
PARTLY = {("GpuThrottled", "amd-rebind")}


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

    def request(self, path, data=None, kind="application/json", method=None, **parameters):
        url = f"{self.url}{path}?{urllib.parse.urlencode(parameters)}"
        headers = {"Authorization": f"Token {TOKEN}", "Content-Type": kind, "Accept": "*/*"}
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(urllib.request.Request(url, data=data, headers=headers, method=method),
                             timeout=60) as answer:
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


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def checks(arguments, influx):
    """(name, seconds, Flux) of the checks, after InfluxDB has taken them from the file."""
    folder = os.path.join(arguments.source, "contrib/dashboards/alerts")
    handler = functools.partial(Quiet, directory=folder)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}/influxdb.yml"
        influx.ask("/api/v2/templates/apply", {"dryRun": False, "orgID": influx.org,
                                               "remotes": [{"url": url, "contentType": "yaml"}]})
        server.shutdown()
    for check in influx.ask("/api/v2/checks", orgID=influx.org, limit=100)["checks"]:
        # Its own clock must not run it while it is tried.
        influx.request(f"/api/v2/checks/{check['id']}", data=b'{"status": "inactive"}', method="PATCH")
        every = sum(int(n) * {"h": 3600, "m": 60, "s": 1}[unit] for n, unit in re.findall(r"(\d+)([hms])", check["every"]))
        text = influx.ask(f"/api/v2/checks/{check['id']}/query")["flux"]
        yield check["name"], every, text


def try_checks(arguments, influx, start, report):
    """The faults of alerts.py, hour by hour, as the tasks of InfluxDB would see them."""
    for name in alerts.RECORDED:
        influx.write("gtel", "\n".join(alerts.recorded_lines(arguments.source, name, start)).encode())
    alerts.CHANGED.update(CHANGED)
    for name in alerts.CHANGED:
        influx.write("gtel", "\n".join(alerts.changed_lines(arguments.source, name, start)).encode())
    influx.write("gtel", "\n".join(alerts.vanishing_lines(arguments.source, start)).encode())
    fired, names = set(), set()
    for name, every, text in checks(arguments, influx):
        names.add(name)
        first = start // every * every + every
        for now in range(first, start + alerts.MINUTES * 60 + every, every):
            # Between the imports and the rest.
            moved = re.sub(r"\n(?=data =)", f"\noption now = () => {moment(now)}\n", text, count=1)
            fired |= {(name, row["host"]) for row in influx.flux(moved) if row.get("_level") not in ("ok", "", None)}
    wanted = alerts.wanted()
    # A check compares the points of a series: it does not see one that begins with an error.
    wanted -= {("GpuErrors", alerts.FIRST)}
    wanted = {(name, host) for name, host in wanted if name not in NOT_CHECKS} | PARTLY
    report.check(names == {name for name, _ in wanted}, f"checks: {sorted(names ^ {name for name, _ in wanted})}")
    for name, host in sorted(wanted | fired):
        report.check((name, host) in fired, f"{name} does not fire for {host}")
        report.check((name, host) in wanted, f"{name} fires for {host}")
    print(f"{len(fired & wanted)} alerts of {len(names)} checks")


def main():
    parser = argparse.ArgumentParser()
    for name in ("--source", "--influxd"):
        parser.add_argument(name, required=True)
    parser.add_argument("--only-checks", action="store_true")
    arguments = parser.parse_args()
    machines = dashboards.recordings(arguments.source)
    start = int(time.time()) // 60 * 60 - 600
    report = dashboards.Report()
    with tempfile.TemporaryDirectory(prefix="gtel-influx2-") as scratch:
        influx = Influx2(scratch, arguments.influxd)
        try:
            if not arguments.only_checks:
                dashboards.try_influxql(arguments, influx, machines, start, report)
                print(f"InfluxQL: {report.asked} questions")
                try_flux(arguments, influx, start, report)
            # A check does not see what a counter was before its interval: no change is at the end of one.
            try_checks(arguments, influx, int(time.time()) // 3600 * 3600 - alerts.MINUTES * 60 - 300, report)
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
