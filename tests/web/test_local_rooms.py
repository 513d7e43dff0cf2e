"""Rooms with local information (R14): a page gets only what its player knows."""

import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
pytest.importorskip("websockets")

from helpers.browser import Browser
from helpers.room_page import click_choice, open_page, wait_for_choices
from helpers.web_server import Client, RefusedRequestError, Server, serving
from tetrarchia_app.web.workers import AgentSpec
from tetrarchia_env.agent import Agent
from tetrarchia_env.board import BOARD, EMPERORS
from tetrarchia_env.constants import ACTIONS
from tetrarchia_env.local_view import LINK_DISTANCES, LocalOptions

FIRST, SECOND = "player 1", "player 2"
SEATS = (FIRST, FIRST, SECOND, SECOND)
LOCAL = {"view_radius": 2, "last_seen": True}
PIECE = re.compile(r'<g class="(token|army|figure)" data-space="([^"]+)" data-kind="([^"]+)"')
NAME = re.compile("|".join(sorted(map(re.escape, BOARD.names), key=len, reverse=True)))
MAP = "[...document.querySelectorAll('#pieces [data-space]')].map((piece) => piece.className.baseVal + ' ' + piece.dataset.space)"

POINT_AT_PERSIA = """(() => { const box = document.querySelector('#pieces .fog[data-space="PERSIA"]').getBoundingClientRect();
    document.getElementById('view').dispatchEvent(new PointerEvent('pointermove',
        {clientX: box.left + box.width / 2, clientY: box.top + box.height / 2, pointerType: 'mouse'})); return 0; })()"""


@pytest.fixture(name="server")
def local_server(tmp_path: Path) -> Iterator[Server]:
    with serving(tmp_path / "rooms", ("random", "greedy"), local=LocalOptions(**LOCAL)) as server:
        yield server


def room_of(server: Server, path: str) -> Any:
    found = server.manager.resolve_link(path.rpartition("/")[2])
    assert found
    return found[0]


def spaces_of(game: Any, index: int, emperor: str) -> set[str]:
    """Return the spaces in an Emperor's view, computed without the code under test (R14.1)."""
    position, number = game.positions[index][0], EMPERORS.index(emperor)
    place = int(position.at[number])
    place = place if place < len(BOARD.names) else BOARD.roma
    return {
        name
        for space, name in enumerate(BOARD.names)
        if LINK_DISTANCES[place, space] <= LOCAL["view_radius"] or int(position.tokens[number]) >> space & 1
    }


class Page:
    """A page without a browser that checks every view that it receives."""

    def __init__(self, server: Server, path: str, emperors: tuple[str, ...]) -> None:
        self.emperors, self.drawings, self.checked = emperors, dict[int, str](), 0
        self.room = room_of(server, path)
        self.client = server.connect(path)
        self.check(self.client.received["position"])

    def check(self, message: Any) -> None:
        """Assert that a message shows no piece and no event out of view."""
        game = self.room.game
        if game.is_over or message["type"] not in ("action", "position"):
            return
        index = message["position"]
        seen = {place for emperor in self.emperors for place in spaces_of(game, index, emperor)}
        for view in [message["view"]] if message["type"] == "position" else [step["view"] for step in message["steps"]]:
            self.drawings |= {int(number): svg for number, svg in view["drawings"].items()}
            shown = {found[2] for number in view["pieces"] if (found := PIECE.match(self.drawings[number]))}
            assert shown <= seen
            self.checked += 1
        lines = message["entry"]["lines"] if message["type"] == "action" else []
        own = tuple(emperor.capitalize() for emperor in self.emperors)
        assert all(set(NAME.findall(line)) <= seen for line in lines if not line.startswith(own))


def watched_client(page: Page) -> Client:
    """Return the page's client, which checks each message when it is received."""
    receive = page.client.receive

    def checking() -> Any:
        message = receive()
        page.check(message)
        return message

    page.client.receive = checking  # type: ignore[method-assign]
    return page.client


def test_players_and_spectators_receive_only_what_they_know(server: Server) -> None:
    path = server.create_room(*SEATS, seed=5, level="4222")
    room = room_of(server, path)
    pages = [
        Page(server, path, ("diocletian", "galerius")),
        Page(server, f"/seat/{room.players[1].link}", ("constantius", "maximian")),
        Page(server, f"/seat/{room.spectator_link}", ()),
    ]
    clients, rng = [watched_client(page) for page in pages], random.Random(5)
    for client in clients:
        client.send("get_position", position=0)
    for _ in range(25):
        position, decider = room.position, room.decider
        if decider is None:
            break
        client = clients[decider]
        client.play(rng.choice(client.own_decision()["choices"])["action"])
        for other in clients:
            if other is not client:
                other.wait_for("decision", lambda message, position=position: message["position"] > position)  # type: ignore[misc]

    assert all(page.checked > 20 for page in pages)
    for page, client in zip(pages, clients, strict=True):
        decision = client.received["decision"]
        assert (decision["ip"] is None) == (EMPERORS[room.game.position["emperor"][0]] not in page.emperors)


def test_files_analysis_and_copies_are_refused_until_the_end(server: Server) -> None:
    path = server.create_room(*SEATS, seed=5)
    client = server.connect(path)

    assert [server.get(f"{path}/{name}")[0] for name in ("replay.json", "snapshot.json?position=0")] == [404, 404]
    assert not client.received["players"]["has_replay"]
    for type_, fields in (("coach", {"position": 0}), ("analyze", {}), ("take_over", {"position": 0, "emperors": ["galerius"]})):
        assert "view radius" in client.error(type_, **fields)


def test_agents_that_need_games_are_refused(server: Server) -> None:
    with pytest.raises(RefusedRequestError, match="agent greedy cannot play with the information of this game"):
        server.create_room(FIRST, "greedy", FIRST, FIRST)


def test_observation_agents_play_in_local_rooms(server: Server) -> None:
    client = server.connect(server.create_room("random", FIRST, "random", "random", seed=5))

    client.own_decision()

    assert client.received["decision"]["emperor"] == "galerius"


def test_rooms_keep_their_information_after_a_restart(tmp_path: Path) -> None:
    with serving(tmp_path) as server:
        path = server.create_room(*SEATS, seed=5, **LOCAL)
    with serving(tmp_path) as server:
        assert room_of(server, path).game.local == LocalOptions(**LOCAL)
        assert room_of(server, path).has_secrets


def test_messages_reach_all_players_and_survive_a_restart(tmp_path: Path) -> None:
    with serving(tmp_path) as server:
        path = server.create_room(*SEATS, seed=5, **LOCAL, message_tokens=3)
        room = room_of(server, path)
        first, second = server.connect(path), server.connect(f"/seat/{room.players[1].link}")
        while "say 3" not in [choice["action"] for choice in first.own_decision()["choices"]]:
            first.play(first.own_decision()["choices"][0]["action"])
        assert first.received["decision"]["messages"] == {}
        say = next(choice for choice in first.own_decision()["choices"] if choice["action"] == "say 3")
        assert (say["label"], say["place"], say["ends_turn"]) == ("Say 3", None, False)

        first.play("say 3")

        heard = second.wait_for("action", lambda message: message["position"] == room.position)
        assert heard["entry"]["lines"] == ["Diocletian says 3"]
        assert not any(choice["action"].startswith("say") for choice in first.own_decision()["choices"])
    with serving(tmp_path) as server:
        assert server.connect(path).received["decision"]["messages"] == {"diocletian": [3, 0]}


class Speaker(Agent):
    """Says 2 as soon as it can, else plays the first legal action."""

    needs = "observations"

    def act(self, observations: Any, masks: Any, env_ids: Any, /) -> Any:
        return np.array([ACTIONS + 1 if mask[ACTIONS:].any() else mask.argmax() for mask in masks])


def test_observation_agents_say_tokens_in_rooms_with_different_numbers_of_tokens(tmp_path: Path) -> None:
    specs = {"speaker": AgentSpec(Speaker, "", batched=False, base_only=False, needs_games=False)}
    with serving(tmp_path, specs=specs) as server:
        rooms = [
            room_of(server, server.create_room(FIRST, "speaker", "speaker", "speaker", seed=5, **LOCAL, message_tokens=tokens))
            for tokens in (0, 3)
        ]
        for room in rooms:
            client = server.connect(f"/seat/{room.players[0].link}")
            while client.own_decision()["turn"] < 4:
                actions = [choice["action"] for choice in client.own_decision()["choices"]]
                client.play("end" if "end" in actions else actions[0])
        messages = client.received["decision"]["messages"]

    assert not any(move.action >= ACTIONS for move in rooms[0].game.moves)
    assert messages == {"galerius": [2, 3], "constantius": [2, 2], "maximian": [2, 1]}


def test_tokens_without_a_view_radius_are_refused(tmp_path: Path) -> None:
    with serving(tmp_path) as server, pytest.raises(RefusedRequestError, match="message_tokens needs view_radius"):
        server.create_room(*SEATS, message_tokens=3)


@pytest.mark.slow
def test_lobby_offers_information_and_a_player_says_a_token(tmp_path: Path, chromium: Browser) -> None:
    with serving(tmp_path / "rooms", ("greedy", "random")) as server:
        chromium.reset(server.origin)
        open_page(chromium, f"{server.origin}/")
        assert chromium.run("document.getElementById('seat-galerius').value") == "greedy"
        for id_, value in (("view-radius", "2"), ("message-tokens", "4")):
            chromium.run(f"(document.getElementById('{id_}').value = '{value}', 0)")
            chromium.run(f"document.getElementById('{id_}').dispatchEvent(new Event('change'))")
        chromium.run("document.getElementById('last-seen').click()")  # the button Start may cover it
        assert chromium.run("document.getElementById('seat-galerius').value") == "random"  # greedy needs whole games
        chromium.click("#start")
        chromium.wait_for("document.getElementById('decision-title') !== null", 60)  # the page of the room
        while "say 4" not in [choice["action"] for choice in wait_for_choices(chromium)]:
            click_choice(chromium, wait_for_choices(chromium)[0])

        click_choice(chromium, {"action": "say 4"})

        chromium.wait_for("!document.getElementById('messages').hidden", 60)
        assert chromium.run("document.getElementById('messages').textContent") == "Last messages: Diocletian 4 (this turn)"
        [room] = server.manager.rooms.values()
        assert room.game.local == LocalOptions(2, last_seen=True, message_tokens=4)
        assert chromium.console_errors() == []
        chromium.open("about:blank")  # before its server stops


@pytest.mark.slow
def test_two_people_see_different_maps(server: Server, chromium: Browser) -> None:
    path = server.create_room(*SEATS, seed=5, level="4222")
    room = room_of(server, path)
    links = {"diocletian": path, "constantius": f"/seat/{room.players[1].link}"}
    client = server.connect(path)
    while room.decider == 0:
        actions = [choice["action"] for choice in client.own_decision()["choices"]]
        client.play("enter capital" if "enter capital" in actions else actions[-1])
    chromium.reset(server.origin)
    maps, tooltips = {}, {}
    for emperor, link in links.items():
        open_page(chromium, server.origin + link)
        chromium.wait_for("document.querySelectorAll('#pieces .fog').length > 0", 60)
        maps[emperor] = set(chromium.run(MAP))
        chromium.run(POINT_AT_PERSIA)
        tooltips[emperor] = chromium.run("document.getElementById('tooltip').textContent")

    fog = {emperor: {piece.removeprefix("fog ") for piece in found if piece.startswith("fog ")} for emperor, found in maps.items()}
    for emperor in links:
        assert fog[emperor] | spaces_of(room.game, room.position, emperor) >= set(BOARD.names)
    assert maps["diocletian"] != maps["constantius"]
    assert all("Out of your view" in text and "Seen" in text and "undefined" not in text for text in tooltips.values())
    assert chromium.console_errors() == []
    chromium.open("about:blank")
