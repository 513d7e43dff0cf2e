"""Tests of games recorded for research: consent, complete lines, validation of untrusted files, and exported data."""

import csv
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from helpers.random_games import random_replay
from tetrarchia_app.cli.app import run
from tetrarchia_env import __version__
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.local_view import LocalOptions
from tetrarchia_env.notation import Replay, action_id
from tetrarchia_env.options import Options
from tetrarchia_eval.study import (
    GAMES_FILE,
    Player,
    StudyGame,
    append_game,
    decision_rows,
    game_rows,
    new_person,
    read_study,
    summary_table,
)

PERSON, PPO = Player("person", "0123456789abcdef", consent=True), Player("agent", "ppo")
WRITE = """
import sys
from pathlib import Path
from tetrarchia_eval.study import append_game, parse_game
import json
game = parse_game(json.loads(sys.argv[2]))
for _ in range(20):
    append_game(Path(sys.argv[1]), game)
"""


@cache
def replay() -> Replay:
    """Return a game of 43 actions in which Rome falls."""
    return random_replay(Options(), 11, 1000)


def game(*players: Player, played: Replay | None = None) -> StudyGame:
    """Return a game in which the first player controls all Emperors."""
    kept = played or replay()
    number = len(kept.actions)
    return StudyGame(kept, players or (PERSON, PPO), (0, 0, 0, 0), (0,) * number, (1.5,) * (number - 1) + (None,), __version__)


def line_of(folder: Path) -> dict[str, Any]:
    append_game(folder, game())
    data: dict[str, Any] = json.loads((folder / GAMES_FILE).read_text())
    (folder / GAMES_FILE).unlink()
    return data


def faults_of(folder: Path, text: str) -> list[str]:
    (folder / GAMES_FILE).write_text(text, encoding="utf-8")
    return read_study(folder)[1]


def test_recorded_games_are_read_back(tmp_path: Path) -> None:
    append_game(tmp_path / "new", game())
    append_game(tmp_path / "new", game(Player("agent", "planner")))

    assert read_study(tmp_path / "new") == ([game(), game(Player("agent", "planner"))], [])
    assert (tmp_path / "new" / GAMES_FILE).stat().st_mode & 0o077 == 0  # readable by the owner only


def test_games_with_messages_are_read_back_and_written_as_a_data_set(tmp_path: Path) -> None:
    played = random_replay(Options(), 11, 1000, LocalOptions(2, message_tokens=3))
    append_game(tmp_path, game(played=played))

    found, faults = read_study(tmp_path)

    assert (found, faults) == ([game(played=played)], [])
    assert "message_tokens=3" in game_rows(found)[0][3]
    actions = [row[5] for row in decision_rows(found)]
    assert actions == [action_id(text) for _, text in played.actions]
    assert max(actions) >= action_id("say 1")


@pytest.mark.parametrize("name", ["Anna", "0123456789ABCDEF", "0123456789abcdef0", "0123456789abcde\n"])
def test_a_real_name_as_player_id_is_refused(name: str) -> None:
    with pytest.raises(TetrarchiaError, match="16 hexadecimal digits"):
        game(Player("person", name, consent=True))


def test_human_player_ids_are_unique() -> None:
    assert len({new_person() for _ in range(1000)}) == 1000
    game(Player("person", new_person(), consent=True))


def test_unfinished_game_is_refused() -> None:
    with pytest.raises(TetrarchiaError, match="the game is not finished"):
        game(played=random_replay(Options(), 11, 5))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": 2}, "format must be 1"),
        ({"players": []}, "players must be a list"),
        ({"players": [{"kind": "person", "name": "0123456789abcdef"}]}, "has not consented"),
        ({"players": [{"kind": "person", "name": "Anna", "consent": True}]}, "16 hexadecimal digits"),
        ({"players": [{"kind": "ghost", "name": "x"}]}, "kind must be person or agent; got 'ghost'"),
        ({"players": [{"kind": "agent", "name": "x" * 300}]}, "a name of at most 200 letters"),
        ({"seats": [0, 0, 0]}, "seats"),
        ({"seats": [0, 0, 0, 9]}, "numbers of the 2 players"),
        ({"deciders": [0] * 42}, "same length; got 43, 42 and 43"),
        ({"seconds": [-1.0] * 43}, "seconds"),
        ({"seconds": ["soon"] * 43}, "seconds"),
        ({"address": "somewhere"}, "unknown entry 'address'"),
        ({"replay": {}}, "'format' is missing"),
    ],
)
def test_invalid_line_is_reported(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    faults = faults_of(tmp_path, json.dumps(line_of(tmp_path) | change))

    assert len(faults) == 1
    assert faults[0].startswith(f"{tmp_path / GAMES_FILE}, line 1: ")
    assert message in faults[0]


def test_impossible_game_is_reported(tmp_path: Path) -> None:
    data = line_of(tmp_path)
    data["replay"]["actions"][3][1] = "block"

    assert "action 4, 'block' of diocletian: not legal there" in faults_of(tmp_path, json.dumps(data))[0]


@pytest.mark.parametrize("text", ["{", "[" * 100_000, "\udcff", "null", "7", '{"format": NaN}', "[]", '"\\ud800"'])
def test_damaged_line_does_not_affect_the_others(tmp_path: Path, text: str) -> None:
    good = json.dumps(line_of(tmp_path))
    (tmp_path / GAMES_FILE).write_bytes(f"{good}\n{text}\n\n{good}\n".encode("utf-8", "surrogateescape"))

    games, faults = read_study(tmp_path)

    assert games == [game()] * 2
    assert len(faults) == 1
    assert "line 2: " in faults[0]


def test_overlong_line_is_not_read_completely(tmp_path: Path) -> None:
    assert "more than 4000000 bytes" in faults_of(tmp_path, "[" * 9_000_000)[0]


def test_game_after_an_incomplete_line_has_its_own_line(tmp_path: Path) -> None:
    (tmp_path / GAMES_FILE).write_text('{"format": 1, "vers')

    append_game(tmp_path, game())

    games, faults = read_study(tmp_path)
    assert (games, len(faults)) == ([game()], 1)


def test_incomplete_line_on_a_full_disk_is_removed(tmp_path: Path) -> None:
    resource = pytest.importorskip("resource")
    append_game(tmp_path, game())
    before = (tmp_path / GAMES_FILE).read_bytes()
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 100, limits[1]))
    try:
        with pytest.raises(OSError, match=GAMES_FILE):
            append_game(tmp_path, game())
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)

    assert (tmp_path / GAMES_FILE).read_bytes() == before


def test_threads_append_complete_lines(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: append_game(tmp_path, game()), range(40)))

    assert read_study(tmp_path) == ([game()] * 40, [])


@pytest.mark.slow
def test_processes_append_complete_lines(tmp_path: Path) -> None:
    data = json.dumps(line_of(tmp_path))
    command = [sys.executable, "-c", WRITE, str(tmp_path), data]
    writers = [subprocess.Popen(command, env=os.environ) for _ in range(3)]
    assert [writer.wait() for writer in writers] == [0, 0, 0]

    assert read_study(tmp_path) == ([game()] * 60, [])


def mixed_game(seed: int, *, persons: bool = True) -> StudyGame:
    """Return a game of a human Diocletian with decision times of 2 or 4 seconds and ppo teammates without times."""
    replay = random_replay(Options(level=["4200", "4211"]), seed, 1000)
    number = len(replay.actions)
    if not persons:
        return StudyGame(replay, (PPO,), (0, 0, 0, 0), (0,) * number, (None,) * number, __version__)
    deciders = tuple(0 if agent == "diocletian" else 1 for agent, _ in replay.actions)
    seconds = tuple((2.0 if place % 2 else 4.0) if decider == 0 else None for place, decider in enumerate(deciders))
    return StudyGame(replay, (PERSON, PPO), (0, 1, 1, 1), deciders, seconds, __version__)


MIXED_GAMES = [mixed_game(1), mixed_game(2), mixed_game(3, persons=False)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for one in MIXED_GAMES:
        append_game(tmp_path / "kept", one)
    return tmp_path / "kept"


def test_team_name_counts_its_players() -> None:
    assert [one.team for one in MIXED_GAMES] == ["1 person, 3 ppo", "1 person, 3 ppo", "4 ppo"]


def test_summary_has_a_row_for_each_kind_of_team() -> None:
    table = summary_table(MIXED_GAMES)

    assert [row[:2] for row in table.rows] == [["1 person, 3 ppo", 2], ["4 ppo", 1]]
    decisions = sum(decider == 0 for one in MIXED_GAMES[:2] for decider in one.deciders)
    assert table.rows[0][4] == decisions
    assert table.rows[0][5] in (2.0, 3.0, 4.0)
    assert table.rows[1][4:] == [0, None, None]


def test_exported_level_is_the_drawn_level() -> None:
    assert {row[2] for row in game_rows([mixed_game(seed) for seed in range(8)])} == {"4200", "4211"}


def test_command_writes_csv_and_numpy_files(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["study", str(folder), "--out", str(tmp_path / "data")]) == 0

    assert "1 person, 3 ppo" in capsys.readouterr().out
    with open(tmp_path / "data" / "decisions.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    played = [action_id(text) for one in MIXED_GAMES for _, text in one.replay.actions]
    assert [int(row["action"]) for row in rows] == played
    with np.load(tmp_path / "data" / "study.npz", allow_pickle=False) as arrays:
        assert arrays["decisions.action"].tolist() == played
        assert arrays["games.seed"].tolist() == [1, 2, 3]
        assert np.isnan(arrays["decisions.seconds"]).sum() == sum(one.seconds.count(None) for one in MIXED_GAMES)


def test_command_reports_skipped_lines(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with open(folder / GAMES_FILE, "a", encoding="utf-8") as file:
        file.write("{}\n" * 7)

    assert run(["study", str(folder)]) == 0

    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 6
    assert lines[0].startswith(f"tetrarchia: skipped: {folder / GAMES_FILE}, line 4: ")
    assert lines[-1] == "tetrarchia: skipped 2 more lines"


@pytest.mark.parametrize("content", [None, "", "{}\n"])
def test_folder_without_a_valid_game_is_refused(tmp_path: Path, content: str | None, capsys: pytest.CaptureFixture[str]) -> None:
    if content is not None:
        (tmp_path / GAMES_FILE).write_text(content)

    assert run(["study", str(tmp_path)]) == 2

    assert capsys.readouterr().err.splitlines()[-1].startswith("tetrarchia: ")
