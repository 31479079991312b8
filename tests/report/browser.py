"""A headless Chromium that is spoken to by its DevTools protocol over two pipes."""

import base64
import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

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
        script = f'exec "$@" 3<&{theirs_in} 4>&{theirs_out}'
        self._process = subprocess.Popen(
            ["sh", "-c", script, "sh", *words, "about:blank"],
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
