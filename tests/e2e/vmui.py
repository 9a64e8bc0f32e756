# SPDX-License-Identifier: MIT
"""The dashboards in vmui, the page of VictoriaMetrics: a headless Chromium finds a curve in each panel.

    vmui.py --source FOLDER --gtel FILE --victoria-metrics FILE --chromium FILE [--pictures FOLDER]
            [--picture FILE] [--seconds N]

The demonstration is one host, recorded machines are the others. --pictures writes a PNG of each row,
--picture instead of all else that of the README: the first row of the demonstration.
"""

import argparse
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "contrib", "ci"))
import agents  # noqa: E402
import browser  # noqa: E402
import dashboards  # noqa: E402

SECONDS = 90  # shown; as many as the demonstration has
# Between them they have a value for each panel.
MACHINES = ("h200-processes", "h100-mig", "jobs", "l0-spec", "xe-b580-l0m", "amd-polaris", "amd-mi300x-1.8-cpx", "drm-npu",
            "apple-m2-max")
EMPTY = {"title": "Nothing", "filename": "nothing.json",
         "rows": [{"title": "Nothing", "panels": [{"title": "Nothing", "expr": ["gpu_up == 2"]}]}]}
ROWS = "[...document.querySelectorAll('.vm-predefined-dashboard')]"
PANELS = "[...document.querySelectorAll('.vm-predefined-panel')]"
# Axes and grid are grey. A curve as wide as the panel has some hundred points of another colour.
COLOURED = """(() => {
    const canvas = PANELS[%d].querySelector('canvas');
    if (!canvas || !canvas.width) return 0;
    const data = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
    let n = 0;
    for (let i = 0; i < data.length; i += 4)
        n += Math.max(data[i], data[i + 1], data[i + 2]) - Math.min(data[i], data[i + 1], data[i + 2]) > 60;
    return n;
})()""".replace("PANELS", PANELS)
LITTLE = 50


def play(arguments, start_s):
    """The demonstration as gtel plays it, a gather each second."""
    done = subprocess.run([arguments.gtel, "--root", f"{arguments.source}/tests/fixtures/demo.tree", "--isolation", "none",
                           "--stepped", "--interval", "1s", "--count", str(SECONDS)],
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=30, check=True)
    first = None
    for line in done.stdout.splitlines():
        text, _, moment = line.rpartition(" ")
        first = first or int(moment)
        yield f"{dashboards.add_host(text, 'demo')} {int(moment) - first + start_s * 10**9}"


def fill(arguments, victoria, start_s):
    for name in MACHINES:
        path = f"{arguments.source}/tests/golden/{name}.lp"
        lines = dashboards.machine_lines(path, start_s, 1, SECONDS)
        # Of eight partitions two are enough.
        victoria.write("\n".join(line for line in lines if not re.search(r",instance=xcp[2-7],", line)).encode())
    victoria.write("\n".join(dashboards.trouble_lines(start_s, 1, SECONDS)).encode())


def board(page, url, wanted, pictures="", is_empty=False):
    """Goes through the rows of one dashboard. Returns the panels, and those of them without a curve."""
    page.open(url)
    tab = f"[...document.querySelectorAll('.vm-predefined-panels-tabs__tab')].find(e => e.innerText == '{wanted['title'].upper()}')"
    page.wait(tab, f"dashboard {wanted['title']}")
    page.evaluate(f"{tab}.click()")
    seen, bare = [], []
    for i, row in enumerate(wanted["rows"]):
        page.wait(f"{ROWS}[{i}]?.innerText.startsWith('{row['title']}')", f"row {row['title']}")
        # One row is open at a time.
        page.evaluate(f"{ROWS}.forEach((e, i) => {{"
                      f"if (!!e.querySelector('.vm-accordion-section') != (i == {i})) e.querySelector('header').click() }})")
        titles = [panel["title"] for panel in row["panels"]]
        shown = f"{PANELS}.map(e => e.querySelector('.vm-predefined-panel-header__title').innerText)"
        page.wait(f"JSON.stringify({shown}) == {json.dumps(json.dumps(titles, ensure_ascii=False, separators=(',', ':')))}",
                  f"row {row['title']} with panels {titles}")
        for j, title in enumerate(titles):
            page.evaluate(f"{PANELS}[{j}].scrollIntoView()")
            end = time.monotonic() + (1 if is_empty else 10)
            while page.evaluate(COLOURED % j) < LITTLE and time.monotonic() < end:
                time.sleep(0.05)
            seen.append(title)
            if page.evaluate(COLOURED % j) < LITTLE:
                bare.append(f"{wanted['title']}: {row['title']}: {title}")
        if pictures:
            picture(page, i, os.path.join(pictures, f"{wanted['filename'][:-5]}-{i}.png"))
    return seen, bare


def picture(page, row, path, scale=1):
    area = page.evaluate(f"(() => {{ const r = {ROWS}[{row}].getBoundingClientRect(); const s = document.scrollingElement;"
                         "return {x: r.x + s.scrollLeft, y: r.y + s.scrollTop, width: r.width, height: r.height} })()")
    page.picture(path, scale=scale, **area)


def run(arguments, scratch):
    folder = os.path.join(scratch, "dashboards")
    shutil.copytree(os.path.join(arguments.source, "contrib/dashboards/vmui"), folder)
    boards = []
    for path in sorted(glob.glob(os.path.join(folder, "*.json"))):
        with open(path, encoding="utf-8") as file:
            boards.append(json.load(file))
    with open(os.path.join(folder, EMPTY["filename"]), "w", encoding="utf-8") as file:
        json.dump(EMPTY, file)
    victoria = agents.Victoria(scratch, arguments.victoria_metrics, folder)
    page = None
    try:
        start = int(time.time()) - SECONDS
        victoria.write("\n".join(play(arguments, start)).encode())
        page = browser.Browser(arguments.chromium, scratch, 1400, 1000, arguments.seconds)
        end = time.strftime("%Y-%m-%dT%H%%3A%M%%3A%S", time.gmtime(start + SECONDS - 1))
        url = f"{victoria.url}/vmui/?g0.range_input={SECONDS}s&g0.end_input={end}&g0.relative_time=none&g0.step_input=1s#/dashboards"
        if arguments.picture:
            host = next(wanted for wanted in boards if wanted["filename"] == "host.json")
            # The curves are means of a minute: without the first half of it.
            board(page, url.replace(f"={SECONDS}s", f"={SECONDS - 30}s"), {**host, "rows": host["rows"][:1]})
            picture(page, 0, arguments.picture, 0.6)
            return 0
        fill(arguments, victoria, start)
        panels, bare = 0, []
        for wanted in boards:
            titles, without = board(page, url, wanted, arguments.pictures)
            panels, bare = panels + len(titles), bare + without
        is_blind = not board(page, url, EMPTY, is_empty=True)[1]
    finally:
        if page:
            page.stop()
        victoria.stop()
    for name in bare:
        print(f"failed: no curve in {name}")
    if is_blind:
        print("failed: a panel without data seems to have a curve")
    print(f"{panels} panels, {len(bare)} without a curve")
    return 1 if bare or is_blind or not panels else 0


def main():
    parser = argparse.ArgumentParser()
    for name in ("--source", "--gtel", "--victoria-metrics", "--chromium"):
        parser.add_argument(name, required=True)
    parser.add_argument("--pictures", default="")
    parser.add_argument("--picture", default="")
    parser.add_argument("--seconds", type=float, default=150)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="gtel-vmui-", ignore_cleanup_errors=True) as scratch:
        return run(arguments, scratch)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except agents.Failure as failure:
        print(failure)
        sys.exit(1)
