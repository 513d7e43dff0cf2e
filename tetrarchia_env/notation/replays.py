"""Replays: a played game as a JSON file with its arguments, seed, actions and final position."""

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
from tetrarchia_env.local_view import FULL_INFORMATION, LocalOptions, parse_arguments
from tetrarchia_env.notation.actions import action_id, action_text
from tetrarchia_env.notation.restore import restore
from tetrarchia_env.notation.snapshots import Snapshot, snapshot
from tetrarchia_env.options import Options
from tetrarchia_env.schema import describe, sanitize_line, truncate_repr, validate

FORMAT = 1
ENVIRONMENT = "tetrarchia_v0"
MAX_BYTES = 64_000_000  # of a file; the longest games have some hundred thousand
DIGEST_FIELDS = ("names", "zones", "region", "number", "coasts", "links", "capitals", "next_step")  # the parts of a board that matter
if TYPE_CHECKING:
    Emperor = str
else:
    Emperor = Literal[EMPERORS]


class ReplayVersion(Struct):
    """The entries that say whether the rest of a file can be read."""

    format: Any
    environment: Any


class ReplayData(ReplayVersion):
    """The content of a file; `arguments`, `seed` and `final` are validated further."""

    arguments: dict[str, Any]
    seed: Any
    actions: list[Annotated[tuple[Emperor, str], describe("an agent and a text")]]
    final: dict[str, Any]
    board: str = ""  # absent in older files


@dataclass(frozen=True)
class Replay:
    """A game from its setup to its last action."""

    options: Options
    seed: int
    actions: tuple[tuple[str, str], ...]  # agent and text of each
    final: Snapshot
    local: LocalOptions = FULL_INFORMATION  # what the agents observed; message tokens (R14.7) add actions

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the replay to a file, completely or not at all.

        >>> from tempfile import TemporaryDirectory
        >>> replay = record_replay(Options(level="4200"), seed=7, actions=[9, 10])
        >>> with TemporaryDirectory() as folder:
        ...     replay.save(f"{folder}/game.json")
        ...     load_replay(f"{folder}/game.json").actions
        (('diocletian', 'fleet INTERNVM'), ('diocletian', 'fleet AEGAEVM'))
        """
        write_text_atomic(path, json.dumps(replay_data(self), indent=1) + "\n")


def record_replay(options: Options, seed: int, actions: Iterable[int], local: LocalOptions = FULL_INFORMATION) -> Replay:
    """Play a game and return its replay.

    Args:
        options: The rules of the game.
        seed: The seed of the dice.
        actions: The ids of all actions in order.
        local: The arguments of local information.

    Raises:
        TetrarchiaError: An action is not legal.
    """
    games, masks = batch.new_games(options, seed, local.message_tokens)
    played = []
    for action in actions:
        played.append((EMPERORS[agent_to_act(games[0])], action_text(action)))
        batch.step(games, np.array([action]), masks)
    return Replay(options, checked_seed(seed), tuple(played), snapshot(games), local)


def play_replay(replay: Replay) -> Iterator[tuple[batch.Games, str, str]]:
    """Yield the game before each action, with the agent and the text of the action.

    Raises:
        TetrarchiaError: An action is not legal, or the game does not end in the final position of the replay.
    """
    games, masks = batch.new_games(replay.options, replay.seed, replay.local.message_tokens)
    for action in replay_actions(replay, games, masks):
        yield games.copy(), EMPERORS[agent_to_act(games[0])], action_text(action)
        batch.step(games, np.array([action]), masks)


def replay_actions(replay: Replay, games: batch.Games, masks: batch.Masks) -> Iterator[int]:
    """Yield the action ids of a replay and check them against a game.

    Args:
        replay: The replay.
        games: A new game with the replay's options and seed. The caller plays each action in it before requesting the next.
        masks: The legal actions of that game.

    Raises:
        TetrarchiaError: An action is not legal, or the game does not end in the final position of the replay.
    """
    for number, (agent, text) in enumerate(replay.actions, 1):
        action, to_act = action_id(text), EMPERORS[agent_to_act(games[0])]
        if to_act != agent:
            raise TetrarchiaError(f"action {number}, {text!r} of {agent}: the agent to act is {to_act}")
        if action >= masks.shape[1] or not masks[0, action]:
            raise TetrarchiaError(f"action {number}, {text!r} of {agent}: not legal there")
        yield action
    if snapshot(games) != replay.final:
        raise TetrarchiaError("the actions do not lead to the final position of the replay")


def replay_data(replay: Replay) -> dict[str, Any]:
    """Return a replay as JSON data."""
    return {
        "format": FORMAT,
        "environment": ENVIRONMENT,
        "board": board_digest(),
        "arguments": replay.options.arguments() | replay.local.arguments(),
        "seed": replay.seed,
        "actions": replay.actions,
        "final": replay.final,
    }


def load_replay(path: str | os.PathLike[str]) -> Replay:
    """Return the replay of a file. Its actions are checked when it is played.

    Args:
        path: A file that `Replay.save` or `tetrarchia watch --save` wrote.

    Raises:
        TetrarchiaError: The file cannot be read, or is damaged or of another version or board.

    >>> load_replay("no_such_game.json")
    Traceback (most recent call last):
    tetrarchia_env.errors.TetrarchiaError: replay no_such_game.json: it cannot be read (No such file or directory)
    """
    try:
        data = read_bounded(path, MAX_BYTES)
        try:
            content = json.loads(data.decode("utf-8"))
        except (ValueError, RecursionError):  # ValueError: also for an integer with more digits than Python converts
            raise TetrarchiaError("it is not JSON") from None
        return parse_replay(content)
    except OSError as error:
        reason = f"it cannot be read ({error.strerror})"
    except TetrarchiaError as error:
        reason = str(error)
    raise TetrarchiaError(f"replay {os.fspath(path)}: {sanitize_line(reason)}")


def parse_replay(content: object) -> Replay:
    """Return a replay from JSON data.

    Raises:
        TetrarchiaError: The data is damaged or of another version or board.
    """
    version = validate(content, ReplayVersion, "it")
    if (version.format, version.environment) != (FORMAT, ENVIRONMENT):
        raise TetrarchiaError(
            f"format and environment must be {FORMAT} and {ENVIRONMENT!r}; "
            f"got {truncate_repr(version.format)} and {truncate_repr(version.environment)}"
        )
    data = validate(content, ReplayData, "")
    if data.board and data.board != board_digest():
        raise TetrarchiaError(
            f"it was played on another board ({truncate_repr(data.board, 40)}) than {board_path()} ({board_digest()}): "
            "set TETRARCHIA_BOARD to the file of that board"
        )
    for _, text in data.actions:
        action_id(text)
    try:
        options, local = parse_arguments(data.arguments)
    except TetrarchiaError as error:
        raise TetrarchiaError(f"arguments: {error}") from None
    seed = checked_seed(data.seed)
    try:
        is_snapshot = snapshot(restore(data.final)) == data.final
    except TetrarchiaError as error:
        raise TetrarchiaError(f"final: {error}") from None
    if not is_snapshot:
        raise TetrarchiaError("final must be a complete snapshot; entries are missing or contradict each other")
    return Replay(options, seed, tuple(data.actions), data.final, local)


def board_digest(board: Board = BOARD) -> str:
    """Return a short digest of a board's spaces, links, coasts, capitals and paths; where they are drawn does not matter."""
    parts = [list(part) if isinstance(part, tuple) else part.tolist() for part in (getattr(board, name) for name in DIGEST_FIELDS)]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:12]
