"""Headless Firefox, controlled over its own WebDriver BiDi socket; needs no geckodriver."""

import itertools
import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from websockets.sync.client import ClientConnection, connect

from helpers.browser import KEYS, TIMEOUT_S, Browser

FIREFOX = next(filter(None, map(shutil.which, ("firefox-esr", "firefox"))), None)
CENTER = """(() => { const element = document.querySelector(%s); element.scrollIntoView({block: 'center', inline: 'center'});
    const box = element.getBoundingClientRect(); return [(box.left + box.right) / 2, (box.top + box.bottom) / 2]; })()"""


class Firefox(Browser):
    """A Firefox window; it has the methods of `Browser` that a whole game needs."""

    def __init__(self, socket: ClientConnection) -> None:
        super().__init__("")
        self._socket, self._ids = socket, itertools.count()
        self._command("session.new", capabilities={})
        self._context = self._command("browsingContext.getTree")["contexts"][0]["context"]

    def open(self, address: str) -> None:
        self._command("browsingContext.navigate", context=self._context, url=address, wait="complete")

    def resize(self, width: int, height: int, *, phone: bool = False) -> None:
        """Set the size of the viewport; touch is not emulated."""
        self._command("browsingContext.setViewport", context=self._context, viewport={"width": width, "height": height})

    def run(self, script: str) -> Any:
        """Return the value of a JavaScript expression."""
        target = {"context": self._context}
        answer = self._command("script.evaluate", expression=f"JSON.stringify({script}) ?? 'null'", target=target, awaitPromise=False)
        assert answer["type"] == "success", answer
        return json.loads(answer["result"]["value"])

    def click(self, selector: str) -> None:
        """Click the center of an element."""
        x, y = self.run(CENTER % json.dumps(selector))
        steps = [
            {"type": "pointerMove", "x": round(x), "y": round(y)},
            *({"type": kind, "button": 0} for kind in ("pointerDown", "pointerUp")),
        ]
        self._perform({"type": "pointer", "id": "mouse", "actions": steps})

    def press(self, *names: str) -> None:
        for name in names:
            self._perform(
                {"type": "key", "id": "keys", "actions": [{"type": kind, "value": KEYS.get(name, name)} for kind in ("keyDown", "keyUp")]}
            )

    def _perform(self, source: dict[str, object]) -> None:
        self._command("input.performActions", context=self._context, actions=[source])

    def _command(self, method: str, **parameters: object) -> Any:
        number = next(self._ids)
        self._socket.send(json.dumps({"id": number, "method": method, "params": parameters}))
        while True:
            answer = json.loads(self._socket.recv(timeout=TIMEOUT_S))
            if answer.get("id") == number:
                assert answer["type"] == "success", answer
                return answer["result"]


@contextmanager
def firefox(folder: Path) -> Iterator[Firefox]:
    """Start Firefox with a new profile in this folder."""
    assert FIREFOX
    folder.mkdir()
    command = [FIREFOX, "--headless", "--no-remote", "--profile", str(folder), "--remote-debugging-port=0"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr
            address = next(found[1] for line in process.stderr if (found := re.search(r"WebDriver BiDi listening on (ws://\S+)", line)))
            with connect(f"{address}/session", proxy=None, max_size=None, open_timeout=TIMEOUT_S) as socket:
                yield Firefox(socket)
        finally:
            process.terminate()
