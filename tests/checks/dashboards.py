# SPDX-License-Identifier: MIT
"""The dashboards and alert rules: current, of fields that exist, and JSON as Grafana imports it.

Usage: dashboards.py ROOT

No Grafana is asked: what is checked here is the structure that its documents describe.
"""

import glob
import json
import os
import re
import subprocess
import sys

import tree

FOLDER = "contrib/dashboards"
KINDS = {"timeseries", "stat", "state-timeline", "table", "row"}
UNITS = {"percent", "watt", "joule", "celsius", "bytes", "Bps", "s", "hertz", "rotrpm", "short", "percentunit"}
KNOWN = {"__rate_interval", "__interval", "__range", "__range_s", "timeFilter"}
QUERY = {"promql": "expr", "influxql": "query", "flux": "query"}
# Labels and words of the languages, not fields.
WORDS = {"value", "part", "whole", "time", "host", "model", "instance"}
DURATION = r"\[[^\]]*\]"


def catalogue(root):
    """Measurement -> its fields, and measurement -> its tags, from the document that the program writes."""
    fields, tags, name = {}, {}, ""
    for line in tree.read(root, "contrib/docs/metrics.md").split("\n"):
        match = re.fullmatch(r"### `(\w+)`", line)
        if match:
            name = match[1]
            fields[name], tags[name] = {}, {"host", "gpu", "vendor", "driver", "model", "instance"}
        match = re.match(r"\| `(\w+)` \| (\w+), ", line)
        if name and match:
            fields[name][match[1]] = match[2]
        if name and " Tags: " in line:
            tags[name] |= set(re.findall(r"`(\w+)`", line))
    return fields, tags


def once_a_minute(root):
    """Metrics, as in PromQL, that come so rarely from NVIDIA GPUs: by the tables of the source."""
    macros, rows = tree.read(root, "common/sources/nvidia/rows.c").split("gtel_nvml_rows[] = {", 1)
    found = set()
    for row in macros.split("\n#define ") + rows.split("\n    {"):
        match = re.search(r"\bMINUTE\b.*\b(TO|HEADLINE)\((\w+)\)", row, re.S)
        if match:
            found |= {match[2]} | ({"GPU_" + match[2]} if match[1] == "HEADLINE" else set())
    found |= set(re.findall(r"GTEL_M_(FABRIC_\w+)", tree.read(root, "common/sources/nvidia/nvlink.c")))
    catalogue_text = tree.read(root, "common/tables/catalogue.def")
    return {f"{measurement.lower()}_{field}" for name, measurement, field in
            re.findall(r'GTEL_METRIC\((\w+),\s*(\w+),\s*"(\w+)"', catalogue_text) if name in found}


class Check:
    def __init__(self, root, found):
        self.root, self.found = root, found
        self.fields, self.tags = catalogue(root)
        self.joined = {f"{m}_{f}": (m, f) for m, names in self.fields.items() for f in names}
        self.rare = once_a_minute(root)
        self.need({"gpu_energy_joules", "gpu_throttle_seconds", "gpu_fabric_rx_bytes"} <= self.rare,
                  f"once a minute: {sorted(self.rare)}")
        self.path = ""

    def add(self, text):
        self.found.add(self.path, 1, text)

    def need(self, is_ok, text):
        self.found.checked += 1
        if not is_ok:
            self.add(text)

    def selectors(self, text):
        """(measurement, field, [tags]) of what a query in PromQL asks for."""
        names = re.findall(r"\b(gpu_\w+|gtel_\w+)(?:\{([^}]*)\})?", text)
        for name, labels in names:
            self.need(name in self.joined, f"no such metric: {name}")
            if name in self.joined:
                yield (*self.joined[name], re.findall(r"(\w+)(?:=~|!~|!=|=)", labels))

    def promql(self, text):
        for measurement, _, labels in self.selectors(text):
            self.need(set(labels) <= self.tags[measurement], f"{measurement} has not all tags of {labels}: {text}")
        by = [tag.strip() for group in re.findall(r"\bby \(([^)]*)\)", text) for tag in group.split(",")]
        self.need(all(any(tag in known for known in self.tags.values()) for tag in by), f"no such tag: {by}: {text}")
        # Prometheus wants two values in the window of a rate; Grafana's is 40 to 60 s.
        for name, window in re.findall(r"\b(gpu_\w+)(?:\{[^}]*\})?\[([^\]]*)\]", text):
            is_long = window not in ("$__rate_interval", "$__interval", "1m", "2m")
            self.need(name not in self.rare or is_long, f"{name} can come once a minute: {text}")
        # An NPU that sleeps is idle, and a GPU that sleeps says nothing.
        is_mixed = re.search(r"\b(avg|quantile|bottomk)\b.*\bgpu_(engine_)?busy_percent\b", text) and "driver" not in text
        self.need(not is_mixed, f"NPUs among GPUs: {text}")
        # VictoriaMetrics counts from 0 what a new series begins with, and a new line of a process does so.
        others = text.replace("increase(gpu_process_attributed_joules{", "")
        self.need("increase(" not in others and "or vector(0)" not in text, f"gaps and starts become values: {text}")

    def influxql(self, text):
        measurement = re.findall(r'FROM "(\w+)"', text)
        self.need(len(measurement) == 1 and measurement[0] in self.fields, f"no such measurement: {text}")
        known = set(self.fields.get(measurement[0], ())) | self.tags.get(measurement[0], set()) | WORDS
        for name in re.findall(r'"(\w+)"', text):
            self.need(name in known or name == measurement[0], f"{measurement[0]} has no {name}: {text}")
        self.need(not re.search(r"fill\((?!null)", text), f"gaps become values: {text}")

    def flux(self, text):
        measurement = re.findall(r'r\._measurement == "(\w+)"', text)
        self.need(len(measurement) == 1 and measurement[0] in self.fields, f"no such measurement: {text}")
        for name in re.findall(r'r\._field == "(\w+)"', text):
            self.need(name in self.fields[measurement[0]], f"{measurement[0]} has no {name}: {text}")
        tags = set(re.findall(r"\br\.([a-z]\w*) (?:=~|!~|==|!=) ", text))
        self.need(tags <= self.tags[measurement[0]] | {"whole"}, f"{measurement[0]} has not all tags of {tags}: {text}")
        self.need("fill(" not in text, f"gaps become values: {text}")

    def lines_apart(self, text):
        """A check judges each line by itself: a minimum over several would hide one at fault."""
        measurement = re.search(r'r\._measurement == "(\w+)"', text)[1]
        own = self.tags[measurement] - {"host", "gpu", "vendor", "driver", "model", "instance"}
        by = set(re.findall(r'"(\w+)"', re.search(r"group\(columns: \[([^\]]*)\]", text)[1]))
        is_one = any(f"r.{tag} ==" in text for tag in own)  # as the total of Xid errors
        self.need(is_one or own <= by, f"not grouped by {sorted(own - by)}: {text}")

    def used_variables(self, text, defined):
        used = set(re.findall(r"\$\{?(\w+)", text)) - KNOWN
        self.need(used <= defined, f"variables that are not defined: {sorted(used - defined)}: {text}")

    def target(self, panel, target, language, defined):
        name = f"{panel['title']}: "
        text = target.get(QUERY[language], "")
        self.need(text, name + "no query")
        self.need(target["datasource"] == panel["datasource"], name + "another data source than the panel's")
        getattr(self, language)(text)
        self.used_variables(text, defined)
        if panel["type"] == "table" and language == "promql":
            self.need(target["instant"] and target["format"] == "table", name + "a table shows the newest values")
        legend = target.get("legendFormat", target.get("alias"))
        if panel["type"] != "table" and legend and "host" in legend:
            self.need(re.match(r"\{\{host\}\}|\$tag_host", legend), name + "the legend begins with the host")
        if panel["type"] == "table" and "gpu_info" not in text:
            self.need(re.search(r"\b(top|bottom)k?\(", text), name + "lists are short, also of a fleet")

    def panel(self, panel, language, defined):
        name = f"{panel['title']}: "
        self.need(panel["type"] in KINDS, name + f"panel {panel['type']}")
        if panel["type"] == "row":
            self.need(panel["panels"] == [] and panel["collapsed"] is False, name + "an open row has no panels of its own")
            return
        defaults = panel["fieldConfig"]["defaults"]
        self.need(panel["datasource"]["uid"] == "${datasource}", name + "the data source is a variable")
        self.need(defaults["unit"] in UNITS, name + f"unit {defaults['unit']}")
        self.need(defaults["custom"].get("spanNulls", False) is False, name + "gaps stay gaps")
        steps = defaults["thresholds"]["steps"]
        self.need(len(steps) == 1 and steps[0]["value"] is None, name + "thresholds come from the data")
        refs = [target["refId"] for target in panel["targets"]]
        self.need(refs and len(set(refs)) == len(refs), name + f"queries {refs}")
        for override in panel["fieldConfig"]["overrides"]:
            matcher = override["matcher"]
            self.need(matcher["id"] == "byName" or matcher["options"] in refs, name + f"no query {matcher['options']}")
        for target in panel["targets"]:
            self.target(panel, target, language, defined)

    def places(self, panels):
        """Within 24 columns, and none over another."""
        taken = {}
        for panel in panels:
            place = panel["gridPos"]
            self.need(place["x"] >= 0 and place["x"] + place["w"] <= 24 and place["h"] > 0, f"{panel['title']}: {place}")
            for x in range(place["x"], place["x"] + place["w"]):
                for y in range(place["y"], place["y"] + place["h"]):
                    self.need((x, y) not in taken, f"{panel['title']} lies over {taken.get((x, y))}")
                    taken[x, y] = panel["title"]

    def dashboard(self, path):
        self.path = os.path.relpath(path, self.root)
        language = path.rsplit("-", 1)[1][:-5]
        with open(path, encoding="utf-8") as file:
            board = json.load(file)
        variables = board["templating"]["list"]
        defined = {variable["name"] for variable in variables}
        for key, kind in (("title", str), ("uid", str), ("schemaVersion", int), ("panels", list), ("time", dict),
                          ("tags", list), ("annotations", dict)):
            self.need(isinstance(board.get(key), kind), f"{key} is missing")
        self.need(len(board["uid"]) <= 40, "a uid has at most 40 characters")
        self.need("__inputs" not in board and board.get("id") is None, "it is to be imported anywhere")
        self.need(variables[0]["type"] == "datasource" and {"host"} < defined, f"variables {sorted(defined)}")
        for variable in variables[1:]:
            if variable["type"] == "query":
                query = variable["query"]["query"] if language == "promql" else variable["query"]
                self.need(re.search(r"gpu_up\b|\"gpu\"", query), f"variable {variable['name']} does not come from gpu")
                self.used_variables(query, defined)
        numbers = [panel["id"] for panel in board["panels"]]
        self.need(len(set(numbers)) == len(numbers), "two panels have the same id")
        self.places(board["panels"])
        for panel in board["panels"]:
            self.panel(panel, language, defined)
        return board["uid"], [panel["title"] for panel in board["panels"]]

    def vmui(self, path):
        self.path = os.path.relpath(path, self.root)
        with open(path, encoding="utf-8") as file:
            rows = json.load(file)["rows"]
        for panel in [panel for row in rows for panel in row["panels"]]:
            self.need(1 <= panel["width"] <= 12, f"{panel['title']}: width {panel['width']}")
            for text in panel["expr"]:
                self.promql(text)
                self.need("$" not in text, f"vmui has no variables: {text}")

    def rules(self):
        """Fields of the alert rules; a test in tests/e2e lets them fire."""
        self.path = f"{FOLDER}/alerts/prometheus.yml"
        text = tree.read(self.root, self.path)
        for rule in re.split(r"\n      - alert: ", text)[1:]:
            expression = re.search(r"expr: \|-\n((?: {10}.*\n)+)", rule)
            self.need(expression, f"no expression: {rule}")
            self.promql(expression[1])
            self.need(re.search(r"severity: (critical|warning|info)\n", rule), f"no severity: {rule}")
            self.need(re.search(r'summary: "\{\{ \$labels\.host', rule), f"the summary begins with the host: {rule}")
        self.path = f"{FOLDER}/alerts/influxdb.yml"
        for check in re.split(r"\n---\n", tree.read(self.root, self.path)):
            query = re.search(r"query: \|-\n((?: {4}.*\n)+)", check)
            if query:
                self.flux(query[1])
                self.lines_apart(query[1])
                # InfluxDB makes the threshold of the one field that the query names.
                self.need(query[1].count("_field ==") == 1, f"a check has one field: {check}")
                every = re.search(r"\n  every: (\w+)", check)[1]
                self.need(f"every: {every}," in query[1], f"the window is not the check's interval: {check}")

    def telegraf(self):
        """The text fields that become tags are those of gpu_info, all but one."""
        self.path = f"{FOLDER}/telegraf-prometheus.conf"
        named = set(re.findall(r'"(\w+)"', re.search(r"\n {4}tag = \[([^\]]*)\]", tree.read(self.root, self.path))[1]))
        text = {field for field, kind in self.fields["gpu_info"].items() if kind == "text"}
        # It changes while the program runs: no label.
        text -= {"metrics_source"}
        self.need(named == text, f"tags and text fields of gpu_info differ: {sorted(named ^ text)}")


def main():
    root = sys.argv[1]
    found = tree.Findings("dashboards")
    done = subprocess.run([sys.executable, "-B", os.path.join(root, FOLDER, "generate.py"), "--check"],
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False)
    if done.returncode != 0:
        found.add(FOLDER, 1, (done.stdout + done.stderr).strip())
    check = Check(root, found)
    uids, rows = [], {}
    for path in sorted(glob.glob(os.path.join(root, FOLDER, "grafana/*.json"))):
        uid, titles = check.dashboard(path)
        uids.append(uid)
        rows.setdefault(os.path.basename(path).split("-")[0], []).append(titles)
    check.path = FOLDER
    check.need(len(uids) == 6 and len(set(uids)) == 6, f"dashboards: {uids}")
    check.need(all(titles == group[0] for group in rows.values() for titles in group), "the languages have other panels")
    for path in sorted(glob.glob(os.path.join(root, FOLDER, "vmui/*.json"))):
        check.vmui(path)
    check.rules()
    check.telegraf()
    found.finish()


if __name__ == "__main__":
    main()
