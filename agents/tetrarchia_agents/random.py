"""The random agent."""

from dataclasses import dataclass

from tetrarchia_env.agent import Actions, Agent, EnvIds
from tetrarchia_env.batch import Games, Masks, random_actions


@dataclass(frozen=True)
class RandomAgent(Agent):
    """Chooses uniformly among the legal actions."""

    def act(self, games: Games, masks: Masks, env_ids: EnvIds) -> Actions:
        return random_actions(masks, games["dice"].copy())
