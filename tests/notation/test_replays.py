"""Replays (section 6 of the interface): atomic saving, exact replaying, and refusal of damaged files in one sentence."""

import dataclasses
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from helpers.random_games import EVERYTHING, random_replay
from tetrarchia_env.batch import new_games
from tetrarchia_env.board import BOARD
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.notation import load_replay, play_replay, record_replay
from tetrarchia_env.notation.replays import board_digest
from tetrarchia_env.options import Options

Content = dict[str, Any]


SHORT = random_replay(Options(), 11, 30)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Return the path of a valid replay file."""
    SHORT.save(tmp_path / "game.json")
    return tmp_path / "game.json"


def refusal(path: Path) -> str:
    """Return the one-line error from loading or playing this file."""
    with pytest.raises(TetrarchiaError, match=r".") as error:
        list(play_replay(load_replay(path)))
    assert "\n" not in str(error.value)
    assert not str(error.value).rstrip(".").endswith("Error")
    return str(error.value)


def change(path: Path, alter: Callable[[Content], object]) -> None:
    content = json.loads(path.read_text())
    alter(content)
    path.write_text(json.dumps(content))


@pytest.mark.parametrize(
    ("options", "seed", "most"),
    [
        (Options(), 1, 10_000),
        (EVERYTHING, 2, 10_000),
        (EVERYTHING, 3, 77),
        (Options(scenario="danube_wars", fixed_setup=True), 4, 10_000),
        (Options(), 5, 0),
    ],
)
def test_a_saved_replay_plays_the_same_game(tmp_path: Path, options: Options, seed: int, most: int) -> None:
    replay = random_replay(options, seed, most)
    replay.save(tmp_path / "game.json")
    loaded = load_replay(tmp_path / "game.json")
    assert loaded == replay
    assert len(list(play_replay(loaded))) == len(replay.actions) <= most
    assert most < 10_000 or replay.final["phase"] == "over"


def test_play_replay_yields_every_step() -> None:
    """Check the game before each action, with its agent and text."""
    games, masks = new_games(SHORT.options, SHORT.seed)
    shown = list(play_replay(SHORT))
    for (before, agent, text), expected in zip(shown, SHORT.actions, strict=True):
        assert before.shape == games.shape
        assert (agent, text) == expected
    assert shown[0][0].tobytes() == games.tobytes()
    assert masks.any()


def test_file_has_the_entries_of_the_interface(file: Path) -> None:
    content = json.loads(file.read_text())
    assert set(content) == {"format", "environment", "board", "arguments", "seed", "actions", "final"}
    assert (content["format"], content["environment"], content["seed"]) == (1, "tetrarchia_v0", 11)
    assert content["actions"][0] == ["diocletian", SHORT.actions[0][1]]
    assert content["final"] == SHORT.final


def test_an_illegal_action_is_not_recorded() -> None:
    with pytest.raises(TetrarchiaError, match="action 0 is not legal"):
        record_replay(Options(), 11, [0])


def test_failed_save_keeps_the_old_file_and_leaves_no_other(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old = file.read_bytes()

    def fail(*_: object) -> None:
        raise OSError("the disk is full")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="the disk is full"):
        random_replay(Options(), 12, 5).save(file)
    assert file.read_bytes() == old
    assert os.listdir(file.parent) == [file.name]


def test_a_save_replaces_the_old_file(file: Path) -> None:
    other = random_replay(EVERYTHING, 12, 5)
    other.save(str(file))
    assert load_replay(str(file)) == other
    assert os.listdir(file.parent) == [file.name]


@pytest.mark.parametrize(
    ("data", "word"),
    [
        (b"", "JSON"),
        (b"not json", "JSON"),
        (b'{"format": 1,', "JSON"),
        (b"\xff\xfe\x00{", "JSON"),
        (b"[" * 100_000, "JSON"),
        (b"null", "format"),
        (b"[]", "format"),
        (b'"replay"', "format"),
        (b"{}", "format"),
    ],
    ids=lambda value: repr(value[:12]),
)
def test_damaged_json_is_refused(tmp_path: Path, data: bytes, word: str) -> None:
    path = tmp_path / "game.json"
    path.write_bytes(data)
    sentence = refusal(path)
    assert str(path) in sentence
    assert word in sentence


@pytest.mark.parametrize("entry", ["format", "environment", "arguments", "seed", "actions", "final"])
def test_a_missing_entry_is_refused(file: Path, entry: str) -> None:
    change(file, lambda content: content.pop(entry))
    assert entry in refusal(file)


@pytest.mark.parametrize(
    ("entry", "value", "words"),
    [
        ("format", 2, ["2"]),
        ("format", "1", ["'1'"]),
        ("environment", "tetrarchia_v1", ["tetrarchia_v1", "tetrarchia_v0"]),
        ("arguments", {"level": "9999"}, ["'9999'", "2 to 5"]),
        ("arguments", {"players": 3}, ["arguments", "players"]),
        ("arguments", ["level"], ["arguments", "level"]),
        ("arguments", None, ["arguments"]),
        ("seed", -1, ["seed", "-1"]),
        ("seed", 1.5, ["seed", "1.5"]),
        ("seed", "11", ["seed", "'11'"]),
        ("seed", None, ["seed"]),
        ("seed", [1, 2], ["seed"]),
        ("actions", None, ["action"]),
        ("actions", "end", ["action", "'end'"]),
        ("actions", [["diocletian"]], ["action", "diocletian"]),
        ("actions", [["nero", "end"]], ["nero"]),
        ("actions", [[["diocletian"], "end"]], ["action"]),
        ("actions", [["diocletian", 0]], ["action"]),
        ("actions", [["diocletian", "dance"]], ["'dance'"]),
        ("actions", [["diocletian", "end"]], ["action 1", "'end'", "not legal"]),
        ("final", None, ["final"]),
        ("final", [], ["final"]),
        ("final", {}, ["final"]),
    ],
)
def test_a_wrong_entry_is_refused(file: Path, entry: str, value: object, words: list[str]) -> None:
    change(file, lambda content: content.update({entry: value}))
    sentence = refusal(file)
    assert [word for word in words if word not in sentence] == []


def test_a_wrong_agent_is_refused(file: Path) -> None:
    change(file, lambda content: content["actions"].__setitem__(3, ["maximian", content["actions"][3][1]]))
    assert "action 4" in refusal(file)


def test_actions_after_the_end_are_refused(tmp_path: Path) -> None:
    replay = random_replay(Options(max_turns=1), 1, 10_000)
    agent = replay.final["emperor"]
    dataclasses.replace(replay, actions=(*replay.actions, (agent, "end"))).save(tmp_path / "game.json")
    assert f"action {len(replay.actions) + 1}" in refusal(tmp_path / "game.json")


@pytest.mark.parametrize(
    "alter",
    [
        lambda content: content["final"].update(turn=content["final"]["turn"] + 1),
        lambda content: content["final"].update(dice=content["final"]["dice"] ^ 1),
        lambda content: content["final"]["tokens"].update(SICILIA="unrest"),
        lambda content: content["final"].pop("pending"),
        lambda content: content["actions"].pop(),
    ],
)
def test_an_altered_final_position_is_refused(file: Path, alter: Callable[[Content], object]) -> None:
    change(file, alter)
    assert "final" in refusal(file)


def test_an_altered_seed_is_refused(file: Path) -> None:
    change(file, lambda content: content.update(seed=12))
    assert "\n" not in refusal(file)


def test_a_directory_and_a_missing_file_are_refused(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "nothing.json", tmp_path / "no" / "where.json"):
        assert str(path) in refusal(path)


def test_replay_of_another_board_is_refused(file: Path) -> None:
    assert json.loads(file.read_text())["board"] == board_digest()
    change(file, lambda content: content.update(board="0123456789ab"))
    with pytest.raises(
        ValueError, match=r"it was played on another board \('0123456789ab'\) than .*board.toml \(\w{12}\): set TETRARCHIA_BOARD"
    ):
        load_replay(file)


def test_replay_without_a_board_entry_loads(file: Path) -> None:
    change(file, lambda content: content.pop("board"))
    assert load_replay(file) == SHORT


def test_board_digest_ignores_coordinates() -> None:
    moved = dataclasses.replace(BOARD, xy=BOARD.xy + 1)
    renamed = dataclasses.replace(BOARD, names=("HERE", *BOARD.names[1:]))
    assert board_digest(moved) == board_digest()
    assert board_digest(renamed) != board_digest()


@pytest.mark.parametrize(
    ("alter", "words"),
    [
        (lambda final: final.update(turn=-1), "final: snapshot: turn must be from 0"),
        (lambda final: final.pop("tokens"), "final: snapshot: 'tokens' is missing"),
        (lambda final: final.update(score=99), "final must be a complete snapshot"),
        (lambda final: final.clear(), "final: snapshot"),
    ],
)
def test_final_position_is_checked_on_loading(file: Path, alter: Callable[[Content], object], words: str) -> None:
    change(file, lambda content: alter(content["final"]))
    with pytest.raises(TetrarchiaError, match=words):
        load_replay(file)


def test_error_for_a_damaged_file_is_short(file: Path) -> None:
    change(file, lambda content: content.update(format="\x1b[31m" + "x" * 100_000))
    sentence = refusal(file)
    assert len(sentence) < 1500
    assert "\x1b" not in sentence
