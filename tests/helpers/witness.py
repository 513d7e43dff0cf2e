"""An agent that notes what it is told."""

from dataclasses import dataclass
from typing import Any

from tetrarchia_agents import Actions, Agent, EnvIds
from tetrarchia_env.batch import Games, Masks, agents_to_act


@dataclass(frozen=True)
class Witness(Agent):
    """Plays the first legal action and notes what it is told; its name has nothing to do with what it chooses."""

    name: str = ""
    notes: Any = None

    def begin(self, env_ids: EnvIds) -> None:
        if self.notes is not None:
            self.notes.append(("begin", env_ids.tolist()))

    def act(self, games: Games, masks: Masks, env_ids: EnvIds) -> Actions:
        if self.notes is not None:
            self.notes.append(("act", games.copy(), agents_to_act(games).tolist()))
        return masks.argmax(axis=1)
