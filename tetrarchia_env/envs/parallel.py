"""The PettingZoo parallel API: all four agents choose at every step, and only the acting agent's action is used."""

from typing import Any

from pettingzoo.utils.conversions import turn_based_aec_to_parallel_wrapper

from tetrarchia_env.engine.actions import END
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.schema import truncate_repr

ByAgent = dict[str, Any]


class TetrarchiaParallel(turn_based_aec_to_parallel_wrapper):
    """PettingZoo's conversion, with one legal id, 0, for each idle agent, so that libraries can sample for every agent.

    The action of an idle agent is ignored. `info["agent"]` is the index of the agent to act.
    """

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[ByAgent, ByAgent]:
        """Begin a new game, as in the AEC API."""
        return _fill_masks(*super().reset(seed=seed, options=options))

    def step(self, actions: ByAgent) -> tuple[ByAgent, ByAgent, ByAgent, ByAgent, ByAgent]:
        """Play the action of the agent to act."""
        if not self.agents:
            return {}, {}, {}, {}, {}
        to_act = self.aec_env.agent_selection
        if to_act not in actions:
            raise TetrarchiaError(f"actions must contain the acting agent, {to_act}; got {truncate_repr(list(actions))}")
        observations, rewards, terminations, truncations, infos = super().step(actions)
        observations, infos = _fill_masks(observations, infos)
        return observations, rewards, terminations, truncations, infos


def _fill_masks(observations: ByAgent, infos: ByAgent) -> tuple[ByAgent, ByAgent]:
    """Return observations and copies of the infos in which each empty mask has the legal id `end`."""
    infos = {agent: {key: value for key, value in info.items() if key != "active_agent"} for agent, info in infos.items()}
    for agent, obs in observations.items():
        holder = obs if isinstance(obs, dict) else infos[agent]
        if not holder["action_mask"].any():
            holder["action_mask"] = holder["action_mask"].copy()
            holder["action_mask"][END] = 1
    return observations, infos
