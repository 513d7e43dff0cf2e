"""A real web server in a thread of the test, and clients that connect to it without a browser."""

import json
import os
import resource
import signal
import socket
import subprocess
import sys
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

from tetrarchia_app.cli.serve import agent_spec, lobby_data
from tetrarchia_app.web.journal import Journal
from tetrarchia_app.web.room_manager import Limits, RoomManager, Services
from tetrarchia_app.web.server import AccessPolicy, bind_socket, create_app, uvicorn_config
from tetrarchia_app.web.workers import AgentSpec

TIMEOUT_S = 30.0
OPEN: Callable[..., Any] = urllib.request.build_opener(urllib.request.ProxyHandler({})).open  # never through a proxy


class RefusedRequestError(Exception):
    """Raised when the server answers a request with an error status."""


@dataclass(frozen=True)
class Server:
    """A running server. Tests may read the rooms of its manager, but not change them: they belong to the server's thread."""

    port: int
    manager: RoomManager
    clients: ExitStack  # closed with the server

    @property
    def origin(self) -> str:
        return f"http://localhost:{self.port}"

    def create_room(self, *emperors: str, **rules: Any) -> str:
        """Return the path of a new room's page."""
        return str(self.post({"emperors": emperors, **rules})["url"])

    def post(self, setup: object, **headers: str) -> Any:
        """Post a request to create a room; raise RefusedRequestError with the server's answer if it is refused."""
        content = setup if isinstance(setup, bytes) else json.dumps(setup).encode()
        request = urllib.request.Request(f"{self.origin}/rooms", content, {"Origin": self.origin, **headers}, method="POST")
        try:
            with OPEN(request, timeout=TIMEOUT_S) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            raise RefusedRequestError(error.read().decode()) from None

    def get(self, path: str, **headers: str) -> tuple[int, Any, bytes]:
        """Return status, headers and content."""
        try:
            with OPEN(urllib.request.Request(f"{self.origin}{path}", headers=headers), timeout=TIMEOUT_S) as answer:
                return answer.status, answer.headers, answer.read()
        except urllib.error.HTTPError as error:
            return error.code, error.headers, error.read()

    def connect(self, path: str) -> "Client":
        """Connect as the page of this path does."""
        url, origin = f"ws://localhost:{self.port}{path}/socket", self.origin
        socket = connect(url, origin=origin, proxy=None, open_timeout=TIMEOUT_S, close_timeout=1)  # type: ignore[arg-type]
        return Client(self.clients.enter_context(socket))


class Client:
    """A page without a browser; `received` is the last message of each type."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket
        self._queue: deque[Any] = deque()
        self.received: dict[str, Any] = {}
        self.wait_for("decision")

    def send(self, type_: str, **fields: object) -> None:
        self.socket.send(json.dumps({"type": type_, **fields}))

    def wait_for(self, type_: str, condition: Callable[[Any], bool] = lambda _: True) -> Any:
        """Return the next message of this type that meets the condition."""
        end = time.monotonic() + TIMEOUT_S
        while time.monotonic() < end:
            message = self.receive()
            if message["type"] == type_ and condition(message):
                return message
        raise AssertionError(f"no such message: {type_}")

    def receive(self) -> Any:
        """Return the next message."""
        if not self._queue:
            self._queue.extend(json.loads(self.socket.recv(timeout=TIMEOUT_S)))
        message = self._queue.popleft()
        self.received[message["type"]] = message
        return message

    def own_decision(self) -> Any:
        """Wait until this player decides or the game is over."""
        last = self.received["decision"]
        if last["choices"] or last["emperor"] is None:
            return last
        return self.wait_for("decision", lambda message: bool(message["choices"]) or message["emperor"] is None)

    def play(self, action: str) -> None:
        """Play an action and wait for the next decision."""
        position = self.received["decision"]["position"]
        self.send("play", position=position, action=action)
        while self.receive()["type"] != "decision" or self.received["decision"]["position"] <= position:
            assert self.received.pop("error", None) is None, action

    def error(self, type_: str, **fields: object) -> str:
        """Send a message that is refused; return the error message."""
        self.send(type_, **fields)
        return str(self.wait_for("error")["message"])


class ServerProcess:
    """A server process that can be killed.

    Args:
        command: Arguments of `tetrarchia`.
        descriptors: Limit on open descriptors, soft and hard.
        log: File for the standard error.
    """

    def __init__(self, *command: str, descriptors: int | None = None, log: Path | None = None) -> None:
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "BROWSER": "true"}
        arguments = [sys.executable, "-m", "tetrarchia_app", *command]
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        with ExitStack() as files:
            if descriptors is not None:
                resource.setrlimit(resource.RLIMIT_NOFILE, (descriptors, hard))  # inherited
                files.callback(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
                arguments = ["/bin/sh", "-c", f'ulimit -Hn {descriptors} && exec "$@"', "sh", *arguments]
            stderr = files.enter_context(log.open("ab")) if log else None
            self.process = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=stderr, text=True, env=environment)
        assert self.process.stdout
        port, _, path = self.process.stdout.readline().partition("localhost:")[2].partition("/")
        self.port, self.path = int(port), f"/{path.partition(' ')[0]}"

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        if self.process.stdout:
            self.process.stdout.close()


@contextmanager
def serving(
    folder: Path,
    agents: tuple[str, ...] = ("random",),
    specs: dict[str, AgentSpec] | None = None,
    limits: Limits | None = None,
    send_buffer: int = 0,
    **services: Any,
) -> Iterator[Server]:
    """Run a server with these agents and `specs`."""
    all_specs = {name: agent_spec(name) for name in agents} | (specs or {})
    manager = RoomManager(Journal(folder), Services(all_specs, **services), limits)
    bound = bind_socket("127.0.0.1", 0)
    if send_buffer:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, send_buffer)
    server = uvicorn.Server(uvicorn_config(create_app(manager, lobby_data(manager), AccessPolicy())))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]}, daemon=True)
    thread.start()
    try:
        with ExitStack() as clients:
            yield Server(bound.getsockname()[1], manager, clients)
    finally:
        server.should_exit = True
        thread.join(TIMEOUT_S)
