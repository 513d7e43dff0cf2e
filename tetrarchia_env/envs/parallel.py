"""The PettingZoo parallel API: all four agents choose at every step, and only the one to act is listened to."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from pettingzoo.utils.conversions import turn_based_aec_to_parallel_wrapper

from tetrarchia_env.engine.actions import END
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.schema import truncate_repr

ByAgent = dict[str, Any]


class TetrarchiaParallel(turn_based_aec_to_parallel_wrapper):
    """PettingZoo's conversion, but libraries may sample for every agent: whoever has nothing to decide has one legal id, `end`.

    What an idle agent chooses is ignored. `info["agent"]` is the number of the agent to act: his transition is the real one.
    """

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[ByAgent, ByAgent]:
        """A new game, as in the AEC API."""
        return _never_empty(*super().reset(seed=seed, options=options))

    def step(self, actions: ByAgent) -> tuple[ByAgent, ByAgent, ByAgent, ByAgent, ByAgent]:
        """The action of the agent to act."""
        if not self.agents:
            return {}, {}, {}, {}, {}
        to_act = self.aec_env.agent_selection
        if to_act not in actions:
            raise TetrarchiaError(f"an action of {to_act}, who is to act, is wanted, not only those of {truncate_repr(list(actions))}")
        observations, rewards, terminations, truncations, infos = super().step(actions)
        observations, infos = _never_empty(observations, infos)
        return observations, rewards, terminations, truncations, infos


def _never_empty(observations: ByAgent, infos: ByAgent) -> tuple[ByAgent, ByAgent]:
    """Observations and infos with masks that nobody fails to sample from; infos are ours to change, those of the AEC API are not."""
    told = {agent: {key: value for key, value in info.items() if key != "active_agent"} for agent, info in infos.items()}
    for agent, obs in observations.items():
        holder = obs if isinstance(obs, dict) else told[agent]
        holder["action_mask"] = _with_one(holder["action_mask"])
    return observations, told


def _with_one(mask: NDArray[np.int8]) -> NDArray[np.int8]:
    if mask.any():
        return mask
    only = mask.copy()
    only[END] = 1
    return only
