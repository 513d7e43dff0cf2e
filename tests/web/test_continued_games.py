"""Games continued from files and from other rooms, and their analysis."""

import json
import random
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
pytest.importorskip("websockets")

from helpers.random_games import EVERYTHING, random_replay
from helpers.web_server import Client, RefusedRequestError, Server, serving
from tetrarchia_agents.cards import find_checkpoint
from tetrarchia_app.cli import serve
from tetrarchia_app.cli.serve import analysis_workers
from tetrarchia_app.web.workers import AgentSpec
from tetrarchia_env.notation import load_replay, play_replay, snapshot
from tetrarchia_env.options import Options

ME, AGENT = "player 1", "random"


@pytest.fixture(name="server")
def plain_server(tmp_path: Path) -> Iterator[Server]:
    with serving(tmp_path / "rooms", ("random", "greedy")) as server:
        yield server


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


def test_agent_of_the_other_emperors_is_chosen_when_taking_over(server: Server) -> None:
    spectator = server.connect(server.create_room(*[AGENT] * 4, seed=2))
    agents: list[Any] = []
    for agent in ("greedy", None):
        spectator.send("take_over", position=0, emperors=["diocletian"], agent=agent)
        me = server.connect(spectator.wait_for("redirect")["url"])
        agents.append([player["agent"] for player in me.received["players"]["players"]])

    assert agents == [[None, "greedy"], [None, "random"]]
    assert "unknown agent 'nero'" in spectator.error("take_over", position=0, emperors=["diocletian"], agent="nero")


def test_default_agent_knows_the_rules(tmp_path: Path) -> None:
    base_only = AgentSpec(lambda: None, "", batched=False, base_only=True)
    with serving(tmp_path, (), {"base only": base_only, "random": serve.agent_spec("random")}) as server:
        me = server.connect(server.create_room(*[ME] * 4, variants=["imperivm"], seed=1))
        me.send("take_over", position=0, emperors=["galerius"])
        again = server.connect(me.wait_for("redirect")["url"])

    assert [player["agent"] for player in again.received["players"]["players"]] == [None, "random"]


def test_server_without_a_calibrated_network_has_no_coach(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("torch")
    from tetrarchia_agents.position_analysis import make_critic

    shutil.copytree(find_checkpoint("ppo"), tmp_path / "ppo", ignore=shutil.ignore_patterns("calibration.json"))
    monkeypatch.setattr(serve, "analysis_workers", lambda _: make_critic(f"ppo:{tmp_path / 'ppo'}"))
    manager = serve.create_manager("", tmp_path / "rooms")

    assert manager.services.coach is None
    assert "no coach" in capsys.readouterr().err
    manager.close()


def test_game_started_from_a_snapshot_is_analyzed(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    replay, rng = random_replay(Options(level="4200"), seed=4, most=14), random.Random(4)
    with serving(tmp_path, **analysis_workers("ppo")) as server:
        me = server.connect(server.create_room(*[ME] * 4, snapshot=replay.final))
        for _ in range(4):
            me.play(rng.choice(me.own_decision()["choices"])["action"])
        me.send("analyze")
        result = me.wait_for("analysis")["result"]

    assert len(result["positions"]) == len(result["marks"]) == 5
    assert "<svg" in result["curve"]
    assert result["turns"]
