"""The games of a study as a table and as a data set; the command that makes them."""

import csv
from pathlib import Path

import numpy as np
import pytest

from helpers.random_games import random_replay
from tetrarchia_app.cli.app import run
from tetrarchia_env import __version__
from tetrarchia_env.notation import action_id
from tetrarchia_env.options import Options
from tetrarchia_eval.study import GAMES, Player, StudyGame, append_game
from tetrarchia_eval.study_data import game_rows, summary, team_of

PERSON, PPO = Player("person", "0123456789abcdef", consent=True), Player("agent", "ppo")


def game(seed: int, *, persons: bool = True) -> StudyGame:
    """A person has Diocletian and thinks 2 seconds, then 4; ppo has the others and its times are not known."""
    replay = random_replay(Options(level=["4200", "4211"]), seed, 1000)
    number = len(replay.actions)
    if not persons:
        return StudyGame(replay, (PPO,), (0, 0, 0, 0), (0,) * number, (None,) * number, __version__)
    deciders = tuple(0 if agent == "diocletian" else 1 for agent, _ in replay.actions)
    seconds = tuple((2.0 if place % 2 else 4.0) if decider == 0 else None for place, decider in enumerate(deciders))
    return StudyGame(replay, (PERSON, PPO), (0, 1, 1, 1), deciders, seconds, __version__)


GAMES_KEPT = [game(1), game(2), game(3, persons=False)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for one in GAMES_KEPT:
        append_game(tmp_path / "kept", one)
    return tmp_path / "kept"


def test_a_team_is_named_by_its_kinds() -> None:
    assert [team_of(one) for one in GAMES_KEPT] == ["1 person, 3 ppo", "1 person, 3 ppo", "4 ppo"]


def test_the_table_has_a_row_for_each_kind_of_team() -> None:
    table = summary(GAMES_KEPT)

    assert [row[:2] for row in table.rows] == [["1 person, 3 ppo", 2], ["4 ppo", 1]]
    decisions = sum(decider == 0 for one in GAMES_KEPT[:2] for decider in one.deciders)
    assert table.rows[0][4] == decisions
    assert table.rows[0][5] in (2.0, 3.0, 4.0)
    assert table.rows[1][4:] == [0, None, None]


def test_the_level_is_the_one_that_was_drawn() -> None:
    assert {row[2] for row in game_rows([game(seed) for seed in range(8)])} == {"4200", "4211"}


def test_the_command_writes_the_decisions_as_csv_and_for_numpy(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["study", str(folder), "--out", str(tmp_path / "data")]) == 0

    assert "1 person, 3 ppo" in capsys.readouterr().out
    with open(tmp_path / "data" / "decisions.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    played = [action_id(text) for one in GAMES_KEPT for _, text in one.replay.actions]
    assert [int(row["action"]) for row in rows] == played
    with np.load(tmp_path / "data" / "study.npz", allow_pickle=False) as arrays:
        assert arrays["decisions.action"].tolist() == played
        assert arrays["games.seed"].tolist() == [1, 2, 3]
        assert np.isnan(arrays["decisions.seconds"]).sum() == sum(one.seconds.count(None) for one in GAMES_KEPT)


def test_the_command_tells_of_lines_that_it_left_out(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with open(folder / GAMES, "a", encoding="utf-8") as file:
        file.write("{}\n" * 7)

    assert run(["study", str(folder)]) == 0

    told = capsys.readouterr().err.splitlines()
    assert len(told) == 6
    assert told[0] == f"tetrarchia: left out: {folder / GAMES}, line 4: it: 'format' is missing"
    assert told[-1] == "tetrarchia: and 2 more lines"


@pytest.mark.parametrize("content", [None, "", "{}\n"])
def test_a_folder_without_a_game_is_a_mistake(tmp_path: Path, content: str | None, capsys: pytest.CaptureFixture[str]) -> None:
    if content is not None:
        (tmp_path / GAMES).write_text(content)

    assert run(["study", str(tmp_path)]) == 2

    assert capsys.readouterr().err.splitlines()[-1].startswith("tetrarchia: ")
