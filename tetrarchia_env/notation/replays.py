"""A played game as one JSON file: arguments, seed, actions with their agents, and the position it led to."""

import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from msgspec import Struct

from tetrarchia_env import batch
from tetrarchia_env.board import EMPERORS
from tetrarchia_env.engine.turn import agent_to_act
from tetrarchia_env.files import write_whole
from tetrarchia_env.notation.actions import action_id, action_text
from tetrarchia_env.notation.snapshots import Snapshot, snapshot
from tetrarchia_env.options import Options
from tetrarchia_env.schema import checked, told

FORMAT = 1
ENVIRONMENT = "tetrarchia_v0"
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
    actions: list[Annotated[tuple[Emperor, str], told("an agent and a text each")]]
    final: dict[str, Any]


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
    return Replay(options, seed, tuple(moves), snapshot(games))


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
            raise ValueError(f"{where}: it is the decision of {EMPERORS[agent_to_act(games[0])]}")
        if not masks[0, action]:
            raise ValueError(f"{where}: not legal there")
        yield action
    if snapshot(games) != replay.final:
        raise ValueError("the actions do not lead to the final position that the replay names")


def save_replay(replay: Replay, path: str | os.PathLike[str]) -> None:
    """Write the file whole or not at all."""
    content = {
        "format": FORMAT,
        "environment": ENVIRONMENT,
        "arguments": replay.options.arguments(),
        "seed": replay.seed,
        "actions": replay.actions,
        "final": replay.final,
    }
    write_whole(path, json.dumps(content, indent=1) + "\n")


def load_replay(path: str | os.PathLike[str]) -> Replay:
    """Read a replay file; ValueError, in one sentence, if it is damaged or of another version.

    >>> load_replay("no_such_game.json")
    Traceback (most recent call last):
    ValueError: replay no_such_game.json: it cannot be read (No such file or directory)
    """
    try:
        return _parse(json.loads(Path(path).read_text(encoding="utf-8")))
    except OSError as error:
        reason = f"it cannot be read ({error.strerror})"
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError):
        reason = "it is not JSON"
    except ValueError as error:
        reason = str(error)
    raise ValueError(f"replay {os.fspath(path)}: {reason}")


def _parse(content: object) -> Replay:
    version = checked(content, ReplayVersion, "it")
    if (version.format, version.environment) != (FORMAT, ENVIRONMENT):
        raise ValueError(f"it is of format {version.format!r} and environment {version.environment!r}, not {FORMAT} and {ENVIRONMENT!r}")
    data = checked(content, ReplayData, "")
    for _, text in data.actions:
        action_id(text)
    return Replay(_options(data.arguments), int(batch.seed_array([data.seed])[0]), tuple(data.actions), data.final)


def _options(arguments: dict[str, Any]) -> Options:
    try:
        return Options.of(**arguments)
    except ValueError as error:
        raise ValueError(f"its arguments: {error}") from None
