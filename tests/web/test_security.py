"""Security of the web server: hostile input, foreign origins, guessed links, slow clients, damaged files, and the log."""

import http.client
import json
import logging
import random
import socket
import string
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

from helpers.web_server import Client, RefusedRequestError, Server, ServerProcess, serving
from tetrarchia_app.web import connection
from tetrarchia_app.web.connection import MAX_MESSAGE_BYTES
from tetrarchia_app.web.journal import Journal
from tetrarchia_app.web.room_manager import RoomManager, Services
from tetrarchia_app.web.server import CONTENT_SECURITY_POLICY, MAX_SETUP_BYTES, AccessPolicy, static_files
from tetrarchia_env.errors import TetrarchiaError

ME, SECOND, AGENT = "player 1", "player 2", "random"
TYPES = ["play", "undo", "get_position", "advance", "coach", "analyze", "rename", "set_consent", "substitute", "take_over"]
KEYS = [*TYPES, "consent", "position", "action", "type", "agent", "player"]


@pytest.fixture(name="server")
def plain_server(tmp_path: Path) -> Iterator[Server]:
    with serving(tmp_path / "rooms") as server:
        yield server


def fuzzed_message(rng: random.Random) -> str | bytes:
    """Return a message with wrong types, values or fields, truncated JSON, or no JSON at all."""
    values: list[object] = [None, True, -1, 2**70, 1.5, "", "x" * rng.randrange(200), [], {}, [[[]]], "play", "\ud800", "end", 0, 1, 2]
    message = {"type": rng.choice(KEYS), **{rng.choice(KEYS): rng.choice(values) for _ in range(rng.randrange(4))}}
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


def wait_for_log(caplog: pytest.LogCaptureFixture) -> list[str]:
    """Wait until the log has at least one line and return its messages."""
    end = time.monotonic() + 30
    while not caplog.records and time.monotonic() < end:
        time.sleep(0.05)
    assert caplog.records
    return [record.getMessage() for record in caplog.records]


@pytest.mark.parametrize("messages", [300, pytest.param(10_000, marks=pytest.mark.slow)])
def test_fuzzed_messages_neither_crash_nor_play_another_seat(
    server: Server, messages: int, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(connection, "RATE_PER_S", 1e9)
    monkeypatch.setattr(connection, "MAX_REFUSED_MESSAGES", 10**9)
    first = server.connect(server.create_room(ME, SECOND, SECOND, SECOND, seed=1))
    link, rng = first.received["players"]["players"][1]["link"], random.Random(18)
    attacker = server.connect(link)
    for _ in range(messages // 20):
        for _ in range(20):
            attacker.socket.send(fuzzed_message(rng))
        attacker.send("get_position", position=0)
        attacker.wait_for("position")  # all messages were handled

    found = server.manager.resolve_link(link.rpartition("/")[2])
    assert found
    assert found[0].position == 0
    assert len(server.manager.rooms) == 1
    first.play(first.own_decision()["choices"][0]["action"])
    monkeypatch.setattr(connection, "MAX_REFUSED_MESSAGES", 1)
    attacker.socket.send("nonsense")
    [line] = wait_for_log(caplog)
    assert line.startswith("connection closed: ")
    assert "invalid messages" in line
    assert "\n" not in line


def test_oversized_messages_are_refused_and_too_many_close_the_connection(server: Server, caplog: pytest.LogCaptureFixture) -> None:
    path = server.create_room(*[ME] * 4)
    assert "at most 4096 bytes" in server.connect(path).error("rename", name="x" * MAX_MESSAGE_BYTES)

    def send_forever(client: Client) -> None:
        while True:
            client.send("get_position", position=0)
            client.receive()

    with pytest.raises(ConnectionClosed, match="messages per second"):
        send_forever(server.connect(path))
    with pytest.raises(RefusedRequestError, match="at most 2 MB"):
        server.post(b" " * (MAX_SETUP_BYTES + 1))
    assert wait_for_log(caplog) == ["connection closed: more than 20 messages per second"]


@pytest.mark.parametrize("origin", [None, "http://evil.example", "null", "https://localhost"])
def test_foreign_origin_is_refused(server: Server, origin: str | None, caplog: pytest.LogCaptureFixture) -> None:
    url, foreign = f"ws://localhost:{server.port}{server.create_room(*[ME] * 4)}/socket", origin
    with pytest.raises(InvalidStatus, match="403"), connect(url, origin=foreign, proxy=None):  # type: ignore[arg-type]
        pass
    with pytest.raises(RefusedRequestError, match="foreign origin"):
        server.post({"emperors": [ME] * 4}, Origin=origin or "")

    assert [message.partition(":")[0] for message in caplog.messages] == ["connection refused", "request refused"]


def test_foreign_host_is_refused(server: Server) -> None:
    """Check a foreign host name that resolves to this machine (DNS rebinding)."""
    assert server.get("/", Host="evil.example")[0] == 403
    assert server.get("/")[0] == 200


def test_pages_have_a_strict_content_security_policy_and_no_inline_code(server: Server) -> None:
    path = server.create_room(*[ME] * 4)
    for page_path in ("/", path, "/seat/unknown"):
        _, headers, content = server.get(page_path)
        assert headers["Content-Security-Policy"] == CONTENT_SECURITY_POLICY
        assert headers["Referrer-Policy"] == "no-referrer"
        page = content.decode()
        assert "<style" not in page
        assert " style=" not in page
        assert "onclick" not in page
        assert "http" not in page.replace("http-equiv", "")


def test_only_listed_static_files_are_served(server: Server) -> None:
    assert {"room.js", "lobby.css", "page.css", "theme.css", "TetrarchiaSans-Bold.ttf"} < set(static_files())
    assert server.get("/static/room.js")[0] == 200
    for name in ("../server.py", "server.py", "room.html", "x.js", "", ".", "..", "%2e%2e%2fserver.py", "/etc/passwd", "LICENSE.txt"):
        assert server.get(f"/static/{name}")[0] == 404


def test_position_of_a_snapshot_must_be_a_number_of_the_game(server: Server) -> None:
    path = server.create_room(*[ME] * 4)
    statuses = [server.get(f"{path}/snapshot.json?position={position}")[0] for position in ("0", "1", "9" * 5_000, "-1", "", "%D9%A3")]
    assert statuses == [200, 404, 404, 404, 404, 404]


def test_small_answers_are_sent_at_once(server: Server) -> None:
    """With Nagle's algorithm, an answer in two parts would take 40 ms."""
    connection = http.client.HTTPConnection("localhost", server.port, timeout=30)
    seconds = []
    for _ in range(10):
        start = time.perf_counter()
        connection.request("GET", "/static/none")
        connection.getresponse().read()
        seconds.append(time.perf_counter() - start)
    connection.close()
    assert min(seconds[1:]) < 0.02


def test_guessed_link_is_not_found(server: Server) -> None:
    assert server.get("/seat/guess")[0] == 404
    url, origin = f"ws://localhost:{server.port}/seat/guess/socket", server.origin
    with pytest.raises(InvalidStatus), connect(url, origin=origin, proxy=None):  # type: ignore[arg-type]
        pass


@pytest.mark.parametrize(
    ("host", "has_key", "any_host"),
    [
        ("127.0.0.1", False, False),
        ("::1", False, False),
        ("localhost", False, False),
        ("0.0.0.0", True, True),
        ("192.168.1.7", True, False),
    ],
)
def test_lobby_of_a_public_server_has_an_unguessable_link(host: str, has_key: bool, any_host: bool) -> None:
    policy = AccessPolicy.for_host(host)
    assert (len(policy.lobby_key) >= 32) == has_key
    assert (policy.hosts is None) == any_host


def test_client_that_never_reads_is_disconnected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.setattr(connection, "MAX_QUEUED_MESSAGES", 200)
    monkeypatch.setattr(connection, "SEND_TIMEOUT_S", 0.5)
    with serving(tmp_path, send_buffer=4_096) as server:
        me = server.connect(server.create_room(ME, AGENT, AGENT, AGENT, seed=1))
        server.clients.enter_context(non_reading_socket(server, me.received["players"]["spectator_link"]))
        while not caplog.messages and me.own_decision()["emperor"] is not None:
            me.play(me.received["decision"]["choices"][-1]["action"])
        [line] = wait_for_log(caplog)

    assert line.startswith(("connection closed: did not receive", "connection closed: does not read"))


def non_reading_socket(server: Server, path: str) -> socket.socket:
    """Return a socket that completes the WebSocket handshake and then reads nothing."""
    client = socket.socket()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1024)
    client.connect(("127.0.0.1", server.port))
    lines = [
        f"GET {path}/socket HTTP/1.1", f"Host: localhost:{server.port}", f"Origin: {server.origin}", "Upgrade: websocket",
        "Connection: Upgrade", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Version: 13", "", "",
    ]  # fmt: skip
    client.sendall("\r\n".join(lines).encode())
    return client


def test_journal_ignores_an_incomplete_line_and_logs_unusable_files(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with serving(tmp_path) as server:
        me = server.connect(server.create_room(*[ME] * 4, seed=1))
        for _ in range(5):
            me.play(me.own_decision()["choices"][0]["action"])
    [file] = tmp_path.glob("*.room")
    assert file.stat().st_mode & 0o077 == 0
    header = json.loads(file.read_bytes().splitlines()[0])
    unusable = {
        "agent": json.dumps({**header, "players": [*header["players"], {"link": "x", "agent": "nero"}]}),
        "damaged": '{"format": 2}',
        "illegal": json.dumps({**header, "actions": ["end"]}),
        "index": json.dumps(header) + '\n{"player":1,"state":{"name":"x"}}',
        "negative": json.dumps({**header, "seats": [-1, 0, 0, 0]}),
        "old": '{"options": {}, "moves": []}',
        "text": "x",
    }
    for name, line in unusable.items():
        (tmp_path / f"{name}.room").write_text(line + "\n")
    file.write_bytes(file.read_bytes() + b'{"action":"mo')

    manager = RoomManager(Journal(tmp_path), Services({}))
    with pytest.raises(TetrarchiaError, match="another server"):
        Journal(tmp_path)
    manager.close()

    [room] = manager.rooms.values()
    assert room.position == 5
    assert [message.split()[2] for message in caplog.messages] == [f"{name}.room" for name in sorted(unusable)]
    assert "format must be 2" in caplog.messages[sorted(unusable).index("old")]


@pytest.mark.slow
def test_killed_server_continues_its_rooms_when_restarted(tmp_path: Path) -> None:
    manager: Any = None  # in another process
    with ExitStack() as clients:
        first = ServerProcess("serve", "--no-open", "--port", "0", "--state", str(tmp_path))
        server = Server(first.port, manager, clients)
        path = server.create_room(ME, "greedy", "greedy", "greedy", seed=1)
        me = server.connect(path)
        for _ in range(9):
            me.play(me.own_decision()["choices"][0]["action"])
        before = me.own_decision()
        first.kill()
        second = ServerProcess("serve", "--no-open", "--port", str(first.port), "--state", str(tmp_path))
        clients.callback(second.kill)
        again = server.connect(path)

        assert again.own_decision() == before
        again.play(before["choices"][-1]["action"])


@pytest.mark.slow
def test_watch_shows_a_game_live_in_the_browser() -> None:
    manager: Any = None  # in another process
    with ExitStack() as clients:
        watch = ServerProcess("watch", "--agents", "greedy,random", "--seed", "2", "--render", "browser", "--speed", "5")
        clients.callback(watch.kill)
        path, _, query = watch.path.partition("?")
        spectator = Server(watch.port, manager, clients).connect(path)
        spectator.send("advance", position=0)
        spectator.wait_for("decision", lambda message: message["position"] == 1)

        players = [(player["agent"], player["emperors"]) for player in spectator.received["players"]["players"]]
        assert players == [("greedy", ["diocletian", "galerius"]), ("random", ["constantius", "maximian"])]
        assert query == "pace=200"


def test_log_contains_no_links(server: Server, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "tetrarchia_app")
    path = server.create_room(*[ME] * 4)
    server.connect(path).error("play", position=7, action="end")

    assert path.rpartition("/")[2] not in caplog.text
