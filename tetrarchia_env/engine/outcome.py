"""R9: how the game ends, and the score."""

from tetrarchia_env.engine._jit import jit
from tetrarchia_env.engine.bits import count
from tetrarchia_env.engine.state import GOTHS, OFF, OVER, WON, GameRecord
from tetrarchia_env.engine.tables import BORDERS, PROVINCES


@jit
def emperor_tokens(game: GameRecord) -> int:
    """The spaces with an Emperor's token lying on them."""
    return game.tokens[0] | game.tokens[1] | game.tokens[2] | game.tokens[3]


@jit
def secured_borders(game: GameRecord) -> int:
    """R9.1: the borders with an Emperor's token."""
    return emperor_tokens(game) & BORDERS


@jit
def end_game(game: GameRecord, outcome: int) -> None:
    """R9.4: the game stops at this instant, whatever is still to be struck or to advance."""
    game.outcome = outcome
    game.phase = OVER
    game.foe = OFF
    for i in range(3):
        game.march[i] = OFF


@jit
def check_victory(game: GameRecord) -> None:
    """R9.1: won, at once, when all six borders are secured."""
    if secured_borders(game) == BORDERS:
        end_game(game, WON)


@jit
def is_in_revolt(game: GameRecord, region: int) -> bool:
    """R9.3: whether the region's tokens would cost more than 6 IP to subdue."""
    return count(game.unrest & PROVINCES[region]) + 2 * count(game.revolts & PROVINCES[region]) > 6


@jit
def score(game: GameRecord) -> int:
    """R9.3, R11.4: at most 10."""
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
