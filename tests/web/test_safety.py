"""What strangers send: no crash, no foreign seat played, one sentence in the log."""

import json
import logging
import os
import random
import signal
import socket
import string
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
pytest.importorskip("websockets")

from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from helpers.web_server import Server, Visitor, serving
from tetrarchia_app.web import app, connection, documents
from tetrarchia_app.web.journal import Journal
from tetrarchia_app.web.protocol import LARGEST, LARGEST_SETUP
from tetrarchia_app.web.server import entrance_at

ME, SECOND, AGENT = "person 1", "person 2", "random"
KINDS = ["play", "undo", "look", "on", "coach", "analyse", "name", "consent", "stand in", "take over"]
WORDS = [*KINDS, "given", "number", "action", "type", "agent", "player"]


@pytest.fixture(name="server")
def a_server(tmp_path: Path) -> Iterator[Server]:
    with serving(tmp_path / "rooms") as server:
        yield server


def room_of(server: Server, address: str) -> Any:
    door = server.house.behind(address.rpartition("/")[2])
    assert door
    return door[0].room


def fuzzed(rng: random.Random) -> str | bytes:
    """A message with something wrong: other types, other values, other fields, cut off, or no JSON at all."""
    values: list[object] = [None, True, -1, 2**70, 1.5, "", "x" * rng.randrange(200), [], {}, [[[]]], "play", "\ud800", "end", 0, 1, 2]
    message = {"type": rng.choice(WORDS), **{rng.choice(WORDS): rng.choice(values) for _ in range(rng.randrange(4))}}
    text = json.dumps(message)
    kind = rng.randrange(6)
    if kind == 0:
        text = text[: rng.randrange(len(text))]
    elif kind == 1:
        text = "".join(rng.choice(string.printable) for _ in range(rng.randrange(100)))
    elif kind == 2:
        return bytes(rng.randrange(256) for _ in range(rng.randrange(100)))
    elif kind == 3:
        text = "[" * rng.randrange(3000)
    return text


def logged(caplog: pytest.LogCaptureFixture) -> list[str]:
    """What is in the log, as soon as there is something."""
    end = time.monotonic() + 30
    while not caplog.records and time.monotonic() < end:
        time.sleep(0.05)
    assert caplog.records
    return [record.getMessage() for record in caplog.records]


@pytest.mark.parametrize("messages", [300, pytest.param(10_000, marks=pytest.mark.slow)])
def test_fuzzed_messages_neither_crash_nor_play_a_foreign_seat(
    server: Server, messages: int, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(connection, "RATE", 1e9)
    monkeypatch.setattr(connection, "REFUSALS", 10**9)
    first = server.visit(server.make_room(ME, SECOND, SECOND, SECOND, seed=1))
    link, rng = first.told["people"]["players"][1]["link"], random.Random(18)
    stranger = server.visit(link)
    for _ in range(messages // 20):
        for _ in range(20):
            stranger.socket.send(fuzzed(rng))
        stranger.send("look", number=0)
        stranger.wait_for("position")  # it has read them all

    assert room_of(server, link).number == 0
    assert len(server.house.rooms) == 1
    first.play(first.my_decision()["choices"][0]["action"])
    monkeypatch.setattr(connection, "REFUSALS", 1)
    stranger.socket.send("nonsense")
    [sentence] = logged(caplog)
    assert sentence.startswith("a connection was closed: it sent 1 messages that were refused")
    assert "\n" not in sentence


def test_a_message_that_is_too_large_or_one_too_many_ends_the_talk(server: Server, caplog: pytest.LogCaptureFixture) -> None:
    address = server.make_room(*[ME] * 4)
    assert "at most 4096 bytes" in server.visit(address).refusal("name", name="x" * LARGEST)

    hurried = server.visit(address)
    with pytest.raises(ConnectionClosed, match="messages a second"):
        ask_without_end(hurried)
    with pytest.raises(ValueError, match="larger than 2 MB"):
        server.post(b" " * (LARGEST_SETUP + 1))
    assert logged(caplog) == ["a connection was closed: it sent more than 20 messages a second"]


def ask_without_end(visitor: Visitor) -> None:
    while True:
        visitor.send("look", number=0)
        visitor.hear()


@pytest.mark.parametrize("origin", [None, "http://evil.example", "null", "https://localhost"])
def test_a_foreign_origin_is_refused(server: Server, origin: str | None, caplog: pytest.LogCaptureFixture) -> None:
    address = server.make_room(*[ME] * 4)
    foreign: Any = origin
    with pytest.raises(InvalidStatus, match="403"), connect(f"ws://localhost:{server.port}{address}/talk", origin=foreign, proxy=None):
        pass
    with pytest.raises(ValueError, match="another page"):
        server.post({"emperors": [ME] * 4}, Origin=origin or "")

    assert [message.partition(":")[0] for message in caplog.messages] == ["a connection was refused", "a request was refused"]


def test_a_foreign_host_is_refused(server: Server) -> None:
    """DNS rebinding: a stranger's name that leads to this machine."""
    assert server.get("/", Host="evil.example")[0] == 403
    assert server.get("/")[0] == 200


def test_pages_have_a_strict_policy_and_nothing_inline(server: Server) -> None:
    address = server.make_room(*[ME] * 4)
    for path in ("/", address, "/seat/nothing"):
        _, headers, content = server.get(path)
        assert headers["Content-Security-Policy"] == app.POLICY
        assert headers["Referrer-Policy"] == "no-referrer"
        page = content.decode()
        assert "<style" not in page
        assert " style=" not in page
        assert "onclick" not in page
        assert "http" not in page.replace("http-equiv", "")


def test_only_our_own_files_are_served() -> None:
    assert documents.static_file("room.js")
    for name in ("../app.py", "app.py", "room.html", "x.js", "", ".", "..", "/etc/passwd", "LICENSE.txt"):
        assert documents.static_file(name) is None


def test_there_is_no_room_behind_a_guessed_link(server: Server) -> None:
    assert server.get("/seat/guess")[0] == 404
    with pytest.raises(InvalidStatus), connect(f"ws://localhost:{server.port}/seat/guess/talk", origin=server.origin, proxy=None):  # type: ignore[arg-type]
        pass


@pytest.mark.parametrize(
    ("host", "keyed", "any_host"),
    [
        ("127.0.0.1", False, False),
        ("::1", False, False),
        ("localhost", False, False),
        ("0.0.0.0", True, True),
        ("192.168.1.7", True, False),
    ],
)
def test_elsewhere_than_at_home_the_lobby_is_behind_an_unguessable_link(host: str, keyed: bool, any_host: bool) -> None:
    entrance = entrance_at(host)
    assert (len(entrance.key) >= 32) == keyed
    assert (entrance.hosts is None) == any_host


def test_a_page_that_never_reads_is_let_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.setattr(connection, "WAITING", 200)
    monkeypatch.setattr(connection, "PATIENCE", 0.5)
    with serving(tmp_path, send_buffer=4_096) as server:
        me = server.visit(server.make_room(ME, AGENT, AGENT, AGENT, seed=1))
        server.guests.enter_context(deaf_visitor(server, me.told["people"]["watch"]))
        while not caplog.messages and me.my_decision()["agent"] is not None:
            me.play(me.told["decision"]["choices"][-1]["action"])
        told = logged(caplog)

    assert [line.partition(": it d")[0] for line in told] == ["a connection was closed"]


def deaf_visitor(server: Server, address: str) -> socket.socket:
    """It shakes hands and then reads nothing."""
    deaf = socket.socket()
    deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1024)
    deaf.connect(("127.0.0.1", server.port))
    lines = [
        f"GET {address}/talk HTTP/1.1", f"Host: localhost:{server.port}", f"Origin: {server.origin}", "Upgrade: websocket",
        "Connection: Upgrade", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Version: 13", "", "",
    ]  # fmt: skip
    deaf.sendall("\r\n".join(lines).encode())
    return deaf


def test_a_torn_line_is_left_out_and_a_damaged_file_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with serving(tmp_path) as server:
        me = server.visit(server.make_room(*[ME] * 4, seed=1))
        for _ in range(5):
            me.play(me.my_decision()["choices"][0]["action"])
    [file] = tmp_path.glob("*.room")
    assert file.stat().st_mode & 0o077 == 0
    file.write_bytes(file.read_bytes() + b'{"play":"mo')
    (tmp_path / "other.room").write_text("{}\n")

    journal = Journal(tmp_path)
    [room] = journal.rooms()
    with pytest.raises(ValueError, match="another server keeps its rooms in"):
        Journal(tmp_path)
    journal.close()

    assert room.number == 5
    assert caplog.messages[0].startswith("room file other.room cannot be used:")


class Process:
    """A server that can be killed."""

    def __init__(self, *command: str) -> None:
        words, surroundings = [sys.executable, "-m", "tetrarchia_app", *command], {**os.environ, "OMP_NUM_THREADS": "1", "BROWSER": "true"}
        self.process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=surroundings)
        assert self.process.stdout
        place, _, path = self.process.stdout.readline().partition("localhost:")[2].partition("/")
        self.port, self.path = int(place), f"/{path.partition(' ')[0]}"

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        if self.process.stdout:
            self.process.stdout.close()


@pytest.mark.slow
def test_a_server_that_was_killed_goes_on_with_its_rooms(tmp_path: Path) -> None:
    with ExitStack() as guests:
        first = Process("serve", "--no-open", "--port", "0", "--state", str(tmp_path))
        server = Server(first.port, None, guests)  # type: ignore[arg-type]
        address = server.make_room(ME, "greedy", "greedy", "greedy", seed=1)
        me = server.visit(address)
        for _ in range(9):
            me.play(me.my_decision()["choices"][0]["action"])
        before = me.my_decision()
        first.kill()
        second = Process("serve", "--no-open", "--port", str(first.port), "--state", str(tmp_path))
        again = server.visit(address)

        assert again.my_decision() == before
        again.play(before["choices"][-1]["action"])
        second.kill()


@pytest.mark.slow
def test_watch_shows_a_game_live_in_the_browser() -> None:
    with ExitStack() as guests:
        watch = Process("watch", "--agents", "greedy,random", "--seed", "2", "--render", "browser")
        guests.callback(watch.kill)
        watcher = Server(watch.port, None, guests).visit(watch.path)  # type: ignore[arg-type]
        watcher.send("on", number=0)
        watcher.wait_for("decision", lambda told: told["number"] == 1)

        players = [(player["agent"], player["emperors"]) for player in watcher.told["people"]["players"]]
        assert players == [("greedy", ["diocletian", "galerius"]), ("random", ["constantius", "maximian"])]


def test_the_log_holds_no_link(server: Server, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "tetrarchia_env")
    address = server.make_room(*[ME] * 4)
    server.visit(address).refusal("play", number=7, action="end")

    assert address.rpartition("/")[2] not in caplog.text
