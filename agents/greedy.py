"""The agent that looks one action ahead."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from agents.agent import Actions, Agent, Lanes
from agents.planner import search_files
from agents.search.choosing import look_ahead_all
from agents.search.evaluation import load_weights
from agents.search.turn_plan import Desk, new_desk
from tetrarchia_env.batch import Games, Masks


@dataclass(frozen=True)
class GreedyAgent(Agent):
    """Does what makes the position best, as the planner judges positions; an attack by the mean of its results."""

    weights: NDArray[np.void] = field(default_factory=load_weights, init=False, repr=False, compare=False)
    desk: Desk = field(default_factory=new_desk, init=False, repr=False, compare=False)

    def act(self, games: Games, masks: Masks, lanes: Lanes) -> Actions:
        """The best next position in each game."""
        actions = np.zeros(len(games), dtype=np.int64)
        look_ahead_all(games, masks, self.desk, self.weights, actions)
        return actions

    def made_of(self) -> Iterator[Path]:
        """As the planner."""
        return search_files()
