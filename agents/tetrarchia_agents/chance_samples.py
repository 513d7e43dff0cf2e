"""An action played again and again by other dice: what its mean over chance is taken from.

The first two dice of an action come in each of their 36 ways equally often (stratified sampling), so that an attack, which rolls
no more than these, is reckoned exactly. All actions in one position get the same dice (common random numbers).
"""

from functools import cache

import numpy as np
from numpy.typing import NDArray

from tetrarchia_env import batch
from tetrarchia_env.constants import ACTIONS

Actions = NDArray[np.int64]
RngStates = NDArray[np.uint64]
WAYS = 36  # that two dice can fall
BLOCKS = 64  # sets of 36 RNG states, one for each way
SAMPLES = 4 * WAYS
TRIED = 1 << 14  # states among which there are BLOCKS of each way, many times as many as needed


def play_once(games: batch.Games, actions: Actions) -> batch.Games:
    """A copy of each game after its action."""
    after = games.copy()
    batch.step(after, actions, np.ones((len(after), ACTIONS), dtype=np.int8))
    return after


def play_again(before: batch.Games, actions: Actions, rngs: RngStates) -> batch.Games:
    """Each game after its action by each of its RNG states, a row of `rngs`; all of one game stand together."""
    copies = np.repeat(before, rngs.shape[1])
    copies["dice"] = rngs.ravel()
    return play_once(copies, np.repeat(actions, rngs.shape[1]))


def stratified_rngs(games: batch.Games, samples: int = SAMPLES) -> RngStates:
    """[games, samples] RNG states, in whole sets of 36; which ones depends on the game's own state, and tells nothing of its dice."""
    if samples % WAYS or not 0 < samples <= WAYS * BLOCKS:
        raise ValueError(f"samples come in sets of {WAYS}, at most {BLOCKS} of them, not {samples}")
    first = batch.rng_states(games["dice"].copy()) % np.uint64(BLOCKS)
    blocks = (first[:, np.newaxis] + np.arange(samples // WAYS, dtype=np.uint64)) % np.uint64(BLOCKS)
    rngs: RngStates = _blocks()[blocks].reshape(len(games), samples)
    return rngs


@cache
def _blocks() -> RngStates:
    """[BLOCKS, 36]: in each block, two dice fall in every way."""
    rngs = batch.rng_states(np.arange(TRIED, dtype=np.uint64))
    after, six = rngs.copy(), np.ones((TRIED, 6), dtype=np.int8)
    ways = 6 * batch.random_actions(six, after) + batch.random_actions(six, after)  # drawn as dice are
    return np.stack([rngs[ways == way][:BLOCKS] for way in range(WAYS)], axis=1)
