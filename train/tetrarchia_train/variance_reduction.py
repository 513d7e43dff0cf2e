"""A control variate on chance events: it removes the luck of the dice from rewards.

If a step rolled dice, it is replayed a few times in copies with other dice. The reward is then corrected by the mean value of all these
positions minus the value of the actual one. The correction has mean 0, so the expected return stays the same, with less variance.
AIVAT (Burch, Schmid, Moravcik, Morrill and Bowling, AIVAT: A new variance reduction technique for agent evaluation in imperfect
information games, AAAI 2018) corrects evaluations in this way; here the corrected rewards are used for learning.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tetrarchia_agents.chance_samples import play_again
from tetrarchia_env import batch
from tetrarchia_env.envs.batched_games import BatchedGames
from tetrarchia_env.envs.rewards import ShapedReward

Floats = NDArray[np.float32]
Amounts = NDArray[np.float64]
Actions = NDArray[np.int64]
ValueFn = Callable[[Floats], Floats]  # observations to values
DICE_STRIDE = np.uint64(0x9E3779B97F4A7C15)  # between the RNG states of the copies


@dataclass(frozen=True)
class ControlVariate:
    """The control variate of batched games, for a learner that does not discount steps (gamma 1).

    Attributes:
        batched: The games.
        reward: Their reward.
        samples: Copies per step; 0 disables the correction.
        value_fn: The critic.
    """

    batched: BatchedGames
    reward: ShapedReward
    samples: int
    value_fn: ValueFn

    def corrections(self, before: batch.Games, actions: Actions) -> Amounts:
        """Return the corrections to add to the rewards of the last step.

        Args:
            before: The games before the step.
            actions: The action of each game.

        Returns:
            One correction per game; 0 if the step rolled no dice.
        """
        corrections = np.zeros(len(before))
        rolled = np.flatnonzero(self.batched.games["dice"] != before["dice"])
        if not self.samples or not len(rolled):
            return corrections
        games, reward = self.batched, self.reward
        copies = resample_chance(before[rolled], actions[rolled], self.samples)
        values = position_values(
            np.concatenate([games.obs[rolled], batch.observe(copies)]),
            reward.shaping_coef * np.concatenate([reward.potential(games.games[rolled]), reward.potential(copies)]),
            np.concatenate([reward.terminal(games.episodes[rolled]), reward.terminal(copies)]),
            np.concatenate([games.episodes["ended"][rolled] != 0, batch.is_over(copies)]),
            self.value_fn,
        )
        actual, others = values[: len(rolled)], values[len(rolled) :].reshape(len(rolled), -1)
        corrections[rolled] = (actual + others.sum(axis=1)) / (1 + self.samples) - actual
        return corrections


def resample_chance(before: batch.Games, actions: Actions, samples: int) -> batch.Games:
    """Return each game after its action, `samples` times with other dice; the copies of one game are adjacent."""
    others = before["dice"][:, np.newaxis] + DICE_STRIDE * np.arange(1, samples + 1, dtype=np.uint64)
    return play_again(before, actions, batch.rng_states(others.ravel()).reshape(others.shape))


def position_values(obs: Floats, potentials: Amounts, terminal: Amounts, over: NDArray[np.bool_], value_fn: ValueFn) -> Amounts:
    """Return the value of each position: the terminal reward of a finished game, else the potential plus the critic's value."""
    values, running = terminal.copy(), ~over
    if running.any():
        values[running] = potentials[running] + value_fn(obs[running])
    return values
