"""The agent that knows nothing."""

from dataclasses import dataclass

from agents.agent import Actions, Agent, Lanes
from tetrarchia_env.batch import Games, Masks, random_actions


@dataclass(frozen=True)
class RandomAgent(Agent):
    """Chooses among the legal actions, each as likely."""

    def act(self, games: Games, masks: Masks, lanes: Lanes) -> Actions:
        """One of the legal actions for each."""
        return random_actions(masks, games["dice"].copy())
