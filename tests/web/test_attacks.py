"""Attacks on the server, bounded and on the loopback device only: after each, an existing game continues and nothing is lost."""

import http.client
import os
import random
import re
import resource
import secrets
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
pytest.importorskip("websockets")

from helpers.web_server import Client, Server, ServerProcess, serving
from tetrarchia_app.web import journal, network_limits, room
from tetrarchia_app.web.journal import Journal
from tetrarchia_app.web.room_manager import TAKE_OVERS_PER_LINK, Limits, RoomManager, Services

ME, SECOND, AGENT = "player 1", "player 2", "random"
ATTACKER = "127.0.0.2"
EMPERORS = ["diocletian", "galerius", "constantius", "maximian"]


def play_some(client: Client, rng: random.Random, actions: int) -> None:
    for _ in range(actions):
        client.play(rng.choice(client.own_decision()["choices"])["action"])


def restored(folder: Path) -> RoomManager:
    """Return the rooms that a new server would restore."""
    manager = RoomManager(Journal(folder), Services({}))
    manager.close()
    return manager


def journal_copy(folder: Path, target: Path) -> Path:
    """Copy the room files as they are now: what a killed server would leave."""
    target.mkdir()
    for file in folder.glob("*.room"):
        (target / file.name).write_bytes(file.read_bytes())
    return target


# Nothing can be written


@contextmanager
def full_disk(folder: Path) -> Iterator[None]:
    """Let writes fail after a few more bytes of the largest room file, as on a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    size = max(file.stat().st_size for file in folder.glob("*.room"))
    resource.setrlimit(resource.RLIMIT_FSIZE, (size + 10, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@contextmanager
def no_descriptors(_: Path) -> Iterator[None]:
    """Use up all descriptors of the process."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    opened: list[int] = []
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(map(int, os.listdir("/proc/self/fd"))) + 5, hard))
    try:
        with suppress(OSError):
            while True:
                opened.append(os.open(os.devnull, os.O_RDONLY))
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        for descriptor in opened:
            os.close(descriptor)


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="counts descriptors in /proc")
@pytest.mark.parametrize("failure", [full_disk, no_descriptors])
def test_action_that_cannot_be_saved_is_refused_and_nothing_is_lost(tmp_path: Path, failure: Any) -> None:
    with serving(tmp_path / "rooms") as server:
        me = server.connect(server.create_room(*[ME] * 4, seed=1))
        play_some(me, random.Random(1), 5)
        before = me.own_decision()
        action = before["choices"][0]["action"]
        with failure(tmp_path / "rooms"):
            me.send("play", position=5, action=action)
            assert me.wait_for("error")["code"] == "not_saved"
            assert me.wait_for("decision") == before  # the choices are offered again
            me.send("rename", name="x" * 24)
            assert me.wait_for("error")["code"] == "not_saved"
        del me.received["error"]
        killed = restored(journal_copy(tmp_path / "rooms", tmp_path / "killed"))
        me.play(action)
        play_some(me, random.Random(2), 5)
        position, name = me.received["decision"]["position"], me.received["players"]["players"][0]["name"]

    [after_kill], [now] = killed.rooms.values(), restored(tmp_path / "rooms").rooms.values()
    assert (after_kill.position, after_kill.players[0].name) == (5, "")
    assert (now.position, now.players[0].name, name) == (position, "", "")


def test_action_of_an_agent_that_cannot_be_saved_is_repeated_later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "SAVE_RETRY_S", 0.2)
    with serving(tmp_path) as server:
        spectator = server.connect(server.create_room(*[AGENT] * 4, seed=2))
        with full_disk(tmp_path):
            spectator.send("advance", position=0)
            assert spectator.wait_for("error")["code"] == "not_saved"
        spectator.wait_for("decision", lambda message: message["position"] == 1)

    [now] = restored_with_agents(tmp_path)
    assert now.position == 1


def restored_with_agents(folder: Path) -> list[room.Room]:
    from tetrarchia_app.cli.serve import agent_spec

    manager = RoomManager(Journal(folder), Services({AGENT: agent_spec(AGENT)}))
    manager.close()
    return list(manager.rooms.values())


def test_room_that_cannot_be_saved_is_not_created(tmp_path: Path) -> None:
    with serving(tmp_path) as server:
        me = server.connect(server.create_room(*[ME] * 4, seed=1))
        with full_disk(tmp_path):
            status = http_post(server, b'{"emperors": ["player 1", "player 1", "player 1", "player 1"], "name": "%s"}' % (b"x" * 24))
        play_some(me, random.Random(1), 1)

        assert status == 400
        assert len(server.manager.rooms) == 1
    assert len(list(tmp_path.iterdir())) == 2  # the room and the lock


def http_post(server: Server, content: bytes) -> int:
    connection = http.client.HTTPConnection("localhost", server.port, timeout=30)
    connection.request("POST", "/rooms", content, {"Origin": server.origin})
    status = connection.getresponse().status
    connection.close()
    return status


@pytest.mark.thorough
def test_full_disk_during_play_loses_nothing_when_the_server_is_killed(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(disk)], capture_output=True, check=False)
    if mount.returncode:
        pytest.skip("mounting a file system is not allowed")
    with ExitStack() as clients:
        clients.callback(subprocess.run, ["umount", "-l", str(disk)], check=True)
        manager: Any = None  # in another process
        first = ServerProcess("serve", "--no-open", "--port", "0", "--state", str(disk / "rooms"))
        clients.callback(first.kill)
        server = Server(first.port, manager, clients)
        path, agents = server.create_room(*[ME] * 4, seed=1), server.create_room(*["greedy"] * 4, seed=1)
        me, spectator = server.connect(path), server.connect(agents)
        play_some(me, random.Random(1), 5)
        with suppress(OSError), (disk / "filler").open("ab", buffering=0) as filler:
            while True:
                filler.write(b"x" * 4096)
        refused, position = 0, me.own_decision()["position"]
        while not refused:  # the last pages of the files have some space left
            spectator.send("advance", position=spectator.received["decision"]["position"])
            me.send("rename", name=secrets.token_hex(12))
            while (message := me.receive())["type"] not in ("error", "players"):
                pass
            refused = message["type"] == "error"
        while me.received.get("error", {}).get("code") != "not_saved":
            me.receive()
        (disk / "filler").unlink()
        del me.received["error"]
        play_some(me, random.Random(2), 5)
        before = me.own_decision()
        first.kill()
        second = ServerProcess("serve", "--no-open", "--port", str(first.port), "--state", str(disk / "rooms"))
        clients.callback(second.kill)

        again = server.connect(path)
        assert before["position"] > position
        assert again.own_decision() == before
        assert server.connect(agents).received["decision"]["position"] >= spectator.received["decision"]["position"]


# Connections


def silent_sockets(port: int, count: int, stack: ExitStack) -> list[socket.socket]:
    found = []
    for _ in range(count):
        client = stack.enter_context(socket.socket())
        client.bind((ATTACKER, 0))
        client.settimeout(5)
        client.connect(("127.0.0.1", port))
        found.append(client)
    return found


@pytest.mark.parametrize(
    "sent",
    [b"", b"GET / HTTP/1.1\r\nHost: localhost\r\n", b"GET /static/dom.js HTTP/1.1\r\nHost: localhost\r\n\r\nGET /"],
    ids=["nothing", "half a request", "another half"],
)
def test_connection_without_a_complete_request_is_closed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sent: bytes) -> None:
    monkeypatch.setattr(network_limits, "HEADER_TIMEOUT_S", 0.3)
    with serving(tmp_path) as server, ExitStack() as sockets:
        me = server.connect(server.create_room(*[ME] * 4, seed=1))
        [client] = silent_sockets(server.port, 1, sockets)
        client.sendall(sent)
        start = time.monotonic()
        with suppress(ConnectionResetError):
            while client.recv(65_536):
                pass
        assert time.monotonic() - start < 4  # uvicorn's own timeout between requests is 5 seconds
        play_some(me, random.Random(1), 3)  # a page may be silent for longer


def test_one_address_cannot_use_all_connections(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.setattr(network_limits, "MAX_CONNECTIONS", 12)
    with serving(tmp_path) as server, ExitStack() as sockets:
        me = server.connect(server.create_room(*[ME] * 4, seed=1))
        clients = silent_sockets(server.port, 10, sockets)
        answers = [client.recv(100)[:12] for client in clients[6:]]
        assert answers == [b"HTTP/1.1 503"] * 4
        assert server.get("/")[0] == 200
        play_some(me, random.Random(1), 3)
        assert len(caplog.messages) == 1
        for client in clients:
            client.close()
        time.sleep(0.3)
        [again] = silent_sockets(server.port, 1, sockets)
        again.sendall(b"GET / HTTP/1.0\r\nHost: localhost\r\n\r\n")
        assert again.recv(100)[:12] == b"HTTP/1.1 200"


def test_descriptor_limit_is_raised_and_leaves_some_for_files() -> None:
    code = (
        "import resource; from tetrarchia_app.web.network_limits import max_connections;"
        "print(max_connections(), *resource.getrlimit(resource.RLIMIT_NOFILE))"
    )
    limits = {"ulimit -Sn 512; ulimit -Hn 3000": [2744, 3000, 3000], "ulimit -Sn 300; ulimit -Hn 300": [150, 300, 300]}
    for command, expected in limits.items():
        arguments = ["/bin/sh", "-c", f'{command}; exec "$@"', "sh", sys.executable, "-c", code]
        printed = subprocess.run(arguments, capture_output=True, text=True, check=True).stdout
        assert [int(number) for number in printed.split()] == expected


@pytest.mark.thorough
def test_flooded_server_continues_its_games_and_restores_them(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    log, rng = tmp_path / "log", random.Random(1)
    with ExitStack() as clients:
        manager: Any = None  # in another process
        first = ServerProcess("serve", "--no-open", "--port", "0", "--state", str(tmp_path / "rooms"), descriptors=1024, log=log)
        clients.callback(first.kill)
        server = Server(first.port, manager, clients)
        path = server.create_room(ME, "greedy", "greedy", "greedy", seed=1)
        me = server.connect(path)
        play_some(me, rng, 3)
        spectator_link = me.received["players"]["spectator_link"]

        with ExitStack() as sockets:  # connections that send nothing, more than there are descriptors
            silent_sockets(first.port, 1_100, sockets)
            play_some(me, rng, 3)
            assert server.get(path)[0] == 200
        assert len(log.read_text().splitlines()) < 10

        memory = resident_kilobytes(first.process.pid)  # names of static files
        connection = http.client.HTTPConnection("localhost", first.port, timeout=30)
        for _ in range(2_000):
            connection.request("GET", f"/static/{secrets.token_hex(1_000)}")
            answer = connection.getresponse()
            answer.read()
            assert answer.status == 404
        connection.close()
        play_some(me, rng, 3)
        assert resident_kilobytes(first.process.pid) - memory < 20_000

        spectators = [server.connect(spectator_link) for _ in range(3)]  # rooms by take over, and questions
        rooms = 0
        for spectator in spectators:
            for _ in range(10):
                spectator.send("take_over", position=0, emperors=EMPERORS)
                rooms += take_over_answer(spectator)
            spectator.send("analyze")
        assert rooms == TAKE_OVERS_PER_LINK
        me.own_decision()
        start = time.monotonic()
        me.send("coach", position=me.received["decision"]["position"])
        assert me.wait_for("coach")["result"]["actions"]
        assert time.monotonic() - start < 10
        play_some(me, rng, 3)

        before = me.own_decision()
        first.kill()
        second = ServerProcess("serve", "--no-open", "--port", str(first.port), "--state", str(tmp_path / "rooms"), log=log)
        clients.callback(second.kill)
        assert server.connect(path).own_decision() == before
        assert "Traceback" not in log.read_text()


def take_over_answer(client: Client) -> int:
    """Return 1 if a room was created, 0 if it was refused."""
    while (message := client.receive())["type"] not in ("redirect", "error"):
        pass
    return int(message["type"] == "redirect")


def resident_kilobytes(pid: int) -> int:
    found = re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())
    assert found
    return int(found[1])


def test_random_names_of_static_files_are_not_remembered(tmp_path: Path) -> None:
    from tetrarchia_app.web.server import static_files

    with serving(tmp_path) as server:
        connection = http.client.HTTPConnection("localhost", server.port, timeout=30)
        names = len(static_files())
        for _ in range(200):
            connection.request("GET", f"/static/{secrets.token_hex(8)}")
            assert connection.getresponse().read() == b"no such file"
        connection.close()

    assert len(static_files()) == names
    assert static_files.cache_info().currsize == 1


# Rooms


def test_spectators_can_create_few_rooms_and_those_that_no_page_joined_expire(tmp_path: Path) -> None:
    with serving(tmp_path, limits=Limits(unjoined_s=0)) as server:
        me = server.connect(server.create_room(*[ME] * 4, seed=1))
        play_some(me, random.Random(1), 3)
        spectator = server.connect(me.received["players"]["spectator_link"])
        urls = []
        for _ in range(20):
            spectator.send("take_over", position=0, emperors=EMPERORS)
            if take_over_answer(spectator):
                urls.append(spectator.received["redirect"]["url"])
        joined = server.connect(urls[0])
        joined.socket.close()
        time.sleep(0.3)
        server.manager.remove_expired()

        assert len(urls) == TAKE_OVERS_PER_LINK
        assert server.get(urls[0])[0] == 200
        assert {server.get(url)[0] for url in urls[1:]} == {404}
        play_some(me, random.Random(1), 3)
    assert sorted(one.is_joined for one in restored(tmp_path).rooms.values()) == [True, True]


def test_address_with_many_links_can_create_few_rooms(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tetrarchia_app.web.room_manager.TAKE_OVERS_PER_ADDRESS", 3)
    with serving(tmp_path) as server:
        created = 0
        for _ in range(5):
            me = server.connect(server.create_room(*[ME] * 4, seed=1))
            me.send("take_over", position=0, emperors=EMPERORS)
            created += take_over_answer(me)

    assert created == 3


def test_restart_does_not_prolong_the_life_of_a_room(tmp_path: Path) -> None:
    with serving(tmp_path) as server:
        me = server.connect(server.create_room(*[ME] * 4, seed=1))
        play_some(me, random.Random(1), 3)
    [file] = tmp_path.glob("*.room")
    assert time.time() - file.stat().st_mtime < 60
    os.utime(file, (1_000_000, 1_000_000))

    for _ in range(2):
        [now] = restored(tmp_path).rooms.values()
        assert now.last_used == file.stat().st_mtime == 1_000_000
    manager = RoomManager(Journal(tmp_path), Services({}))
    manager.remove_expired()
    manager.close()
    assert not file.exists()


def test_room_file_stays_small_when_a_player_is_renamed_often(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal, "COMPACT_BYTES", 2_000)
    with serving(tmp_path) as server:
        me = server.connect(server.create_room(*[ME] * 4, seed=1))
        play_some(me, random.Random(1), 3)
        for number in range(50):
            me.send("rename", name=f"name {number}")
            me.wait_for("players")
        play_some(me, random.Random(1), 3)
        position = me.received["decision"]["position"]
    [file] = tmp_path.glob("*.room")

    assert file.stat().st_size < 5_000
    [now] = restored(tmp_path).rooms.values()
    assert (now.position, now.players[0].name) == (position, "name 49")


def test_joining_page_does_not_interrupt_the_deciding_player(tmp_path: Path) -> None:
    with serving(tmp_path) as server:
        first = server.connect(server.create_room(ME, SECOND, ME, SECOND, seed=1))
        server.connect(first.received["players"]["players"][1]["link"])
        server.connect(first.received["players"]["spectator_link"])
        first.send("get_position", position=0)
        received = []
        while (message := first.receive())["type"] != "position" or "players" not in received:
            received.append(message["type"])

    assert set(received) == {"players"}


def test_creator_who_only_watches_sees_the_invitations(tmp_path: Path) -> None:
    with serving(tmp_path) as server:
        path = server.create_room(SECOND, "player 3", AGENT, AGENT, seed=1)
        creator = server.connect(path).received["players"]
        links = [player["link"] for player in creator["players"]]
        second, spectator = server.connect(links[0]), server.connect(creator["spectator_link"])

        assert (creator["you"], creator["can_invite"]) == (None, True)
        assert [bool(link) for link in links] == [True, True, False]
        assert second.own_decision()["choices"]
        for other in (second, spectator):
            assert not other.received["players"]["can_invite"]
            assert not any(player["link"] for player in other.received["players"]["players"])
    [now] = restored_with_agents(tmp_path)
    assert now.can_invite(path.rpartition("/")[2])


# Questions to the coach


class SlowCoach:
    """A coach whose analysis takes many slices and whose advice takes one."""

    def __init__(self) -> None:
        self.started: list[str] = []
        self.slices = 0

    def advise(self, *_: Any) -> Any:
        self.started.append("coach")
        return {"critic": "slow", "chance": 0.5, "actions": []}
        yield

    def analyze(self, *_: Any) -> Any:
        self.started.append("analysis")
        for _ in range(200):
            self.slices += 1
            time.sleep(0.02)
            yield
        return {}


def test_long_analyses_do_not_delay_the_coach_of_another_room(tmp_path: Path) -> None:
    coach = SlowCoach()
    with serving(tmp_path, coach=coach) as server:
        rooms = [server.connect(server.create_room(*[ME] * 4, seed=seed)) for seed in range(4)]
        spectators = [server.connect(rooms[0].received["players"]["spectator_link"]) for _ in range(3)]
        for page in (*spectators, *rooms[1:3]):
            for _ in range(3):
                page.send("analyze")
        start = time.monotonic()
        rooms[3].send("coach", position=0)
        rooms[3].wait_for("coach")
        waited = time.monotonic() - start
        play_some(rooms[3], random.Random(1), 3)
        time.sleep(0.3)
        for page in (*spectators, *rooms):
            page.socket.close()
        time.sleep(0.5)
        slices = coach.slices
        time.sleep(0.3)

    assert waited < 1
    assert coach.started.count("analysis") == 3  # one for each room, shared by its pages
    assert coach.slices == slices < 200  # cancelled when the pages left


def test_rooms_are_analyzed_in_turns(tmp_path: Path) -> None:
    order: list[int] = []
    began = threading.Event()

    class Numbered:
        def analyze(self, options: Any, positions: Any, moves: Any, players: Any) -> Any:
            for _ in range(5):
                order.append(len(moves))
                began.wait(0.05)
                yield
            return {}

    coach: Any = Numbered()
    with serving(tmp_path, coach=coach) as server:
        pages = [server.connect(server.create_room(*[ME] * 4, seed=1)) for _ in range(2)]
        play_some(pages[1], random.Random(1), 1)
        for page in pages:
            page.send("analyze")
        for page in pages:
            page.wait_for("analysis")

    assert order.index(1) < 5  # the second room does not wait for all slices of the first
