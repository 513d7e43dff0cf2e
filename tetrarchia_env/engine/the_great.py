"""R10.5, the variant The Great: glory and titles."""

from tetrarchia_env.engine._jit import jit
from tetrarchia_env.engine.bits import count
from tetrarchia_env.engine.state import DUX, NOBODY, THE_GREAT, UNREST, WON, GameRecord
from tetrarchia_env.engine.tables import BORDERS


@jit
def settle_glory(game: GameRecord, figure: int, margin: int) -> None:
    """R10.5: add an Unrest token to the glory for a victory, or return one for a defeat, if there is one."""
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
    """R10.5: return the number of borders with this Emperor's token, plus his glory."""
    return count(game.tokens[emperor] & BORDERS) + game.glory[emperor]


@jit
def the_great(game: GameRecord) -> int:
    """R10.5: return the Emperor who has at least 2 points more than every other after a won game, or NOBODY."""
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
    """R10.5: return whether this Emperor rules the East or West: no one is the Great, and he has 2 points more than his partner."""
    if game.outcome != WON or the_great(game) != NOBODY:
        return False
    return points(game, emperor) >= points(game, emperor ^ 1) + 2
