# SPDX-License-Identifier: MIT
"""A dashboard of vmui, the page of VictoriaMetrics: no variables, no tables, no thresholds.

It shows at most 20 curves in a panel, and only appends a unit to the number.
"""

import dataclasses
import re

import grafana
import queries

UNITS = {"percent": (1, "%"), "watt": (1, "W"), "celsius": (1, "°C"), "bytes": (2**30, "GiB"), "Bps": (10**6, "MB/s"),
         "s": (1, "s"), "hertz": (10**6, "MHz"), "rotrpm": (1, "rpm"), "short": (1, ""), "percentunit": (1, "")}


def expression(query, divisor):
    # MHz times 1e6 would be hertz: shown as MHz, they are what they were.
    scaled = query.scale != 1 and query.scale % divisor == 0
    if scaled:
        query, divisor = dataclasses.replace(query, scale=query.scale / divisor), 1
    text = queries.promql(query, ())
    text = re.sub(r"\[\$__\w+\]", "[1m]", text)
    return f"({text}) / {divisor}" if divisor != 1 else text


def dashboard_json(dashboard):
    rows = []
    for title, row in dashboard.rows:
        panels = []
        shown = [panel for panel in row if panel.kind in ("lines", "states")]
        for panel in shown:
            divisor, unit = UNITS[grafana.unit(panel)]
            if unit == "GiB" and panel.queries[0].measurement == "gtel":
                divisor, unit = 2**20, "MiB"
            panels.append({"title": panel.title, "description": panel.about, "unit": unit, "showLegend": True,
                           "width": 12 // len(shown) if len(shown) < 3 else max(4, panel.width // 2),
                           "expr": [expression(q, divisor) for q in panel.queries],
                           "alias": [grafana.legend(q, "promql") for q in panel.queries]})
        if panels:  # vmui complains of a row without any
            rows.append({"title": title, "panels": panels})
    return {"title": dashboard.title, "filename": f"{dashboard.name}.json", "rows": rows}
