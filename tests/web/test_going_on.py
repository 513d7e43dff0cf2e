"""Games that go on from elsewhere: files as the lobby sends them, seats taken over, and what an agent thinks of them."""

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
from helpers.web_server import Server, Visitor, serving
from tetrarchia_agents.cards import find_checkpoint
from tetrarchia_app.cli import serve
from tetrarchia_app.cli.serve import thinkers
from tetrarchia_app.web.workers import Offer
from tetrarchia_env.notation import load_replay, play_replay, snapshot
from tetrarchia_env.options import Options

ME, AGENT = "person 1", "random"


@pytest.fixture(name="server")
def a_server(tmp_path: Path) -> Iterator[Server]:
    with serving(tmp_path / "rooms", ("random", "greedy")) as server:
        yield server


def upload(server: Server, kind: str, file: Path, *emperors: str, number: int = 0) -> Visitor:
    """As lobby.js does it: the file's text as it is, in the midst of the rest."""
    common = json.dumps({"emperors": emperors or [ME] * 4, "number": number})
    return server.visit(server.post(f'{common[:-1]},"{kind}":{file.read_text(encoding="utf-8")}}}'.encode())["address"])


@pytest.mark.parametrize("options", [Options(level="4222"), EVERYTHING], ids=["base", "everything"])
def test_a_replay_file_is_opened_at_any_of_its_positions(server: Server, tmp_path: Path, options: Options) -> None:
    replay = random_replay(options, seed=2**64 - 5, most=30)
    replay.save(tmp_path / "game.json")
    me = upload(server, "replay", tmp_path / "game.json", number=20)

    assert me.told["decision"]["number"] == 20
    assert me.told["decision"]["agent"] == replay.actions[20][0]
    for _, text in replay.actions[20:]:
        me.play(text)
    status, _, content = server.get(f"/seat/{me.told['people']['players'][0]['link'].rpartition('/')[2]}/replay.json")
    (tmp_path / "again.json").write_bytes(content)
    assert status == 200
    assert load_replay(tmp_path / "again.json") == replay


def test_a_snapshot_file_is_opened(server: Server, tmp_path: Path) -> None:
    replay = random_replay(EVERYTHING, seed=6, most=40)
    [*_, (game, agent, text)] = play_replay(replay)
    (tmp_path / "position.json").write_text(json.dumps(snapshot(game), indent=1), encoding="utf-8")
    me = upload(server, "snapshot", tmp_path / "position.json")

    assert me.told["decision"]["number"] == 0
    assert me.told["decision"]["agent"] == agent
    me.play(text)
    _, _, content = server.get(f"{me.told['people']['watch']}/snapshot.json?number=1")
    assert json.loads(content) == replay.final


@pytest.mark.parametrize(
    ("kind", "text", "sentence"),
    [
        ("replay", '{"format": 1}', "environment"),
        ("replay", "[1, 2]", "no message of the page"),
        ("snapshot", '{"turn": 1', "no message of the page"),
        ("snapshot", '{"turn": -1}', "snapshot"),
    ],
)
def test_a_file_that_is_none_is_refused_in_one_sentence(server: Server, tmp_path: Path, kind: str, text: str, sentence: str) -> None:
    (tmp_path / "file.json").write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=sentence):
        upload(server, kind, tmp_path / "file.json")
    assert server.house.rooms == {}


def test_who_takes_over_chooses_his_colleagues(server: Server) -> None:
    watcher = server.visit(server.make_room(*[AGENT] * 4, seed=2))
    agents: list[Any] = []
    for agent in ("greedy", None):
        watcher.send("take over", number=0, emperors=["diocletian"], agent=agent)
        me = server.visit(watcher.wait_for("go")["address"])
        agents.append([player["agent"] for player in me.told["people"]["players"]])

    assert agents == [[None, "greedy"], [None, "random"]]
    assert "unknown agent 'nero'" in watcher.refusal("take over", number=0, emperors=["diocletian"], agent="nero")


def test_an_agent_who_does_not_know_the_rules_plays_for_nobody(tmp_path: Path) -> None:
    novice = Offer(lambda: None, "", together=False, base_only=True)
    with serving(tmp_path, ("random",), offered={"novice": novice}) as server:
        server.house.services.offered.update(random=server.house.services.offered.pop("random"))  # the novice first
        me = server.visit(server.make_room(*[ME] * 4, variants=["imperivm"], seed=1))
        me.send("take over", number=0, emperors=["galerius"])
        again = server.visit(me.wait_for("go")["address"])

    assert [player["agent"] for player in again.told["people"]["players"]] == [None, "random"]


def test_without_a_calibrated_network_there_is_a_server_without_a_coach(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("torch")
    from tetrarchia_agents.position_analysis import make_critic

    shutil.copytree(find_checkpoint("ppo"), tmp_path / "ppo", ignore=shutil.ignore_patterns("calibration.json"))
    monkeypatch.setattr(serve, "thinkers", lambda _: make_critic(f"ppo:{tmp_path / 'ppo'}"))
    house = serve.open_house("", tmp_path / "rooms")

    assert house.services.coach is None
    assert "there is no coach: checkpoint" in capsys.readouterr().err
    house.close()


def test_a_game_that_began_from_a_snapshot_is_judged_too(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    replay, rng = random_replay(Options(level="4200"), seed=4, most=14), random.Random(4)
    with serving(tmp_path, **thinkers("ppo")) as server:
        me = server.visit(server.make_room(*[ME] * 4, snapshot=replay.final))
        for _ in range(4):
            me.play(rng.choice(me.my_decision()["choices"])["action"])
        me.send("analyse")
        answer = me.wait_for("analysis")["answer"]

    assert len(answer["thoughts"]) == len(answer["marks"]) == 5
    assert "<svg" in answer["curve"]
    assert answer["turns"]
