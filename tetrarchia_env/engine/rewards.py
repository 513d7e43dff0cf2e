"""Terminal rewards."""

from tetrarchia_env.engine._jit import jit
from tetrarchia_env.engine.outcome import score
from tetrarchia_env.engine.state import OVER, RESERVE_EMPTY, ROME_FELL, THE_GREAT, WON, GameRecord
from tetrarchia_env.engine.the_great import is_half_emperor, the_great

THE_GREAT_TITLE, HALF_TITLE = 1.0, 0.5  # R10.5


@jit
def outcome_reward(game: GameRecord) -> float:
    """Return 1 for a won game, -1 for a lost one, 0 for one that is truncated or not over."""
    if game.phase != OVER:
        return 0.0
    if game.outcome == WON:
        return 1.0
    return -1.0 if game.outcome == ROME_FELL or game.outcome == RESERVE_EMPTY else 0.0


@jit
def score_reward(game: GameRecord) -> float:
    """Return the score (R9.3) / 10 of a finished game, 0 before."""
    return score(game) / 10 if game.phase == OVER else 0.0


@jit
def title_reward(game: GameRecord, emperor: int) -> float:
    """R10.5: return an Emperor's bonus in a won game of the variant: 1 for the Great, 0.5 for Emperor of the East or West."""
    if game.phase != OVER or game.variants & THE_GREAT == 0:
        return 0.0
    if the_great(game) == emperor:
        return THE_GREAT_TITLE
    return HALF_TITLE if is_half_emperor(game, emperor) else 0.0
