"""What an agent is, and what every agent is given."""

from collections.abc import Iterable
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from tetrarchia_env.batch import Games, Masks

Actions = NDArray[np.int64]
Lanes = NDArray[np.int64]


class Agent(Protocol):
    """Chooses for the Emperors it is given, in as many games at once as there are.

    The games are copies, each with a new dice word: nobody sees the dice to come. An agent may play on in its copies
    and take the chance it needs from their words (`games["dice"]`); so the same words always give the same choices.
    """

    def begin(self, lanes: Lanes) -> None:
        """New games begin in these lanes: forget the old ones. An agent without a memory need not write this."""
        return

    def act(self, games: Games, masks: Masks, lanes: Lanes) -> Actions:
        """The id of a legal action for each game; a row of `masks` marks the legal ones of its game."""

    def made_of(self) -> Iterable[Path]:
        """The files that decide what it chooses, beside that of its class: code it calls, weights; results say of which they are."""
        return ()
