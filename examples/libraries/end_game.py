"""An end-game that the examples of this folder learn within a minute, and a function that measures their win rate.

The position is the start of an easy game without Revolts in which all borders except SARMATIA are secured. Random play wins one game in
eleven.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from pettingzoo.utils import BaseWrapper

from tetrarchia_env import Game, vector_env
from tetrarchia_env.constants import OUTCOMES
from tetrarchia_eval.statistics import wilson

LEVEL = "5000"
HELD = {
    "GAETVLIA": "maximian",
    "BRITANNIA": "constantius",
    "GERMANIA MAGNA": "galerius",
    "PERSIA": "diocletian",
    "LIBYA": "diocletian",
}
TOKENS = {"tokens": HELD, "supply": {"diocletian": 3, "galerius": 4, "constantius": 4, "maximian": 4}}
END_GAME = Game(level=LEVEL, seed=0).snapshot() | TOKENS  # for vector_env(initial_states=[END_GAME])

Ints = NDArray[np.int64]
Policy = Callable[[NDArray[np.float32], NDArray[np.int8], Ints], Ints]  # from observations, masks and acting agents to actions


class FromEndGame(BaseWrapper):
    """An AEC environment whose games begin at the end-game; the seed determines the dice."""

    position = TOKENS

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Start a new game."""
        super().reset(seed, options)
        self.unwrapped.restore(self.unwrapped.snapshot() | self.position)


@dataclass
class Counts:
    """Counts of the steps that an example learned from; illegal, fake and lost must be 0."""

    steps: int = 0  # decisions that were learned from
    illegal: int = 0  # actions outside the mask
    fake: int = 0  # steps of an agent without a decision
    given: float = 0.0  # rewards of the environment, for all learning agents
    learned: float = 0.0  # the same rewards as received by the learner

    def __str__(self) -> str:
        lost = abs(self.given - self.learned) > 1e-4 * max(1.0, abs(self.given))  # tolerance for float32
        return f"illegal actions: {self.illegal}, fake transitions: {self.fake}, lost rewards: {self.given - self.learned if lost else 0:g}"


def best(*logits: Callable[[torch.Tensor], torch.Tensor]) -> Policy:
    """Return a policy that plays the legal action with the highest logit; pass one network for all agents or one per agent."""

    @torch.no_grad()
    def choose(obs: NDArray[np.float32], masks: NDArray[np.int8], agents: Ints) -> Ints:
        numbers = torch.stack([one(torch.from_numpy(obs)) for one in logits]).numpy()
        own = numbers[agents % len(logits), np.arange(len(obs))]
        return np.where(masks[:, : own.shape[1]], own, -np.inf).argmax(axis=1)

    return choose


def random_policy(seed: int = 0) -> Policy:
    """Return a policy that plays random legal actions."""
    rng = np.random.default_rng(seed)
    return lambda obs, masks, agents: np.where(masks, rng.random(masks.shape), -1).argmax(axis=1)


def measure(policy: Policy, games: int = 500, **rules: Any) -> str:
    """Return the win rate of a policy in the first game of every environment; counting all games would favor short ones.

    The seeds differ from those of training. `rules` are arguments of `vector_env` that replace the end-game.
    """
    envs = vector_env(games, **(rules or {"initial_states": [END_GAME]}))
    obs, infos = envs.reset(seed=1_000_000)
    outcomes, running = np.zeros(games, dtype=np.int64), np.ones(games, dtype=bool)
    while running.any():
        obs, _, terminated, truncated, infos = envs.step(policy(obs["observation"], obs["action_mask"], infos["agent"]))
        outcomes[running] = infos["outcome"][running]
        running &= ~(terminated | truncated)
    rate = wilson(int((outcomes == OUTCOMES.index("won")).sum()), games)
    return f"wins {rate.value:.1%} ({rate.low:.1%} to {rate.high:.1%}) of {games} games"
