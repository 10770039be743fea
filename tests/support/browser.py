"""Drives headless Chromium through its debugging pipe: loads a page as a phone or a desktop would, and inspects it."""

from __future__ import annotations

import base64
import itertools
import json
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Literal

Scheme = Literal["light", "dark"]
_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--remote-debugging-pipe",
)


def chromium() -> str | None:
    """The browser's path; None where there is none."""
    return next((found for name in _NAMES if (found := shutil.which(name)) is not None), None)


class Browser:
    """One tab. Messages of the debugging protocol are JSON, each ended by a zero byte."""

    def __init__(self, to_browser: IO[bytes], from_browser: IO[bytes]) -> None:
        self.out = to_browser
        self.incoming = from_browser
        self.numbers = itertools.count(1)
        self.events: list[dict[str, Any]] = []
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self.session: str | None = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.ask(f"{domain}.enable")

    session: str | None = None

    def ask(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Sends a command and waits for its result; events that come meanwhile are kept."""
        number = next(self.numbers)
        message = {"id": number, "method": method, "params": parameters}
        if self.session is not None:
            message["sessionId"] = self.session
        self.out.write(json.dumps(message).encode() + b"\0")
        while True:
            answer = self._read()
            if answer.get("id") == number:
                assert "error" not in answer, answer
                result: dict[str, Any] = answer["result"]
                return result

    def _read(self) -> dict[str, Any]:
        content = bytearray()
        while (byte := self.incoming.read(1)) != b"\0":
            assert byte, "the browser has ended"
            content += byte
        message: dict[str, Any] = json.loads(content)
        if "method" in message:
            self.events.append(message)
        return message

    def open(self, page: Path, width: int, height: int, scheme: Scheme) -> None:
        """Loads a file at a size and in a colour scheme."""
        self.visit(page.resolve().as_uri(), width, height, scheme)

    def visit(self, url: str, width: int, height: int, scheme: Scheme) -> None:
        """Loads an address at a size and in a colour scheme, as a new page even if only its end is another."""
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1,
                 mobile=width < 640)
        self.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        for each in ("about:blank", url):
            self.events.clear()
            self.ask("Page.navigate", url=each)
            while not any(event["method"] == "Page.loadEventFired" for event in self.events):
                self._read()

    def evaluate(self, script: str) -> Any:
        """The value of an expression in the page."""
        answer = self.ask("Runtime.evaluate", expression=script, returnByValue=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def press(self, key: str) -> None:
        """Presses and releases a key, such as ``ArrowLeft``."""
        text = {"text": key} if len(key) == 1 else {"text": "\r"} if key == "Enter" else {}
        self.ask("Input.dispatchKeyEvent", type="keyDown", key=key, **text)
        self.ask("Input.dispatchKeyEvent", type="keyUp", key=key)

    def until(self, script: str, wanted: Any) -> None:
        """Waits until an expression in the page has a value."""
        end = time.monotonic() + 20
        while (found := self.evaluate(script)) != wanted:
            assert time.monotonic() < end, f"{script} is {found!r}"
            time.sleep(0.02)

    def complaints(self) -> list[str]:
        """The messages of the console, and requests for anything but the page."""
        names = ("Log.entryAdded", "Runtime.consoleAPICalled", "Runtime.exceptionThrown")
        said = [json.dumps(event["params"]) for event in self.events if event["method"] in names]
        urls = [
            event["params"]["request"]["url"]
            for event in self.events
            if event["method"] == "Network.requestWillBeSent" and event["params"].get("type") != "Document"
        ]
        return said + urls

    def screenshot(self, path: Path, whole: bool = True) -> None:
        """A picture of the page."""
        answer = self.ask("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(answer["data"]))


@contextmanager
def browser(program: str) -> Iterator[Browser]:
    """A browser with an empty profile, ended at the end."""
    to_read, to_write = os.pipe()
    from_read, from_write = os.pipe()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        command = [program, *_FLAGS, f"--user-data-dir={profile}"]
        # The browser reads from descriptor 3 and writes to descriptor 4.
        shell = f'exec "$@" 3<&{to_read} 4>&{from_write}'
        process = subprocess.Popen(["bash", "-c", shell, "bash", *command], pass_fds=(to_read, from_write),
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(from_write)
        try:
            with os.fdopen(to_write, "wb", buffering=0) as to_browser, os.fdopen(from_read, "rb") as from_browser:
                yield Browser(to_browser, from_browser)
        finally:
            process.terminate()
            process.wait(20)
