"""What an agent is, and what every agent is given."""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from tetrarchia_env.batch import Games, Masks
from tetrarchia_env.checks import check_masks, checked_games

Actions = NDArray[np.int64]
EnvIds = NDArray[np.int64]


class Agent(Protocol):
    """Chooses for the Emperors it is given, in as many games at once as there are.

    The games are copies, each with a new RNG state: nobody sees the dice to come. An agent may play on in its copies
    and take the chance it needs from their states (`games["dice"]`); so the same states always give the same choices.
    """

    def begin(self, env_ids: EnvIds) -> None:
        """New games begin in these env_ids: forget the old ones. An agent without a memory need not write this."""
        return

    def act(self, games: Games, masks: Masks, env_ids: EnvIds) -> Actions:
        """The id of a legal action for each game; a row of `masks` marks the legal ones of its game."""

    def weights_digest(self) -> bytes:
        """What tells its weights from others; an agent without any need not write this."""
        return b""

    def reference(self) -> "Agent":
        """One whose choices can be repeated, for its fingerprint; only an agent that looks at the clock need write this."""
        return self


def check_rows(games: Games, masks: Masks) -> None:
    """For an agent whose compiled code reads a row of masks for each game: ValueError if there are fewer."""
    checked_games(games)
    check_masks(masks, len(games))
