"""The agent that knows nothing."""

from dataclasses import dataclass

from tetrarchia_env.agent import Actions, Agent, EnvIds
from tetrarchia_env.batch import Games, Masks, random_actions


@dataclass(frozen=True)
class RandomAgent(Agent):
    """Chooses among the legal actions, each as likely."""

    def act(self, games: Games, masks: Masks, env_ids: EnvIds) -> Actions:
        """One of the legal actions for each."""
        return random_actions(masks, games["dice"].copy())
