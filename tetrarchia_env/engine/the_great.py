"""R10.5, the variant The Great: glory, and the title it may bring."""

from tetrarchia_env.engine._jit import jit
from tetrarchia_env.engine.bits import count
from tetrarchia_env.engine.state import DUX, NOBODY, THE_GREAT, UNREST, WON, GameRecord
from tetrarchia_env.engine.tables import BORDERS


@jit
def settle_glory(game: GameRecord, figure: int, margin: int) -> None:
    """R10.5: a victory takes an Unrest token as glory, a defeat gives one back; each if there is one."""
    if game.variants & THE_GREAT == 0 or figure == DUX:
        return
    if margin > 0 and game.reserve[UNREST] > 0:
        game.glory[figure] += 1
        game.reserve[UNREST] -= 1
    elif margin < 0 and game.glory[figure] > 0:
        game.glory[figure] -= 1
        game.reserve[UNREST] += 1


@jit
def points(game: GameRecord, emperor: int) -> int:
    """R10.5: the borders with his token plus his glory."""
    return count(game.tokens[emperor] & BORDERS) + game.glory[emperor]


@jit
def the_great(game: GameRecord) -> int:
    """R10.5: who has at least 2 points more than every other Emperor after a won game, or NOBODY."""
    if game.outcome != WON:
        return NOBODY
    for emperor in range(4):
        ahead = True
        for other in range(4):
            if other != emperor and points(game, emperor) < points(game, other) + 2:
                ahead = False
        if ahead:
            return emperor
    return NOBODY


@jit
def is_half_emperor(game: GameRecord, emperor: int) -> bool:
    """R10.5: Emperor of the East or West: no Emperor is the Great, and this one has 2 points more than his couple's other."""
    if game.outcome != WON or the_great(game) != NOBODY:
        return False
    return points(game, emperor) >= points(game, emperor ^ 1) + 2
