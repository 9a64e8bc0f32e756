# SPDX-License-Identifier: MIT
"""Starts the real agents and the database on loopback, each in a scratch folder, and ends them again.

For the end-to-end tests and contrib/quickstart; Python's standard library only. Every process that is
started here is ended here, by its own id.
"""

import json
import os
import random
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request


class Failure(Exception):
    """What went wrong, where, and what to do about it, in words for people."""


def free_port(kind=socket.SOCK_STREAM):
    """A port of 127.0.0.1 that nobody uses at the moment, also while its server is restarted: below
    those that Linux gives to outgoing connections (net.ipv4.ip_local_port_range, 32768 and up)."""
    while True:
        port = random.randrange(15000, 32000)
        with socket.socket(socket.AF_INET, kind) as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port


def wait_until(what, seconds, *processes):
    """Waits until what() is true; fails early when one of the processes has ended."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if what():
            return True
        for process in processes:
            if process.ended():
                raise Failure(f"{process.name} ended with status {process.ended()}\n{process.tail()}")
        time.sleep(0.05)
    return False


class Process:
    """A program with its output in a file of the scratch folder, and so long to end, in seconds."""

    def __init__(self, name, command, scratch, timeout=15):
        self.name = name
        self.timeout = timeout
        self.log = os.path.join(scratch, name + ".log")
        with open(self.log, "wb") as log:
            try:
                self.popen = subprocess.Popen(
                    command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=scratch,
                    env={**os.environ, "LC_ALL": "C"})
            except OSError as error:
                raise Failure(f"{name} does not start: {command[0]}: {error.strerror}") from error

    def ended(self):
        """None while it runs, else its status in words."""
        status = self.popen.poll()
        return None if status is None else str(status)

    def tail(self, lines=15):
        with open(self.log, encoding="utf-8", errors="replace") as log:
            return "".join("    " + line for line in log.readlines()[-lines:])

    def stop(self, seconds=None):
        """SIGTERM, and SIGKILL when that does not end it in time. Returns its exit status."""
        if self.popen.poll() is None:
            self.popen.send_signal(signal.SIGTERM)
            try:
                self.popen.wait(seconds or self.timeout)
            except subprocess.TimeoutExpired:
                self.popen.kill()
                self.popen.wait()
        return self.popen.returncode


INFLUX_CONFIG = """
reporting-disabled = true
bind-address = "127.0.0.1:{rpc}"
[meta]
  dir = "{folder}/meta"
[data]
  dir = "{folder}/data"
  wal-dir = "{folder}/wal"
  index-version = "tsi1"
  query-log-enabled = false
[monitor]
  store-enabled = false
[http]
  bind-address = "127.0.0.1:{http}"
  log-enabled = false
"""
INFLUX_COLLECTD = """
[[collectd]]
  enabled = true
  bind-address = "127.0.0.1:{udp}"
  database = "collectd"
  typesdb = "/usr/share/collectd/types.db"
  security-level = "none"
  parse-multivalue-plugin = "split"
  batch-timeout = "1s"
"""


class Influx:
    """InfluxDB 1.x with its data in the scratch folder."""

    def __init__(self, scratch, program="influxd", with_collectd=False):
        self.port = free_port()
        self.collectd_port = free_port(socket.SOCK_DGRAM)
        text = INFLUX_CONFIG.format(rpc=free_port(), http=self.port, folder=scratch)
        if with_collectd:
            text += INFLUX_COLLECTD.format(udp=self.collectd_port)
        config = os.path.join(scratch, "influxdb.conf")
        with open(config, "w", encoding="utf-8") as file:
            file.write(text)
        # With a listener for collectd it waits for ever (1.6.7); its data is scratch.
        self.process = Process("influxd", [program, "-config", config], scratch, timeout=2)
        if not wait_until(self.is_ready, 60, self.process):
            self.stop()
            raise Failure(f"InfluxDB does not answer on port {self.port} after 60 s\n"
                          + self.process.tail())

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def request(self, path, data=None, **parameters):
        """Returns (status, body)."""
        url = f"{self.url}{path}?{urllib.parse.urlencode(parameters)}"
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(urllib.request.Request(url, data=data), timeout=10) as answer:
                return answer.status, answer.read()
        except urllib.error.HTTPError as error:
            return error.code, error.read()

    def is_ready(self):
        try:
            return self.request("/ping")[0] == 204
        except OSError:
            return False

    def query(self, text, database=None):
        """Returns the series of all statements: a list of {name, tags, columns, values}."""
        parameters = {"q": text, "epoch": "ns"}
        if database:
            parameters["db"] = database
        # Statements that change something want POST; all may use it.
        status, body = self.request("/query", data=b"", **parameters)
        answer = json.loads(body)
        errors = [answer.get("error")] + [r.get("error") for r in answer.get("results", [])]
        if status != 200 or any(errors):
            raise Failure(f"InfluxDB refuses {text!r}: {[e for e in errors if e]}")
        return [s for r in answer["results"] for s in r.get("series", [])]

    def create(self, database):
        self.query(f'CREATE DATABASE "{database}"')

    def write(self, database, lines):
        """Writes bytes of line protocol. Returns None, or why they were refused."""
        status, body = self.request("/write", data=lines, db=database, precision="ns")
        return None if status == 204 else f"{status} {body.decode(errors='replace').strip()}"

    def measurements(self, database):
        return [row[0] for s in self.query("SHOW MEASUREMENTS", database) for row in s["values"]]

    def points(self, database, measurement):
        """Every stored point: (sorted tuple of tags, time) -> {field: value}."""
        points = {}
        for series in self.query(f'SELECT * FROM "{measurement}" GROUP BY *', database):
            tags = tuple(sorted((k, v) for k, v in series.get("tags", {}).items() if v != ""))
            for row in series["values"]:
                fields = dict(zip(series["columns"], row))
                time_ns = fields.pop("time")
                points[(tags, time_ns)] = {k: v for k, v in fields.items() if v is not None}
        return points

    def stop(self):
        return self.process.stop()


class Victoria:
    """VictoriaMetrics with its data in the scratch folder."""

    def __init__(self, scratch, program="victoria-metrics", dashboards=None):
        """dashboards: a folder of those of vmui."""
        self.url = f"http://127.0.0.1:{free_port()}"
        self.process = Process("victoria-metrics", [
            program, f"-storageDataPath={scratch}/victoria", f"-httpListenAddr={self.url[7:]}", "-retentionPeriod=1y",
            "-search.latencyOffset=0s", "-memory.allowedBytes=256MB", "-loggerLevel=WARN",
            *([f"-vmui.customDashboardsPath={dashboards}"] if dashboards else [])], scratch)
        if not wait_until(self.is_ready, 60, self.process):
            self.stop()
            raise Failure(f"VictoriaMetrics does not answer at {self.url}\n{self.process.tail()}")

    def request(self, path, data=None, **parameters):
        """Returns (status, body)."""
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        url = f"{self.url}{path}?{urllib.parse.urlencode(parameters)}"
        try:
            with opener.open(urllib.request.Request(url, data=data), timeout=30) as answer:
                return answer.status, answer.read()
        except urllib.error.HTTPError as error:
            return error.code, error.read()

    def is_ready(self):
        try:
            return self.request("/health")[0] == 200
        except OSError:
            return False

    def write(self, lines):
        status, body = self.request("/write", data=lines)
        if status != 204:
            raise Failure(f"VictoriaMetrics refuses lines: {status} {body!r}")
        self.request("/internal/force_flush")

    def query(self, path, **parameters):
        status, body = self.request(path, **parameters)
        if status != 200:
            raise Failure(f"VictoriaMetrics refuses {parameters['query']!r}: {body.decode()}")
        return json.loads(body)["data"]["result"]

    def stop(self):
        return self.process.stop()


TELEGRAF_CONFIG = """
[agent]
  interval = "{interval}"
  round_interval = false
  flush_interval = "1s"
  flush_jitter = "0s"
  metric_buffer_limit = 100000
  omit_hostname = true
  skip_processors_after_aggregators = true
[[inputs.execd]]
  command = [{command}]
  signal = "STDIN"
  restart_delay = "10s"
  data_format = "influx"
{outputs}
"""
OUTPUT_FILE = """[[outputs.file]]
  files = ["{path}"]
  data_format = "influx"
"""
OUTPUT_INFLUX = """[[outputs.influxdb]]
  urls = ["{url}"]
  database = "{database}"
  skip_database_creation = true
"""


def telegraf_config(scratch, command, outputs, interval="1s", name="telegraf"):
    """Writes a configuration that runs command (a list) once per interval. Returns its path."""
    path = os.path.join(scratch, name + ".conf")
    words = ", ".join(json.dumps(word) for word in command)
    with open(path, "w", encoding="utf-8") as file:
        file.write(TELEGRAF_CONFIG.format(interval=interval, command=words, outputs=outputs))
    return path


COLLECTD_CONFIG = """
Hostname "{host}"
FQDNLookup false
Interval {interval}
BaseDir "{folder}"
PIDFile "{folder}/collectd.pid"
TypesDB "/usr/share/collectd/types.db"
LoadPlugin logfile
<Plugin logfile>
  LogLevel info
  File STDOUT
</Plugin>
LoadPlugin network
<Plugin network>
  Server "127.0.0.1" "{port}"
</Plugin>
PluginDir "{plugins}"
{blocks}
"""


def collectd_config(scratch, blocks, plugins, port, interval=1, host="quickstart"):
    """Writes a configuration; blocks is the text that loads our plugins. Returns its path."""
    path = os.path.join(scratch, "collectd.conf")
    with open(path, "w", encoding="utf-8") as file:
        file.write(COLLECTD_CONFIG.format(host=host, interval=interval, folder=scratch, port=port,
                                          plugins=plugins, blocks=blocks))
    return path
