"""What a search found as targets of learning: the policy's are the turns that it liked, the value's its mean over the dice.

Every searched position is an example, not only the ends of games: what TD-Gammon showed (Tesauro, Temporal difference learning and
TD-Gammon, CACM 1995) and Athenan (Cohen-Solal, Learning to play two-player perfect-information games without knowledge, 2020).
A mean over dice carries far less noise than an outcome, and turns that are worth nearly the same are taught as such
(`Plan.improved_policy`).
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tetrarchia_env.agent import Actions, Agent, EnvIds
from tetrarchia_env.batch import Games, Masks
from tetrarchia_env.errors import TetrarchiaError

WIDTH = 8  # actions of a position that are kept, the likeliest
TARGET = np.dtype([("value", np.float32), ("actions", np.int64, (WIDTH,)), ("probabilities", np.float32, (WIDTH,))])
Targets = NDArray[Any]  # a TARGET for each position, or none at all
NO_TARGETS: Targets = np.zeros(0, dtype=TARGET)


class JudgedExpert(Agent):
    """An agent that searches, and what its search says of each position: its value, and how likely actions should be."""

    def __init__(self, agent: Agent, env_ids: int, temperature: float) -> None:
        from tetrarchia_agents.ppo import PPOAgent  # only those who search load torch

        assert isinstance(agent, PPOAgent)
        self.agent, self.temperature = agent, temperature
        self.targets: Targets = np.zeros(env_ids, dtype=TARGET)  # of the last position in each environment

    def begin(self, env_ids: EnvIds) -> None:
        """As the agent does."""
        self.agent.begin(env_ids)

    def act(self, games: Games, masks: Masks, env_ids: EnvIds) -> Actions:
        """The next action of the turn chosen; the value to come is what that is worth but for the potential (`ShapedReward`)."""
        plans, reward = self.agent.choose_plans(games, masks, env_ids), self.agent.reward
        targets = np.zeros(len(games), dtype=TARGET)
        targets["value"] = np.array([plan.value for plan in plans]) - reward.shaping_coef * reward.potential(games)
        for target, plan in zip(targets, plans, strict=True):
            _teach(target, *plan.improved_policy(self.temperature))
        self.targets[env_ids] = targets
        return np.array([plan.actions[0] for plan in plans], dtype=np.int64)


def _teach(target: Any, actions: Sequence[int], probabilities: NDArray[np.float64]) -> None:
    """Put the likeliest of these actions into a record."""
    kept = np.argsort(-probabilities, kind="stable")[:WIDTH]
    target["actions"][: len(kept)] = np.asarray(actions)[kept]
    target["probabilities"][: len(kept)] = probabilities[kept] / probabilities[kept].sum()


def check_targets(targets: Targets, positions: int, num_actions: int) -> None:
    """ValueError if they are not one for each position, of actions below this number."""
    if len(targets) not in (0, positions) or not np.isfinite(targets["value"]).all():
        raise TetrarchiaError(f"{len(targets)} values are not one, a finite number, for each of {positions} positions")
    probabilities = targets["probabilities"]
    if not ((probabilities >= 0).all() and np.allclose(probabilities.sum(axis=1), 1, atol=1e-4)):
        raise TetrarchiaError("the probabilities of a position are not from 0 on with a sum of 1")
    unknown = targets["actions"][(targets["actions"] < 0) | (targets["actions"] >= num_actions)]
    if len(unknown):  # those of probability 0 are looked up, too
        raise TetrarchiaError(f"actions are from 0 to {num_actions - 1} here, not {unknown[0]}")


def is_searching(agents: Sequence[Agent]) -> bool:
    """Whether one agent that searches by its value has all four Emperors."""
    return len({id(agent) for agent in agents}) == 1 and getattr(agents[0], "candidates", 0) > 0
