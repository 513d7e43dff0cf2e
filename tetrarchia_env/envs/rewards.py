"""Rewards: the built-in ones, by name, and the interface for your own.

A reward is an object with two methods. `begin(games, rows)` is called when new games have begun in these rows of `games`.
`__call__(games)` is called after each step, while finished games are still as they ended, and returns one number per game,
shape (n,), or one per Emperor, shape (n, 4):

>>> class TenForAWin:
...     def begin(self, games, rows):
...         pass
...     def __call__(self, games):
...         return (games["outcome"] == 1) * 10.0
>>> from tetrarchia_env import tetrarchia_v0
>>> env = tetrarchia_v0.vector_env(2, reward=TenForAWin())

The PettingZoo APIs give each Emperor its own reward; the APIs with one player for all four give the mean, and the four rewards in
`info["rewards"]`. With partners (argument `seat`) the learner gets the reward of its Emperor; the object is called after each
decision of a partner, too, and the amounts of games in which nothing was played are not used. A reward that is 0
before the end of a game may set the attribute `terminal_only = True`; the single-game environments then skip the calls before it.
"""

import copy
from typing import Literal, Protocol, get_args

import numpy as np
from numpy.typing import NDArray

from tetrarchia_env.batch import Games, borders
from tetrarchia_env.board import EMPERORS
from tetrarchia_env.engine._jit import jit
from tetrarchia_env.engine.rewards import outcome_reward, score_reward, title_reward
from tetrarchia_env.engine.state import OVER, RESERVE_EMPTY, ROME_FELL, WON
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.heuristic import load_weights, win_probability
from tetrarchia_env.schema import truncate_repr

Amounts = NDArray[np.float64]
Rows = slice | NDArray[np.int64]
RewardName = Literal["outcome", "score", "shaped", "glory", "borders"]
REWARDS: tuple[str, ...] = get_args(RewardName)
ALL = slice(None)


class Reward(Protocol):
    """The reward interface."""

    def begin(self, games: Games, rows: Rows) -> None:
        """Note that new games have begun in these rows of `games`."""

    def __call__(self, games: Games) -> Amounts:
        """Return the reward of the last step of each game, shape (n,), or of each Emperor, shape (n, 4)."""


class TerminalReward:
    """A reward that is 0 before the end of a game."""

    terminal_only = True

    def begin(self, games: Games, rows: Rows = ALL) -> None:
        """Do nothing: the reward depends on the final position alone."""


class OutcomeReward(TerminalReward):
    """1 when the game is won, -1 when it is lost, 0 when it is truncated."""

    def __call__(self, games: Games) -> Amounts:
        """Return the reward of each game."""
        rewards = np.zeros(len(games))
        _outcome_rewards(games, rewards)
        return rewards


class ScoreReward(TerminalReward):
    """The score (R9.3) / 10 at the end."""

    def __call__(self, games: Games) -> Amounts:
        """Return the reward of each game."""
        rewards = np.zeros(len(games))
        _score_rewards(games, rewards)
        return rewards


class GloryReward(TerminalReward):
    """The outcome, plus 1 for the Great or 0.5 for an Emperor of East or West (R10.5)."""

    def __call__(self, games: Games) -> Amounts:
        """Return the reward of each Emperor, shape (n, 4)."""
        rewards = np.zeros((len(games), len(EMPERORS)))
        _glory_rewards(games, rewards)
        return rewards


class ShapedReward:
    """The outcome plus potential-based shaping.

    Adding gamma * potential(next state) - potential(state), with potential 0 at the end, leaves the optimal policy unchanged
    for a learner whose discount per step is `gamma` (Ng, Harada and Russell, Policy invariance under reward transformations,
    ICML 1999). The potential is the win probability by the planner's evaluation (`heuristic.py`), times the difference between
    a win and a loss, times `turn_discount` for each turn. Potentials telescope: with `gamma` 1 all lost games from one position have
    the same return, so learning cannot start from a policy that never wins; see `BordersReward`.

    Args:
        gamma: the learner's discount per step
        win: the reward of a won game
        loss: the reward of a lost game
        turn_discount: multiplies the value of a win for each turn needed
        shaping_coef: multiplies the shaping; other values than 1 change the scale of the potential only
    """

    def __init__(
        self, gamma: float = 1.0, *, win: float = 1.0, loss: float = -1.0, turn_discount: float = 1.0, shaping_coef: float = 1.0
    ) -> None:
        for name, value in (("gamma", gamma), ("turn_discount", turn_discount)):
            if not 0 < value <= 1:
                raise TetrarchiaError(f"{name} must be above 0 and at most 1; got {value!r}")
        self.gamma, self.win, self.loss = gamma, win, loss
        self.turn_discount, self.shaping_coef = turn_discount, shaping_coef
        self._potentials = np.zeros(0)  # of the current positions

    def begin(self, games: Games, rows: Rows = ALL) -> None:
        """Compute the potentials of these rows."""
        if len(self._potentials) != len(games):
            self._potentials = np.zeros(len(games))
        self._potentials[rows] = self.potential(games[rows])

    def __call__(self, games: Games) -> Amounts:
        """Return the reward of each game."""
        before, self._potentials = self._potentials, self.potential(games)
        return self.terminal(games) + self.shaping_coef * (self.gamma * self._potentials - before)

    def last_step(self, games: Games, rows: NDArray[np.int64]) -> Amounts:
        """Return the reward of the last step in these rows if it had led to these positions, without the potential before it."""
        return self.terminal(games) + self.shaping_coef * self.gamma * self.potential(games)

    def terminal(self, games: Games) -> Amounts:
        """Return the reward of the end of each game; 0 before it."""
        won, outcomes = self.win * self.turn_discount ** games["turn"], games["outcome"]
        return np.where(outcomes == WON, won, self.loss * np.isin(outcomes, (ROME_FELL, RESERVE_EMPTY)))

    def potential(self, games: Games) -> Amounts:
        """Return the potential of each game; 0 when it is over."""
        probabilities = np.zeros(len(games))
        _win_probabilities(games, _WEIGHTS, probabilities)
        return (self.win - self.loss) * self.turn_discount ** games["turn"] * probabilities


class BordersReward:
    """A reward for progress, with which learning can start from random play.

    A step pays for each secured border above the largest number since the game began, and a win pays extra; both are multiplied
    by `turn_discount` for each finished turn. Losing pays 0. This is not potential-based: it changes which policy is optimal, in
    favor of securing borders early, even if that loses the game later.

    Args:
        turn_discount: multiplies the rewards for each finished turn
        border: the reward for each border above the largest number so far
        win: the additional reward of a won game

    Attributes:
        most: the largest number of borders secured at once since the beginning of each game
    """

    def __init__(self, turn_discount: float = 0.995, *, border: float = 1.0, win: float = 3.0) -> None:
        if not 0 < turn_discount <= 1:
            raise TetrarchiaError(f"turn_discount must be above 0 and at most 1; got {turn_discount!r}")
        self.turn_discount, self.border, self.win = turn_discount, border, win
        self.most = np.zeros(0, dtype=np.int64)
        self._before = self.most  # `most` before the last step

    def begin(self, games: Games, rows: Rows = ALL) -> None:
        """Count the borders that are secured from the beginning in these rows."""
        if len(self.most) != len(games):
            self.most = np.zeros(len(games), dtype=np.int64)
        self.most[rows] = borders(games[rows])

    def __call__(self, games: Games) -> Amounts:
        """Return the reward of each game."""
        self._before = self.most
        self.most = np.maximum(self.most, borders(games))
        return self.last_step(games, np.arange(len(games)))

    def last_step(self, games: Games, rows: NDArray[np.int64]) -> Amounts:
        """Return the reward of the last step in these rows if it had led to these positions."""
        gained = np.maximum(borders(games) - self._before[rows], 0)
        amounts: Amounts = self.turn_discount ** games["turn"] * (self.border * gained + self.win * (games["outcome"] == WON))
        return amounts


_WEIGHTS = load_weights()


def make_reward(reward: str | Reward, gamma: float) -> Reward:
    """Return the built-in reward of this name, or the reward object itself.

    Args:
        reward: A name in REWARDS, or an object with the methods of `Reward`.
        gamma: The discount per step of the learner, for the shaped reward; checked with every reward.

    Raises:
        TetrarchiaError: There is no such reward, the object lacks a method, or gamma is out of range.
    """
    shaped = ShapedReward(gamma)  # refuses a wrong gamma with every reward
    if isinstance(reward, str) and reward in REWARDS:
        named: dict[str, Reward] = {"outcome": OutcomeReward(), "score": ScoreReward(), "shaped": shaped, "glory": GloryReward()}
        named["borders"] = BordersReward()
        return named[reward]
    if isinstance(reward, str | type) or not (callable(reward) and callable(getattr(reward, "begin", None))):
        raise TetrarchiaError(
            f"reward must be one of {', '.join(REWARDS)}, or an object with begin(games, rows) and __call__(games); "
            f"got {truncate_repr(reward)}"
        )
    return reward


def pays_each_emperor(reward: Reward, games: Games) -> bool:
    """Return whether a reward has one number per Emperor, by asking a copy of it about games that have just begun."""
    return step_rewards(copy.deepcopy(reward), games).ndim == 2


def step_rewards(reward: Reward, games: Games) -> Amounts:
    """Return the reward of the last step of each game, shape (n,), or of each Emperor, shape (n, 4), checked."""
    amounts = reward(games)
    if np.shape(amounts) not in ((len(games),), (len(games), len(EMPERORS))):
        wanted = f"({len(games)},) or ({len(games)}, {len(EMPERORS)})"
        raise TetrarchiaError(f"reward must return an array of shape {wanted}; got shape {np.shape(amounts)}")
    return np.asarray(amounts, dtype=np.float64)


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
