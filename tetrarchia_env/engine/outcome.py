"""R9: the end of the game, and the score."""

from tetrarchia_env.engine._jit import jit
from tetrarchia_env.engine.bits import count
from tetrarchia_env.engine.state import GOTHS, OFF, OVER, WON, GameRecord
from tetrarchia_env.engine.tables import BORDERS, PROVINCES


@jit
def emperor_tokens(game: GameRecord) -> int:
    """Return the spaces with an Emperor's token on them."""
    return game.tokens[0] | game.tokens[1] | game.tokens[2] | game.tokens[3]


@jit
def secured_borders(game: GameRecord) -> int:
    """R9.1: return the borders with an Emperor's token."""
    return emperor_tokens(game) & BORDERS


@jit
def end_game(game: GameRecord, outcome: int) -> None:
    """R9.4: end the game immediately; pending strikes and advances are dropped."""
    game.outcome = outcome
    game.phase = OVER
    game.foe = OFF
    for i in range(3):
        game.march[i] = OFF


@jit
def check_victory(game: GameRecord) -> None:
    """R9.1: end the game as won if all six borders are secured."""
    if secured_borders(game) == BORDERS:
        end_game(game, WON)


@jit
def is_in_revolt(game: GameRecord, region: int) -> bool:
    """R9.3: return whether subduing the region's tokens would cost more than 6 IP."""
    return count(game.unrest & PROVINCES[region]) + 2 * count(game.revolts & PROVINCES[region]) > 6


@jit
def score(game: GameRecord) -> int:
    """R9.3, R11.4: return the score, at most 10."""
    points = 2 * count(secured_borders(game)) - 6
    if game.revolts & PROVINCES[0] == 0:
        points += 4
    for region in range(7):
        if is_in_revolt(game, region):
            points -= 1
    for army in range(3):
        if game.army_at[army] != OFF:
            points -= 2 if game.army_kind[army] == GOTHS else 1
    return points - 1 if game.pirates else points
