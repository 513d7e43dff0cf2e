"""A control variate on chance events: rewards without the luck of the dice.

Where dice decided a step, the step is played a few more times in copies with other dice. Its reward is then corrected by the
mean value of all these positions less the value of the one that came. The correction is 0 in the mean, so what is learned stays
the same, with less variance. AIVAT (Burch, Schmid, Moravcik, Morrill and Bowling, AIVAT: A new variance reduction technique for
agent evaluation in imperfect information games, AAAI 2018) corrects what agents are measured by in this way; here it is what they
learn from.
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
ValueFn = Callable[[Floats], Floats]  # a value for each observation
OTHER_DICE = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True)
class ControlVariate:
    """Of the rewards of batched games, for a learner that does not discount steps (gamma 1)."""

    batched: BatchedGames
    reward: ShapedReward  # theirs
    samples: int  # copies of a step; 0: rewards stay as they are
    value_fn: ValueFn

    def corrections(self, before: batch.Games, actions: Actions) -> Amounts:
        """What to add to the rewards of the step just played from `before`: 0 where no dice were rolled."""
        corrections = np.zeros(len(before))
        rolled = np.flatnonzero(self.batched.games["dice"] != before["dice"])
        if self.samples and len(rolled):
            values = self._values(rolled, resample_chance(before[rolled], actions[rolled], self.samples))
            came, others = values[: len(rolled)], values[len(rolled) :].reshape(len(rolled), -1)
            corrections[rolled] = (came + others.sum(axis=1)) / (1 + self.samples) - came
        return corrections

    def _values(self, rolled: batch.Rows, copies: batch.Games) -> Amounts:
        """Of the positions that came in these rows, then of the copies; all in one call of the network."""
        came, reward = self.batched, self.reward
        return position_values(
            np.concatenate([came.obs[rolled], batch.observe(copies)]),
            reward.shaping_coef * np.concatenate([reward.potential(came.games[rolled]), reward.potential(copies)]),
            np.concatenate([reward.terminal(came.episodes[rolled]), reward.terminal(copies)]),
            np.concatenate([came.episodes["ended"][rolled] != 0, batch.is_over(copies)]),
            self.value_fn,
        )


def resample_chance(before: batch.Games, actions: Actions, samples: int) -> batch.Games:
    """Each game so many times after its action, each time by other dice; all of one game stand together."""
    others = before["dice"][:, np.newaxis] + OTHER_DICE * np.arange(1, samples + 1, dtype=np.uint64)
    return play_again(before, actions, batch.rng_states(others.ravel()).reshape(others.shape))


def position_values(obs: Floats, potentials: Amounts, terminal: Amounts, over: NDArray[np.bool_], value_fn: ValueFn) -> Amounts:
    """What positions are worth to a learner: the terminal reward of a finished game, else the potential and the value to come."""
    values, running = terminal.copy(), ~over
    if running.any():
        values[running] = potentials[running] + value_fn(obs[running])
    return values
