# SPDX-License-Identifier: MIT
"""A dashboard of Grafana (schema version 39, Grafana 11 and newer) from the description."""

import queries

SOURCES = {"promql": ("prometheus", "Prometheus, VictoriaMetrics"), "influxql": ("influxdb", "InfluxDB, InfluxQL"),
           "flux": ("influxdb", "InfluxDB 2, Flux")}
UNITS = {"percent": "percent", "watts": "watt", "celsius": "celsius", "bytes": "bytes", "joules": "joule",
         "seconds": "s", "mhz": "hertz", "rpm": "rotrpm"}
RATES = {"bytes": "Bps", "joules": "watt", "seconds": "percentunit"}
DASHED = {"size", "limit", "generation", "readable"}  # curves that stand beside the measured ones
KINDS = {"lines": "timeseries", "stat": "stat", "states": "state-timeline", "table": "table"}
HEIGHTS = {"lines": 8, "stat": 4, "states": 8, "table": 8}
MIN_INTERVAL = "10s"
RARE_INTERVAL = "2m"  # InfluxDB's, of what comes once a minute
# InfluxDB's newest interval has the hosts only that have sent theirs: Telegraf does so each 10 s.
SUM_DELAY = "30s"
DATASOURCE = "${datasource}"
ABSENT = ("Time", "time", "_time", "_start", "_stop", "_measurement", "_field", "result", "table")


def unit(panel):
    """Grafana's unit of the first query, after the end of the field's name."""
    if panel.unit or panel.kind == "states":
        return panel.unit or "short"
    query = panel.queries[0]
    suffix = query.field.rsplit("_", 1)[-1]
    return RATES[suffix] if query.rate else UNITS[suffix]


def legend(query, language):
    # The host comes first: PCI addresses are the same on many hosts.
    form = {"promql": "{{{{{}}}}}", "influxql": "$tag_{}", "flux": "${{__field.labels.{}}}"}[language]
    words = [form.format(tag) for tag in query.tags] + ([query.name] if query.name else [])
    return " ".join(words) or ("all" if not query.name else query.name)


def target(query, language, variables, ref):
    text = queries.WRITERS[language](query, variables)
    result = {"refId": ref, "datasource": {"type": SOURCES[language][0], "uid": DATASOURCE}}
    is_table = query.is_now
    if language == "promql":
        result.update(expr=text, editorMode="code", instant=is_table, range=not is_table,
                      format="table" if is_table else "time_series")
        if not is_table:
            result["legendFormat"] = legend(query, language)
    elif language == "influxql":
        result.update(query=text, rawQuery=True, resultFormat="table" if is_table else "time_series")
        if not is_table:
            result["alias"] = legend(query, language)
    else:
        result["query"] = text
    return result


def overrides(panel, language):
    """What belongs to single curves: dashes, and in Flux the names."""
    found = []
    for i, query in enumerate(panel.queries):
        properties = []
        if panel.kind == "lines" and query.name in DASHED:
            properties.append({"id": "custom.lineStyle", "value": {"fill": "dash", "dash": [8, 6]}})
        if language == "flux" and not query.is_now:
            properties.append({"id": "displayName", "value": legend(query, language)})
        if properties:
            found.append({"matcher": {"id": "byFrameRefID", "options": chr(65 + i)}, "properties": properties})
    return found


def field_config(panel, language, dashboard):
    defaults = {"unit": unit(panel), "color": {"mode": "palette-classic"}, "custom": {},
                "thresholds": {"mode": "absolute", "steps": [{"color": "green", "value": None}]}}
    found = overrides(panel, language)
    if panel.kind == "lines":
        defaults["custom"] = {"drawStyle": "line", "lineWidth": 1, "fillOpacity": 0, "showPoints": "auto",
                              "spanNulls": False}
    elif panel.kind == "states":
        defaults["custom"] = {"fillOpacity": 70, "lineWidth": 0, "spanNulls": False}
    elif panel.kind == "table" and dashboard.name == "fleet":
        link = f"/d/gtel-host-{language}?var-host=${{__value.text}}&${{__url_time_range}}"
        found.append({"matcher": {"id": "byName", "options": "host"}, "properties": [
            {"id": "links", "value": [{"title": "This host", "url": link, "targetBlank": False}]}]})
    return {"defaults": defaults, "overrides": found}


def options(panel):
    if panel.kind == "lines":
        return {"legend": {"displayMode": "list", "placement": "bottom", "showLegend": True, "calcs": []},
                "tooltip": {"mode": "multi", "sort": "desc"}}
    if panel.kind == "stat":
        return {"reduceOptions": {"calcs": ["lastNotNull"], "fields": "", "values": False}, "graphMode": "area",
                "colorMode": "none", "textMode": "value", "justifyMode": "auto", "orientation": "auto", "wideLayout": True,
                "showPercentChange": False, "percentChangeColorMode": "standard"}
    if panel.kind == "states":
        return {"mergeValues": True, "showValue": "auto", "rowHeight": 0.8,
                "legend": {"displayMode": "list", "placement": "bottom", "showLegend": False, "calcs": []},
                "tooltip": {"mode": "single", "sort": "none"}}
    return {"frameIndex": 0, "showHeader": True, "cellHeight": "sm"}


def transformations(panel):
    """Tables: the value under the panel's name, without columns that say nothing."""
    if panel.kind != "table":
        return []
    if isinstance(panel.queries[0], queries.Table):
        shown = panel.queries[0].by + panel.queries[0].columns
        return [{"id": "filterFieldsByName", "options": {"include": {"names": list(shown)}}}]
    names = {name: panel.title for name in ("Value", "Value #A", "value", "_value")}
    return [{"id": "organize", "options": {"excludeByName": {name: True for name in ABSENT}, "indexByName": {},
                                           "renameByName": names}}]


def panel_json(panel, language, dashboard, number, place):
    text = {
        "id": number, "type": KINDS[panel.kind], "title": panel.title, "gridPos": place,
        "datasource": {"type": SOURCES[language][0], "uid": DATASOURCE}, "interval": MIN_INTERVAL,
        "targets": [target(q, language, dashboard.variables, chr(65 + i)) for i, q in enumerate(panel.queries)],
        "fieldConfig": field_config(panel, language, dashboard), "options": options(panel),
        "transformations": transformations(panel),
    }
    if panel.about:
        text["description"] = panel.about
    if isinstance(panel.queries[0], queries.Table):
        if language != "promql":  # gpu_info comes every ten minutes
            text.update(timeFrom="20m", hideTimeOverride=True)
        return text
    if panel.kind == "table" and not panel.whole_time:
        text.update(timeFrom="5m", hideTimeOverride=True)
    if language != "promql" and panel.kind != "table":
        if any(query.is_rare for query in panel.queries):
            text["interval"] = RARE_INTERVAL
        if any(query.over for query in panel.queries):
            text.update(timeShift=SUM_DELAY, hideTimeOverride=True)
    return text


def panels(dashboard, language):
    """Rows one below the other, panels from the left to the right."""
    found, y = [], 0
    for title, row in dashboard.rows:
        found.append({"id": len(found) + 1, "type": "row", "title": title, "collapsed": False, "panels": [],
                      "gridPos": {"x": 0, "y": y, "w": 24, "h": 1}})
        y, x, height = y + 1, 0, 0
        for panel in row:
            if x + panel.width > 24:
                y, x, height = y + height, 0, 0
            place = {"x": x, "y": y, "w": panel.width, "h": HEIGHTS[panel.kind]}
            found.append(panel_json(panel, language, dashboard, len(found) + 1, place))
            x, height = x + panel.width, max(height, place["h"])
        y += height
    return found


def variable_query(language, tag, before):
    """The values of a tag of the measurement gpu, which every GPU has, also one that sleeps."""
    if language == "promql":
        chosen = ",".join(f'{other}=~"${other}"' for other in before)
        return f"label_values(gpu_up{{{chosen}}}, {tag})"
    if language == "influxql":
        chosen = " AND ".join(f'"{other}" =~ /^${other}$/' for other in before)
        return f'SHOW TAG VALUES FROM "gpu" WITH KEY = "{tag}"' + (f" WHERE {chosen}" if chosen else "")
    chosen = "".join(f" and r.{other} =~ /^${{{other}:regex}}$/" for other in before)
    return ('import "influxdata/influxdb/schema"\n'
            f'schema.tagValues(bucket: "${{bucket}}", tag: "{tag}", predicate: (r) => r._measurement == "gpu"{chosen}, '
            "start: v.timeRangeStart, stop: v.timeRangeStop)")


def variables(dashboard, language):
    kind, label = SOURCES[language]
    found = [{"name": "datasource", "type": "datasource", "label": "Data source", "query": kind, "regex": "",
              "description": label, "hide": 0, "multi": False, "includeAll": False, "refresh": 1}]
    if language == "flux":
        found.append({"name": "bucket", "type": "textbox", "label": "Bucket", "query": "gtel", "hide": 0,
                      "current": {"text": "gtel", "value": "gtel"}, "options": []})
    for i, tag in enumerate(dashboard.variables):
        text = variable_query(language, tag, dashboard.variables[:i])
        found.append({
            "name": tag, "type": "query", "label": {"gpu": "GPU"}.get(tag, tag.capitalize()),
            "datasource": {"type": kind, "uid": DATASOURCE},
            "query": {"query": text, "refId": tag} if language == "promql" else text,
            "refresh": 2, "sort": 1, "multi": True, "includeAll": True, "allValue": ".*", "hide": 0, "regex": "",
            "current": {"text": ["All"], "value": ["$__all"]}, "options": []})
    return found


def dashboard_json(dashboard, language):
    return {
        "uid": f"gtel-{dashboard.name}-{language}", "title": f"{dashboard.title} ({SOURCES[language][1]})",
        "description": dashboard.about, "tags": ["gtel", "gpu"], "schemaVersion": 39, "version": 1, "editable": True,
        "graphTooltip": 1, "refresh": "30s", "time": {"from": "now-1h", "to": "now"}, "timepicker": {}, "timezone": "",
        "fiscalYearStartMonth": 0, "annotations": {"list": []}, "links": [
            {"title": "GPU dashboards", "type": "dashboards", "tags": ["gtel"], "asDropdown": True, "keepTime": True,
             "includeVars": True, "targetBlank": False, "icon": "external link", "tooltip": "", "url": ""}],
        "templating": {"list": variables(dashboard, language)}, "panels": panels(dashboard, language),
    }
