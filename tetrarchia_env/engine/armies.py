"""R1.2: the three Barbarian armies, kept in the order of their spaces so that each position has exactly one record."""

from tetrarchia_env.engine._jit import jit
from tetrarchia_env.engine.state import ARMIES, ARMY, OFF, GameRecord, numbers
from tetrarchia_env.engine.tables import BIT

FIRST, SECOND, LAST = numbers(3)  # indexes of armies, as int64: Numba would compile `_write` again for each literal
NOWHERE = FIRST  # origin of an army in the reserve


@jit
def armies(game: GameRecord) -> int:
    """Return the spaces with an army."""
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
    """Place an army from the reserve on a space."""
    game.reserve[ARMIES] -= 1
    _write(game, LAST, space, origin, kind)  # the last entry is free: armies in the reserve are sorted last
    _sort(game)


@jit
def remove_army(game: GameRecord, space: int) -> None:
    """Return the army on this space to the reserve, as an ordinary army (R11.3, R12)."""
    game.reserve[ARMIES] += 1
    _write(game, army_on(game, space), OFF, NOWHERE, ARMY)
    _sort(game)


@jit
def move_army(game: GameRecord, start: int, goal: int) -> None:
    """Move the army on `start` to `goal`."""
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
