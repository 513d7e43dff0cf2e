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
from tetrarchia_env.envs.rewards import BordersReward, ShapedReward
from tetrarchia_env.local_view import LocalViews

Floats = NDArray[np.float32]
Amounts = NDArray[np.float64]
Actions = NDArray[np.int64]
ValueFn = Callable[[batch.Games, Floats], Floats]  # positions and observations to values
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
    reward: ShapedReward | BordersReward
    samples: int
    value_fn: ValueFn

    def corrections(self, before: batch.Games, actions: Actions, after: batch.Games, views: LocalViews | None = None) -> Amounts:
        """Return the corrections to add to the rewards of the last step.

        Args:
            before: The games before the step.
            actions: The action of each game.
            after: The games after the step, finished ones as they ended.
            views: The local views before the step; None with full observations.

        Returns:
            One correction per game; 0 if the step rolled no dice.
        """
        corrections = np.zeros(len(before))
        rolled = np.flatnonzero(self.batched.games["dice"] != before["dice"])
        if not self.samples or not len(rolled):
            return corrections
        repeated = np.repeat(rolled, self.samples)
        copies = resample_chance(before[rolled], actions[rolled], self.samples, self.batched.local_options.message_tokens)
        positions = np.concatenate([after[rolled], copies])
        if views is None:
            copies_obs = batch.observe(copies)
        else:
            views = views.select(repeated)
            views.say(before[repeated], np.arange(len(copies)), actions[repeated])
            views.update(copies)
            copies_obs = views.observe(copies, batch.agents_to_act(copies))
        obs = np.concatenate([self.batched.obs[rolled], copies_obs])
        values = self.reward.last_step(positions, np.concatenate([rolled, repeated]))
        running = ~batch.is_over(positions)
        if running.any():
            values[running] += self.value_fn(positions[running], obs[running])
        actual, others = values[: len(rolled)], values[len(rolled) :].reshape(len(rolled), -1)
        corrections[rolled] = (actual + others.sum(axis=1)) / (1 + self.samples) - actual
        return corrections


def resample_chance(before: batch.Games, actions: Actions, samples: int, message_tokens: int = 0) -> batch.Games:
    """Return each game after its action, `samples` times with other dice; the copies of one game are adjacent."""
    others = before["dice"][:, np.newaxis] + DICE_STRIDE * np.arange(1, samples + 1, dtype=np.uint64)
    return play_again(before, actions, batch.rng_states(others.ravel()).reshape(others.shape), message_tokens)
