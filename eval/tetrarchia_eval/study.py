"""Games recorded for research studies: a JSON line per game with its players, their consent and thinking times.

A line contains the replay of a finished game, its players (a person is a random id, an agent its name), the player of each Emperor
at the start, and the player and seconds of each action. Lines may come from untrusted files: a line is checked completely when
it is read, and its game is played again.

The data set made from them has the tables `games` (a row per game) and `decisions` (a row per action), as CSV and in one NumPy file.
An action is an id; the position before it is found by playing the game's seed and actions.
"""

import errno
import json
import os
import re
import secrets
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from msgspec import Meta, Struct, to_builtins

from tetrarchia_env import batch
from tetrarchia_env.board import EMPERORS
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.files import atomic_write, file_lock, with_filename
from tetrarchia_env.notation import Replay, action_id, parse_replay, play_replay, replay_actions, replay_data
from tetrarchia_env.schema import describe, sanitize_line, validate
from tetrarchia_eval.statistics import wilson_by_seed
from tetrarchia_eval.tables import Column, Table, one_decimal, percent, write_table

GAMES_FILE, NUMPY_FILE = "games.jsonl", "study.npz"
MAX_LINE_BYTES = 4_000_000  # the longest game has some hundred thousand
MAX_FILE_BYTES = 2_000_000_000
MAX_PLAYERS = 16  # players may be replaced during a game
PERSON_ID = re.compile("[0-9a-f]{16}")  # no person's name looks like this
GAME_COLUMNS = ("game", "seed", "level", "rules", "team", "persons", "won", "outcome", "score", "turns", "actions", "version")
DECISION_COLUMNS = ("game", "number", "turn", "emperor", "ip", "action", "kind", "player", "seconds")
Seconds = Annotated[float, Meta(ge=0, le=10_000_000)]
PlayerNumber = Annotated[int, Meta(ge=0, le=MAX_PLAYERS - 1)]
Name = Annotated[str, Meta(min_length=1, max_length=200), describe("a name of at most 200 letters")]


class Player(Struct, frozen=True, forbid_unknown_fields=True):
    """A person or agent that decided in a game."""

    kind: Literal["person", "agent"]
    name: Name  # a random id for a person
    consent: bool = False  # to the recording for research


class StudyLine(Struct, forbid_unknown_fields=True):
    """The entries of a line."""

    format: Literal[1]
    version: Name  # of the package that wrote it
    players: Annotated[list[Player], Meta(min_length=1, max_length=MAX_PLAYERS)]
    seats: Annotated[list[PlayerNumber], Meta(min_length=4, max_length=4), describe("the player's number of each of the four Emperors")]
    deciders: Annotated[list[PlayerNumber], Meta(max_length=1_000_000)]
    seconds: Annotated[list[Seconds | None], Meta(max_length=1_000_000)]
    replay: dict[str, Any]


@dataclass(frozen=True)
class StudyGame:
    """A finished game with its players; TetrarchiaError if something does not fit or a person has not consented."""

    replay: Replay
    players: tuple[Player, ...]
    seats: tuple[int, ...]  # the player of each Emperor in turn order
    deciders: tuple[int, ...]  # the player of each action
    seconds: tuple[float | None, ...]  # thinking time of each action; None if unknown
    version: str  # of the package that recorded it: tetrarchia_env.__version__

    def __post_init__(self) -> None:
        if not len(self.replay.actions) == len(self.deciders) == len(self.seconds):
            lengths = f"{len(self.replay.actions)}, {len(self.deciders)} and {len(self.seconds)}"
            raise TetrarchiaError(f"actions, deciders and seconds must have the same length; got {lengths}")
        if any(number >= len(self.players) for number in (*self.seats, *self.deciders)) or len(self.seats) != len(EMPERORS):
            raise TetrarchiaError(f"seats and deciders must be numbers of the {len(self.players)} players, with four seats")
        if self.replay.final["outcome"] == "running":
            raise TetrarchiaError("the game is not finished")
        for player in self.players:
            if player.kind == "person" and not player.consent:
                raise TetrarchiaError("a person has not consented to the recording of the game")
            if player.kind == "person" and not PERSON_ID.fullmatch(player.name):
                raise TetrarchiaError("the name of a person must be 16 hexadecimal digits")

    @property
    def won(self) -> bool:
        """Whether the game was won (R9.1)."""
        return bool(self.replay.final["outcome"] == "won")

    @property
    def team(self) -> str:
        """The kinds of players by number of Emperors, persons first: `1 person, 3 ppo`."""
        seated = [self.players[number] for number in self.seats]
        persons = sum(player.kind == "person" for player in seated)
        agents = Counter(player.name for player in seated if player.kind == "agent")
        first = [f"{persons} person{'' if persons == 1 else 's'}"] if persons else []
        return ", ".join([*first, *(f"{count} {name}" for name, count in sorted(agents.items()))])


def new_person() -> str:
    """Return a random id for a person."""
    return secrets.token_hex(8)


def append_game(folder: Path, game: StudyGame) -> None:
    """Append a line to the folder's file, completely or not at all; several processes may do this at once.

    Args:
        folder: Folder of the study, created if needed.
        game: The game.

    Raises:
        TetrarchiaError: If the line would be too long.
    """
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
    if len(line) > MAX_LINE_BYTES:
        raise TetrarchiaError(f"a game must have at most {MAX_LINE_BYTES} bytes; got {len(line)}")
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / GAMES_FILE

    def private(path: str, flags: int) -> int:
        return os.open(path, flags, 0o600)

    with with_filename(path), open(path, "a+b", buffering=0, opener=private) as file, file_lock(file, wait=True):
        size = file.seek(0, os.SEEK_END)
        file.seek(max(size - 1, 0))
        is_cut_off = file.read(1) not in (b"", b"\n")  # by an interrupted writer
        content = b"\n" * is_cut_off + line + b"\n"
        try:
            if file.write(content) != len(content):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            os.fsync(file.fileno())
        except OSError:
            file.truncate(size)
            raise


def read_study(folder: Path) -> tuple[list[StudyGame], list[str]]:
    """Read the games of all .jsonl files of a folder.

    Returns:
        The games, and a message about each line that is not valid.

    Raises:
        TetrarchiaError: If there is no file or one is too large.
    """
    files = sorted(path for path in folder.glob("*.jsonl") if path.is_file())
    if not files:
        raise TetrarchiaError(f"{folder} must contain a file that ends in .jsonl")
    games: list[StudyGame] = []
    faults: list[str] = []
    for path in files:
        if path.stat().st_size > MAX_FILE_BYTES:
            raise TetrarchiaError(f"{path} is larger than {MAX_FILE_BYTES // 1_000_000} MB")
        with open(path, "rb") as file:
            for number, line in enumerate(iter(lambda: file.readline(MAX_LINE_BYTES + 1), b""), 1):
                where = f"{path}, line {number}"
                if len(line) > MAX_LINE_BYTES:
                    faults.append(f"{where}: more than {MAX_LINE_BYTES} bytes; the rest of the file was not read")
                    break
                try:
                    games += [parse_game(json.loads(line.decode("utf-8")))] if line.strip() else []
                except (UnicodeDecodeError, json.JSONDecodeError, RecursionError):
                    faults.append(f"{where}: not JSON")
                except TetrarchiaError as error:
                    faults.append(f"{where}: {sanitize_line(str(error))}")
    return games, faults


def parse_game(content: object) -> StudyGame:
    """Check the JSON data of a line and play its game again.

    Raises:
        TetrarchiaError: If the data are not valid or the game cannot have been played.
    """
    data = validate(content, StudyLine, "")
    replay = parse_replay(data.replay)
    game, masks = batch.new_games(replay.options, replay.seed, replay.local.message_tokens)
    for action in replay_actions(replay, game, masks):
        batch.step(game, np.array([action]), masks)
    return StudyGame(replay, tuple(data.players), tuple(data.seats), tuple(data.deciders), tuple(data.seconds), data.version)


def game_rows(games: Sequence[StudyGame]) -> list[tuple[Any, ...]]:
    """Return the values of GAME_COLUMNS for each game."""
    rows = []
    for number, game in enumerate(games):
        final, rules = game.replay.final, game.replay.final["rules"]
        names = [*rules.get("variants", ()), *rules.get("modules", ()), *filter(None, [rules.get("scenario")])]
        names += [f"{name}={value}" for name, value in game.replay.local.arguments().items()]
        persons = len({seat for seat in game.seats if game.players[seat].kind == "person"})
        played = (number, game.replay.seed, rules.get("level", ""), "+".join(names) or "base", game.team, persons, int(game.won))
        rows.append((*played, final["outcome"], final["score"], final["turn"], len(game.deciders), game.version))
    return rows


def decision_rows(games: Sequence[StudyGame]) -> Iterator[tuple[Any, ...]]:
    """Yield the values of DECISION_COLUMNS for each action; unknown seconds are NaN."""
    for number, game in enumerate(games):
        played = zip(play_replay(game.replay), game.deciders, game.seconds, strict=True)
        for place, ((position, emperor, text), decider, seconds) in enumerate(played):
            player, where = game.players[decider], (int(position["turn"][0]), EMPERORS.index(emperor), int(position["ip"][0]))
            yield number, place, *where, action_id(text), player.kind, player.name, np.nan if seconds is None else seconds


def write_data_set(games: Sequence[StudyGame], folder: Path) -> list[Path]:
    """Write games.csv, decisions.csv and study.npz and return their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    tables = {"games": (GAME_COLUMNS, game_rows(games)), "decisions": (DECISION_COLUMNS, list(decision_rows(games)))}
    arrays = {}
    for name, (columns, rows) in tables.items():
        write_table(Table([Column(title) for title in columns], rows), folder / f"{name}.csv")
        for place, title in enumerate(columns):
            kind = np.uint64 if title == "seed" else None  # a seed may exceed int64
            arrays[f"{name}.{title}"] = np.array([row[place] for row in rows], dtype=kind)
    with atomic_write(folder / NUMPY_FILE) as draft, open(draft, "wb") as file:
        np.savez_compressed(file, allow_pickle=False, **arrays)
    return [*(folder / f"{name}.csv" for name in tables), folder / NUMPY_FILE]


def summary_table(games: Sequence[StudyGame]) -> Table:
    """Return games, win rate and thinking times of persons for each kind of team."""
    rows: list[list[Any]] = []
    for team in sorted({game.team for game in games}):
        some = [game for game in games if game.team == team]
        seconds = [
            spent
            for game in some
            for decider, spent in zip(game.deciders, game.seconds, strict=True)
            if spent is not None and game.players[decider].kind == "person"
        ]
        win_rate = wilson_by_seed([game.won for game in some], [game.replay.seed for game in some])
        turns = float(np.mean([game.replay.final["turn"] for game in some]))
        times = [float(np.quantile(seconds, fraction)) for fraction in (0.5, 0.9)] if seconds else [None, None]
        rows.append([team, len(some), win_rate, turns, len(seconds), *times])
    numbers = {"won": percent, "turns": one_decimal}
    times_of_persons = [Column("decisions of persons"), Column("median seconds", one_decimal), Column("90th percentile", one_decimal)]
    return Table([Column("team"), Column("games"), *(Column(*one) for one in numbers.items()), *times_of_persons], rows)
