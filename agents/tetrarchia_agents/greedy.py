"""The greedy agent: a search of one action."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from tetrarchia_agents.search.beam_search import SearchBuffers, new_search_buffers
from tetrarchia_agents.search.selection import look_ahead_all
from tetrarchia_env.agent import Actions, Agent, EnvIds
from tetrarchia_env.batch import Games, Masks
from tetrarchia_env.checks import check_masks, checked_games
from tetrarchia_env.heuristic import load_weights


@dataclass(frozen=True)
class GreedyAgent(Agent):
    """Plays the action with the best resulting position by the planner's heuristic; attacks by their expected result."""

    weights: NDArray[np.void] = field(default_factory=load_weights, init=False, repr=False, compare=False)
    buffers: SearchBuffers = field(default_factory=new_search_buffers, init=False, repr=False, compare=False)

    def act(self, games: Games, masks: Masks, env_ids: EnvIds) -> Actions:
        checked_games(games)
        check_masks(masks, len(games))
        actions = np.zeros(len(games), dtype=np.int64)
        look_ahead_all(games, masks, self.buffers, self.weights, actions)
        return actions

    def weights_digest(self) -> bytes:
        """Return the heuristic's weights, for the fingerprint."""
        return self.weights.tobytes()
