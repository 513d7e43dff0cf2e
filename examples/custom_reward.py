"""A reward of your own for many games at once: what makes the Empire more peaceful is rewarded at once. Takes seconds.

A finished game is worth 0, so over a whole game the changes add up to the same however it is played (without a discount):
the best policy stays the best. A reward without that property may teach something else than to win.
"""

from collections import defaultdict
from typing import Any

import numpy as np
from gymnasium.vector import VectorWrapper
from numpy.typing import NDArray

from tetrarchia_env import tetrarchia_v0
from tetrarchia_env.notation import action_text
from tetrarchia_env.observation import OBSERVATION

WORTH = {"revolt": -0.03, "unrest": -0.01, "army_nearness": -0.1}  # of each piece; an army's grows on its way to ROMA


class Peace(VectorWrapper):
    """Adds to each reward how much more peaceful the game has become."""

    def reset(self, **arguments: Any) -> tuple[Any, dict[str, Any]]:
        """New games."""
        seen, infos = self.env.reset(**arguments)
        self.peace = self.measure(seen)
        return seen, infos

    def step(self, actions: NDArray[np.int64]) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """One action in each game; where it ends, `seen` is already of the next one."""
        seen, rewards, terminated, truncated, infos = self.env.step(actions)
        before, self.peace = self.peace, self.measure(seen)
        after = np.where(terminated | truncated, 0.0, self.peace)
        return seen, rewards + after - before, terminated, truncated, infos

    def measure(self, seen: dict[str, NDArray[Any]]) -> NDArray[np.float64]:
        """The worth of each position, from the named parts of the observation."""
        parts = seen["observation"].view(OBSERVATION)[:, 0]
        return sum(worth * parts[name].sum(axis=(1, 2), dtype=np.float64) for name, worth in WORTH.items())


env, chance = Peace(tetrarchia_v0.vector_env(256, level="4200")), np.random.default_rng(0)
earned: dict[str, list[float]] = defaultdict(list)
seen, _ = env.reset(seed=0)
for _ in range(400):
    actions = (chance.random(seen["action_mask"].shape) * seen["action_mask"]).argmax(axis=1)
    seen, rewards, *_ = env.step(actions)
    for action, reward in zip(actions, rewards, strict=True):
        earned[action_text(action).split()[0]].append(reward)

print("What random play earns with each kind of action, the Barbarian phase included if it ends the turn:")
for kind, some in sorted(earned.items(), key=lambda row: -np.mean(row[1])):
    print(f"  {kind:8}{np.mean(some):+.3f} in the mean, {min(some):+.2f} to {max(some):+.2f}, {len(some):6,} times")
