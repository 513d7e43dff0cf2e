"""The three Barbarian armies: R1.2. Kept in the order of their spaces, so that a position has one record only."""

from tetrarchia_env.engine._jit import jit
from tetrarchia_env.engine.state import ARMIES, ARMY, OFF, GameRecord, numbers
from tetrarchia_env.engine.tables import BIT

FIRST, SECOND, LAST = numbers(3)  # armies, as int64: for each literal Numba would compile `_write` once more
NOWHERE = FIRST  # where an army in the reserve came from


@jit
def armies(game: GameRecord) -> int:
    """The spaces with an army."""
    return BIT[game.army_at[0]] | BIT[game.army_at[1]] | BIT[game.army_at[2]]


@jit
def army_on(game: GameRecord, space: int) -> int:
    """Return the index of the army on this space; there must be one."""
    for army in range(2):
        if game.army_at[army] == space:
            return army
    return LAST


@jit
def place_army(game: GameRecord, space: int, origin: int, kind: int) -> None:
    """One army from the reserve."""
    game.reserve[ARMIES] -= 1
    _write(game, LAST, space, origin, kind)  # the last entry is free: armies in the reserve are sorted last
    _sort(game)


@jit
def remove_army(game: GameRecord, space: int) -> None:
    """Back to the reserve, an ordinary army again (R11.3, R12)."""
    game.reserve[ARMIES] += 1
    _write(game, army_on(game, space), OFF, NOWHERE, ARMY)
    _sort(game)


@jit
def move_army(game: GameRecord, start: int, goal: int) -> None:
    """One army goes one step."""
    game.army_at[army_on(game, start)] = goal
    _sort(game)


@jit
def _write(game: GameRecord, army: int, space: int, origin: int, kind: int) -> None:
    game.army_at[army] = space
    game.army_origin[army] = origin
    game.army_kind[army] = kind


@jit
def _sort(game: GameRecord) -> None:
    _order(game, FIRST)
    _order(game, SECOND)
    _order(game, FIRST)


@jit
def _order(game: GameRecord, army: int) -> None:
    """Swap this army and the next if they are in the wrong order."""
    space, origin, kind = game.army_at[army], game.army_origin[army], game.army_kind[army]
    after = army + 1
    if space > game.army_at[after]:
        _write(game, army, game.army_at[after], game.army_origin[after], game.army_kind[after])
        _write(game, after, space, origin, kind)
