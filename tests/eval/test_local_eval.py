"""Tests of evaluation with local information (R14): result files, marks of privileged agents, and the command line."""

import sys
from pathlib import Path

import pytest

from tetrarchia_app import cli
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.local_view import LocalOptions
from tetrarchia_env.notation import load_replay
from tetrarchia_eval.arena import match_spec, play_match
from tetrarchia_eval.match import MatchSpec, default_file_name, read_spec, repeat_command, rules_label, spec_line
from tetrarchia_eval.ray_workers import play_in_worker
from tetrarchia_eval.result_files import load_match

RULES = {"levels": ["4200"], "max_turns": 4}


def local_spec(agents: str = "random", *, allow_full_information: bool = False) -> MatchSpec:
    return match_spec(agents, 3, **RULES, view_radius=2, last_seen=True, allow_full_information=allow_full_information)  # type: ignore[arg-type]


def test_result_files_record_the_information(tmp_path: Path) -> None:
    spec = local_spec("random,greedy", allow_full_information=True)

    play_match(spec, tmp_path / "local.jsonl", workers=1)

    found = load_match(tmp_path / "local.jsonl").spec
    assert found == spec
    assert found.local == LocalOptions(view_radius=2, last_seen=True)
    assert found.full_information == ("greedy",)
    assert found.team_label == "random,greedy (full information)"
    assert rules_label(found).endswith("view radius 2 + last seen")
    assert "--view-radius 2 --last-seen --allow-full-information" in repeat_command(found, "out.jsonl")


def test_ray_workers_play_the_same_games(tmp_path: Path) -> None:
    spec = local_spec()
    here = play_match(spec, tmp_path / "local.jsonl", workers=1).games

    there = play_in_worker(str(tmp_path), spec_line(spec), range(3)).games

    assert [(game.outcome, game.decisions) for game in there] == [(game.outcome, game.decisions) for game in here]


def test_agents_that_need_games_are_refused_before_the_first_game() -> None:
    with pytest.raises(TetrarchiaError, match="needs whole games"):
        local_spec("random,greedy")


def test_files_without_local_information_are_unchanged() -> None:
    """The first line of earlier result files and their default names stay the same."""
    spec = match_spec("random", 3, **RULES)  # type: ignore[arg-type]

    assert "full_information" not in spec_line(spec)
    assert "view_radius" not in spec_line(spec)
    assert default_file_name(spec) != default_file_name(local_spec())
    assert "full_information" not in spec.identity()


@pytest.mark.parametrize("entry", ['"view_radius":13', '"view_radius":"2"', '"last_seen":true'])
def test_wrong_information_in_a_file_is_refused(entry: str) -> None:
    line = spec_line(match_spec("random", 3, **RULES)).replace('"max_turns":4', f'"max_turns":4,{entry}')  # type: ignore[arg-type]

    with pytest.raises(TetrarchiaError, match=r"view_radius"):
        read_spec(line.encode())


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["watch", "--view-radius", "1", "--last-seen", "--view", "galerius", "--save", "game.json"], 0),
        (["watch", "--view", "galerius"], 2),
        (["watch", "--view-radius", "1", "--view", "nero"], 2),
        (["watch", "--view-radius", "1", "--agents", "greedy"], 2),
        (["watch", "--last-seen"], 2),
        (["play", "--view-radius", "1", "--agents", "greedy", "--emperors", "galerius"], 2),
        (["eval", "--view-radius", "13", "--agents", "random"], 2),
    ],
)
def test_commands_check_the_information(
    words: list[str], code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["tetrarchia", *words])

    with pytest.raises(SystemExit) as ended:
        cli.main()

    assert (ended.value.code or 0) == code
    assert (capsys.readouterr().err == "") == (code == 0)
    if code == 0:
        assert load_replay(tmp_path / "game.json").local == LocalOptions(view_radius=1, last_seen=True)
