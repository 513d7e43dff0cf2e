"""A real server of rooms in a thread of the test, and pages that talk to it without a browser."""

import json
import socket
import threading
import time
import urllib.error
import urllib.request
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import uvicorn
from websockets.sync.client import ClientConnection, connect

from tetrarchia_app.cli.serve import lobby_data, offer
from tetrarchia_app.web.app import Entrance, make_app
from tetrarchia_app.web.house import House, Limits, Services
from tetrarchia_app.web.journal import Journal
from tetrarchia_app.web.server import bound, configured

PATIENCE = 30.0  # seconds
OPEN: Callable[..., Any] = urllib.request.build_opener(urllib.request.ProxyHandler({})).open


@dataclass(frozen=True)
class Server:
    """Where it is, and its rooms (to be looked at, not touched: they belong to the server's thread)."""

    port: int
    house: House
    guests: ExitStack  # their connections, closed with the server

    @property
    def origin(self) -> str:
        return f"http://localhost:{self.port}"

    def make_room(self, *emperors: str, **rules: Any) -> str:
        """The address of a room for these four; ValueError with the server's sentence."""
        return str(self.post({"emperors": emperors, **rules})["address"])

    def post(self, setup: object, **headers: str) -> Any:
        content = setup if isinstance(setup, bytes) else json.dumps(setup).encode()
        request = urllib.request.Request(f"{self.origin}/rooms", content, {"Origin": self.origin, **headers}, method="POST")
        try:
            with OPEN(request, timeout=PATIENCE) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            raise ValueError(error.read().decode()) from None

    def get(self, path: str, **headers: str) -> tuple[int, Any, bytes]:
        try:
            with OPEN(urllib.request.Request(f"{self.origin}{path}", headers=headers), timeout=PATIENCE) as answer:
                return answer.status, answer.headers, answer.read()
        except urllib.error.HTTPError as error:
            return error.code, error.headers, error.read()

    def visit(self, address: str) -> "Visitor":
        """A page behind this link, without a browser."""
        talk = f"ws://localhost:{self.port}{address}/talk"
        origin: Any = self.origin
        return Visitor(self.guests.enter_context(connect(talk, origin=origin, proxy=None, open_timeout=PATIENCE, close_timeout=1)))


class Visitor:
    """One end of the talk: what came last of each kind is kept."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket
        self._received: deque[Any] = deque()
        self.told: dict[str, Any] = {}
        self.wait_for("decision")

    def send(self, type_: str, **values: object) -> None:
        self.socket.send(json.dumps({"type": type_, **values}))

    def wait_for(self, kind: str, wanted: Callable[[Any], bool] = lambda _: True) -> Any:
        """The next message of this kind that is as wanted."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            message = self.hear()
            if message["type"] == kind and wanted(message):
                return message
        raise AssertionError(f"no such {kind} came")

    def hear(self) -> Any:
        """The next message."""
        if not self._received:
            self._received.extend(json.loads(self.socket.recv(timeout=PATIENCE)))
        message = self._received.popleft()
        self.told[message["type"]] = message
        return message

    def my_decision(self) -> Any:
        """Until it is this person's, or the game is over."""
        last = self.told["decision"]
        if last["choices"] or last["agent"] is None:
            return last
        return self.wait_for("decision", lambda told: bool(told["choices"]) or told["agent"] is None)

    def play(self, action: str) -> None:
        """One action, and wait until it is played."""
        number = self.told["decision"]["number"]
        self.send("play", number=number, action=action)
        while self.hear()["type"] != "decision" or self.told["decision"]["number"] <= number:
            assert self.told.pop("refused", None) is None, action

    def refusal(self, type_: str, **values: object) -> str:
        """What is said to a message that is not obeyed."""
        self.send(type_, **values)
        return str(self.wait_for("refused")["sentence"])


@contextmanager
def serving(
    folder: Path, agents: tuple[str, ...] = ("random",), limits: Limits | None = None, send_buffer: int = 0, **services: Any
) -> Iterator[Server]:
    """A server with these agents, until the test is over."""
    given = Services({name: offer(name) for name in agents} | services.pop("offered", {}), **services)
    house = House(Journal(folder), given, limits or Limits())
    place = bound("127.0.0.1", 0)
    if send_buffer:
        place.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, send_buffer)
    server = uvicorn.Server(configured(make_app(house, lobby_data(house), Entrance())))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [place]}, daemon=True)
    thread.start()
    try:
        with ExitStack() as guests:
            yield Server(place.getsockname()[1], house, guests)
    finally:
        server.should_exit = True
        thread.join(PATIENCE)
