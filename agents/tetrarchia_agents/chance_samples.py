"""An action played by many dice, and the turn after it to its end: what means over chance are taken from.

The first two dice that fall come in each of their 36 ways equally often (stratified sampling), so that an attack is reckoned
exactly. All actions in one position get the same dice (common random numbers), so that what differs between them is not luck.
"""

from collections.abc import Callable
from functools import cache

import numpy as np
from numpy.typing import NDArray

from tetrarchia_env import batch
from tetrarchia_env.constants import ACTIONS
from tetrarchia_env.errors import TetrarchiaError

Actions = NDArray[np.int64]
RngStates = NDArray[np.uint64]
Choose = Callable[[batch.Games], Actions]
WAYS = 36  # that two dice can fall
BLOCKS = 64  # sets of 36 RNG states, one for each way
SAMPLES = 2 * WAYS
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


def turn_ends(games: batch.Games, actions: Actions, choose: Choose, samples: int) -> batch.Games:
    """[games, samples] how the turn can end: after the action in each game, `choose` plays the rest of the turn in every copy.

    Copies are made where the first dice fall. A game that ends without any is there as often as all others.
    """
    ends = np.repeat(games, samples).reshape(len(games), samples)
    rows = np.arange(len(games))
    while len(rows):
        before = ends[rows, 0]
        after = play_once(before, actions)
        rolled = after["dice"] != before["dice"]
        ends[rows] = after[:, np.newaxis]
        if rolled.any():
            rngs = stratified_rngs(before[rolled], samples)
            ends[rows[rolled]] = play_again(before[rolled], actions[rolled], rngs).reshape(-1, samples)
        rows = rows[~rolled & ~batch.is_over(after)]
        actions = choose(ends[rows, 0]) if len(rows) else actions[:0]
    return _finished_turns(ends, games["turn"], choose)


def _finished_turns(ends: batch.Games, turns: NDArray[np.int64], choose: Choose) -> batch.Games:
    """Play on wherever the turn still lasts, because an attack was the first to roll dice."""
    copies, turns = ends.ravel(), np.repeat(turns, ends.shape[1])
    while len(rows := np.flatnonzero(~batch.is_over(copies) & (copies["turn"] == turns))):
        copies[rows] = play_once(copies[rows], choose(copies[rows]))
    return copies.reshape(ends.shape)


def stratified_rngs(games: batch.Games, samples: int = SAMPLES) -> RngStates:
    """[games, samples] RNG states, in whole sets of 36; which ones depends on the game's own state, and tells nothing of its dice."""
    if samples % WAYS or not 0 < samples <= WAYS * BLOCKS:
        raise TetrarchiaError(f"samples come in sets of {WAYS}, at most {BLOCKS} of them, not {samples}")
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
