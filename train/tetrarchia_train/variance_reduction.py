"""Luck taken out of rewards: what dice brought is replaced by the mean of what they might have brought.

Where dice decided a step, it is played some more times in copies with other dice. The reward then changes by the mean
worth of all these positions less the worth of the one that came, which is 0 in the mean, so what is learned stays the
same; but whoever did well by luck is not praised for it.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from tetrarchia_env import batch
from tetrarchia_env.engine.actions import ACTIONS
from tetrarchia_env.engine.dice import rng_states

Floats = NDArray[np.float32]
Judge = Callable[[Floats], Floats]  # a value for each observation
OTHER_DICE = np.uint64(0x9E3779B97F4A7C15)


def replayed(before: batch.Games, actions: NDArray[np.int64], times: int) -> batch.Games:
    """Each game so many times after its action, each time by other dice; all of one game stand together."""
    copies = np.repeat(before, times)
    copies["dice"] = rng_states(copies["dice"] + OTHER_DICE * np.tile(np.arange(1, times + 1, dtype=np.uint64), len(before)))
    batch.step(copies, np.repeat(actions, times), np.ones((len(copies), ACTIONS), dtype=np.int8))
    return copies


def values(
    seen: Floats, potentials: NDArray[np.float64], paid: NDArray[np.float64], over: NDArray[np.bool_], judge: Judge
) -> NDArray[np.float64]:
    """What positions are worth to a learner: what is paid at the end, before it the potential and the value to come."""
    total, running = paid.copy(), ~over
    if running.any():
        total[running] = potentials[running] + judge(seen[running])
    return total
