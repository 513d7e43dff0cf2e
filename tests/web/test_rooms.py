"""Rooms: decisions, undo, substitutes, games continued from files and other rooms, research consent, limits, agents and analysis."""

import json
import random
import shutil
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
pytest.importorskip("websockets")

import numpy as np
from websockets.exceptions import ConnectionClosed

from helpers.random_games import EVERYTHING, random_replay
from helpers.web_server import Client, RefusedRequestError, Server, serving
from tetrarchia_agents.cards import find_checkpoint
from tetrarchia_app.cli import serve
from tetrarchia_app.web.room_manager import Limits
from tetrarchia_app.web.workers import AgentSpec
from tetrarchia_env.notation import load_replay, play_replay, replay_data, snapshot
from tetrarchia_env.options import Options
from tetrarchia_eval.study import StudyGame

ME, SECOND = "player 1", "player 2"
AGENT = "random"


@pytest.fixture(name="server")
def plain_server(tmp_path: Path) -> Iterator[Server]:
    with serving(tmp_path / "rooms", ("random", "greedy")) as server:
        yield server


def play_randomly(client: Client, rng: random.Random, max_actions: int = 10_000) -> None:
    """Play random choices until the game is over or `max_actions` were made."""
    for _ in range(max_actions):
        decision = client.own_decision()
        if decision["emperor"] is None:
            return
        client.play(rng.choice(decision["choices"])["action"])


def second_link(client: Client) -> str:
    return str(client.received["players"]["players"][1]["link"])


def room_of(server: Server, path: str) -> Any:
    found = server.manager.resolve_link(path.rpartition("/")[2])
    assert found
    return found[0]


def test_full_game_is_played_and_saved_as_a_replay(server: Server, tmp_path: Path) -> None:
    path = server.create_room(ME, AGENT, ME, AGENT, seed=3)
    me = server.connect(path)
    play_randomly(me, random.Random(3))

    status, _, content = server.get(f"{path}/replay.json")
    (tmp_path / "game.json").write_bytes(content)
    replay = load_replay(tmp_path / "game.json")
    assert status == 200
    assert len(list(play_replay(replay))) == me.received["decision"]["position"] == len(replay.actions)
    assert replay.final["outcome"] != "running"


def test_choices_have_costs_odds_and_chains(server: Server) -> None:
    me, rng = server.connect(server.create_room(*[ME] * 4, seed=2, level="4233")), random.Random(2)
    fights: list[Any] = []
    while not fights and me.own_decision()["emperor"]:
        fights = [choice for choice in me.received["decision"]["choices"] if choice["combat"]]
        me.play(rng.choice(me.received["decision"]["choices"])["action"])

    combat = fights[0]["combat"]
    assert combat["win"] + combat["draw"] + combat["loss"] == 36
    assert fights[0]["place"] in fights[0]["action"]
    assert "IP" in fights[0]["cost"]


def test_only_the_deciding_player_can_play(server: Server) -> None:
    first = server.connect(server.create_room(ME, SECOND, ME, SECOND, seed=1))
    spectator_link = first.received["players"]["spectator_link"]
    second, spectator = server.connect(second_link(first)), server.connect(spectator_link)
    action = first.received["decision"]["choices"][0]["action"]

    for other in (second, spectator):
        assert other.received["decision"]["choices"] is None
        assert "not your decision" in other.error("play", position=0, action=action)
    assert room_of(server, spectator_link).position == 0
    assert second.received["players"]["players"][0]["link"] is None


def test_outdated_or_illegal_action_is_refused(server: Server) -> None:
    me = server.connect(server.create_room(*[ME] * 4, seed=1))
    me.play(me.received["decision"]["choices"][0]["action"])

    assert "position must be 1" in me.error("play", position=0, action="fleet INTERNVM")
    assert "not legal" in me.error("play", position=1, action="move BELGICA")
    assert "unknown action" in me.error("play", position=1, action="win")


def test_players_undo_only_their_own_actions_and_only_until_dice_are_rolled(server: Server) -> None:
    first = server.connect(server.create_room(ME, SECOND, ME, SECOND, seed=1, level="4200"))
    second = server.connect(second_link(first))
    first.play("fleet INTERNVM")
    assert first.received["decision"]["can_undo"]
    assert "no action to undo" in second.error("undo", position=1)

    first.send("undo", position=1)
    assert first.wait_for("decision")["position"] == 0
    for action in ("fleet INTERNVM", "fleet AEGAEVM", "enter ROMA", "end"):
        first.play(action)

    assert not first.received["decision"]["can_undo"]
    assert "no action to undo" in first.error("undo", position=4)


def test_older_window_with_the_same_link_is_closed(server: Server) -> None:
    path = server.create_room(*[ME] * 4, seed=1)
    older, newer = server.connect(path), server.connect(path)
    newer.play("fleet INTERNVM")

    with pytest.raises(ConnectionClosed, match="4001"):
        older.wait_for("none")
    assert newer.received["decision"]["position"] == 1


def test_agent_replaces_an_absent_player_if_all_agree_until_the_player_returns(server: Server) -> None:
    first = server.connect(server.create_room(ME, SECOND, "player 3", ME, seed=1, level="4000"))
    links = [player["link"] for player in first.received["players"]["players"]]
    third = server.connect(links[2])
    first.play("enter ROMA")
    first.play("end")
    assert "is connected" in first.error("substitute", player=2, agent=AGENT)
    assert "player must be" in first.error("substitute", player=3, agent=AGENT)

    first.send("substitute", player=1, agent=AGENT)
    third.wait_for("players", lambda message: "1" in message["proposals"])
    assert room_of(server, links[1]).players[1].substitute is None
    third.send("substitute", player=1, agent=AGENT)
    first.wait_for("players", lambda message: message["players"][1]["substitute"] == AGENT)
    second = server.connect(links[1])

    assert second.received["players"]["players"][1]["substitute"] is None


def test_spectator_cannot_act_as_a_player(server: Server) -> None:
    first = server.connect(server.create_room(ME, SECOND, ME, SECOND, seed=1))
    spectator = server.connect(first.received["players"]["spectator_link"])

    assert "spectator" in spectator.error("rename", name="x")
    assert "spectator" in spectator.error("set_consent", consent=True)
    assert "spectator" in spectator.error("substitute", player=1, agent=AGENT)


def test_game_of_agents_advances_only_on_request_of_a_spectator(server: Server) -> None:
    spectator = server.connect(server.create_room(*[AGENT] * 4, seed=2))
    spectator.send("advance", position=0)
    spectator.wait_for("decision", lambda message: message["position"] == 1)
    spectator.send("advance", position=0)
    spectator.send("get_position", position=0)
    spectator.wait_for("position", lambda message: message["position"] == 0)

    assert spectator.received["decision"]["position"] == 1


def test_emperors_are_taken_over_from_any_position_in_a_new_room(server: Server) -> None:
    spectator = server.connect(server.create_room(*[AGENT] * 4, seed=2))
    for position in range(5):
        spectator.send("advance", position=position)
        spectator.wait_for("decision", lambda message, position=position: message["position"] == position + 1)  # type: ignore[misc]
    spectator.send("take_over", position=3, emperors=["diocletian", "galerius"])
    me = server.connect(spectator.wait_for("redirect")["url"])

    assert me.received["decision"]["position"] == 3
    assert me.received["players"]["players"][0]["emperors"] == ["diocletian", "galerius"]
    original = server.connect(spectator.received["players"]["spectator_link"]).received["log"]["entries"]
    assert me.received["log"]["entries"] == original[:4]


def upload(server: Server, kind: str, file: Path, *emperors: str, position: int = 0) -> Client:
    """Create a room as lobby.js does, with the unchanged text of the file."""
    common = json.dumps({"emperors": emperors or [ME] * 4, "position": position})
    return server.connect(server.post(f'{common[:-1]},"{kind}":{file.read_text(encoding="utf-8")}}}'.encode())["url"])


@pytest.mark.parametrize("options", [Options(level="4222"), EVERYTHING], ids=["base", "everything"])
def test_replay_file_is_opened_at_any_of_its_positions(server: Server, tmp_path: Path, options: Options) -> None:
    replay = random_replay(options, seed=2**64 - 5, most=30)
    replay.save(tmp_path / "game.json")
    me = upload(server, "replay", tmp_path / "game.json", position=20)

    assert me.received["decision"]["position"] == 20
    assert me.received["decision"]["emperor"] == replay.actions[20][0]
    for _, text in replay.actions[20:]:
        me.play(text)
    status, _, content = server.get(f"/seat/{me.received['players']['players'][0]['link'].rpartition('/')[2]}/replay.json")
    (tmp_path / "again.json").write_bytes(content)
    assert status == 200
    assert load_replay(tmp_path / "again.json") == replay


def test_snapshot_file_is_opened(server: Server, tmp_path: Path) -> None:
    replay = random_replay(EVERYTHING, seed=6, most=40)
    [*_, (game, agent, text)] = play_replay(replay)
    (tmp_path / "position.json").write_text(json.dumps(snapshot(game), indent=1), encoding="utf-8")
    me = upload(server, "snapshot", tmp_path / "position.json")

    assert me.received["decision"]["position"] == 0
    assert me.received["decision"]["emperor"] == agent
    assert not me.received["players"]["has_replay"]
    me.play(text)
    _, _, content = server.get(f"{me.received['players']['spectator_link']}/snapshot.json?position=1")
    assert json.loads(content) == replay.final


@pytest.mark.parametrize(
    ("kind", "text", "message"),
    [
        ("replay", '{"format": 1}', "environment"),
        ("replay", "[1, 2]", "invalid message"),
        ("snapshot", '{"turn": 1', "invalid message"),
        ("snapshot", '{"turn": -1}', "snapshot"),
    ],
)
def test_invalid_file_is_refused(server: Server, tmp_path: Path, kind: str, text: str, message: str) -> None:
    (tmp_path / "file.json").write_text(text, encoding="utf-8")
    with pytest.raises(RefusedRequestError, match=message):
        upload(server, kind, tmp_path / "file.json")
    assert server.manager.rooms == {}


def test_replay_with_an_illegal_action_is_refused(server: Server) -> None:
    replay = random_replay(Options(level="4200"), seed=4, most=5)
    first, *_, last = replay.actions
    with pytest.raises(RefusedRequestError, match="not legal"):
        server.create_room(*[ME] * 4, replay=replay_data(replace(replay, actions=(last, first))))


def test_agent_for_the_other_emperors_can_be_chosen_when_taking_over(server: Server) -> None:
    spectator = server.connect(server.create_room(*[AGENT] * 4, seed=2))
    agents: list[Any] = []
    for agent in ("greedy", None):
        spectator.send("take_over", position=0, emperors=["diocletian"], agent=agent)
        me = server.connect(spectator.wait_for("redirect")["url"])
        agents.append([player["agent"] for player in me.received["players"]["players"]])

    assert agents == [[None, "greedy"], [None, "random"]]
    assert "unknown agent 'nero'" in spectator.error("take_over", position=0, emperors=["diocletian"], agent="nero")


def test_default_agent_supports_the_variants_of_the_game(tmp_path: Path) -> None:
    base_only = AgentSpec(lambda: None, "", batched=False, base_only=True)
    with serving(tmp_path, (), {"base only": base_only, "random": serve.agent_spec("random")}) as server:
        me = server.connect(server.create_room(*[ME] * 4, variants=["imperivm"], seed=1))
        me.send("take_over", position=0, emperors=["galerius"])
        again = server.connect(me.wait_for("redirect")["url"])

    assert [player["agent"] for player in again.received["players"]["players"]] == [None, "random"]


def test_game_is_kept_for_research_if_all_players_agree(tmp_path: Path) -> None:
    kept: list[StudyGame] = []
    with serving(tmp_path, keep_game=kept.append) as server:
        for agrees in (True, False):
            first = server.connect(server.create_room(ME, SECOND, SECOND, AGENT, seed=3, consent=True))
            second = server.connect(second_link(first))
            second.send("set_consent", consent=agrees)
            second.socket.close()
            first.wait_for("players", lambda message: not message["players"][1]["connected"])
            first.send("substitute", player=1, agent=AGENT)
            play_randomly(first, random.Random(3))

    [game] = kept
    assert [player.consent for player in game.players] == [True, True, False]
    assert [player.kind == "agent" for player in game.players] == [False, False, True]
    assert game.seats == (0, 1, 1, 2)
    assert set(game.deciders) == {0, 2}
    assert all(seconds is not None for seconds in game.seconds)


@pytest.mark.parametrize(
    ("setup", "message"),
    [
        ({"emperors": ["nero"] * 4}, "unknown agent 'nero': choose from random, greedy"),
        ({"emperors": ["os.system"] * 4}, "unknown agent"),
        ({"emperors": [ME] * 3}, "invalid message"),
        ({"emperors": [ME] * 4, "level": "9999"}, "level"),
        ({"emperors": [ME] * 4, "scenario": "atlantis"}, "scenario"),
        ({"emperors": [ME] * 4, "task": "atlantis"}, "task"),
        ({"emperors": [ME] * 4, "task": "last-two", "level": "4200"}, "task"),
        ({"emperors": [ME] * 4, "snapshot": {"turn": 1}}, "snapshot"),
        ({"emperors": [ME] * 4, "more": 1}, "unknown field"),
    ],
)
def test_invalid_setup_is_refused(server: Server, setup: object, message: str) -> None:
    with pytest.raises(RefusedRequestError, match=message):
        server.post(setup)
    assert server.manager.rooms == {}


def test_room_with_a_task_survives_a_restart(tmp_path: Path) -> None:
    with serving(tmp_path) as server:
        me = server.connect(server.create_room(*[ME] * 4, task="last-two", seed=3))
        me.play(me.own_decision()["choices"][0]["action"])
        [before] = server.manager.rooms.values()
    with serving(tmp_path) as server:
        [after] = server.manager.rooms.values()

    assert after.game.options.task == "last-two"
    assert after.game.snapshot() == before.game.snapshot()
    assert list(after.game.snapshot()["tokens"].values()).count("revolt") == 0


def test_number_of_rooms_is_limited_and_expired_rooms_are_removed(tmp_path: Path) -> None:
    with serving(tmp_path, limits=Limits(rooms=2, finished_s=0, agents_only_s=0, unfinished_s=0)) as server:
        me = server.connect(server.create_room(*[ME] * 4))
        server.create_room(*[ME] * 4)
        with pytest.raises(RefusedRequestError, match="already has 2 rooms"):
            server.create_room(*[ME] * 4)
        server.manager.remove_expired()

        assert len(server.manager.rooms) == len(list(tmp_path.glob("*.room"))) == 1
        me.play(me.received["decision"]["choices"][0]["action"])


class Sleeping:
    """An agent that waits for an event."""

    wake = threading.Event()

    def act(self, games: Any, masks: Any, env_ids: Any) -> Any:
        self.wake.wait(60)
        return masks.argmax(axis=1)


class Failing:
    def act(self, games: Any, masks: Any, env_ids: Any) -> Any:
        raise RuntimeError("an internal detail")


def test_search_in_one_room_does_not_delay_another(tmp_path: Path) -> None:
    with serving(tmp_path, specs={"sleeping": AgentSpec(Sleeping, "", batched=False, base_only=False)}) as server:
        waiting = server.connect(server.create_room("sleeping", ME, ME, ME, seed=1))
        me = server.connect(server.create_room(ME, AGENT, AGENT, AGENT, seed=1))
        play_randomly(me, random.Random(1), 15)

        assert waiting.received["decision"]["position"] == 0
        Sleeping.wake.set()
        assert waiting.own_decision()["position"] > 0


def test_failing_agent_is_reported_and_its_traceback_logged(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with serving(tmp_path, specs={"failing": AgentSpec(Failing, "", batched=False, base_only=False)}) as server:
        me = server.connect(server.create_room(ME, "failing", ME, ME, level="4000", seed=1))
        me.play("enter ROMA")
        me.play("end")
        message = me.wait_for("error")["message"]
        me.send("get_position", position=0)
        me.wait_for("position")  # the room stays open

    assert "the agent failed" in message
    assert "internal detail" not in message
    [record] = caplog.records
    assert record.exc_info
    assert record.exc_info[0] is RuntimeError


def test_internal_error_closes_only_its_connection(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with serving(tmp_path) as server:
        first = server.connect(server.create_room(ME, SECOND, ME, SECOND, seed=1))
        second = server.connect(second_link(first))
        with monkeypatch.context() as patch:
            patch.setattr("tetrarchia_app.web.views.position", lambda *_: {}["an internal detail"])
            second.send("get_position", position=0)
            with pytest.raises(ConnectionClosed, match="1011"):
                second.wait_for("none")
        first.play(first.own_decision()["choices"][0]["action"])

    [record] = caplog.records
    assert record.exc_info
    assert record.exc_info[0] is KeyError


def test_batched_agent_decides_for_all_waiting_games_in_one_pass(tmp_path: Path) -> None:
    sizes: list[int] = []

    class Counting:
        def act(self, games: Any, masks: Any, env_ids: Any) -> Any:
            sizes.append(len(games))
            Sleeping.wake.wait(0.05)
            return np.array([row.argmax() for row in masks])

    Sleeping.wake.clear()
    with serving(tmp_path, specs={"counting": AgentSpec(Counting, "", batched=True, base_only=False)}) as server:
        clients = [server.connect(server.create_room(ME, *["counting"] * 3, seed=seed, level="4000")) for seed in range(8)]
        for client in clients:
            while (action := client.own_decision()["choices"][-1]["action"]) != "end":
                client.play(action)
        for client in clients:
            client.send("play", position=client.received["decision"]["position"], action="end")
        for client in clients:
            client.wait_for("decision", lambda message: bool(message["choices"]) or message["emperor"] is None)

    assert max(sizes) > 1


def test_server_without_a_calibrated_network_has_no_coach(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("torch")
    shutil.copytree(find_checkpoint("ppo"), tmp_path / "ppo", ignore=shutil.ignore_patterns("calibration.json"))

    assert serve.make_coach(f"ppo:{tmp_path / 'ppo'}") is None
    assert "no coach" in capsys.readouterr().err


def test_game_started_from_a_snapshot_is_analyzed(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    replay, rng = random_replay(Options(level="4200"), seed=4, most=14), random.Random(4)
    with serving(tmp_path, coach=serve.make_coach("ppo")) as server:
        me = server.connect(server.create_room(*[ME] * 4, snapshot=replay.final))
        for _ in range(4):
            me.play(rng.choice(me.own_decision()["choices"])["action"])
        me.send("analyze")
        result = me.wait_for("analysis")["result"]

    assert len(result["positions"]) == len(result["marks"]) == 5
    assert "<svg" in result["curve"]
    assert result["turns"]
