"""Rooms: who may decide, what may be taken back, who stands in, and how a game goes on elsewhere."""

import json
import random
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
pytest.importorskip("websockets")

import numpy as np
from websockets.exceptions import ConnectionClosed

from helpers.web_server import Server, Visitor, serving
from tetrarchia_app.web.house import Limits
from tetrarchia_app.web.workers import Offer
from tetrarchia_env.notation import load_replay, play_replay
from tetrarchia_eval.study import StudyGame

ME, SECOND = "person 1", "person 2"
AGENT = "random"


@pytest.fixture(name="server")
def a_server(tmp_path: Path) -> Iterator[Server]:
    with serving(tmp_path / "rooms") as server:
        yield server


def play_on(visitor: Visitor, rng: random.Random, actions: int = 10_000) -> None:
    """Random choices until the game is over, or so many were made."""
    for _ in range(actions):
        decision = visitor.my_decision()
        if decision["agent"] is None:
            return
        visitor.play(rng.choice(decision["choices"])["action"])


def second_link(visitor: Visitor) -> str:
    return str(visitor.told["people"]["players"][1]["link"])


def test_a_whole_game_is_played_and_kept_as_a_replay(server: Server, tmp_path: Path) -> None:
    address = server.make_room(ME, AGENT, ME, AGENT, seed=3)
    me = server.visit(address)
    play_on(me, random.Random(3))

    status, _, content = server.get(f"{address}/replay.json")
    (tmp_path / "game.json").write_bytes(content)
    replay = load_replay(tmp_path / "game.json")
    assert status == 200
    assert len(list(play_replay(replay))) == me.told["decision"]["number"] == len(replay.actions)
    assert replay.final["outcome"] != "running"


def test_choices_come_with_costs_odds_and_chains(server: Server) -> None:
    me, rng = server.visit(server.make_room(*[ME] * 4, seed=2, level="4233")), random.Random(2)
    fights: list[Any] = []
    while not fights and me.my_decision()["agent"]:
        fights = [choice for choice in me.told["decision"]["choices"] if choice["combat"]]
        me.play(rng.choice(me.told["decision"]["choices"])["action"])

    combat = fights[0]["combat"]
    assert combat["win"] + combat["draw"] + combat["loss"] == 36
    assert fights[0]["place"] in fights[0]["action"]
    assert "IP" in fights[0]["cost"]


def test_only_the_decider_decides(server: Server) -> None:
    first = server.visit(server.make_room(ME, SECOND, ME, SECOND, seed=1))
    second, watcher = server.visit(second_link(first)), server.visit(first.told["people"]["watch"])
    action = first.told["decision"]["choices"][0]["action"]

    for stranger in (second, watcher):
        assert stranger.told["decision"]["choices"] is None
        assert "not your decision" in stranger.refusal("play", number=0, action=action)
    assert server.house.behind(first.told["people"]["watch"].rpartition("/")[2])[0].room.number == 0  # type: ignore[index]
    assert second.told["people"]["players"][0]["link"] is None


def test_a_late_click_does_nothing(server: Server) -> None:
    me = server.visit(server.make_room(*[ME] * 4, seed=1))
    me.play(me.told["decision"]["choices"][0]["action"])

    assert "was meant for the position after 0 actions" in me.refusal("play", number=0, action="fleet INTERNVM")
    assert "not legal" in me.refusal("play", number=1, action="move BELGICA")
    assert "unknown action" in me.refusal("play", number=1, action="win")


def test_undo_until_dice_fall_and_only_ones_own(server: Server) -> None:
    first = server.visit(server.make_room(ME, SECOND, ME, SECOND, seed=1, level="4200"))
    second = server.visit(second_link(first))
    first.play("fleet INTERNVM")
    assert first.told["decision"]["mayUndo"]
    assert "nothing that you may take back" in second.refusal("undo", number=1)

    first.send("undo", number=1)
    assert first.wait_for("decision")["number"] == 0
    for action in ("fleet INTERNVM", "fleet AEGAEVM", "enter ROMA", "end"):
        first.play(action)

    assert not first.told["decision"]["mayUndo"]
    assert "nothing that you may take back" in first.refusal("undo", number=4)


def test_an_older_window_with_the_same_link_is_let_go(server: Server) -> None:
    address = server.make_room(*[ME] * 4, seed=1)
    older, newer = server.visit(address), server.visit(address)
    newer.play("fleet INTERNVM")

    with pytest.raises(ConnectionClosed, match="4001"):
        older.wait_for("nothing more")
    assert newer.told["decision"]["number"] == 1


def test_an_agent_stands_in_if_all_agree_and_goes_when_the_person_comes_back(server: Server) -> None:
    first = server.visit(server.make_room(ME, SECOND, "person 3", ME, seed=1, level="4000"))
    links = [player["link"] for player in first.told["people"]["players"]]
    third = server.visit(links[2])
    first.play("enter ROMA")
    first.play("end")
    assert "here and plays himself" in first.refusal("stand in", player=2, agent=AGENT)

    first.send("stand in", player=1, agent=AGENT)
    third.wait_for("people", lambda told: "1" in told["wanted"])
    assert server.house.behind(links[1].rpartition("/")[2])[0].room.players[1].stand_in is None  # type: ignore[index]
    third.send("stand in", player=1, agent=AGENT)
    first.wait_for("people", lambda told: told["players"][1]["standIn"] == AGENT)
    second = server.visit(links[1])

    assert second.told["people"]["players"][1]["standIn"] is None


def test_agents_alone_wait_until_somebody_wants_to_see_more(server: Server) -> None:
    watcher = server.visit(server.make_room(*[AGENT] * 4, seed=2))
    watcher.send("on", number=0)
    watcher.wait_for("decision", lambda told: told["number"] == 1)
    watcher.send("on", number=0)
    watcher.send("look", number=0)
    watcher.wait_for("position", lambda told: told["number"] == 0)

    assert watcher.told["decision"]["number"] == 1


def test_a_seat_is_taken_over_from_any_position_in_a_room_of_ones_own(server: Server) -> None:
    watcher = server.visit(server.make_room(*[AGENT] * 4, seed=2))
    for number in range(5):
        watcher.send("on", number=number)
        watcher.wait_for("decision", lambda told, number=number: told["number"] == number + 1)  # type: ignore[misc]
    watcher.send("take over", number=3, emperors=["diocletian", "galerius"])
    me = server.visit(watcher.wait_for("go")["address"])

    assert me.told["decision"]["number"] == 3
    assert me.told["people"]["players"][0]["emperors"] == ["diocletian", "galerius"]
    assert me.told["log"]["entries"] == [*server.visit(watcher.told["people"]["watch"]).told["log"]["entries"][:4]]


def test_a_game_goes_on_from_a_replay_and_from_a_snapshot(server: Server) -> None:
    address = server.make_room(*[ME] * 4, seed=4)
    me = server.visit(address)
    play_on(me, random.Random(4), 12)
    replay, position = (json.loads(server.get(f"{address}/{name}")[2]) for name in ("replay.json", "snapshot.json?number=12"))

    from_replay = server.visit(server.make_room(*[ME] * 4, replay=replay, number=7))
    from_snapshot = server.visit(server.make_room(*[ME] * 4, snapshot=position))

    assert from_replay.told["decision"]["number"] == 7
    assert from_snapshot.told["decision"]["number"] == 0
    assert from_snapshot.told["decision"]["choices"] == me.told["decision"]["choices"]
    assert not from_snapshot.told["people"]["hasReplay"]
    with pytest.raises(ValueError, match="not legal there"):
        server.make_room(*[ME] * 4, replay=replay | {"actions": [replay["actions"][0]] * 2})


def test_a_game_is_kept_for_research_if_everybody_agreed(tmp_path: Path) -> None:
    kept: list[StudyGame] = []
    with serving(tmp_path, keep=kept.append) as server:
        for agrees in (True, False):
            first = server.visit(server.make_room(ME, SECOND, SECOND, AGENT, seed=3, consent=True))
            second = server.visit(second_link(first))
            second.send("consent", given=agrees)
            second.socket.close()
            first.wait_for("people", lambda told: not told["players"][1]["here"])
            first.send("stand in", player=1, agent=AGENT)
            play_on(first, random.Random(3))

    [game] = kept
    assert [(player.kind, player.consent) for player in game.players] == [("person", True), ("person", True), ("agent", False)]
    assert game.seats == (0, 1, 1, 2)
    assert set(game.deciders) == {0, 2}
    assert all(seconds is not None for seconds in game.seconds)


@pytest.mark.parametrize(
    ("setup", "sentence"),
    [
        ({"emperors": ["nobody"] * 4}, "unknown agent 'nobody': choose from random"),
        ({"emperors": ["os.system"] * 4}, "unknown agent"),
        ({"emperors": [ME] * 3}, "no message of the page"),
        ({"emperors": [ME] * 4, "level": "9999"}, "level '9999': tokens per Emperor"),
        ({"emperors": [ME] * 4, "scenario": "atlantis"}, "unknown scenario 'atlantis'"),
        ({"emperors": [ME] * 4, "snapshot": {"turn": 1}}, "snapshot"),
        ({"emperors": [ME] * 4, "more": 1}, "unknown field"),
    ],
)
def test_a_room_that_cannot_be_is_refused_in_one_sentence(server: Server, setup: object, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        server.post(setup)
    assert server.house.rooms == {}


def test_there_are_only_so_many_rooms_and_those_nobody_needs_go(tmp_path: Path) -> None:
    with serving(tmp_path, limits=Limits(rooms=2, finished=0, watched=0, idle=0)) as server:
        me = server.visit(server.make_room(*[ME] * 4))
        server.make_room(*[ME] * 4)
        with pytest.raises(ValueError, match="has 2 rooms already"):
            server.make_room(*[ME] * 4)
        server.house.sweep()

        assert len(server.house.rooms) == len(list(tmp_path.glob("*.room"))) == 1
        me.play(me.told["decision"]["choices"][0]["action"])


class Sleeper:
    """An agent that thinks until it is woken."""

    wake = threading.Event()

    def act(self, games: Any, masks: Any, env_ids: Any) -> Any:
        self.wake.wait(60)
        return masks.argmax(axis=1)


class Broken:
    """One that fails."""

    def act(self, games: Any, masks: Any, env_ids: Any) -> Any:
        raise RuntimeError("no idea")


def test_a_search_in_one_room_stalls_no_other(tmp_path: Path) -> None:
    offered = {"sleeper": Offer(Sleeper, "", together=False, base_only=False)}
    with serving(tmp_path, offered=offered) as server:
        waiting = server.visit(server.make_room("sleeper", ME, ME, ME, seed=1))
        me = server.visit(server.make_room(ME, AGENT, AGENT, AGENT, seed=1))
        play_on(me, random.Random(1), 15)

        assert waiting.told["decision"]["number"] == 0
        Sleeper.wake.set()
        assert waiting.my_decision()["number"] > 0


def test_an_agent_that_fails_ends_no_room(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    offered = {"broken": Offer(Broken, "", together=False, base_only=False)}
    with serving(tmp_path, offered=offered) as server:
        me = server.visit(server.make_room(ME, "broken", ME, ME, level="4000", seed=1))
        me.play("enter ROMA")
        me.play("end")
        assert "no idea" in me.wait_for("refused")["sentence"]

    assert [record.message for record in caplog.records] == ["an agent could not decide: RuntimeError: no idea"]


def test_a_network_is_given_all_that_wait_in_one_pass(tmp_path: Path) -> None:
    sizes: list[int] = []

    class Counter:
        def act(self, games: Any, masks: Any, env_ids: Any) -> Any:
            sizes.append(len(games))
            Sleeper.wake.wait(0.05)
            return np.array([row.argmax() for row in masks])

    Sleeper.wake.clear()
    with serving(tmp_path, offered={"counter": Offer(Counter, "", together=True, base_only=False)}) as server:
        visitors = [server.visit(server.make_room(ME, *["counter"] * 3, seed=seed, level="4000")) for seed in range(8)]
        for visitor in visitors:
            while (first := visitor.my_decision()["choices"][-1]["action"]) != "end":
                visitor.play(first)
        for visitor in visitors:
            visitor.send("play", number=visitor.told["decision"]["number"], action="end")
        for visitor in visitors:
            visitor.wait_for("decision", lambda told: bool(told["choices"]) or told["agent"] is None)

    assert max(sizes) > 1
