"""Headless Chromium, controlled through chromedriver over HTTP (W3C WebDriver)."""

import json
import re
import shutil
import subprocess
import time
import urllib.error
import urllib.request
from base64 import b64decode
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"  # key of an element reference, from the standard
KEYS = {
    "Space": " ", "PageUp": "\ue00e", "PageDown": "\ue00f", "End": "\ue010", "Home": "\ue011", "Left": "\ue012", "Up": "\ue013",
    "Right": "\ue014", "Down": "\ue015", "Tab": "\ue004", "Enter": "\ue007", "Escape": "\ue00c",
}  # fmt: skip
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage",
)  # fmt: skip
TIMEOUT_S = 30.0  # the machine may be busy

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
DRIVER = shutil.which("chromedriver")
MISSING = f"needs Chromium and chromedriver (Debian: chromium, chromium-driver); found {BROWSER or 'no browser'}, {DRIVER or 'no driver'}"


class Browser:
    """A browser window."""

    def __init__(self, session: str) -> None:
        self._session = session

    def open(self, address: str) -> None:
        self._post("url", url=address)

    def resize(self, width: int, height: int, *, phone: bool = False) -> None:
        """Set the size of the viewport; a phone also has a touch screen and a pixel ratio of 2."""
        size = {"width": width, "height": height, "deviceScaleFactor": 2 if phone else 1, "mobile": phone}
        self.command("Emulation.setDeviceMetricsOverride", **size)
        self.command("Emulation.setTouchEmulationEnabled", enabled=phone)

    def reset(self, origin: str) -> None:
        """Clear the storage of this origin and all emulation."""
        self.command("Storage.clearDataForOrigin", origin=origin, storageTypes="all")
        self.command("Emulation.clearDeviceMetricsOverride")
        self.command("Emulation.setTouchEmulationEnabled", enabled=False)
        self.command("Emulation.setEmulatedMedia", media="", features=[])

    def command(self, name: str, **values: object) -> Any:
        """Execute a DevTools command."""
        return self._post("goog/cdp/execute", cmd=name, params=values)

    def run(self, script: str) -> Any:
        """Return the value of a JavaScript expression."""
        return self._post("execute/sync", script=f"return {script}", args=[])

    def click(self, selector: str) -> None:
        """Click an element, which must be visible and not covered."""
        element = self._post("element", using="css selector", value=selector)[ELEMENT]
        self._post(f"element/{element}/click")

    def double_click(self, selector: str) -> None:
        """Click an element's place twice, 80 ms apart, whatever is there the second time."""
        element = self._post("element", using="css selector", value=selector)
        click: list[dict[str, object]] = [{"type": kind, "button": 0} for kind in ("pointerDown", "pointerUp")]
        steps = [{"type": "pointerMove", "x": 0, "y": 0, "origin": element}, *click, {"type": "pause", "duration": 80}, *click]
        self._post("actions", actions=[{"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}, "actions": steps}])

    def point_at(self, selector: str) -> None:
        """Move the mouse to the center of an element."""
        element = self._post("element", using="css selector", value=selector)
        move = {"type": "pointerMove", "x": 0, "y": 0, "origin": element}
        self._post("actions", actions=[{"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}, "actions": [move]}])

    def tap(self, x: float, y: float) -> None:
        """Touch a point of the viewport."""
        steps = [{"type": "pointerMove", "x": x, "y": y}, *({"type": kind, "button": 0} for kind in ("pointerDown", "pointerUp"))]
        self._post("actions", actions=[{"type": "pointer", "id": "finger", "parameters": {"pointerType": "touch"}, "actions": steps}])

    def fill(self, selector: str, text: str) -> None:
        """Type into a field; a file input takes a path."""
        element = self._post("element", using="css selector", value=selector)[ELEMENT]
        self._post(f"element/{element}/value", text=text)

    def run_program(self, script: str, *values: object) -> Any:
        """Run JavaScript statements and return what they pass to the callback `done`."""
        return self._post("execute/async", script=f"const done = arguments[arguments.length - 1]; {script}", args=list(values))

    def press(self, *names: str) -> None:
        for name in names:
            strokes = [{"type": kind, "value": KEYS.get(name, name)} for kind in ("keyDown", "keyUp")]
            self._post("actions", actions=[{"type": "key", "id": "keyboard", "actions": strokes}])

    def wait_for(self, script: str, timeout_s: float = TIMEOUT_S) -> None:
        """Wait until a JavaScript expression is true."""
        end = time.monotonic() + timeout_s
        while not self.run(script):
            if time.monotonic() > end:
                raise AssertionError(f"not within {timeout_s} seconds: {script}")
            time.sleep(0.02)

    def sees(self, selector: str) -> bool:
        """Return whether the center of an element is inside the viewport and not covered."""
        middle = "const box = element.getBoundingClientRect(), x = (box.left + box.right) / 2, y = (box.top + box.bottom) / 2"
        hit = "element.contains(document.elementFromPoint(x, y))"
        return bool(self.run(f"((element) => {{ {middle}; return {hit}; }})(document.querySelector({json.dumps(selector)}))"))

    def console_errors(self) -> list[str]:
        """Return the errors and warnings written to the console since the last call."""
        return [entry["message"] for entry in self._post("se/log", type="browser") if entry["level"] in ("SEVERE", "WARNING")]

    def screenshot(self, path: Path) -> None:
        path.write_bytes(b64decode(_call("GET", f"{self._session}/screenshot")))

    def _post(self, place: str, **values: object) -> Any:
        return _call("POST", f"{self._session}/{place}", values)


@contextmanager
def browser(folder: Path) -> Iterator[Browser]:
    """Start a browser with a new profile in this folder."""
    with _driver() as address:
        session = f"{address}/session/{_call('POST', f'{address}/session', _capabilities(folder))['sessionId']}"
        try:
            yield Browser(session)
        finally:
            _call("DELETE", session)


def _capabilities(folder: Path) -> dict[str, Any]:
    options = {"binary": BROWSER, "args": [*FLAGS, f"--user-data-dir={folder}"]}
    wanted = {"browserName": "chrome", "goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}
    return {"capabilities": {"alwaysMatch": wanted}}


@contextmanager
def _driver() -> Iterator[str]:
    assert DRIVER
    with subprocess.Popen([DRIVER, "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        try:
            yield f"http://127.0.0.1:{_port(process)}"
        finally:
            process.terminate()


def _port(process: "subprocess.Popen[str]") -> str:
    assert process.stdout
    for line in process.stdout:
        if found := re.search(r"started successfully on port (\d+)", line):
            return found[1]
    raise AssertionError("chromedriver exited before it was ready")


_OPEN: Callable[..., Any] = urllib.request.build_opener(urllib.request.ProxyHandler({})).open  # never through a proxy


def _call(method: str, address: str, values: object = None) -> Any:
    content = None if values is None else json.dumps(values).encode()
    request = urllib.request.Request(address, content, {"Content-Type": "application/json"}, method=method)
    try:
        with _OPEN(request, timeout=60) as answer:
            return json.load(answer)["value"]
    except urllib.error.HTTPError as error:
        raise AssertionError(f"{method} {address}: {json.load(error)['value']['message']}") from None
