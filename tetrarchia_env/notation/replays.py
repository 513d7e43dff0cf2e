"""A played game as one JSON file: arguments, seed, actions with their agents, and the position it led to."""

import hashlib
import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from msgspec import Struct

from tetrarchia_env import batch
from tetrarchia_env.board import BOARD, EMPERORS, Board, board_path
from tetrarchia_env.checks import checked_seed
from tetrarchia_env.engine.turn import agent_to_act
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.files import read_bounded, write_text_atomic
from tetrarchia_env.notation.actions import action_id, action_text
from tetrarchia_env.notation.restore import restore
from tetrarchia_env.notation.snapshots import Snapshot, snapshot
from tetrarchia_env.options import Options
from tetrarchia_env.schema import checked, describe, sanitize_line, truncate_repr

FORMAT = 1
ENVIRONMENT = "tetrarchia_v0"
LARGEST = 64_000_000  # bytes of a file: the longest game has some hundred thousand
PLAYED_ON = ("names", "zones", "region", "number", "coasts", "links", "capitals", "next_step")  # what a game depends on, of a board
if TYPE_CHECKING:
    Emperor = str
else:
    Emperor = Literal[EMPERORS]


class ReplayVersion(Struct):
    """What tells whether the rest of a file can be understood."""

    format: Any
    environment: Any


class ReplayData(ReplayVersion):
    """What a file holds; the rules check the rest of `arguments` and `seed`."""

    arguments: dict[str, Any]
    seed: Any
    actions: list[Annotated[tuple[Emperor, str], describe("an agent and a text each")]]
    final: dict[str, Any]
    board: str = ""  # older files do not say


@dataclass(frozen=True)
class Replay:
    """A game from its first die to its last action."""

    options: Options
    seed: int
    actions: tuple[tuple[str, str], ...]  # agent and text of each
    final: Snapshot

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it as a file, whole or not at all.

        >>> from tempfile import TemporaryDirectory
        >>> replay = record_replay(Options(level="4200"), seed=7, actions=[9, 10])
        >>> with TemporaryDirectory() as folder:
        ...     replay.save(f"{folder}/game.json")
        ...     load_replay(f"{folder}/game.json").actions
        (('diocletian', 'fleet INTERNVM'), ('diocletian', 'fleet AEGAEVM'))
        """
        save_replay(self, path)


def record_replay(options: Options, seed: int, actions: Iterable[int]) -> Replay:
    """Play these actions, which must be legal, and keep what is needed to play them again."""
    games, masks = batch.new_games(options, seed)
    moves = []
    for action in actions:
        moves.append((EMPERORS[agent_to_act(games[0])], action_text(action)))
        batch.step(games, np.array([action]), masks)
    return Replay(options, checked_seed(seed), tuple(moves), snapshot(games))


def play_replay(replay: Replay) -> Iterator[tuple[batch.Games, str, str]]:
    """The game before each action, with its agent and text; ValueError where the replay does not hold."""
    games, masks = batch.new_games(replay.options, replay.seed)
    for action in checked_actions(replay, games, masks):
        yield games.copy(), EMPERORS[agent_to_act(games[0])], action_text(action)
        batch.step(games, np.array([action]), masks)


def checked_actions(replay: Replay, games: batch.Games, masks: batch.Masks) -> Iterator[int]:
    """Each action of the replay, to be played in this new game before the next is asked for; ValueError where the replay does not hold."""
    for number, (agent, text) in enumerate(replay.actions, 1):
        where = f"action {number}, {text!r} of {agent}"
        action = action_id(text)
        if EMPERORS[agent_to_act(games[0])] != agent:
            raise TetrarchiaError(f"{where}: it is the decision of {EMPERORS[agent_to_act(games[0])]}")
        if not masks[0, action]:
            raise TetrarchiaError(f"{where}: not legal there")
        yield action
    if snapshot(games) != replay.final:
        raise TetrarchiaError("the actions do not lead to the final position that the replay names")


def save_replay(replay: Replay, path: str | os.PathLike[str]) -> None:
    """Write the file whole or not at all."""
    write_text_atomic(path, json.dumps(replay_data(replay), indent=1) + "\n")


def replay_data(replay: Replay) -> dict[str, Any]:
    """As plain JSON data."""
    return {
        "format": FORMAT,
        "environment": ENVIRONMENT,
        "board": board_digest(),
        "arguments": replay.options.arguments(),
        "seed": replay.seed,
        "actions": replay.actions,
        "final": replay.final,
    }


def load_replay(path: str | os.PathLike[str]) -> Replay:
    """Read a replay file; ValueError, in one sentence, if it is damaged or of another version.

    >>> load_replay("no_such_game.json")
    Traceback (most recent call last):
    ValueError: replay no_such_game.json: it cannot be read (No such file or directory)
    """
    try:
        return parse_replay(json.loads(read_bounded(path, LARGEST).decode("utf-8")))
    except OSError as error:
        reason = f"it cannot be read ({error.strerror})"
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError):
        reason = "it is not JSON"
    except ValueError as error:
        reason = str(error)
    raise TetrarchiaError(f"replay {os.fspath(path)}: {sanitize_line(reason)}")


def parse_replay(content: object) -> Replay:
    """From plain JSON data; ValueError, in a clause, if they are damaged or of another version."""
    version = checked(content, ReplayVersion, "it")
    if (version.format, version.environment) != (FORMAT, ENVIRONMENT):
        raise TetrarchiaError(f"it is of {_version(version.format, version.environment)}, not {_version(FORMAT, ENVIRONMENT)}")
    data = checked(content, ReplayData, "")
    _check_board(data.board)
    for _, text in data.actions:
        action_id(text)
    options, seed = _options(data.arguments), checked_seed(data.seed)
    _check_final(data.final)
    return Replay(options, seed, tuple(data.actions), data.final)


def _version(number: object, environment: object) -> str:
    return f"format {truncate_repr(number)} and environment {truncate_repr(environment)}"


def board_digest(board: Board = BOARD) -> str:
    """A short name of a board: of its spaces, links, coasts, capitals and paths, not of where they are drawn."""
    parts = [list(part) if isinstance(part, tuple) else part.tolist() for part in (getattr(board, name) for name in PLAYED_ON)]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:12]


def _check_board(named: str) -> None:
    if named and named != board_digest():
        raise TetrarchiaError(
            f"it was played on another board ({truncate_repr(named, 40)}) than {board_path()} ({board_digest()}): "
            "set TETRARCHIA_BOARD to the file of that board"
        )


def _check_final(final: Snapshot) -> None:
    """The position it led to is one, in all its entries."""
    try:
        same = snapshot(restore(final)) == final
    except ValueError as error:
        raise TetrarchiaError(f"its final position: {error}") from None
    if not same:
        raise TetrarchiaError("its final position is not written as a snapshot is: entries are missing, or do not follow from the others")


def _options(arguments: dict[str, Any]) -> Options:
    try:
        return Options.of(**arguments)
    except ValueError as error:
        raise TetrarchiaError(f"its arguments: {error}") from None
