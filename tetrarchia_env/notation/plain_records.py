"""Fast access to game records from Python, where NumPy's own field access is slow."""

from collections import namedtuple
from operator import itemgetter
from typing import Any

import numpy as np

from tetrarchia_env.batch import GAME, Games
from tetrarchia_env.engine.state import GameRecord

PlainRecord: Any = namedtuple("PlainRecord", list(GAME.names or ()))  # type: ignore[misc]  # its fields are the record's
_BYTES = np.dtype(f"V{GAME.itemsize}")


class FastRecord(np.record):  # type: ignore[misc]  # final only in its stub
    """A record whose fields are properties: four times as fast as `np.record`, which looks for other attributes first."""

    __getattribute__ = object.__getattribute__


for _name in GAME.names or ():
    setattr(FastRecord, _name, property(itemgetter(_name)))
_FAST = np.dtype((FastRecord, GAME))


def fast_view(game: Games) -> GameRecord:
    """Return the record of an array of one game with fast field access; compiled rules accept it too."""
    record: GameRecord = game.view(_FAST)[0]
    return record


def to_namedtuple(record: GameRecord) -> Any:
    """Return a copy of a record with Python ints and lists as fields, which are 40 times as fast to read."""
    return PlainRecord._make([value.tolist() if isinstance(value, np.ndarray) else value for value in record.item()])


def repeat(games: Games, times: int = 1) -> Games:
    """Return `games.repeat(times)`, five times as fast."""
    copies: Games = games.view(_BYTES).repeat(times).view(GAME)
    return copies
