"""What a run of games says, in one table: how often they are won, how they are lost, how long they take."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from tetrarchia_env.board import ROMAN_PROVINCES, SPACES
from tetrarchia_env.engine.state import OUTCOMES, RUNNING
from tetrarchia_eval.results import Played
from tetrarchia_eval.statistics import Estimate, bootstrap_mean, by_seed, wilson_by_seed

ENDINGS = tuple(outcome for number, outcome in enumerate(OUTCOMES) if number != RUNNING)
BORDERS = SPACES - ROMAN_PROVINCES


@dataclass(frozen=True)
class Summary:
    """Figures of some games; intervals are of 95 %."""

    games: int
    wins: int
    win_rate: Estimate
    score: Estimate  # R9.3, lost games included
    endings: dict[str, int]  # how many games ended how, all of ENDINGS
    turns: float  # a game, on average
    median_turns: float
    steps: float
    unsecured: float  # borders without a token at the end, on average
    milliseconds: float  # a decision, on average

    def share(self, ending: str) -> float:
        """Of the games, that ended so."""
        return self.endings[ending] / self.games


def summarize(games: Sequence[Played], seed: int = 0) -> Summary:
    """All these games as one; the seed is the bootstrap's, the same games always give the same figures."""
    if not games:
        raise ValueError("a summary needs at least one game, not none")
    seeds, won = [game.seed for game in games], [game.won for game in games]
    decisions = sum(sum(game.decisions) for game in games)
    endings = Counter(game.outcome for game in games)
    return Summary(
        games=len(games),
        wins=sum(won),
        win_rate=wilson_by_seed(won, seeds),
        score=bootstrap_mean(by_seed([game.score for game in games], seeds), np.random.default_rng(seed)),
        endings={ending: endings[ending] for ending in ENDINGS},
        turns=_mean(game.turns for game in games),
        median_turns=float(np.median([game.turns for game in games])),
        steps=_mean(game.steps for game in games),
        unsecured=BORDERS - _mean(game.borders for game in games),
        milliseconds=1000 * sum(sum(game.seconds) for game in games) / max(decisions, 1),
    )


def _mean(values: Iterable[float]) -> float:
    return float(np.mean(list(values)))
