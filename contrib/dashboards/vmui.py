# SPDX-License-Identifier: MIT
"""A dashboard of vmui, the page of VictoriaMetrics: no variables, no tables, no thresholds.

It shows at most 20 curves in a panel, and only appends a unit to the number.
"""

import re

import grafana
import queries

UNITS = {"percent": (1, "%"), "watt": (1, "W"), "celsius": (1, "°C"), "bytes": (2**30, "GiB"), "Bps": (10**6, "MB/s"),
         "s": (1, "s"), "hertz": (10**6, "MHz"), "rotrpm": (1, "rpm"), "short": (1, ""), "percentunit": (1, "")}


def expression(query, divisor):
    text = queries.promql(query, ())
    text = re.sub(r"\[\$__\w+\]", "[1m]", text)
    return f"({text}) / {divisor}" if divisor != 1 else text


def dashboard_json(dashboard):
    rows = []
    for title, row in dashboard.rows:
        panels = []
        for panel in row:
            if panel.kind not in ("lines", "states"):
                continue
            divisor, unit = UNITS[grafana.unit(panel)]
            panels.append({"title": panel.title, "description": panel.about, "unit": unit, "showLegend": True,
                           "width": 6 if panel.width >= 12 else 4,
                           "expr": [expression(q, divisor) for q in panel.queries],
                           "alias": [grafana.legend(q, "promql") for q in panel.queries]})
        if panels:  # vmui complains of a row without any
            rows.append({"title": title, "panels": panels})
    return {"title": dashboard.title, "filename": f"{dashboard.name}.json", "rows": rows}
