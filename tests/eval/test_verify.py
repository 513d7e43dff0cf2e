"""Tests of `tetrarchia eval --verify`, which replays and compares results."""

import sys
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from msgspec.structs import replace as replace_entries

from tetrarchia_agents import AGENTS, Actions, Agent, AgentType, EnvIds, GameResult
from tetrarchia_app import cli
from tetrarchia_env.batch import Games, Masks
from tetrarchia_eval.arena import match_spec, play_match
from tetrarchia_eval.match import game_line, spec_line
from tetrarchia_eval.result_files import ResultFile, load_match
from tetrarchia_eval.verify import differing_entries, games_to_verify

SPEC = match_spec("random", 6, levels=["4200", "4211"], first_seed=40, seed=3)
OLD = "0123456789ab"


@dataclass(frozen=True)
class Changed(Agent):
    """Different agent registered under the same name."""

    def act(self, games: Games, masks: Masks, env_ids: EnvIds) -> Actions:
        return masks.argmax(axis=1)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Return a result file with an outdated fingerprint."""
    path = tmp_path / "main/random.jsonl"
    path.parent.mkdir()
    played = play_match(SPEC, path, workers=1)
    path.write_text(
        spec_line(replace_entries(SPEC, fingerprints={"random": OLD})) + "".join(map(game_line, played.games)), encoding="utf-8"
    )
    return path


def verify(monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    monkeypatch.setattr(sys, "argv", ["tetrarchia", "eval", "--verify", *words])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    return int(ended.value.code or 0)


def test_reproduced_file_gets_the_current_fingerprints(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    games = file.read_bytes().partition(b"\n")[2]
    assert verify(monkeypatch, str(file.parents[1]), "--games", "3") == 0
    assert capsys.readouterr().out == "6 games of 1 files played again; fingerprints updated in 1 files\n"
    assert load_match(file).spec == SPEC
    assert file.read_bytes().partition(b"\n")[2] == games
    assert verify(monkeypatch, str(file.parents[1])) == 0
    assert capsys.readouterr().out == "12 games of 1 files played again; fingerprints updated in 0 files\n"


def test_difference_is_reported_and_the_file_is_not_changed(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before = file.read_bytes()
    monkeypatch.setitem(AGENTS, "random", AgentType("random", "", f"{__name__}:Changed"))
    assert verify(monkeypatch, str(file.parent)) == 2
    shown = capsys.readouterr()
    first, last = shown.out.splitlines()
    assert first.startswith(f"{file}: game 0 (level 4200, seed 40) does not reproduce: ")
    assert "fingerprints updated in 0 files" in last
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
    assert lines[0] == f"results {file.parent}/damaged.jsonl: line 1 is damaged: it is not JSON"
    assert lines[1].startswith(f"{file.parent}/nero.jsonl: unknown agent 'nero'")
    assert load_match(file).spec == SPEC


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["none"], "there is no result file below none"),
        (["none", "--agents", "random"], "verify takes no other option than games; got agents"),
    ],
)
def test_invalid_arguments_are_refused(
    words: list[str], message: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert verify(monkeypatch, *words) == 2
    assert message in capsys.readouterr().err


def synthetic_file(levels: int, games: int, seconds: float) -> ResultFile:
    spec = replace_entries(
        SPEC, levels=tuple(f"4{number:03}" for number in (0, 1, 2, 3, 10, 11, 12, 13, 20, 21, 22, 23)[:levels]), games=games
    )
    found = [GameResult(*spec.job(index), "won", 10, 9, 6, (1,) * 4, (seconds, 0.0, 0.0, 0.0)) for index in range(spec.total)]
    return ResultFile(Path("any.jsonl"), spec, found)


@pytest.mark.parametrize(
    ("levels", "games", "seconds", "asked", "played"),
    [
        (2, 100, 0.0, 20, [range(20), range(100, 120)]),
        (2, 5, 0.0, 20, [range(5), range(5, 10)]),
        (1, 100, 20.0, 20, [range(4)]),  # stop after one minute
        (2, 100, 1000.0, 20, [range(1), range(100, 101)]),  # at least two games
        (12, 100, 0.0, 1, [range(100 * level, 100 * level + 1) for level in range(12)]),
    ],
)
def test_fewer_games_are_verified_for_slow_agents(levels: int, games: int, seconds: float, asked: int, played: list[range]) -> None:
    assert games_to_verify(synthetic_file(levels, games, seconds), asked) == played


def test_only_played_games_of_an_unfinished_file_are_verified() -> None:
    file = synthetic_file(2, 100, 0.0)
    del file.games[103:]
    assert games_to_verify(file, 20) == [range(20), range(100, 103)]


def test_durations_are_not_compared() -> None:
    game = synthetic_file(1, 1, 0.5).games[0]
    assert differing_entries(game, replace(game, seconds=(9.0,) * 4)) == ""
    assert differing_entries(game, replace(game, turns=10, score=9)) == "score was 10, now 9, turns was 9, now 10"
