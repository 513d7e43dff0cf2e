"""What is checked before compiled code runs, which would read and write beyond the end of an array that is too short.

Each check looks at an array's kind, shape and length, never at all its entries: it costs a fraction of a microsecond a call.
"""

from collections.abc import Sequence
from threading import RLock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tetrarchia_env.engine.actions import ACTIONS
from tetrarchia_env.engine.state import GAME
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.schema import truncate_repr

Seeds = int | Sequence[int] | NDArray[np.integer]

LARGEST_SEED = 2**64 - 1
INT8, INT64, UINT64 = np.dtype(np.int8), np.dtype(np.int64), np.dtype(np.uint64)  # NumPy has one of each: `is` tells them apart fastest


def check_games(games: Any) -> None:
    """ValueError unless this is a row of games that can be written."""
    if type(games) is np.ndarray and games.dtype is GAME and games.ndim == 1 and games.flags.writeable:
        return
    if not checked_games(games).flags.writeable or not games.flags.writeable:
        raise TetrarchiaError("games are read-only here: give a copy")


def checked_games(games: Any) -> NDArray[np.void]:
    """The same games to be read; a copy if they do not lie side by side, for which everything would be compiled again."""
    if not isinstance(games, np.ndarray) or games.ndim != 1 or (games.dtype is not GAME and games.dtype != GAME):
        raise TetrarchiaError(f"games are a row of records of engine.state.GAME, not {_told(games)}")
    return games if games.flags.carray else games.copy()


def check_masks(masks: Any, games: int, width: int = ACTIONS) -> None:
    """A row of legal actions for each game, that can be written."""
    if not isinstance(masks, np.ndarray) or masks.shape != (games, width) or masks.dtype != INT8:
        raise TetrarchiaError(f"masks are int8 of shape {(games, width)}, a row for each game, not {_told(masks)}")
    if not masks.flags.writeable:
        raise TetrarchiaError("masks are read-only here: give a copy")


def check_rngs(rngs: Any, games: int) -> None:
    """An RNG state for each game."""
    if not isinstance(rngs, np.ndarray) or rngs.dtype != UINT64 or rngs.shape != (games,) or not rngs.flags.writeable:
        raise TetrarchiaError(f"rngs have a row for each of the {games} games, uint64 that can be written, not {_told(rngs)}")


def checked_steps(steps: Any) -> int:
    """How many steps to play."""
    if isinstance(steps, bool) or not isinstance(steps, int | np.integer) or not 0 <= steps < 2**63:
        raise TetrarchiaError(f"steps are a whole number from 0 on, not {steps!r}")
    return int(steps)


def checked_actions(actions: object, games: int) -> NDArray[np.int64]:
    """As many action ids as games: compiled code would read on beyond fewer, and take 8.9 for 8."""
    if type(actions) is np.ndarray and actions.dtype is INT64 and actions.shape == (games,) and actions.flags.carray:
        return actions
    given = _as_array(actions, "actions")
    if given.dtype.kind not in "iu" or given.shape != (games,):
        told = truncate_repr(given.tolist()) if given.size <= 4 else f"an array of {given.dtype} of shape {given.shape}"
        raise TetrarchiaError(f"actions are {games} whole numbers, one for each game, not {told}")
    return np.array(given, dtype=INT64)


def checked_viewers(viewers: object, games: int) -> NDArray[np.int64]:
    """As many Emperors as games; whether each is one of the four is looked at where they are used."""
    if type(viewers) is np.ndarray and viewers.dtype is INT64 and viewers.shape == (games,) and viewers.flags.carray:
        return viewers
    given = _as_array(viewers, "viewers")
    if given.dtype.kind not in "iu" or given.shape != (games,):
        raise TetrarchiaError(f"viewers are the numbers of {games} Emperors, a row for each of the {games} games, not {_told(given)}")
    return np.array(given, dtype=INT64)


def seed_array(seeds: Seeds, number: int | None = None) -> NDArray[np.uint64]:
    """Checked seeds, as many as were given, or this number of them."""
    values = np.atleast_1d(np.asarray(seeds, dtype=object))
    if values.ndim != 1 or (number is not None and len(values) != number):
        wanted = "a row of seeds is" if number is None else f"{number} seeds are"
        raise TetrarchiaError(
            f"{wanted} wanted, one for each game, not {len(values) if values.ndim == 1 else f'those of shape {values.shape}'}"
        )
    for seed in values:
        if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or not 0 <= seed <= LARGEST_SEED:
            raise TetrarchiaError(f"a seed is a whole number from 0 to 2**64 - 1, not {truncate_repr(seed)}")
    return values.astype(np.uint64)


def checked_seed(seed: Any) -> int:
    """One seed, of Python or NumPy, as Python's."""
    if isinstance(seed, np.ndarray | list | tuple):
        raise TetrarchiaError(f"a seed is a whole number from 0 to 2**64 - 1, not {truncate_repr(seed)}")
    return int(seed_array(seed)[0])


def check_no_options(options: Any) -> None:
    """Nothing is chosen at a reset: whoever gives an option would believe that it is in force."""
    if options:
        raise TetrarchiaError(f"reset takes no options, not {truncate_repr(options)}: rules are chosen when the environment is made")


ERR_CONCURRENT_USE = "another thread is using this environment: give each thread an environment of its own"


class SingleThreadGuard:
    """Held while an environment is used: compiled code of two threads would write into the same game.

    `with` it, or in the hot path `if not acquire(False): raise TetrarchiaError(ERR_CONCURRENT_USE)` and `release`.
    """

    __slots__ = ("acquire", "release")

    def __init__(self) -> None:
        lock = RLock()
        self.acquire, self.release = lock.acquire, lock.release

    def __enter__(self) -> None:
        if not self.acquire(False):
            raise TetrarchiaError(ERR_CONCURRENT_USE)

    def __exit__(self, *_: object) -> None:
        self.release()

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy is held by nobody."""
        return SingleThreadGuard, ()


def _told(value: object) -> str:
    """Of an array its kind and shape."""
    return f"{value.dtype} of shape {value.shape}" if isinstance(value, np.ndarray) and value.dtype.names is None else _kind(value)


def _kind(value: object) -> str:
    return f"records of shape {value.shape}" if isinstance(value, np.ndarray) else f"a {type(value).__name__}"


def _as_array(values: object, name: str) -> NDArray[Any]:
    """ValueError of ours for what is no array, such as rows of different lengths."""
    try:
        return np.asarray(values)
    except (ValueError, TypeError, OverflowError, RecursionError) as error:
        raise TetrarchiaError(f"{name} are no array: {' '.join(str(error).split())}") from None
