"""The planner: a beam search over its own turn, evaluated after the Barbarian phase."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from tetrarchia_agents.search.beam_search import MAX_BEAM, SearchBuffers, Width, new_search_buffers
from tetrarchia_agents.search.selection import plan_all
from tetrarchia_env.agent import Actions, Agent, EnvIds
from tetrarchia_env.batch import Games, Masks
from tetrarchia_env.checks import check_masks, checked_games
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.heuristic import load_weights, weights_of


@dataclass(frozen=True)
class PlannerAgent(Agent):
    """Plays the first action of the best turn found by beam search.

    Attacks are evaluated by their exact odds, turn endings by the mean over the 36 strikes of the Barbarian phase.
    """

    beam: int = 32  # positions kept after each action
    ends: int = 16  # turn endings evaluated over the Barbarian phase
    attacks: int = 4  # attacks whose results are planned further
    weights: NDArray[np.void] = field(default_factory=load_weights, init=False, repr=False, compare=False)
    buffers: tuple[SearchBuffers, SearchBuffers] = field(
        default_factory=lambda: (new_search_buffers(), new_search_buffers()), init=False, repr=False, compare=False
    )

    def __post_init__(self) -> None:
        for option in ("beam", "ends", "attacks"):
            if not 1 <= getattr(self, option) <= MAX_BEAM:
                raise TetrarchiaError(f"planner:{option} must be from 1 to {MAX_BEAM}; got {getattr(self, option)}")

    @classmethod
    def with_weights(cls, weights: NDArray[np.float64]) -> "PlannerAgent":
        """Return a planner whose heuristic has other weights."""
        agent = cls()
        object.__setattr__(agent, "weights", weights_of(weights))
        return agent

    def act(self, games: Games, masks: Masks, env_ids: EnvIds) -> Actions:
        checked_games(games)
        check_masks(masks, len(games))
        actions = np.zeros(len(games), dtype=np.int64)
        width = Width(self.beam, self.ends, self.attacks)
        plan_all(games, masks, *self.buffers, width, self.weights, actions)
        return actions

    def weights_digest(self) -> bytes:
        """Return the heuristic's weights, for the fingerprint."""
        return self.weights.tobytes()
