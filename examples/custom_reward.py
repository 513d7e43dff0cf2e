"""A custom reward for many games at once: every step that makes the Empire more peaceful is rewarded. Takes seconds.

The reward is potential-based shaping with a custom potential. The potential of a finished game is 0, so the shaping terms of a complete
game have the same sum however it is played (for a learner with the same `gamma`), and the optimal policy does not change. Any callable
object with a method `begin(games, rows)` can be used as a reward, but other rewards may have another optimal policy.
"""

from collections import defaultdict

import numpy as np

from tetrarchia_env import vector_env
from tetrarchia_env.batch import is_over, observe
from tetrarchia_env.envs.rewards import ShapedReward
from tetrarchia_env.notation import action_text
from tetrarchia_env.observation import OBSERVATION

WEIGHTS = {"revolt": -0.03, "unrest": -0.01, "army_nearness": -0.1}  # per piece; the weight of an army grows as it approaches ROMA


class PeaceReward(ShapedReward):
    """Reward of 1 for a win and -1 for a loss, plus the change of the potential at every step."""

    def potential(self, games):
        """Return how peaceful each game is, computed from the named parts of the observation."""
        parts = observe(games).view(OBSERVATION)[:, 0]
        peace = sum(weight * parts[name].sum(axis=(1, 2), dtype=np.float64) for name, weight in WEIGHTS.items())
        return np.where(is_over(games), 0, peace)


envs = vector_env(256, level="4200", reward=PeaceReward(gamma=1), autoreset_mode="SameStep")
rng = np.random.default_rng(0)
earned = defaultdict(list)
obs, _ = envs.reset(seed=0)
for _ in range(400):
    actions = (rng.random(obs["action_mask"].shape) * obs["action_mask"]).argmax(axis=1)
    obs, rewards, *_ = envs.step(actions)
    for action, reward in zip(actions, rewards, strict=True):
        earned[action_text(action).split()[0]].append(reward)

print("What random play earns with each kind of action, the Barbarian phase included if it ends the turn:")
for kind, some in sorted(earned.items(), key=lambda row: -np.mean(row[1])):
    print(f"  {kind:8}{np.mean(some):+.3f} in the mean, {min(some):+.2f} to {max(some):+.2f}, {len(some):6,} times")
