"""The agent that plans its turn to the end, and what the Barbarians will make of it."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from agents.agent import Actions, Agent, Lanes
from agents.search.choosing import plan_all
from agents.search.evaluation import load_weights, weights_of
from agents.search.turn_plan import WIDEST, Desk, Width, new_desk
from tetrarchia_env.batch import Games, Masks

SEARCH = Path(__file__).parent / "search"


@dataclass(frozen=True)
class PlannerAgent(Agent):
    """Beam search over the turn; attacks by their exact odds, its ends by the 36 strikes of the Barbarian phase."""

    beam: int = 32  # positions kept after each action
    ends: int = 16  # ends of the turn that the Barbarian phase is looked at for
    attacks: int = 4  # attacks after which the turn is planned anew
    weights: NDArray[np.void] = field(default_factory=load_weights, init=False, repr=False, compare=False)
    desks: tuple[Desk, Desk] = field(default_factory=lambda: (new_desk(), new_desk()), init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        for option in ("beam", "ends", "attacks"):
            if not 1 <= getattr(self, option) <= WIDEST:
                raise ValueError(f"planner:{option} is from 1 to {WIDEST}, not {getattr(self, option)}")

    @classmethod
    def with_weights(cls, weights: NDArray[np.float64]) -> "PlannerAgent":
        """One that judges positions by other weights than those kept."""
        agent = cls()
        object.__setattr__(agent, "weights", weights_of(weights))
        return agent

    def act(self, games: Games, masks: Masks, lanes: Lanes) -> Actions:
        """The first action of the best plan in each game."""
        actions = np.zeros(len(games), dtype=np.int64)
        width = Width(self.beam, self.ends, self.attacks)
        plan_all(games, masks, *self.desks, width, self.weights, actions)
        return actions

    def made_of(self) -> Iterator[Path]:
        """Code and weights of the search."""
        return search_files()


def search_files() -> Iterator[Path]:
    """What turns are planned and positions are judged with; the tree's folder is another agent's."""
    return (file for file in SEARCH.iterdir() if file.suffix in (".py", ".toml"))
