"""Games kept for research: only with consent, one whole line each, and nothing of a stranger's file is believed."""

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from helpers.random_games import random_replay
from tetrarchia_env import __version__
from tetrarchia_env.notation import Replay
from tetrarchia_env.options import Options
from tetrarchia_eval.study import GAMES, Player, StudyGame, append_game, new_person, read_study

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
    """43 actions; Rome falls."""
    return random_replay(Options(), 11, 1000)


def game(*players: Player, played: Replay | None = None) -> StudyGame:
    """The first player has all Emperors."""
    kept = played or replay()
    number = len(kept.actions)
    return StudyGame(kept, players or (PERSON, PPO), (0, 0, 0, 0), (0,) * number, (1.5,) * (number - 1) + (None,), __version__)


def line_of(folder: Path) -> dict[str, Any]:
    append_game(folder, game())
    data: dict[str, Any] = json.loads((folder / GAMES).read_text())
    (folder / GAMES).unlink()
    return data


def faults_of(folder: Path, text: str) -> list[str]:
    (folder / GAMES).write_text(text, encoding="utf-8")
    return [found for found in read_study(folder) if isinstance(found, str)]


def test_a_game_comes_back_as_it_was_kept(tmp_path: Path) -> None:
    append_game(tmp_path / "new", game())
    append_game(tmp_path / "new", game(Player("agent", "planner")))

    kept = list(read_study(tmp_path / "new"))

    assert kept == [game(), game(Player("agent", "planner"))]
    assert (tmp_path / "new" / GAMES).stat().st_mode & 0o077 == 0  # nobody else's to read


def test_without_consent_nothing_is_kept() -> None:
    with pytest.raises(ValueError, match="a person has not agreed that the game is kept"):
        game(Player("person", new_person()))


@pytest.mark.parametrize("name", ["Anna", "0123456789ABCDEF", "0123456789abcdef0", "0123456789abcde\n"])
def test_a_person_has_no_name(name: str) -> None:
    with pytest.raises(ValueError, match="named by 16 hexadecimal digits, by nothing else"):
        game(Player("person", name, consent=True))


def test_ids_of_persons_are_all_different() -> None:
    assert len({new_person() for _ in range(1000)}) == 1000
    game(Player("person", new_person(), consent=True))


def test_only_finished_games_are_kept() -> None:
    with pytest.raises(ValueError, match="the game is not finished"):
        game(played=random_replay(Options(), 11, 5))


def test_every_action_has_a_player_and_a_time() -> None:
    with pytest.raises(ValueError, match="as many of each, not 43, 1 and 43"):
        StudyGame(replay(), (PPO,), (0, 0, 0, 0), (0,), (None,) * 43, __version__)
    with pytest.raises(ValueError, match="numbers of its 1 players, four seats in all"):
        StudyGame(replay(), (PPO,), (0, 0, 0, 1), (0,) * 43, (None,) * 43, __version__)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"format": 2}, "format is 1"),
        ({"players": []}, "players is a list"),
        ({"players": [{"kind": "person", "name": "0123456789abcdef"}]}, "a person has not agreed"),
        ({"players": [{"kind": "person", "name": "Anna", "consent": True}]}, "16 hexadecimal digits"),
        ({"players": [{"kind": "ghost", "name": "x"}]}, "kind is person or agent, not 'ghost'"),
        ({"players": [{"kind": "agent", "name": "x" * 300}]}, "a name of at most 200 letters"),
        ({"seats": [0, 0, 0]}, "seats"),
        ({"seats": [0, 0, 0, 9]}, "numbers of its 2 players"),
        ({"deciders": [0] * 42}, "as many of each, not 43, 42 and 43"),
        ({"seconds": [-1.0] * 43}, "seconds"),
        ({"seconds": ["soon"] * 43}, "seconds"),
        ({"address": "somewhere"}, "unknown entry 'address'"),
        ({"replay": {}}, "'format' is missing"),
    ],
)
def test_a_line_that_does_not_hold_is_told_in_a_sentence(tmp_path: Path, change: dict[str, Any], sentence: str) -> None:
    faults = faults_of(tmp_path, json.dumps(line_of(tmp_path) | change))

    assert len(faults) == 1
    assert faults[0].startswith(f"{tmp_path / GAMES}, line 1: ")
    assert sentence in faults[0]


def test_a_game_that_cannot_have_been_played_is_left_out(tmp_path: Path) -> None:
    data = line_of(tmp_path)
    data["replay"]["actions"][3][1] = "block"

    assert "action 4, 'block' of diocletian: not legal there" in faults_of(tmp_path, json.dumps(data))[0]


@pytest.mark.parametrize("text", ["{", "[" * 100_000, "\udcff", "null", "7", '{"format": NaN}', "[]", '"\\ud800"'])
def test_a_damaged_line_does_not_hide_the_others(tmp_path: Path, text: str) -> None:
    good = json.dumps(line_of(tmp_path))
    (tmp_path / GAMES).write_bytes(f"{good}\n{text}\n\n{good}\n".encode("utf-8", "surrogateescape"))

    found = list(read_study(tmp_path))

    assert [isinstance(one, str) for one in found] == [False, True, False]
    assert "line 2: " in str(found[1])


def test_a_line_without_end_is_not_read_to_its_end(tmp_path: Path) -> None:
    assert "more than 4000000 bytes; the rest of the file was not read" in faults_of(tmp_path, "[" * 9_000_000)[0]


def test_after_an_interrupted_line_the_next_game_has_its_own(tmp_path: Path) -> None:
    (tmp_path / GAMES).write_text('{"format": 1, "vers')

    append_game(tmp_path, game())

    assert [isinstance(one, str) for one in read_study(tmp_path)] == [True, False]


def test_a_folder_without_games_is_a_mistake(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"no file there ends in .jsonl"):
        list(read_study(tmp_path))


def test_what_a_full_disk_cut_off_is_taken_back(tmp_path: Path) -> None:
    resource = pytest.importorskip("resource")
    append_game(tmp_path, game())
    before = (tmp_path / GAMES).read_bytes()
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 100, limits[1]))
    try:
        with pytest.raises(OSError, match=GAMES):
            append_game(tmp_path, game())
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)

    assert (tmp_path / GAMES).read_bytes() == before


def test_threads_do_not_write_into_each_others_lines(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: append_game(tmp_path, game()), range(40)))

    assert list(read_study(tmp_path)) == [game()] * 40


@pytest.mark.slow
def test_processes_do_not_write_into_each_others_lines(tmp_path: Path) -> None:
    data = json.dumps(line_of(tmp_path))
    command = [sys.executable, "-c", WRITE, str(tmp_path), data]
    writers = [subprocess.Popen(command, env=os.environ) for _ in range(3)]
    assert [writer.wait() for writer in writers] == [0, 0, 0]

    assert list(read_study(tmp_path)) == [game()] * 60
