"""Checks of arrays and records before compiled code runs, which would read and write beyond an array that is too short.

The checks of arguments look at an array's dtype, shape and length, not at its entries: they cost a fraction of a microsecond per call.
`check_records` is for records from files, and looks at everything.
"""

from collections.abc import Mapping, Sequence
from threading import RLock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tetrarchia_env.engine.actions import ACTIONS, MAX_MESSAGE_TOKENS
from tetrarchia_env.engine.state import GAME
from tetrarchia_env.engine.validity import LIMITS, MESSAGES, first_flaw, outside_limits
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.schema import truncate_repr

Seeds = int | Sequence[int] | NDArray[np.integer]

MAX_SEED = 2**64 - 1
A_SEED = "an integer from 0 to 2**64 - 1"
INT8, INT64, UINT64 = np.dtype(np.int8), np.dtype(np.int64), np.dtype(np.uint64)  # singletons: `is` is the fastest comparison
ERR_CONCURRENT_USE = "another thread is using this environment: create one environment per thread"


def check_games(games: Any) -> None:
    """Check that this is a one-dimensional, writable array of game records."""
    if type(games) is np.ndarray and games.dtype is GAME and games.ndim == 1 and games.flags.writeable:
        return
    if not checked_games(games).flags.writeable or not games.flags.writeable:
        raise TetrarchiaError("games must be writable: pass a copy")


def checked_games(games: Any) -> NDArray[np.void]:
    """Return game records for reading; a copy if they are not contiguous, which would compile everything again."""
    if not isinstance(games, np.ndarray) or games.ndim != 1 or (games.dtype is not GAME and games.dtype != GAME):
        raise TetrarchiaError(f"games must be a one-dimensional array of engine.state.GAME; got {_kind_of(games)}")
    return games if games.flags.carray else games.copy()


def check_masks(masks: Any, games: int, width: int | None = None) -> None:
    """Check that there is a writable row of legal actions for each game; its width is by default that of all actions."""
    if width is None:
        has_messages = isinstance(masks, np.ndarray) and masks.ndim == 2 and ACTIONS < masks.shape[1] <= ACTIONS + MAX_MESSAGE_TOKENS
        width = masks.shape[1] if has_messages else ACTIONS
    if not isinstance(masks, np.ndarray) or masks.shape != (games, width) or masks.dtype != INT8:
        raise TetrarchiaError(f"masks must be int8 of shape {(games, width)}, one row per game; got {_kind_of(masks)}")
    if not masks.flags.writeable:
        raise TetrarchiaError("masks must be writable: pass a copy")


def check_rngs(rngs: Any, games: int) -> None:
    """Check that there is a writable RNG state for each game."""
    if not isinstance(rngs, np.ndarray) or rngs.dtype != UINT64 or rngs.shape != (games,) or not rngs.flags.writeable:
        raise TetrarchiaError(f"rngs must be writable uint64 of shape {(games,)}, one per game; got {_kind_of(rngs)}")


def checked_steps(steps: Any) -> int:
    """Return a number of steps as an int."""
    if isinstance(steps, bool) or not isinstance(steps, int | np.integer) or not 0 <= steps < 2**63:
        raise TetrarchiaError(f"steps must be an integer from 0 to 2**63 - 1; got {steps!r}")
    return int(steps)


def checked_integers(values: object, games: int, name: str) -> NDArray[np.int64]:
    """Return one integer per game as int64: compiled code would read beyond fewer, and truncate 8.9 to 8; their range is checked there."""
    if type(values) is np.ndarray and values.dtype is INT64 and values.shape == (games,) and values.flags.carray:
        return values
    try:
        given = np.asarray(values)
    except (ValueError, TypeError, OverflowError, RecursionError) as error:  # such as rows of different lengths
        raise TetrarchiaError(f"{name} must be an array; got {truncate_repr(values)} ({' '.join(str(error).split())})") from None
    if given.dtype.kind not in "iu" or given.shape != (games,):
        got = truncate_repr(given.tolist()) if given.size <= 4 else _kind_of(given)
        raise TetrarchiaError(f"{name} must be {games} integers, one per game; got {got}")
    return np.array(given, dtype=INT64)


def checked_actions(actions: object, games: int) -> NDArray[np.int64]:
    """Return one action id per game."""
    return checked_integers(actions, games, "actions")


def seed_array(seeds: Seeds, number: int | None = None) -> NDArray[np.uint64]:
    """Return seeds as uint64.

    Args:
        seeds: One seed, or one per game.
        number: The number of games; None for any number.

    Raises:
        TetrarchiaError: The number of seeds, or one of them, is wrong.
    """
    values = np.atleast_1d(np.asarray(seeds, dtype=object))
    if values.ndim != 1 or (number is not None and len(values) != number):
        got = len(values) if values.ndim == 1 else f"shape {values.shape}"
        raise TetrarchiaError(f"seeds must be {'a list' if number is None else number}, one per game; got {got}")
    for seed in values:
        if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or not 0 <= seed <= MAX_SEED:
            raise TetrarchiaError(f"seed must be {A_SEED}; got {truncate_repr(seed)}")
    return values.astype(np.uint64)


def checked_seed(seed: Any) -> int:
    """Return one seed, an int of Python or NumPy, as an int."""
    if isinstance(seed, np.ndarray | list | tuple):
        raise TetrarchiaError(f"seed must be {A_SEED}; got {truncate_repr(seed)}")
    return int(seed_array(seed)[0])


def check_no_options(options: Any) -> None:
    """Refuse options of `reset`, which would otherwise be ignored silently."""
    if options:
        raise TetrarchiaError(f"reset takes no options; got {truncate_repr(options)}: choose the rules when creating the environment")


class SingleThreadGuard:
    """A lock held while an environment is used: two threads in compiled code would write into the same game.

    Use it with `with`, or in the hot path with `if not acquire(False): raise TetrarchiaError(ERR_CONCURRENT_USE)` and `release`.
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
        """Copies and pickles get a new, free lock."""
        return SingleThreadGuard, ()


def records_from_bytes(rows: Any, dtype: np.dtype[Any], number: int, source: str) -> NDArray[np.void]:
    """Return rows of bytes as records.

    Args:
        rows: An array of uint8, one row per record.
        dtype: The dtype of a record.
        number: The expected number of records.
        source: What the rows are; the error message begins with it.

    Raises:
        TetrarchiaError: The array has another dtype or shape.
    """
    shape = (number, dtype.itemsize)
    if not isinstance(rows, np.ndarray) or rows.dtype != np.uint8 or rows.shape != shape:
        raise TetrarchiaError(f"{source} must be uint8 of shape {shape}; got {_kind_of(rows)}")
    return np.ascontiguousarray(rows).reshape(-1).view(dtype).copy()


def check_records(games: NDArray[np.void], source: str) -> None:
    """Check that records from a file are games, so that the rules can run on them.

    Raises:
        TetrarchiaError: One is not; the message begins with the source and gives the record's index.
    """
    if games.dtype != GAME or games.ndim != 1:
        raise TetrarchiaError(f"{source} must be a one-dimensional array of engine.state.GAME; got {_kind_of(games)}")
    check_limits(games, LIMITS, source)
    index, flaw = first_flaw(np.ascontiguousarray(games))
    if flaw:
        raise TetrarchiaError(f"{source}: record {index} is damaged: {MESSAGES[flaw]}")


def check_limits(records: NDArray[Any], limits: Mapping[str, tuple[Any, Any]], source: str) -> None:
    """Check that every number of some records is within its limits."""
    found = outside_limits(records, limits)
    if found is not None:
        raise TetrarchiaError(f"{source}: record {found[0]} is damaged: {found[1]} is out of range")


def _kind_of(value: object) -> str:
    if not isinstance(value, np.ndarray):
        return f"a {type(value).__name__}"
    return f"{'records' if value.dtype.names else value.dtype} of shape {value.shape}"
