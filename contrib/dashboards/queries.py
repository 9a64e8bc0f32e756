# SPDX-License-Identifier: MIT
"""What a panel asks for, and the same question in PromQL, InfluxQL and Flux.

A gap in the data stays a gap: nothing is filled in. "As of now" (Query.top, Query.only and tables) is
the newest value of each line within the panel's time, five minutes in the dashboards.
"""

import dataclasses

# The tags by which the lines of a measurement differ, beside host, gpu and instance.
TAGS = {
    "gpu": (),
    "gpu_engine": ("engine", "gt"),
    "gpu_memory_region": ("region", "tile"),
    "gpu_temperature_sensor": ("sensor",),
    "gpu_power_domain": ("domain",),
    "gpu_frequency_domain": ("domain", "gt", "tile"),
    "gpu_throttle": ("reason", "gt"),
    "gpu_fan": ("fan",),
    "gpu_fabric": ("link",),
    "gpu_error": ("kind", "severity"),
    "gpu_activity": ("unit", "tile"),
    "gpu_stall": ("reason", "tile"),
    "gpu_process": ("process", "container", "namespace", "pod", "pod_uid", "job_id", "unit", "user", "pid"),
    "gpu_info": (),
}
# What NVIDIA GPUs report once a minute, or None for all fields: longer than $__rate_interval, and in
# Prometheus a rate needs two values in its window; in InfluxDB each host has its own minute, so that a sum
# over shorter intervals is of some hosts only.
RARE = {
    "gpu": ("energy_joules",),
    "gpu_power_domain": ("energy_joules",),
    "gpu_throttle": ("seconds",),
    "gpu_fabric": None,
    "gpu_error": ("count",),
}
# Functions over time or over lines.
PROMQL_OVER = {"sum": "sum", "mean": "avg", "max": "max", "count": "count", "p10": "quantile", "p90": "quantile"}
INFLUXQL_OVER = {"sum": "sum({})", "mean": "mean({})", "max": "max({})", "count": "sum({})",
                 "p10": "percentile({}, 10)", "p90": "percentile({}, 90)"}
FLUX_OVER = {"sum": "sum()", "mean": "mean()", "max": "max()", "count": "count()",
             "p10": 'quantile(q: 0.1, method: "exact_mean")', "p90": 'quantile(q: 0.9, method: "exact_mean")'}


@dataclasses.dataclass(frozen=True)
class Query:
    """One value per line and interval, or as of now.

    Of the lines of a measurement that pass `where`: the field, or 100 * field / percent_of, or
    limit - field, or the growth of a counter per second (rate) or in the time shown (growth); times
    scale. Then one value per `by` by the function `over`, and of these the `top` largest (smallest,
    if negative) as of now, and those that `only` is true for.
    """

    measurement: str
    field: str
    percent_of: str = ""
    limit: str = ""
    rate: bool = False
    growth: bool = False
    during: str = "mean"  # of an interval: mean, max or last
    scale: float = 1
    where: tuple = ()     # (tag, operator, text): =, !=, =~, !~
    over: str = ""
    by: tuple = ()
    top: int = 0
    only: str = ""        # as "> 0"
    name: str = ""        # in the legend, after the tags

    @property
    def fields(self):
        return tuple(f for f in (self.field, self.percent_of, self.limit) if f)

    @property
    def tags(self):
        """Those of the result."""
        if self.over:
            return self.by
        return self.line_tags

    @property
    def line_tags(self):
        if self.measurement == "gtel":
            return ("host",)
        tags = ("host", "gpu") + TAGS[self.measurement]
        wanted = tuple(t for t in self.by if t not in tags)
        whole = ("instance", "=", "") in self.where
        return tags + (() if whole else ("instance",)) + wanted

    @property
    def is_now(self):
        return bool(self.top or self.only or self.growth)

    @property
    def metric(self):
        return f"{self.measurement}_{self.field}"

    @property
    def is_rare(self):
        fields = RARE.get(self.measurement, ())
        return fields is None or self.field in fields

    @property
    def window(self):
        """In PromQL, of a value over time."""
        if self.is_now:
            return "5m"
        return "3m" if self.is_rare else "$__rate_interval"


@dataclasses.dataclass(frozen=True)
class Table:
    """Text fields of each line as of now, one line per row. In PromQL they are labels."""

    measurement: str
    columns: tuple
    by: tuple
    number: str  # a field that has a number in every line
    is_now = True

    @property
    def fields(self):
        return self.columns + (self.number,)


def number(value):
    return f"{value:g}" if value < 1e5 else str(int(value))


def filters(query, variables):
    """Those of the dashboard's variables that the measurement has as tags."""
    return [tag for tag in variables if tag == "host" or query.measurement != "gtel"]


# --- PromQL -----------------------------------------------------------------------------------------

def promql_selector(query, field, variables):
    parts = [f'{tag}=~"${tag}"' for tag in filters(query, variables)]
    parts += [f'{tag}{operator}"{text}"' for tag, operator, text in query.where]
    return f"{query.measurement}_{field}" + (f"{{{','.join(parts)}}}" if parts else "")


def promql_value(query, variables):
    """The value of each line."""
    def of(field):
        selector = promql_selector(query, field, variables)
        if query.growth and query.field == "attributed_joules":
            return f"increase({selector}[$__range])"  # a new series of it begins with 0
        if query.growth:
            # VictoriaMetrics' increase() counts from 0 what a new series begins with, and its rate() is that of
            # the time in which there were values, so times the time shown it is too much.
            return f"last_over_time({selector}[$__range]) - min_over_time({selector}[$__range])"
        if query.rate:
            return f"rate({selector}[{query.window}])"
        if query.is_now:
            return selector
        return f"{'avg' if query.during == 'mean' else query.during}_over_time({selector}[{query.window}])"

    if query.percent_of:
        return f"100 * {of(query.field)} / {of(query.percent_of)}"
    if query.limit:
        return f"{of(query.limit)} - {of(query.field)}"
    if query.scale != 1:
        return f"{number(query.scale)} * {of(query.field)}"
    return of(query.field)


def promql(query, variables):
    if isinstance(query, Table):
        # gpu_info comes every ten minutes.
        selector = promql_selector(Query(query.measurement, query.number), query.number, variables)
        return f"last_over_time({selector}[20m])"
    if query.over and query.percent_of:
        # Lines that have only one of the two values count for neither sum.
        by = f"by ({', '.join(query.by)}) " if query.by else ""
        used, total = (dataclasses.replace(query, field=f, percent_of="", over="")
                       for f in (query.field, query.percent_of))
        a, b = promql_value(used, variables), promql_value(total, variables)
        text = f"100 * sum {by}({a} and {b}) / sum {by}({b} and {a})"
    else:
        text = promql_value(query, variables)
        if query.over:
            function = PROMQL_OVER[query.over]
            by = f" by ({', '.join(query.by)}) " if query.by else ""
            share = {"p10": "0.1, ", "p90": "0.9, "}.get(query.over, "")
            text = f"{function}{by}({share}{text})"
    if query.only:
        text = f"({text}) {query.only}"
    if query.top:
        if not query.over:
            text = f"max by ({', '.join(query.tags)}) ({text})"
        text = f"{'topk' if query.top > 0 else 'bottomk'}({abs(query.top)}, {text})"
    return text


# --- InfluxQL ---------------------------------------------------------------------------------------

def quoted(names):
    return ", ".join(f'"{name}"' for name in names)


def influxql_where(query, variables):
    parts = ["$timeFilter"]
    parts += [f'"{tag}" =~ /^${tag}$/' for tag in filters(query, variables)]
    for tag, operator, text in query.where:
        value = f"/^({text})$/" if "~" in operator else f"'{text}'"
        parts.append(f'"{tag}" {operator} {value}')
    return " AND ".join(parts)


def influxql_value(query):
    def of(field):
        if query.growth:
            return f'non_negative_difference("{field}")'
        if query.rate and not query.is_now:
            return f'non_negative_derivative(last("{field}"), 1s)'
        if query.is_now:
            return f'last("{field}")'
        return f'{query.during}("{field}")'

    if query.rate and query.is_now:
        raise ValueError("InfluxQL: no rate as of now; ask for the growth")
    if query.percent_of:
        return f"100 * {of(query.field)} / {of(query.percent_of)}"
    if query.limit:
        return f"{of(query.limit)} - {of(query.field)}"
    if query.scale != 1:
        return f"{number(query.scale)} * {of(query.field)}"
    return of(query.field)


def influxql(query, variables):
    if isinstance(query, Table):
        columns = ", ".join(f'last("{c}") AS "{c}"' for c in query.columns)
        where = influxql_where(Query(query.measurement, query.number), variables)
        return (f'SELECT {columns} FROM "{query.measurement}" WHERE {where} '
                f"GROUP BY {quoted(query.by)}")
    where = influxql_where(query, variables)
    every = "" if query.is_now else "time($__interval), "
    fill = "" if query.is_now else " fill(null)"

    def grouped(text, tags):
        names = (every + quoted(tags)).rstrip(", ")
        return f"{text} GROUP BY {names}" if names else text

    def lines():
        # A count would be 0 while nothing is known.
        value = f"0 * {influxql_value(query)} + 1" if query.over == "count" else influxql_value(query)
        text = grouped(f'SELECT {value} AS "value" FROM "{query.measurement}" WHERE {where}', query.line_tags)
        if query.growth and query.over != "sum":
            # The sum of all steps up: a counter can begin again within the time shown.
            text = grouped(f'SELECT sum("value") AS "value" FROM ({text}) WHERE $timeFilter', query.line_tags)
        return text

    if query.over and query.percent_of:
        first = "last" if query.is_now else query.during
        # Lines with one of the two count for neither. A test of the inner query's result would take away
        # a whole group in which some lines have one and others both.
        both = f'"{query.field}" >= 0 AND "{query.percent_of}" > 0'
        inner = grouped(f'SELECT {first}("{query.field}") AS "part", {first}("{query.percent_of}") AS "whole" '
                        f'FROM "{query.measurement}" WHERE {where} AND {both}', query.line_tags)
        text = grouped(f'SELECT 100 * sum("part") / sum("whole") AS "value" FROM ({inner}) WHERE $timeFilter', query.by)
    elif query.over:
        value = INFLUXQL_OVER[query.over].format('"value"')
        text = grouped(f'SELECT {value} AS "value" FROM ({lines()}) WHERE $timeFilter', query.by)
    else:
        text = lines()
    if query.top:
        function = "top" if query.top > 0 else "bottom"
        test = f' AND "value" {query.only.replace("==", "=")}' if query.only else ""
        return (f'SELECT {function}("value", {quoted(query.tags)}, {abs(query.top)}) AS "value" FROM ({text}) '
                f"WHERE $timeFilter{test}")
    if query.only:
        return f'SELECT "value" FROM ({text}) WHERE $timeFilter AND "value" {query.only.replace("==", "=")} ' \
               f"GROUP BY {quoted(query.tags)}"
    return text + fill


# --- Flux -------------------------------------------------------------------------------------------

def columns(names):
    return "[" + ", ".join(f'"{name}"' for name in names) + "]"


def flux_source(query, variables, fields):
    tests = [f'r._measurement == "{query.measurement}"',
             "(" + " or ".join(f'r._field == "{f}"' for f in fields) + ")"]
    tests += [f"r.{tag} =~ /^${{{tag}:regex}}$/" for tag in filters(query, variables)]
    for tag, operator, text in query.where:
        if text == "":
            tests.append(("not " if operator == "=" else "") + f"exists r.{tag}")
        elif "~" in operator:
            tests.append(f"r.{tag} {operator} /^({text})$/")
        else:
            tests.append(f'r.{tag} {operator.replace("=", "==") if operator == "=" else operator} "{text}"')
    return ['from(bucket: "${bucket}")', "range(start: v.timeRangeStart, stop: v.timeRangeStop)",
            f"filter(fn: (r) => {' and '.join(tests)})"]


def flux_lines(query, variables):
    """The value of each line, per interval or as of now, in _value, or its fields in columns."""
    steps = flux_source(query, variables, query.fields)
    steps.append(f"group(columns: {columns(query.line_tags + ('_field',))})")
    if query.is_now:
        steps += ['sort(columns: ["_time"])', "increase()", "last()"] if query.growth else \
            ['sort(columns: ["_time"])', "last()"]
    elif query.rate:
        steps += ["aggregateWindow(every: v.windowPeriod, fn: last, createEmpty: false)",
                  "derivative(unit: 1s, nonNegative: true)"]
    else:
        steps.append(f"aggregateWindow(every: v.windowPeriod, fn: {query.during}, createEmpty: true)")
    steps.append("toFloat()")
    if query.scale != 1:
        steps.append(f"map(fn: (r) => ({{r with _value: r._value * {number(query.scale)}.0}}))")
    if len(query.fields) > 1:
        # Both were read in one gather: their times are the same, also as of now.
        first, second = query.fields
        steps += [f"group(columns: {columns(query.line_tags)})",
                  'pivot(rowKey: ["_time"], columnKey: ["_field"], valueColumn: "_value")',
                  f"filter(fn: (r) => exists r.{first} and exists r.{second})"]
        value = f"100.0 * r.{first} / r.{second}" if query.percent_of else f"r.{second} - r.{first}"
        if not query.over:
            steps.append(f"map(fn: (r) => ({{r with _value: {value}}}))")
    return steps


def flux_over(query, time):
    """Of the lines' values those of all lines of a group."""
    steps = [f"group(columns: {columns(time + query.by)})"]
    if query.percent_of:
        part, whole = (f"{name}: accumulator.{name} + r.{field}"
                       for name, field in (("part", query.field), ("whole", query.percent_of)))
        steps += [f"reduce(identity: {{part: 0.0, whole: 0.0}}, fn: (r, accumulator) => ({{{part}, {whole}}}))",
                  "filter(fn: (r) => r.whole > 0.0)",
                  "map(fn: (r) => ({r with _value: 100.0 * r.part / r.whole}))"]
    else:
        steps += ["filter(fn: (r) => exists r._value)", FLUX_OVER[query.over]]
    steps.append(f"group(columns: {columns(query.by)})")
    return steps + (['sort(columns: ["_time"])'] if time else [])


def flux(query, variables):
    if isinstance(query, Table):
        steps = flux_source(Query(query.measurement, query.number), variables, query.columns)
        steps += [f"group(columns: {columns(query.by + ('_field',))})", "last()", f"group(columns: {columns(query.by)})",
                  'pivot(rowKey: ["gpu"], columnKey: ["_field"], valueColumn: "_value")', "group()"]
        return "\n  |> ".join(steps)
    steps = flux_lines(query, variables)
    time = () if query.is_now else ("_time",)
    if query.over:
        steps += flux_over(query, time)
    if query.only:
        steps.append(f"filter(fn: (r) => r._value {query.only}.0)")
    if query.is_now:
        steps.append("group()")
    if query.top:
        steps.append(f"{'top' if query.top > 0 else 'bottom'}(n: {abs(query.top)})")
    steps.append(f"keep(columns: {columns(time + query.tags + ('_value',))})")
    return "\n  |> ".join(steps)


WRITERS = {"promql": promql, "influxql": influxql, "flux": flux}
