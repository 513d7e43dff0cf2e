"""What a search found as targets of learning: the policy's are the turns that it chose, the value's its mean over the dice.

Every searched position is an example, not only the ends of games: what TD-Gammon showed (Tesauro, Temporal difference learning and
TD-Gammon, CACM 1995) and Athenan (Cohen-Solal, Learning to play two-player perfect-information games without knowledge, 2020).
A mean over dice carries far less noise than an outcome.
"""

from collections.abc import Sequence

import numpy as np

from tetrarchia_agents.agent import Actions, Agent, EnvIds
from tetrarchia_env.batch import Games, Masks


class JudgedExpert(Agent):
    """An agent that searches, and what its search says that the value of each position should be."""

    def __init__(self, agent: Agent, env_ids: int) -> None:
        from tetrarchia_agents.ppo import PPOAgent  # only those who search load torch

        assert isinstance(agent, PPOAgent)
        self.agent, self.values = agent, np.zeros(env_ids, dtype=np.float32)  # of the last position in each environment

    def begin(self, env_ids: EnvIds) -> None:
        """As the agent does."""
        self.agent.begin(env_ids)

    def act(self, games: Games, masks: Masks, env_ids: EnvIds) -> Actions:
        """The next action of the turn chosen; the value to come is what that is worth but for the potential (`ShapedReward`)."""
        plans, reward = self.agent.choose_plans(games, masks, env_ids), self.agent.reward
        self.values[env_ids] = np.array([plan.value for plan in plans]) - reward.shaping_coef * reward.potential(games)
        return np.array([plan.actions[0] for plan in plans], dtype=np.int64)


def is_searching(agents: Sequence[Agent]) -> bool:
    """Whether one agent that searches by its value has all four Emperors."""
    return len({id(agent) for agent in agents}) == 1 and getattr(agents[0], "turns", 0) > 0
