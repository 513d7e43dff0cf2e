"""A curriculum: levels and head starts (R2.8) are drawn by success.

Each value, such as a number of initial Revolts, is drawn in proportion to p(1 - p), where p is the recent win rate of games that began
with it: most often where the outcome is uncertain (Florensa, Held, Geng and Abbeel, Automatic goal generation for reinforcement learning
agents, ICML 2018, prefer goals of intermediate difficulty for the same reason).
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tetrarchia_env.constants import OUTCOMES
from tetrarchia_env.envs.batched_games import BatchedGames

WON = OUTCOMES.index("won")
ENTRIES_PER_VALUE = 20  # of the lists to draw from, in which a value is repeated by its weight
MIN_WEIGHT = 0.02  # so that the win rate of every value stays known
HALF_LIFE_GAMES = 200  # of the win rates


class Curriculum:
    """The win rate of each value, and the lists from which new games draw.

    Args:
        values: The values that games draw from, without repetition, by argument: "level", "revolts" or "secured".

    Attributes:
        win_rates: The win rate of each value of all arguments, in their order; 0.5 before the first game.
    """

    def __init__(self, values: Mapping[str, Sequence[Any]]) -> None:
        self.values = values
        self.win_rates = np.full(sum(map(len, values.values())), 0.5)

    def add_episodes(self, episodes: Sequence[NDArray[np.void]]) -> None:
        """Update the win rates by finished games, records of `EPISODE`."""
        if not episodes or not self.values:
            return
        ended = np.concatenate(episodes)
        began = {"revolts": ended["final_revolts"], "secured": ended["final_secured"], "level": ended["level"] @ [1000, 100, 10, 1]}
        number = 0
        for kind, values in self.values.items():
            for value in values:
                won = (ended["outcome"] == WON)[began[kind] == int(value)]
                kept = 0.5 ** (len(won) / HALF_LIFE_GAMES)
                if len(won):
                    self.win_rates[number] = kept * self.win_rates[number] + (1 - kept) * won.mean()
                number += 1

    def lists(self) -> dict[str, list[Any]]:
        """Return the lists from which new games draw, by argument."""
        found, first = {}, 0
        for kind, values in self.values.items():
            rates = self.win_rates[first : first + len(values)]
            weights = np.maximum(rates * (1 - rates), MIN_WEIGHT)
            repeats = np.maximum(np.round(ENTRIES_PER_VALUE * len(values) * weights / weights.sum()), 1).astype(int)
            found[kind] = [value for value, times in zip(values, repeats, strict=True) for _ in range(times)]
            first += len(values)
        return found

    def apply(self, games: BatchedGames) -> None:
        """Let new games draw from these lists."""
        if self.values:
            games.draw_from(self.lists())
