"""A curriculum over the head start (R2.8): numbers of initial Revolts and secured borders are drawn by success.

Each number is drawn in proportion to p(1 - p), where p is the recent win rate of games that began with it: most often where the outcome
is uncertain (Florensa, Held, Geng and Abbeel, Automatic goal generation for reinforcement learning agents, ICML 2018, prefer goals of
intermediate difficulty for the same reason).
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tetrarchia_env.constants import OUTCOMES
from tetrarchia_env.envs.batched_games import BatchedGames

KINDS = ("revolts", "secured")
MAX_COUNT = 6
WON = OUTCOMES.index("won")
ENTRIES = 60  # of the lists to draw from, in which a number is repeated by its weight
MIN_WEIGHT = 0.02  # so that the win rate of every number stays known
HALF_LIFE_GAMES = 200  # of the win rates


class Curriculum:
    """The win rate of each number of initial Revolts and of secured borders, and the lists to draw from that follow.

    Args:
        counts: The allowed numbers of each kind, "revolts" and "secured".

    Attributes:
        win_rates: A row for each kind and a column for each number, shape (2, 7); 0.5 before the first game.
    """

    def __init__(self, counts: dict[str, list[int]]) -> None:
        self.counts = counts
        self.win_rates = np.full((len(KINDS), MAX_COUNT + 1), 0.5)

    def add_episodes(self, episodes: Sequence[NDArray[np.void]]) -> None:
        """Update the win rates by finished games, records of `EPISODE`."""
        if not episodes:
            return
        ended = np.concatenate(episodes)
        for row, kind in enumerate(KINDS):
            for number in self.counts[kind]:
                won = (ended["outcome"] == WON)[ended[f"final_{kind}"] == number]
                kept = 0.5 ** (len(won) / HALF_LIFE_GAMES)
                if len(won):
                    self.win_rates[row, number] = kept * self.win_rates[row, number] + (1 - kept) * won.mean()

    def lists(self) -> dict[str, list[int]]:
        """Return the lists from which new games draw, by kind."""
        return {kind: self._list(rates, self.counts[kind]) for kind, rates in zip(KINDS, self.win_rates, strict=True)}

    def _list(self, rates: NDArray[np.float64], numbers: list[int]) -> list[int]:
        weights = np.maximum(rates[numbers] * (1 - rates[numbers]), MIN_WEIGHT)
        repeats = np.maximum(np.round(ENTRIES * weights / weights.sum()), 1).astype(int)
        return np.repeat(numbers, repeats).tolist()

    def apply(self, games: BatchedGames) -> None:
        """Let new games draw from these lists."""
        games.set_head_start(**self.lists())
