"""A shorter end-game, for libraries with only a few hundred steps per second: four borders are left, and an Emperor stands before each.

A border secured pays all four at once, so a few thousand decisions are enough. Random play wins none of 500 games.
"""

from typing import Any

import numpy as np
from end_game import LEVEL, FromEndGame
from numpy.typing import NDArray

from tetrarchia_env import Game, env
from tetrarchia_env.batch import borders
from tetrarchia_env.envs.rewards import ALL, Reward, Rows

POSITION = {
    "phase": "roman",
    "tokens": {"SARMATIA": "galerius", "LIBYA": "diocletian"},
    "emperors": {"diocletian": "SYRIA", "galerius": "NORICVM", "constantius": "BELGICA", "maximian": "TINGITANA"},
    "supply": {"diocletian": 4, "galerius": 4, "constantius": 5, "maximian": 5},
    "reserve": {"unrest": 21, "revolt": 21, "armies": 3},
}
RULES = {"level": LEVEL, "max_turns": 8}  # two turns each: short games, so that most decisions are about the borders
FOUR_BORDERS = Game(seed=0, **RULES).snapshot() | POSITION  # for vector_env(initial_states=[FOUR_BORDERS])


class FromFourBorders(FromEndGame):
    """An AEC environment whose games begin there."""

    position = POSITION


class BorderReward(Reward):
    """1 for a border secured, -1 for one lost."""

    def __init__(self) -> None:
        self._borders = np.zeros(0, dtype=np.int64)

    def begin(self, games: Any, rows: Rows = ALL) -> None:
        """What these games begin with is not paid for."""
        if len(self._borders) != len(games):
            self._borders = borders(games)
        self._borders[rows] = borders(games[rows])

    def __call__(self, games: Any) -> NDArray[np.float64]:
        """For each game."""
        before, self._borders = self._borders, borders(games)
        return (self._borders - before).astype(np.float64)


class Recorded(Reward):
    """A reward that adds up all it gave, to compare with what a library learns from."""

    def __init__(self, reward: Reward) -> None:
        self.reward, self.given = reward, 0.0

    def begin(self, games: Any, rows: Rows = ALL) -> None:
        """As the reward does."""
        self.reward.begin(games, rows)

    def __call__(self, games: Any) -> NDArray[np.float64]:
        """For each game."""
        amounts = self.reward(games)
        self.given += float(amounts.sum())
        return amounts


def four_borders_env(**arguments: Any) -> FromFourBorders:
    """The AEC environment with that start and that reward."""
    return FromFourBorders(env(**RULES, reward=BorderReward(), **arguments))
