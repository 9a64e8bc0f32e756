# SPDX-License-Identifier: MIT
"""A headless Chromium with one page, driven by its DevTools protocol over two pipes: no port is open."""

import base64
import fcntl
import json
import os
import selectors
import subprocess
import time

import agents

FLAGS = ["--headless", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage",
         "--remote-debugging-pipe"]


def pipe():
    """Two ends above descriptors 3 and 4, where Chromium wants its copies."""
    ends = os.pipe()
    raised = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in ends]
    for end in ends:
        os.close(end)
    return raised


class Refused(agents.Failure):
    """Also of a question to a page that another one is about to replace."""


class Browser:
    """It ends by itself when the pipes are closed; so many seconds it may take for everything."""

    def __init__(self, program, scratch, width, height, timeout):
        self.end, self.number, self.rest = time.monotonic() + timeout, 0, b""
        theirs_in, self.commands = pipe()
        self.answers, theirs_out = pipe()
        command = [program, *FLAGS, *(["--no-sandbox"] if os.getuid() == 0 else []),
                   f"--user-data-dir={scratch}/chromium", f"--window-size={width},{height}", "about:blank"]
        self.log = os.path.join(scratch, "chromium.log")

        def place():
            os.dup2(theirs_in, 3)
            os.dup2(theirs_out, 4)

        with open(self.log, "wb") as log:
            self.popen = subprocess.Popen(  # pylint: disable=subprocess-popen-preexec-fn
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, close_fds=False, preexec_fn=place,
                cwd=scratch, env={**os.environ, "HOME": scratch, "no_proxy": "*", "TZ": "UTC"})
        os.close(theirs_in)
        os.close(theirs_out)
        self.session = None
        pages = self.call("Target.getTargets")["targetInfos"]
        page = next(target["targetId"] for target in pages if target["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=page, flatten=True)["sessionId"]
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def read(self):
        """The next message; they end in NUL."""
        with selectors.DefaultSelector() as selector:
            selector.register(self.answers, selectors.EVENT_READ)
            while b"\0" not in self.rest:
                ready = selector.select(max(0.0, self.end - time.monotonic()))
                data = os.read(self.answers, 1 << 20) if ready else b""
                if not data:
                    why = "has ended" if ready else "does not answer in time"
                    raise agents.Failure(f"Chromium {why}\n{self.tail()}")
                self.rest += data
        message, _, self.rest = self.rest.partition(b"\0")
        return json.loads(message)

    def call(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.commands, data):]
        while True:
            answer = self.read()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise Refused(f"Chromium refuses {method}: {answer['error']}")
                return answer["result"]

    def evaluate(self, text):
        """The value of an expression in the page, also one that comes later."""
        result = self.call("Runtime.evaluate", expression=text, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise agents.Failure(f"the page: {result['exceptionDetails']}: {text}")
        return result["result"].get("value")

    def open(self, url):
        """Opens a page; a change behind # alone would not load it again."""
        self.call("Page.navigate", url="about:blank")
        self.call("Page.navigate", url=url)

    def wait(self, text, what):
        """Until an expression in the page is true."""
        while time.monotonic() < self.end:
            try:
                if self.evaluate(text):
                    return
            except Refused:
                pass
            time.sleep(0.05)
        raise agents.Failure(f"the page shows no {what} in time")

    def picture(self, path, **area):
        """A PNG of x, y, width, height of the page, at a scale."""
        data = self.call("Page.captureScreenshot", format="png", clip=area, captureBeyondViewport=True)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))

    def tail(self):
        with open(self.log, encoding="utf-8", errors="replace") as log:
            return "".join("    " + line for line in log.readlines()[-15:])

    def stop(self):
        os.close(self.commands)
        os.close(self.answers)
        try:
            self.popen.wait(10)
        except subprocess.TimeoutExpired:
            self.popen.kill()
            self.popen.wait()
