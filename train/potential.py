"""What a learner is paid: A_WIN for a game that is won, and on the way there the change of the potential.

A lost game pays nothing: if it cost something, and later costs less than now, a policy would learn to put off the end.
The potential is the chance to win as the planner judges it, times A_WIN.
"""

import numpy as np
from numpy.typing import NDArray

from agents._jit import jit
from agents.search.evaluation import load_weights, worth
from tetrarchia_env.batch import Games

WEIGHTS = load_weights()
A_WIN = 2.0


def potentials(games: Games) -> NDArray[np.float64]:
    """How well each of these games stands."""
    worths = np.zeros(len(games))
    _worths(games, WEIGHTS, worths)
    return A_WIN * worths


@jit
def _worths(games: Games, weights: NDArray[np.void], worths: NDArray[np.float64]) -> None:
    for i in range(len(games)):
        worths[i] = worth(games[i], weights[0])
