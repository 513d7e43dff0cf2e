"""The agent that knows nothing."""

import numpy as np

from tetrarchia_env.batch import Games, Masks


class RandomAgent:
    """Chooses among the legal actions, each as likely."""

    def __init__(self, generator: np.random.Generator) -> None:
        self._generator = generator

    def act(self, game: Games, mask: Masks) -> int:
        """One of the legal actions."""
        return int(self._generator.choice(np.flatnonzero(mask)))
