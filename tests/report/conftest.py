"""A headless Chromium, spoken to by its DevTools protocol over two pipes, and the document of a comparison."""

import base64
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_digits

from structhash.cli.documents import to_json
from structhash.evaluation import as_json, compare, summarise
from structhash.evaluation.details import details

PROGRAM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
_FLAGS = (  # no window, no sandbox, which containers lack, and no traffic of its own
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
)

_ON_PIPES = """import fcntl, os, sys  # the browser reads from 3 and writes to 4
ends = [fcntl.fcntl(int(end), fcntl.F_DUPFD, 10) for end in sys.argv[1:3]]
os.dup2(ends[0], 3)
os.dup2(ends[1], 4)
os.execvp(sys.argv[3], sys.argv[3:])
"""


class Browser:
    """One tab. It collects what the page logs and asks for.

    Attributes
    ----------
    errors : list of str
        Messages of the console, failures of scripts, and refusals of the page's own policy.
    requests : list of str
        Addresses that were asked for, in order.
    """

    def __init__(self):
        self.errors, self.requests, self._number = [], [], 0
        self._profile = tempfile.TemporaryDirectory(prefix="browser-", ignore_cleanup_errors=True)
        theirs_in, self._out = os.pipe()
        self._in, theirs_out = os.pipe()
        words = [PROGRAM, *_FLAGS, f"--user-data-dir={self._profile.name}", "--remote-debugging-pipe"]
        self._process = subprocess.Popen(
            [sys.executable, "-c", _ON_PIPES, str(theirs_in), str(theirs_out), *words, "about:blank"],
            pass_fds=(theirs_in, theirs_out),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(theirs_in)
        os.close(theirs_out)
        self._reader, self._session = os.fdopen(self._in, "rb"), None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method, **params):
        """The result of one method of the protocol."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while (answer := self._next()).get("id") != self._number:
            pass
        assert "error" not in answer, (method, answer["error"])
        return answer["result"]

    def open(self, path, width=1200, height=900, dark=False):
        """Open a file, and wait until it is loaded."""
        self.errors.clear()
        self.requests.clear()
        assert Path(path).is_file()
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.call("Emulation.setDeviceMetricsOverride", **size)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])
        self.call("Page.navigate", url=Path(path).resolve().as_uri())
        while self._next().get("method") != "Page.loadEventFired":
            pass
        self.run("0")  # what the page has said so far comes before this answer

    def run(self, code):
        """The value of a JavaScript expression."""
        answer = self.call("Runtime.evaluate", expression=code, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def download(self, code, folder):
        """The file that a script's click saves in a folder."""
        self.call("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(folder), eventsEnabled=True)
        self.run(code)
        while True:
            found = self._next()
            state = found["params"]["state"] if found.get("method") == "Browser.downloadProgress" else ""
            assert state != "canceled"
            if state == "completed":
                return next(Path(folder).iterdir())

    def clashes(self):
        """Texts of charts that overlap another one, or leave their picture."""
        return self.run("""[...document.querySelectorAll("svg.chart")].flatMap((chart) => {
            const [edge, ...boxes] = [chart, ...chart.querySelectorAll("text")]
                .filter((each) => each.checkVisibility())
                .map((each) => ({ text: each.textContent, box: each.getBoundingClientRect() }));
            if (!edge) return [];
            const apart = (a, b) =>
                a.right <= b.left || b.right <= a.left || a.bottom <= b.top || b.bottom <= a.top;
            const inside = (a, b) =>
                a.left >= b.left && a.right <= b.right && a.top >= b.top && a.bottom <= b.bottom;
            return boxes
                .filter((a) => !inside(a.box, edge.box) || boxes.some((b) => a !== b && !apart(a.box, b.box)))
                .map((a) => a.text);
        })""")

    def shot(self, path):
        """Save a picture of the whole page."""
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}
        found = self.call("Page.captureScreenshot", clip=clip, captureBeyondViewport=True)
        Path(path).write_bytes(base64.b64decode(found["data"]))

    def close(self):
        """End the process, and delete its profile."""
        self._process.terminate()
        self._process.wait(20)
        self._reader.close()
        os.close(self._out)
        self._profile.cleanup()

    def _next(self):
        """The next message; what tells of errors and requests is collected."""
        message = bytearray()
        while (byte := self._reader.read(1)) != b"\0":
            assert byte, "the browser has ended"
            message += byte
        found = json.loads(message)
        params = found.get("params", {})
        match found.get("method"):
            case "Network.requestWillBeSent":
                self.requests.append(params["request"]["url"])
            case "Runtime.exceptionThrown" | "Runtime.consoleAPICalled" | "Log.entryAdded":
                self.errors.append(json.dumps(params))
        return found


@pytest.fixture(scope="session")
def browser():
    """A browser; without Chromium, the tests that use it are skipped."""
    if PROGRAM is None:
        pytest.skip("no Chromium here: apt-get install chromium")
    found = Browser()
    yield found
    found.close()


@pytest.fixture(scope="session")
def digits_and_results():
    """600 digits with labels that are words, the results of a comparison on them, and their lines."""
    X, y = load_digits(return_X_y=True)
    X, y = X[:600].astype(np.float32), np.array([*"abcdefghi", "<b>'\"&"])[y[:600]]
    methods = ["itq", "lsh", "cca_itq", "float"]
    results = list(compare(methods, X, y, bits=[8, 16], seeds=[0, 1], measures=["map", "precision@5"]))
    return X, y, results, summarise(results)


@pytest.fixture(scope="session")
def document(digits_and_results):
    """The document of that comparison, as a file holds it."""
    X, y, results, lines = digits_and_results
    options = {"methods": ["itq", "lsh", "cca_itq", "float"], "bits": [8, 16], "seeds": [0, 1]}
    options |= {"measures": ["map", "precision@5"], "queries": 2000, "train": None}
    about = {"data": "digits <i>.npz", "data_sha256": "0" * 64, "rows": len(X), "features": X.shape[1]}
    about |= {"protocol": "seen", "options": options, "versions": {"structhash": "0"}}
    return json.loads(to_json(as_json(lines, **about, details=details(lines, results, y, y))))
