"""A headless Chromium, driven through chromedriver's own protocol: JSON over HTTP."""

from __future__ import annotations

import base64
import json
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.request
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pathlib import Path


class Browser:
    """One browser window; use it in a ``with`` statement."""

    def __init__(self) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self._base = f"http://127.0.0.1:{port}"
        self._driver = subprocess.Popen(
            [str(shutil.which("chromedriver")), f"--port={port}"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self._session = ""

    @staticmethod
    def missing() -> str | None:
        """What is not installed here, if anything."""
        names = [("chromedriver",), ("chromium", "chromium-browser", "google-chrome")]
        lacking = [either[0] for either in names if not any(map(shutil.which, either))]
        return f"{' and '.join(lacking)} not installed here" if lacking else None

    def __enter__(self) -> Browser:
        options = {
            "args": ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"],
        }
        wanted = {
            "browserName": "chrome",
            "goog:chromeOptions": options,
            "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"},
        }
        for _ in range(100):
            try:
                answer = self._call("/session", {"capabilities": {"alwaysMatch": wanted}})
                break
            except urllib.error.URLError:  # the driver is still starting
                time.sleep(0.1)
        else:
            self._driver.terminate()
            raise RuntimeError("chromedriver does not answer")
        self._session = f"/session/{answer['sessionId']}"
        return self

    def __exit__(self, *problem: object) -> None:
        try:
            self._call(self._session, None, method="DELETE")
        finally:
            self._driver.terminate()
            self._driver.wait(timeout=10)

    def open(
        self, page: Path | str, *, width: int, dark: bool = False, media: str = "screen"
    ) -> None:
        """Show a file or an address at a width, in light or dark mode, on a screen or on paper."""
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.command("Emulation.setEmulatedMedia", media=media, features=[scheme])
        self.command(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=900,
            deviceScaleFactor=1,
            mobile=width < 600,
        )
        self._call(
            f"{self._session}/url", {"url": page if isinstance(page, str) else page.as_uri()}
        )

    def command(self, name: str, **parameters: Any) -> Any:
        """Send a command of the developer tools."""
        return self._call(f"{self._session}/goog/cdp/execute", {"cmd": name, "params": parameters})

    def ask(self, expression: str) -> Any:
        """The value of an expression of JavaScript."""
        return self._call(
            f"{self._session}/execute/sync", {"script": f"return {expression};", "args": []}
        )

    def logged(self) -> tuple[list[str], list[str]]:
        """Messages of the console, and addresses asked for, since the last question."""
        messages = [entry["message"] for entry in self._log("browser")]
        events = [json.loads(entry["message"])["message"] for entry in self._log("performance")]
        asked = [
            event["params"]["request"]["url"]
            for event in events
            if event["method"] == "Network.requestWillBeSent"
        ]
        return messages, asked

    def picture(self) -> bytes:
        """The whole page as PNG."""
        shot = self.command("Page.captureScreenshot", captureBeyondViewport=True)
        return base64.b64decode(shot["data"])

    def _log(self, kind: str) -> Any:
        return self._call(f"{self._session}/se/log", {"type": kind})

    def _call(self, path: str, body: Any, method: str = "POST") -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(  # noqa: S310  # our own driver on this machine
            self._base + path, data, {"Content-Type": "application/json"}, method=method
        )
        with urllib.request.urlopen(request, timeout=60) as answer:  # noqa: S310
            return json.load(answer)["value"]


NEEDS_BROWSER = [
    pytest.mark.browser,
    pytest.mark.skipif(Browser.missing() is not None, reason=str(Browser.missing())),
]
