"""What the end of a game is worth to those who play it."""

from tetrarchia_env.engine._jit import jit
from tetrarchia_env.engine.outcome import score
from tetrarchia_env.engine.state import OVER, RESERVE_EMPTY, ROME_FELL, THE_GREAT, WON, GameRecord
from tetrarchia_env.engine.the_great import is_half_emperor, the_great

THE_GREAT_TITLE, HALF_TITLE = 1.0, 0.5  # R10.5


@jit
def outcome_reward(game: GameRecord) -> float:
    """1 won, -1 lost, 0 truncated or not over."""
    if game.phase != OVER:
        return 0.0
    if game.outcome == WON:
        return 1.0
    return -1.0 if game.outcome == ROME_FELL or game.outcome == RESERVE_EMPTY else 0.0


@jit
def score_reward(game: GameRecord) -> float:
    """The score (R9.3) / 10 at the end."""
    return score(game) / 10 if game.phase == OVER else 0.0


@jit
def title_reward(game: GameRecord, emperor: int) -> float:
    """R10.5: what a won game of that variant adds for one Emperor: 1 for the Great, 0.5 for East or West."""
    if game.phase != OVER or game.variants & THE_GREAT == 0:
        return 0.0
    if the_great(game) == emperor:
        return THE_GREAT_TITLE
    return HALF_TITLE if is_half_emperor(game, emperor) else 0.0
