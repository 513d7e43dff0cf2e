"""Tests of `tetrarchia verify`, which plays games of result files again and compares."""

import sys
from dataclasses import dataclass, replace
from math import comb
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace as replace_entries

from tetrarchia_agents import AGENTS, Actions, Agent, AgentType, EnvIds, GameResult
from tetrarchia_app import cli
from tetrarchia_env.batch import Games, Masks
from tetrarchia_env.digest import environment_digest
from tetrarchia_eval.arena import match_spec, play_match
from tetrarchia_eval.match import game_line, spec_line
from tetrarchia_eval.result_files import ResultFile, load_match
from tetrarchia_eval.verify import detection_probability, differing_entries, draw_games

SPEC = match_spec("random", 6, levels=["4200", "4211"], first_seed=40, seed=3)
OLD = "0123456789ab"
OTHER_ENVIRONMENT = "0123456789abcdef"


@dataclass(frozen=True)
class Changed(Agent):
    """Different agent registered under the same name."""

    def act(self, games: Games, masks: Masks, env_ids: EnvIds) -> Actions:
        return masks.argmax(axis=1)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Return a result file."""
    path = tmp_path / "main/random.jsonl"
    path.parent.mkdir()
    play_match(SPEC, path, workers=1)
    return path


@pytest.fixture
def outdated(file: Path) -> Path:
    """Return a result file with an outdated fingerprint."""
    games = file.read_text(encoding="utf-8").partition("\n")[2]
    file.write_text(spec_line(replace_entries(SPEC, fingerprints={"random": OLD})) + games, encoding="utf-8")
    return file


def verify(monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    monkeypatch.setattr(sys, "argv", ["tetrarchia", "verify", *words])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    return int(ended.value.code or 0)


def test_an_honest_file_is_accepted_with_the_probability_of_detection(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before = file.read_bytes()
    assert verify(monkeypatch, str(file.parents[1]), "--games", "3") == 0
    shown = capsys.readouterr().out
    assert "6 games of 1 files played again" in shown
    assert "1% of the games are false is detected with probability 50%" in shown
    assert verify(monkeypatch, str(file), "--all") == 0
    shown = capsys.readouterr().out
    assert "12 games of 1 files played again" in shown
    assert "probability 100%" in shown
    assert file.read_bytes() == before


def test_another_fingerprint_is_refused_unless_updates_are_asked_for(outdated: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = outdated.read_bytes()
    assert verify(monkeypatch, str(outdated)) == 2
    assert outdated.read_bytes() == before
    assert verify(monkeypatch, str(outdated), "--update-fingerprints") == 0
    assert load_match(outdated).spec == SPEC
    assert outdated.read_bytes().partition(b"\n")[2] == before.partition(b"\n")[2]


def set_environment(file: Path, digest: str) -> None:
    """Write another environment digest into a result file; none if it is empty."""
    games = file.read_text(encoding="utf-8").partition("\n")[2]
    file.write_text(spec_line(replace_entries(SPEC, environment_digest=digest)) + games, encoding="utf-8")


def test_result_files_have_the_environment_digest_and_another_one_is_refused(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert load_match(file).spec.environment_digest == environment_digest()
    honest = file.read_bytes()
    set_environment(file, OTHER_ENVIRONMENT)
    before = file.read_bytes()
    assert verify(monkeypatch, str(file), "--all") == 2
    assert f"the environment has the digest {environment_digest()}, not {OTHER_ENVIRONMENT}" in capsys.readouterr().out
    assert file.read_bytes() == before
    assert verify(monkeypatch, str(file), "--all", "--update-fingerprints") == 0
    assert file.read_bytes() == honest


def test_early_files_without_environment_digest_stay_valid_and_unchanged(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    set_environment(file, "")
    before = file.read_bytes()
    assert b"environment_digest" not in before
    assert verify(monkeypatch, str(file), "--all", "--update-fingerprints") == 0
    assert file.read_bytes() == before


def test_a_changed_game_is_found_by_playing_all(file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    match = load_match(file)
    false = replace(match.games[7], turns=match.games[7].turns + 1)
    file.write_text(spec_line(SPEC) + "".join(map(game_line, [*match.games[:7], false, *match.games[8:]])), encoding="utf-8")
    assert verify(monkeypatch, str(file), "--all") == 2
    assert capsys.readouterr().out.startswith(f"{file}: game 7 (level 4211, seed 41) does not reproduce: turns was {false.turns}, now ")


def test_other_seeds_are_found(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = file.read_text(encoding="utf-8").replace('"first_seed":40', '"first_seed":41')
    file.write_text(text, encoding="utf-8")
    assert verify(monkeypatch, str(file)) == 2


def test_an_agent_that_plays_differently_is_reported_and_the_file_is_not_changed(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before = file.read_bytes()
    monkeypatch.setitem(AGENTS, "random", AgentType("random", "", f"{__name__}:Changed"))
    assert verify(monkeypatch, str(file.parent)) == 2
    assert "agent random has the fingerprint" in capsys.readouterr().out
    assert verify(monkeypatch, str(file.parent), "--update-fingerprints") == 2
    shown = capsys.readouterr()
    assert "does not reproduce: " in shown.out
    assert "verify: 1 of 1 files do not reproduce" in shown.err
    assert file.read_bytes() == before


def test_damaged_files_are_reported_and_the_others_verified(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (file.parent / "damaged.jsonl").write_text("{]\n", encoding="utf-8")
    unknown = spec_line(replace_entries(SPEC, agents=("nero",) * 4, fingerprints={"nero": OLD}))
    games = file.read_text(encoding="utf-8").partition("\n")[2]
    (file.parent / "nero.jsonl").write_text(unknown + games, encoding="utf-8")
    assert verify(monkeypatch, str(file.parent)) == 2
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith(f"results {file.parent}/damaged.jsonl: ")
    assert lines[1].startswith(f"{file.parent}/nero.jsonl: unknown agent 'nero'")
    assert load_match(file).spec == SPEC


@pytest.mark.parametrize("words", [["none"], [".", "--games", "0"], [".", "--seed", "-1"]])
def test_invalid_arguments_are_refused(words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert verify(monkeypatch, *words) == 2


def synthetic_file(levels: int, games: int, seconds: float) -> ResultFile:
    spec = replace_entries(
        SPEC, levels=tuple(f"4{number:03}" for number in (0, 1, 2, 3, 10, 11, 12, 13, 20, 21, 22, 23)[:levels]), games=games
    )
    found = [GameResult(*spec.job(index), "won", 10, 9, 6, (1,) * 4, (seconds, 0.0, 0.0, 0.0)) for index in range(spec.total)]
    return ResultFile(Path("any.jsonl"), spec, found)


@pytest.mark.parametrize(
    ("levels", "games", "seconds", "asked", "drawn"),
    [
        (2, 100, 0.0, 20, [20, 20]),
        (2, 5, 0.0, 20, [5, 5]),
        (1, 100, 20.0, 20, [4]),  # stop after one minute
        (2, 100, 1000.0, 20, [1, 1]),  # at least two games
        (12, 100, 0.0, 1, [1] * 12),
    ],
)
def test_fewer_games_of_slow_agents_are_drawn(levels: int, games: int, seconds: float, asked: int, drawn: list[int]) -> None:
    indexes = draw_games(synthetic_file(levels, games, seconds), asked, np.random.default_rng(1))
    assert len(set(indexes)) == len(indexes)
    assert [sum(index // games == level for index in indexes) for level in range(levels)] == drawn


def test_only_played_games_of_an_unfinished_file_are_drawn() -> None:
    file = synthetic_file(2, 100, 0.0)
    del file.games[103:]
    assert {100, 101, 102} == {index for index in draw_games(file, 20, np.random.default_rng(1)) if index >= 100}


@pytest.mark.parametrize(("total", "played", "share"), [(50, 10, 0.04), (200, 30, 0.1), (10, 9, 0.5)])
def test_detection_probability_is_hypergeometric(total: int, played: int, share: float) -> None:
    false = round(share * total)
    expected = 1 - comb(total - false, played) / comb(total, played)
    assert detection_probability(total, played, share) == pytest.approx(expected)


def test_durations_are_not_compared() -> None:
    game = synthetic_file(1, 1, 0.5).games[0]
    assert differing_entries(game, replace(game, seconds=(9.0,) * 4)) == ""
    assert differing_entries(game, replace(game, turns=10, score=9)) == "score was 10, now 9, turns was 9, now 10"
