"""The random agent."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tetrarchia_env.agent import Actions, Agent, EnvIds, RngStates
from tetrarchia_env.batch import Masks, random_actions


@dataclass
class RandomAgent(Agent):
    """Chooses uniformly among the legal actions. `act` also accepts games, so that other agents can call it with theirs."""

    needs = "observations"
    _rngs: RngStates = field(default_factory=lambda: np.zeros(0, dtype=np.uint64), init=False, repr=False, compare=False)

    def set_rngs(self, rngs: RngStates) -> None:
        self._rngs = rngs

    def act(self, inputs: NDArray[Any], masks: Masks, env_ids: EnvIds, /) -> Actions:
        return random_actions(masks, inputs["dice"].copy() if inputs.dtype.names else self._rngs)
