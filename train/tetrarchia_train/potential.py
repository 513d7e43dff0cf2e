"""What a learner is paid: a game that is won, the more the sooner, and on the way there the change of the potential.

Everything else pays nothing. If a lost game cost something, a policy would learn to put off the end; and a discount for each
step would teach it to end its turns early. So the hurry is in the pay: a discount for each turn, which may fade. The potential is
the chance to win as the planner judges it, times what a win now would pay.
"""

import numpy as np
from numpy.typing import NDArray

from tetrarchia_agents._jit import jit
from tetrarchia_env.batch import Games
from tetrarchia_env.engine.state import WON
from tetrarchia_env.evaluation import load_weights, win_probability

WEIGHTS = load_weights()
A_WIN = 2.0


def pay(outcomes: NDArray[np.int64], turns: NDArray[np.int64], discount: float) -> NDArray[np.float64]:
    """For games that came to these outcomes in these turns."""
    return A_WIN * discount**turns * (outcomes == WON)


def potentials(games: Games, discount: float) -> NDArray[np.float64]:
    """How well each of these games stands."""
    values = np.zeros(len(games))
    _worths(games, WEIGHTS, values)
    return A_WIN * discount ** games["turn"] * values


@jit
def _worths(games: Games, weights: NDArray[np.void], values: NDArray[np.float64]) -> None:
    for i in range(len(games)):
        values[i] = win_probability(games[i], weights[0])
