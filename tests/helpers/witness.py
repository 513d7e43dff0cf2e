"""An agent that records its calls."""

from dataclasses import dataclass
from typing import Any

from tetrarchia_agents import Actions, Agent, EnvIds
from tetrarchia_env.batch import Games, Masks, agents_to_act


@dataclass(frozen=True)
class Witness(Agent):
    """Agent that plays the first legal action and records its calls; its name does not affect its choices."""

    name: str = ""
    notes: Any = None

    def begin(self, env_ids: EnvIds) -> None:
        if self.notes is not None:
            self.notes.append(("begin", env_ids.tolist()))

    def act(self, games: Games, masks: Masks, env_ids: EnvIds) -> Actions:
        if self.notes is not None:
            self.notes.append(("act", games.copy(), agents_to_act(games).tolist()))
        return masks.argmax(axis=1)
