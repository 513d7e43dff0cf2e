"""What a step pays: the four kinds of reward by name, and any of your own as an object.

A reward is told which games begin, and is then asked after each step, before finished games are begun anew:

>>> class TenForAWin:
...     def begin(self, games, rows):
...         pass
...     def __call__(self, games):
...         return (games["outcome"] == 1) * 10.0
>>> from tetrarchia_env import tetrarchia_v0
>>> env = tetrarchia_v0.vector_env(2, reward=TenForAWin())
"""

from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from tetrarchia_env.batch import Games
from tetrarchia_env.board import EMPERORS
from tetrarchia_env.engine._jit import jit
from tetrarchia_env.engine.rewards import outcome_reward, score_reward, title_reward
from tetrarchia_env.engine.state import OVER, RESERVE_EMPTY, ROME_FELL, WON
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.heuristic import load_weights, win_probability

Amounts = NDArray[np.float64]
Rows = slice | NDArray[np.int64]
ALL = slice(None)


@runtime_checkable
class Reward(Protocol):
    """The reward that all four Emperors share."""

    def begin(self, games: Games, rows: Rows = ALL) -> None:
        """New games have begun in these rows of `games`."""
        return

    def __call__(self, games: Games) -> Amounts:
        """Of the step just played in each game; a finished game is still as it ended."""


class OutcomeReward(Reward):
    """1 to every agent when the game is won, -1 when it is lost, 0 when it is truncated."""

    def __call__(self, games: Games) -> Amounts:
        """For each game."""
        rewards = np.zeros(len(games))
        _outcome_rewards(games, rewards)
        return rewards


class ScoreReward(Reward):
    """The score (R9.3) / 10 at the end."""

    def __call__(self, games: Games) -> Amounts:
        """For each game."""
        rewards = np.zeros(len(games))
        _score_rewards(games, rewards)
        return rewards


class GloryReward(Reward):
    """The outcome, and for the single Emperor his title (R10.5); who plays all four gets the mean."""

    def __call__(self, games: Games) -> Amounts:
        """For each game, the mean of the four."""
        mean: Amounts = self.for_each(games).mean(axis=1)
        return mean

    def for_each(self, games: Games) -> Amounts:
        """[games, Emperors]."""
        rewards = np.zeros((len(games), len(EMPERORS)))
        _glory_rewards(games, rewards)
        return rewards


class ShapedReward(Reward):
    """A terminal reward and the change of a potential: potential-based shaping.

    Ng, Harada and Russell, Policy invariance under reward transformations (ICML 1999): adding gamma * potential(next state) -
    potential(state), with 0 for the end, leaves the best policy as it is for a learner whose own discount a step is
    `gamma`, and for no other. The potential is the chance to win as the planner judges it (`evaluation.py`), times what a win
    is worth more than a loss, which `turn_discount` makes less for each turn that was needed.
    """

    def __init__(
        self, gamma: float = 1.0, *, win: float = 1.0, loss: float = -1.0, turn_discount: float = 1.0, shaping_coef: float = 1.0
    ) -> None:
        for name, value in (("gamma", gamma), ("turn_discount", turn_discount)):
            if not 0 < value <= 1:
                raise TetrarchiaError(f"{name} is a number above 0 and at most 1, not {value!r}")
        self.gamma, self.win, self.loss = gamma, win, loss
        self.turn_discount, self.shaping_coef = turn_discount, shaping_coef
        self._potentials = np.zeros(0)  # of the games as they stand

    def begin(self, games: Games, rows: Rows = ALL) -> None:
        """New potentials in these rows."""
        if len(self._potentials) != len(games):
            self._potentials = np.zeros(len(games))
        self._potentials[rows] = self.potential(games[rows])

    def __call__(self, games: Games) -> Amounts:
        """For each game."""
        before, self._potentials = self._potentials, self.potential(games)
        return self.terminal(games) + self.shaping_coef * (self.gamma * self._potentials - before)

    def terminal(self, games: Games) -> Amounts:
        """What the end pays, 0 before it."""
        won, outcomes = self.win * self.turn_discount ** games["turn"], games["outcome"]
        return np.where(outcomes == WON, won, self.loss * np.isin(outcomes, (ROME_FELL, RESERVE_EMPTY)))

    def potential(self, games: Games) -> Amounts:
        """How well each game stands, 0 when it is over."""
        probabilities = np.zeros(len(games))
        _win_probabilities(games, _WEIGHTS, probabilities)
        return (self.win - self.loss) * self.turn_discount ** games["turn"] * probabilities


REWARDS = ("outcome", "score", "shaped", "glory")
_WEIGHTS = load_weights()


def make_reward(reward: Any, gamma: float) -> Reward:
    """The reward of a name, or the object given."""
    if not isinstance(reward, str):
        if isinstance(reward, Reward) and not isinstance(reward, type):
            return reward
        raise TetrarchiaError(
            f"reward is one of {', '.join(REWARDS)}, or an object with begin(games, rows) that is called with games, not {reward!r}"
        )
    if reward not in REWARDS:
        raise TetrarchiaError(f"unknown reward {reward!r}: choose one of {', '.join(REWARDS)}")
    shaped = ShapedReward(gamma)  # refuses a wrong gamma, whatever the reward
    return {"outcome": OutcomeReward(), "score": ScoreReward(), "shaped": shaped, "glory": GloryReward()}[reward]


@jit
def _outcome_rewards(games: Games, rewards: Amounts) -> None:
    for i in range(len(games)):
        rewards[i] = outcome_reward(games[i])


@jit
def _score_rewards(games: Games, rewards: Amounts) -> None:
    for i in range(len(games)):
        rewards[i] = score_reward(games[i])


@jit
def _glory_rewards(games: Games, rewards: Amounts) -> None:
    for i in range(len(games)):
        for emperor in range(4):
            rewards[i, emperor] = outcome_reward(games[i]) + title_reward(games[i], emperor)


@jit
def _win_probabilities(games: Games, weights: NDArray[np.void], probabilities: Amounts) -> None:
    for i in range(len(games)):
        probabilities[i] = 0.0 if games[i].phase == OVER else win_probability(games[i], weights[0])
