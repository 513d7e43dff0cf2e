"""What an agent is."""

from typing import Protocol

from tetrarchia_env.batch import Games, Masks


class Agent(Protocol):
    """Chooses for the Emperors it is given."""

    def act(self, game: Games, mask: Masks) -> int:
        """The id of a legal action: `game` is an array of one, `mask` its row of legal actions."""
