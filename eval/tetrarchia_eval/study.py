"""Games that people played, kept for research: a JSON line for each, with who decided, how long it took, and that they agreed.

A line holds the replay of a finished game, its players (a person is a random id, an agent its name), the player of each Emperor
at the beginning, and for each action its player and his seconds. Nothing else is known of a person. Lines may come from
strangers: all of a line is checked when it is read, and its game is played again.
"""

import errno
import json
import os
import re
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from io import FileIO
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from msgspec import Meta, Struct, to_builtins

from tetrarchia_env import batch
from tetrarchia_env.board import EMPERORS
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.files import file_lock, with_filename
from tetrarchia_env.notation import Replay, checked_actions, parse_replay, replay_data
from tetrarchia_env.schema import checked, describe, sanitize_line

GAMES = "games.jsonl"
LONGEST = 4_000_000  # bytes of a line: the longest game has some hundred thousand
LARGEST = 2_000_000_000  # bytes of a file
MOST_PLAYERS = 16  # people may leave and others come
Seconds = Annotated[float, Meta(ge=0, le=10_000_000)]
PlayerNumber = Annotated[int, Meta(ge=0, le=MOST_PLAYERS - 1)]
Name = Annotated[str, Meta(min_length=1, max_length=200), describe("a name of at most 200 letters")]
PERSON = re.compile("[0-9a-f]{16}")  # no name can be one


class Player(Struct, frozen=True, forbid_unknown_fields=True):
    """Somebody who decided in a game."""

    kind: Literal["person", "agent"]
    name: Name  # of a person a random id
    consent: bool = False  # to be kept for research


class StudyLine(Struct, forbid_unknown_fields=True):
    """What a line holds."""

    format: Literal[1]
    version: Name  # of the package that wrote it
    players: Annotated[list[Player], Meta(min_length=1, max_length=MOST_PLAYERS)]
    seats: Annotated[list[PlayerNumber], Meta(min_length=4, max_length=4), describe("the player's number of each of the four Emperors")]
    deciders: Annotated[list[PlayerNumber], Meta(max_length=1_000_000)]
    seconds: Annotated[list[Seconds | None], Meta(max_length=1_000_000)]
    replay: dict[str, Any]


@dataclass(frozen=True)
class StudyGame:
    """A finished game with its players; made only if everything in it fits, and every person agreed."""

    replay: Replay
    players: tuple[Player, ...]
    seats: tuple[int, ...]  # the player of each Emperor in turn order
    deciders: tuple[int, ...]  # the player of each action
    seconds: tuple[float | None, ...]  # that he took; None: not known
    version: str  # of the package that kept it: tetrarchia_env.__version__

    def __post_init__(self) -> None:
        if not len(self.replay.actions) == len(self.deciders) == len(self.seconds):
            lengths = f"{len(self.replay.actions)}, {len(self.deciders)} and {len(self.seconds)}"
            raise TetrarchiaError(f"actions, deciders and seconds are as many of each, not {lengths}")
        if any(number >= len(self.players) for number in (*self.seats, *self.deciders)) or len(self.seats) != len(EMPERORS):
            raise TetrarchiaError(f"seats and deciders are numbers of its {len(self.players)} players, four seats in all")
        if self.replay.final["outcome"] == "running":
            raise TetrarchiaError("the game is not finished")
        for player in self.players:
            check_player(player)


def new_person() -> str:
    """A random id."""
    return secrets.token_hex(8)


def check_player(player: Player) -> None:
    """ValueError if he has not agreed, or is named by more than a random id."""
    if player.kind == "person" and not player.consent:
        raise TetrarchiaError("a person has not agreed that the game is kept")
    if player.kind == "person" and not PERSON.fullmatch(player.name):
        raise TetrarchiaError("a person is named by 16 hexadecimal digits, by nothing else")


def append_game(folder: Path, game: StudyGame) -> None:
    """Add a line to this folder's file, whole or not at all, whoever else writes there at the same time."""
    data = {
        "format": 1,
        "version": game.version,
        "players": to_builtins(game.players),
        "seats": game.seats,
        "deciders": game.deciders,
        "seconds": game.seconds,
        "replay": replay_data(game.replay),
    }
    line = json.dumps(data, separators=(",", ":"), allow_nan=False).encode()
    if len(line) > LONGEST:
        raise TetrarchiaError(f"the game has {len(line)} bytes as a line, more than {LONGEST}")
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / GAMES
    with with_filename(path), open(path, "ab", buffering=0, opener=_private) as file, file_lock(file, wait=True):
        _append(file, path, line)


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _append(file: FileIO, path: Path, line: bytes) -> None:
    """After an interrupted line begin a new one; take back what a full disk cut off."""
    size = path.stat().st_size
    broken = size > 0 and _last_byte(path) != b"\n"
    content = b"\n" * broken + line + b"\n"
    try:
        if file.write(content) != len(content):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        os.fsync(file.fileno())
    except OSError:
        file.truncate(size)
        raise


def _last_byte(path: Path) -> bytes:
    with open(path, "rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read(1)


def read_study(folder: Path) -> Iterator[StudyGame | str]:
    """The games of all files of a folder that end in .jsonl; for a line that does not hold, a sentence; ValueError if there is none."""
    files = sorted(path for path in folder.glob("*.jsonl") if path.is_file())
    if not files:
        raise TetrarchiaError(f"there are no games of a study in {folder}: no file there ends in .jsonl")
    for path in files:
        if path.stat().st_size > LARGEST:
            raise TetrarchiaError(f"{path} is larger than {LARGEST // 1_000_000} MB")
        yield from _read(path)


def _read(path: Path) -> Iterator[StudyGame | str]:
    with open(path, "rb") as file:
        for number, line in enumerate(iter(lambda: file.readline(LONGEST + 1), b""), 1):
            if len(line) > LONGEST:
                yield f"{path}, line {number}: it has more than {LONGEST} bytes; the rest of the file was not read"
                return
            if line.strip():
                yield _parsed(line, f"{path}, line {number}")


def _parsed(line: bytes, where: str) -> StudyGame | str:
    try:
        return parse_game(json.loads(line.decode("utf-8")))
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError):
        return f"{where}: it is not JSON"
    except ValueError as error:
        return f"{where}: {sanitize_line(str(error))}"


def parse_game(content: object) -> StudyGame:
    """From plain JSON data; ValueError, in a clause, where they do not hold."""
    data = checked(content, StudyLine, "it")
    replay = parse_replay(data.replay)
    game, masks = batch.new_games(replay.options, replay.seed)
    for action in checked_actions(replay, game, masks):
        batch.step(game, np.array([action]), masks)
    return StudyGame(replay, tuple(data.players), tuple(data.seats), tuple(data.deciders), tuple(data.seconds), data.version)
