"""Tests of `tetrarchia protocol`, its result files and their verification."""

import json
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from helpers.made_up_results import made_up_result
from tetrarchia_agents import AGENTS, Actions, Agent, AgentType, EnvIds, make_agent, partners
from tetrarchia_agents.cards import CHECKPOINTS
from tetrarchia_agents.partners import Partner, load_partners, partner_names
from tetrarchia_app import cli
from tetrarchia_env.batch import Games, Masks
from tetrarchia_env.board import EMPERORS
from tetrarchia_env.digest import environment_digest
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.local_view import LocalOptions
from tetrarchia_env.notation.replays import ENVIRONMENT
from tetrarchia_eval import protocol, verify
from tetrarchia_eval.protocol import (
    MAX_BYTES,
    Declaration,
    declare,
    known_entries,
    load_protocol,
    plan_matches,
    read_result,
    result_text,
)
from tetrarchia_eval.workers import AgentCache

SMALL = """
version = "small"
environment = "tetrarchia_v0"
environment_digest = "{digest}"
max_ms_per_decision = 1000.0
reporting = {{ first_seed = 100, partners = {{ {held_out} }} }}
development = {{ first_seed = 200, partners = {{ {validation} }} }}

[tracks.planning]
description = ""
levels = ["4200", "4222"]
games = {{ reporting = 6, development = 2 }}

[tracks.teamwork]
description = ""
levels = ["4222"]
games = {{ reporting = 2, development = 1 }}
has_partners = true

[tracks.local]
description = ""
levels = ["4200", "three-left"]
games = {{ reporting = 2, development = 1 }}
arguments = {{ view_radius = 2, last_seen = true }}
"""
Edit = Callable[[dict[str, Any]], None]


@dataclass(frozen=True)
class Changed(Agent):
    """Different agent registered under the same name."""

    def act(self, games: Games, masks: Masks, env_ids: EnvIds) -> Actions:
        return masks.argmax(axis=1)


@pytest.fixture(scope="module")
def protocols(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with v1 and a protocol with few games."""
    folder = tmp_path_factory.mktemp("protocols")
    shutil.copytree(protocol.PROTOCOLS, folder, dirs_exist_ok=True)
    known = load_protocol("v1")
    held_out, validation = (
        f'{name} = "{split.partners[name]}"' for name, split in (("pacifist", known.reporting), ("planner-shallow", known.development))
    )
    text = SMALL.format(digest=environment_digest(), held_out=held_out, validation=validation)
    (folder / "small.toml").write_text(text, encoding="utf-8")
    return folder


@pytest.fixture(autouse=True)
def _small_protocol(protocols: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Provide the small protocol and an empty working folder."""
    monkeypatch.setattr(protocol, "PROTOCOLS", protocols)
    monkeypatch.chdir(tmp_path)
    load_protocol.cache_clear()
    yield
    load_protocol.cache_clear()


def run(monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    monkeypatch.setattr(sys, "argv", ["tetrarchia", *words])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    return int(ended.value.code or 0)


def evaluate(monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    return run(monkeypatch, "protocol", "small", "--workers", "1", *words)


@pytest.fixture(scope="module")
def played(protocols: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the result file of `random` on all tracks, and its games in runs/protocol."""
    folder = tmp_path_factory.mktemp("played")
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(protocol, "PROTOCOLS", protocols)
        monkeypatch.chdir(folder)
        assert evaluate(monkeypatch, "--agent", "random", "--out", "random.json") == 0
    return folder


@pytest.fixture
def file(played: Path, tmp_path: Path) -> Path:
    """Return a copy of the result file of `random`, next to its games."""
    shutil.copytree(played, tmp_path, dirs_exist_ok=True)
    return Path("random.json")


def edit(file: Path, change: Edit) -> None:
    data = json.loads(file.read_text(encoding="utf-8"))
    change(data)
    file.write_text(json.dumps(data), encoding="utf-8")


# --- the definition ---


def test_protocol_v1_is_frozen() -> None:
    definition = load_protocol("v1")
    assert definition.digest == "3821e04746b20f94"  # another definition is another protocol; results of this one are refused
    assert (definition.environment, definition.environment_digest) == (ENVIRONMENT, environment_digest())


def test_partners_of_v1_are_those_of_the_suite() -> None:
    pytest.importorskip("torch")
    definition, cache = load_protocol("v1"), AgentCache()
    for split, name in ((definition.reporting, "held-out"), (definition.development, "validation")):
        assert split.partners == {partner: cache.fingerprint(f"partner:{partner}") for partner in partner_names(name)}


def test_development_and_reporting_share_neither_seeds_nor_partners() -> None:
    definition = load_protocol("v1")
    last = {name: split.first_seed + 10**6 for name, split in (("r", definition.reporting), ("d", definition.development))}
    assert last["r"] < definition.development.first_seed or last["d"] < definition.reporting.first_seed
    assert not set(definition.reporting.partners) & set(definition.development.partners)


def test_a_full_result_of_several_runs_is_smaller_than_the_limit() -> None:
    agents = {f"ppo:runs/group/seed-{number}/final": "0123456789ab" for number in range(10)}
    result = made_up_result("group", lambda case: 1.0, agents)
    result.check()
    assert result.total == 10 * (3 * 1000 + 4 * 100 * len(result.partners))
    assert len(result_text(result)) < MAX_BYTES


def test_unknown_protocols_tracks_and_partners_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    assert run(monkeypatch, "protocol", "v9", "--agent", "random") == 2
    assert evaluate(monkeypatch, "--agent", "random", "--track", "speed") == 2
    assert evaluate(monkeypatch, "--agent", "random", "--partner", "planner-shallow") == 2  # a validation partner
    assert evaluate(monkeypatch, "--agent", "random", "--games", "5") == 2  # fixed for the reporting seeds
    assert evaluate(monkeypatch, "--agent", "random", "--agent", "random") == 2
    assert evaluate(monkeypatch, "--agent", "random", "--out", "random.txt") == 2


# --- the command ---


def test_result_contains_every_game_and_what_identifies_it(file: Path) -> None:
    result = read_result(file)
    assert result.games == {"planning": 6, "teamwork": 2, "local": 2}
    assert result.total == 2 * 6 + 4 * 2 + 2 * 2
    assert [one.seat for one in result.cases if one.partner == "pacifist"] == list(EMPERORS)
    assert result.environment_digest == environment_digest()
    assert result.partners == {"pacifist": load_protocol("v1").reporting.partners["pacifist"]}
    assert result.declaration is not None
    assert (result.declaration.search, result.declaration.training_runs) == (False, 0)
    assert result.is_complete()


def test_same_command_continues_from_kept_games_and_writes_the_same_file(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = sorted(Path("runs/protocol").glob("*.jsonl"))
    lines = kept[0].read_text(encoding="utf-8").splitlines(keepends=True)
    kept[0].write_text("".join(lines[:2]), encoding="utf-8")  # interrupted after the first game
    assert evaluate(monkeypatch, "--agent", "random", "--out", "again.json") == 0
    assert read_result("again.json").cases == read_result(file).cases
    assert evaluate(monkeypatch, "--agent", "random", "--out", "third.json") == 0  # nothing is played
    assert Path("third.json").read_bytes() == Path("again.json").read_bytes()


def test_short_mode_uses_development_seeds_and_validation_partners(monkeypatch: pytest.MonkeyPatch) -> None:
    assert evaluate(monkeypatch, "--agent", "random", "--short", "--games", "3", "--track", "teamwork", "--out", "short.json") == 0
    result = read_result("short.json")
    assert (result.split, result.first_seed, list(result.partners)) == ("development", 200, ["planner-shallow"])
    assert result.games == {"teamwork": 3}
    assert not result.is_complete()


def test_tracks_with_local_information_need_agents_that_play_from_observations(monkeypatch: pytest.MonkeyPatch) -> None:
    cache, small = AgentCache(), load_protocol("small")
    assert small.playable_tracks(cache.agent("random")) == ["planning", "teamwork", "local"]
    assert small.playable_tracks(cache.agent("greedy")) == ["planning", "teamwork"]
    assert evaluate(monkeypatch, "--agent", "greedy", "--track", "local") == 2
    level, task = plan_matches(small, ["random"], "reporting", ["local"], cache).values()
    assert (level.local.view_radius, level.local.last_seen, level.set_up) == (2, True, None)
    assert (task.local, task.set_up) == (level.local, "three-left")


def test_an_agent_that_can_play_no_track_is_refused() -> None:
    trained_with_messages = make_agent("random")
    trained_with_messages.local = LocalOptions(2, last_seen=True, message_tokens=3)
    with pytest.raises(TetrarchiaError, match="none of the tracks planning, teamwork, local"):
        plan_matches(load_protocol("small"), ["mine"], "development", (), AgentCache({"mine": trained_with_messages}))


def test_several_agents_are_runs_of_one_result(monkeypatch: pytest.MonkeyPatch) -> None:
    words = ("--agent", "random", "--agent", "greedy", "--track", "planning", "--out", "both.json")
    assert evaluate(monkeypatch, *words) == 0
    assert list(read_result("both.json").agents) == ["random", "greedy"]


def test_time_limit_is_checked(file: Path) -> None:
    edit(file, lambda data: data["ms_per_decision"].update(planning=1000.1))
    with pytest.raises(TetrarchiaError, match="ms_per_decision"):
        read_result(file)


# --- declarations ---


def test_unknown_agent_needs_a_declaration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(AGENTS, "mine", AgentType("mine", "", f"{__name__}:Changed"))
    words = ("--agent", "mine", "--track", "planning", "--out", "mine.json")
    assert evaluate(monkeypatch, *words) == 2
    assert evaluate(monkeypatch, *words, "--short") == 0
    stated = tmp_path / "mine.toml"
    stated.write_text('name = "Mine"\nsearch = false\ntimesteps = 5\ntraining_hours = 0.5\nteachers = ["planner"]\n', encoding="utf-8")
    assert evaluate(monkeypatch, *words, "--declare", str(stated)) == 2  # training_runs is missing
    stated.write_text(stated.read_text(encoding="utf-8") + "training_runs = 1\n", encoding="utf-8")
    assert evaluate(monkeypatch, *words, "--declare", str(stated)) == 0
    result = read_result("mine.json")
    assert result.declaration == Declaration(
        name="Mine", search=False, timesteps=5, training_hours=0.5, teachers=("planner",), training_runs=1
    )


@pytest.mark.parametrize("text", ["name = ", 'authors = "a"\nplace = "b"', "search = 3"])
def test_wrong_declarations_are_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "wrong.toml").write_text(text, encoding="utf-8")
    with pytest.raises(TetrarchiaError, match=r"wrong\.toml"):
        declare(["random"], tmp_path / "wrong.toml", AgentCache(), required=False)


@pytest.mark.parametrize(
    ("checkpoint", "millions", "hours"),
    [("ppo", 102.1, 4.97), ("ppo-2", 10.1, 1.29), ("ppo-full", 22.3, 2.16)],  # with all checkpoints before it
)
def test_cards_of_checkpoints_fill_the_declaration(checkpoint: str, millions: float, hours: float) -> None:
    @dataclass
    class Network(Agent):
        checkpoint: str
        candidates: int = 32

    entries = known_entries(f"ppo:{checkpoint}", Network(checkpoint))
    assert entries["timesteps"] / 1e6 == pytest.approx(millions, abs=0.1)
    assert entries["training_hours"] == pytest.approx(hours, abs=0.01)
    assert (entries["search"], entries["teachers"], entries["training_runs"]) == (True, ["planner"], 1)


# --- verification ---


def test_verify_accepts_an_honest_file(file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    before = file.read_bytes()
    assert run(monkeypatch, "verify", str(file), "--all") == 0
    assert "24 games of 1 files played again" in capsys.readouterr().out
    assert run(monkeypatch, "verify", ".", "--games", "1", "--seed", "1") == 0  # also the files in runs/protocol
    assert file.read_bytes() == before


def change_outcome(data: dict[str, Any]) -> None:
    case = data["cases"][1]
    case["outcomes"] = case["outcomes"][:-1] + ("e" if case["outcomes"][-1] != "e" else "r")


def rotate_seeds(data: dict[str, Any]) -> None:
    case = data["cases"][0]
    for name in ("outcomes", "scores", "turns"):
        case[name] = case[name][1:] + case[name][:1]


def drop_a_seat(data: dict[str, Any]) -> None:
    data["cases"] = [case for case in data["cases"] if case.get("seat") != "galerius"]


@pytest.mark.parametrize(
    "change",
    [
        change_outcome,
        lambda data: data["cases"][0]["scores"].reverse(),
        lambda data: data["cases"][0]["turns"].__setitem__(0, data["cases"][0]["turns"][0] + 1),
        rotate_seeds,
        lambda data: data.update(first_seed=101),
        lambda data: data["agents"].update(random="0123456789ab"),
        lambda data: data["partners"].update(pacifist="0123456789ab"),
        lambda data: data.update(environment_digest="0123456789abcdef"),
        lambda data: data.update(protocol_digest="0123456789abcdef"),
        lambda data: data.update(declaration=None),
        drop_a_seat,
        lambda data: data["games"].update(planning=5),
        lambda data: data.pop("cases"),
    ],
    ids=[
        *("outcome", "scores", "turns", "games of other seeds", "first seed", "agent", "partner", "environment", "protocol"),
        *("no declaration", "missing seat", "fewer games", "no games"),
    ],
)
def test_verify_refuses_an_edited_file(change: Edit, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    edit(file, change)
    assert run(monkeypatch, "verify", str(file), "--all") == 2


def test_verify_refuses_a_file_that_is_not_json_also_in_a_folder(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("board").mkdir()
    Path("board/other.json").write_text("[1]", encoding="utf-8")  # valid, and no protocol result
    shutil.copy(file, "board/random.json")
    assert run(monkeypatch, "verify", "board", "--games", "1") == 0
    Path("board/random.json").write_bytes(file.read_bytes()[:-20])
    assert run(monkeypatch, "verify", "board", "--games", "1") == 2


def test_verify_refuses_another_environment(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verify, "environment_digest", lambda: "0123456789abcdef")
    assert run(monkeypatch, "verify", str(file)) == 2
    monkeypatch.setattr(protocol, "environment_digest", lambda: "0123456789abcdef")
    assert evaluate(monkeypatch, "--agent", "random") == 2


def test_verify_refuses_an_edited_partner(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    edited = load_partners() | {"pacifist": msgspec.structs.replace(load_partners()["pacifist"], noise=0.5)}
    monkeypatch.setattr(partners, "load_partners", lambda: edited)
    assert run(monkeypatch, "verify", str(file)) == 2
    assert evaluate(monkeypatch, "--agent", "random") == 2


def test_verify_refuses_an_agent_that_plays_differently(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(AGENTS, "random", AgentType("random", "", f"{__name__}:Changed"))
    assert run(monkeypatch, "verify", str(file)) == 2


@pytest.mark.slow
def test_verify_refuses_a_swapped_checkpoint(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch")
    shutil.copytree(CHECKPOINTS / "bc", "weights")
    assert evaluate(monkeypatch, "--agent", "ppo:./weights", "--track", "planning", "--short", "--out", "bc.json") == 0
    assert run(monkeypatch, "verify", "bc.json", "--all") == 0
    shutil.copytree(CHECKPOINTS / "ppo-small", "weights", dirs_exist_ok=True)
    assert run(monkeypatch, "verify", "bc.json", "--all") == 2


@pytest.mark.slow
def test_verify_refuses_a_swapped_checkpoint_of_a_partner(protocols: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch")
    shutil.copytree(CHECKPOINTS / "ppo-small", "weights")
    monkeypatch.setattr(partners, "load_partners", lambda: {"mine": Partner(split="held-out", description="", agent="ppo:./weights")})
    shutil.copytree(protocols, "definitions")
    names = {"held_out": f'mine = "{AgentCache().fingerprint("partner:mine")}"', "validation": ""}
    Path("definitions/small.toml").write_text(SMALL.format(digest=environment_digest(), **names), encoding="utf-8")
    monkeypatch.setattr(protocol, "PROTOCOLS", Path("definitions").resolve())
    load_protocol.cache_clear()

    assert evaluate(monkeypatch, "--agent", "random", "--track", "teamwork", "--out", "with_network.json") == 0
    assert run(monkeypatch, "verify", "with_network.json", "--all") == 0
    shutil.copytree(CHECKPOINTS / "scratch-shared/seed-1", "weights", dirs_exist_ok=True)
    assert run(monkeypatch, "verify", "with_network.json", "--all") == 2


def test_sample_is_smaller_for_slow_agents(file: Path) -> None:
    result, rng = read_result(file), np.random.default_rng(0)
    assert len(verify.draw_protocol_games(result, 1, rng)) == verify.MAX_LEVELS_FACTOR
    slow = msgspec.structs.replace(result, seconds_per_game=dict.fromkeys(result.games, 1.0))
    drawn = verify.draw_protocol_games(slow, 1, rng)
    assert len(drawn) == len(set(drawn)) == verify.SECONDS_PER_GAME
