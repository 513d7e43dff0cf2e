"""What a game is worth to those who play it: the four kinds of reward."""

from tetrarchia_env.engine._jit import jit
from tetrarchia_env.engine.bits import count
from tetrarchia_env.engine.outcome import score, secured_borders
from tetrarchia_env.engine.state import OFF, OVER, RESERVE_EMPTY, ROME_FELL, THE_GREAT, WON, Game, numbers
from tetrarchia_env.engine.tables import STEPS
from tetrarchia_env.engine.the_great import is_half_emperor, the_great

REWARDS = ("outcome", "score", "shaped", "glory")
OUTCOME, SCORE, SHAPED, GLORY = numbers(4)

# The potential of `shaped`
A_BORDER, A_REVOLT, AN_UNREST, AN_ARMY = 0.15, -0.02, -0.008, -0.1
FARTHEST = 12  # steps that an army can be from ROMA, and one more
# The titles of `glory` (R10.5)
THE_GREAT_TITLE, HALF_TITLE = 1.0, 0.5


@jit
def potential(game: Game) -> float:
    """How well the game stands; 0 when it is over, so that all differences of a game add up to what it began with.

    0.15 for each secured border, -0.02 for each Revolt, -0.008 for each Unrest, and for each army -0.1 times its
    nearness to ROMA (1 - steps / 12).
    """
    if game.phase == OVER:
        return 0.0
    value = A_BORDER * count(secured_borders(game)) + A_REVOLT * count(game.revolts) + AN_UNREST * count(game.unrest)
    for army in range(3):
        if game.army_at[army] != OFF:
            value += AN_ARMY * (1 - STEPS[game.army_origin[army], game.army_at[army]] / FARTHEST)
    return value


@jit
def final_reward(game: Game, kind: int) -> float:
    """What all four get at the end: 1 won, -1 lost, 0 truncated; or the score (R9.3) / 10."""
    if game.phase != OVER:
        return 0.0
    if kind == SCORE:
        return score(game) / 10
    if game.outcome == WON:
        return 1.0
    return -1.0 if game.outcome == ROME_FELL or game.outcome == RESERVE_EMPTY else 0.0


@jit
def shared_reward(game: Game, kind: int, before: float) -> float:
    """The reward of one step to all four alike; `before` is the potential before it."""
    reward = final_reward(game, kind)
    return reward + potential(game) - before if kind == SHAPED else reward


@jit
def title_reward(game: Game, kind: int, emperor: int) -> float:
    """What `glory` adds for one Emperor after a won game of that variant: 1 for the Great, 0.5 for East or West."""
    if kind != GLORY or game.variants & THE_GREAT == 0:
        return 0.0
    if the_great(game) == emperor:
        return THE_GREAT_TITLE
    return HALF_TITLE if is_half_emperor(game, emperor) else 0.0


@jit
def mean_title(game: Game, kind: int) -> float:
    """The same for a player who controls all four: a quarter of the sum."""
    return (title_reward(game, kind, 0) + title_reward(game, kind, 1) + title_reward(game, kind, 2) + title_reward(game, kind, 3)) / 4
