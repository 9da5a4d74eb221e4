"""A headless Chromium spoken to over a pipe, for tests that look at pages; skips where there is none."""

import base64
import fcntl
import itertools
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

PROGRAM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--remote-debugging-pipe",
)
# The browser reads commands on descriptor 3 and answers on 4.
AS_3_AND_4 = (
    "import os, sys; os.dup2(int(sys.argv[1]), 3); os.dup2(int(sys.argv[2]), 4); os.execv(sys.argv[3], sys.argv[3:])"
)


class BrowserError(RuntimeError):
    """A command was refused, or the page it was for made way for another."""


class Browser:
    """One page at a time, at a width, with what its console said."""

    def __init__(self) -> None:
        if PROGRAM is None:
            print("no Chromium on this machine: the report is not looked at in a browser")
            pytest.skip("no Chromium on this machine")
        self.profile = tempfile.mkdtemp(prefix="gpu-ledger-chromium-")
        self.numbers = itertools.count(1)
        self.said: list[str] = []
        self.asked_for: list[str] = []
        to_browser, self.write_end = os.pipe()
        self.read_end, from_browser = os.pipe()
        high = [fcntl.fcntl(one, fcntl.F_DUPFD, 10) for one in (to_browser, from_browser)]
        self.process = subprocess.Popen(
            [
                sys.executable,
                "-c",
                AS_3_AND_4,
                *map(str, high),
                PROGRAM,
                *FLAGS,
                f"--user-data-dir={self.profile}",
                "about:blank",
            ],
            pass_fds=high,
            stderr=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )
        for one in (to_browser, from_browser, *high):
            os.close(one)
        self.left = b""
        self.session: str | None = None
        [target] = [one for one in self.call("Target.getTargets")["targetInfos"] if one["type"] == "page"]
        self.session = self.call("Target.attachToTarget", targetId=target["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network", "DOM"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """One command and its answer; events on the way are kept."""
        number = next(self.numbers)
        message: dict[str, Any] = {"id": number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.write_end, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next_message()
            if answer.get("id") == number:
                if "error" in answer:
                    raise BrowserError(f"{method}: {answer['error']}")
                result: dict[str, Any] = answer["result"]
                return result

    def _next_message(self) -> dict[str, Any]:
        while b"\0" not in self.left:
            read = os.read(self.read_end, 1 << 20)
            assert read, "the browser went away"
            self.left += read
        text, _, self.left = self.left.partition(b"\0")
        message: dict[str, Any] = json.loads(text)
        self._note(message.get("method", ""), message.get("params", {}))
        return message

    def _note(self, event: str, told: dict[str, Any]) -> None:
        if event == "Runtime.exceptionThrown":
            self.said.append(
                str(told["exceptionDetails"].get("exception", told["exceptionDetails"]).get("description"))
            )
        elif event == "Log.entryAdded" and told["entry"]["level"] in {"error", "warning"}:
            self.said.append(told["entry"]["text"])
        elif event == "Runtime.consoleAPICalled" and told["type"] in {"error", "warning", "assert"}:
            self.said.append(" ".join(str(one.get("value")) for one in told["args"]))
        elif event == "Network.requestWillBeSent":
            self.asked_for.append(told["request"]["url"])

    def open(self, page: Path, *, width: int, height: int = 900, dark: bool = False) -> None:
        """Open a file and wait until its charts are drawn."""
        scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self.call("Emulation.setEmulatedMedia", features=scheme)
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 700
        )
        self.call("Page.navigate", url=page.absolute().as_uri())
        self.evaluate(
            "new Promise(done => { const started = Date.now(); const look = () => document.readyState === 'complete'"
            " && (!document.querySelector('.chart') || document.documentElement.dataset.charts || Date.now() - started > 30000)"
            " ? done() : setTimeout(look, 50); look(); })"
        )

    def evaluate(self, script: str) -> Any:
        """The value of a JavaScript expression."""
        found = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def picture(self, path: Path, *, whole: bool = True) -> None:
        """A PNG of the page, or of the part in sight."""
        shot = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(shot["data"]))

    def pdf(self, path: Path) -> None:
        """The page as printed on A4."""
        printed = self.call("Page.printToPDF", paperWidth=8.27, paperHeight=11.69, printBackground=True)
        path.write_bytes(base64.b64decode(printed["data"]))

    def close(self) -> None:
        """End it."""
        self.process.terminate()
        self.process.wait(timeout=20)
        os.close(self.write_end)
        os.close(self.read_end)
        shutil.rmtree(self.profile, ignore_errors=True)
