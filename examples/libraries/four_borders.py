"""A shorter end-game for libraries that play only a few hundred steps per second: four borders are left, with an Emperor next to each.

Securing a border immediately rewards all four agents, so a few thousand decisions are enough. Random play wins none of 500 games.
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
RULES = {"level": LEVEL, "max_turns": 8}  # two turns per Emperor, so that most decisions concern the borders
FOUR_BORDERS = Game(seed=0, **RULES).snapshot() | POSITION  # for vector_env(initial_states=[FOUR_BORDERS])


class FromFourBorders(FromEndGame):
    """AEC environment whose games begin at the position with four borders left."""

    position = POSITION


class BorderReward(Reward):
    """Reward of 1 for each secured border and -1 for each lost border."""

    def __init__(self) -> None:
        self._borders = np.zeros(0, dtype=np.int64)

    def begin(self, games: Any, rows: Rows = ALL) -> None:
        """Record the borders that are secured at the start; they are not rewarded."""
        if len(self._borders) != len(games):
            self._borders = borders(games)
        self._borders[rows] = borders(games[rows])

    def __call__(self, games: Any) -> NDArray[np.float64]:
        """Return the reward of each game."""
        before, self._borders = self._borders, borders(games)
        return (self._borders - before).astype(np.float64)


class Recorded(Reward):
    """Reward that also sums all rewards, for comparison with the rewards that a library learns from."""

    def __init__(self, reward: Reward) -> None:
        self.reward, self.given = reward, 0.0

    def begin(self, games: Any, rows: Rows = ALL) -> None:
        self.reward.begin(games, rows)

    def __call__(self, games: Any) -> NDArray[np.float64]:
        """Return the reward of each game."""
        amounts = self.reward(games)
        self.given += float(amounts.sum())
        return amounts


def four_borders_env(**arguments: Any) -> FromFourBorders:
    """Return the AEC environment with this initial position and reward."""
    return FromFourBorders(env(**RULES, reward=BorderReward(), **arguments))
