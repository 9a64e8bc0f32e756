#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the dashboards and alert rules from their description: panels.py and rules.py.

    generate.py            writes the files beside this script
    generate.py --check    says which of them are not current; status 1 if any is not
"""

import json
import os
import sys

sys.dont_write_bytecode = True
import grafana  # noqa: E402
import panels  # noqa: E402
import queries  # noqa: E402
import rules  # noqa: E402
import vmui  # noqa: E402

FOLDER = os.path.dirname(os.path.abspath(__file__))


def outputs():
    """Path below this folder -> text."""
    found = {"alerts/prometheus.yml": rules.prometheus(), "alerts/influxdb.yml": rules.influxdb()}
    for dashboard in panels.DASHBOARDS:
        for language in queries.WRITERS:
            found[f"grafana/{dashboard.name}-{language}.json"] = grafana.dashboard_json(dashboard, language)
        found[f"vmui/{dashboard.name}.json"] = vmui.dashboard_json(dashboard)
    return {path: text if isinstance(text, str) else json.dumps(text, indent=1, ensure_ascii=False) + "\n"
            for path, text in found.items()}


def read(path):
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except FileNotFoundError:
        return None


def main():
    is_check = sys.argv[1:] == ["--check"]
    if sys.argv[1:] and not is_check:
        sys.exit(__doc__)
    stale = []
    for name, text in sorted(outputs().items()):
        path = os.path.join(FOLDER, name)
        if read(path) == text:
            continue
        stale.append(name)
        if not is_check:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
    for name in stale:
        print(f"{name}: {'not current: run contrib/dashboards/generate.py' if is_check else 'written'}")
    return 1 if is_check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
