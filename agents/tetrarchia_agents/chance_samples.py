"""Samples of chance: an action, or an action and the rest of its turn, played with many different dice.

The first two dice are stratified: each of their 36 outcomes occurs equally often, so that the expected result of an attack is
exact. All actions in one position are evaluated with the same dice (common random numbers), so that differences between them are not luck.
"""

from collections.abc import Callable
from functools import cache

import numpy as np

from tetrarchia_env import batch
from tetrarchia_env.agent import Actions, RngStates
from tetrarchia_env.constants import ACTIONS
from tetrarchia_env.errors import TetrarchiaError

ChooseFn = Callable[[batch.Games], Actions]
NUM_ROLLS = 36  # outcomes of two dice
MAX_SETS = 64  # sets of 36 RNG states, one for each outcome
DEFAULT_SAMPLES = 2 * NUM_ROLLS
NUM_TRIED = 1 << 14  # RNG states searched; contains every outcome many more than MAX_SETS times


def play_once(games: batch.Games, actions: Actions, message_tokens: int = 0) -> batch.Games:
    """Return a copy of each game after its action; `message_tokens` as for `batch.new_games`."""
    after = games.copy()
    batch.step(after, actions, np.ones((len(after), ACTIONS + message_tokens), dtype=np.int8))
    return after


def play_again(before: batch.Games, actions: Actions, rngs: RngStates, message_tokens: int = 0) -> batch.Games:
    """Return each game after its action, once for each RNG state in its row of `rngs`; results of one game are consecutive."""
    copies = np.repeat(before, rngs.shape[1])
    copies["dice"] = rngs.ravel()
    return play_once(copies, np.repeat(actions, rngs.shape[1]), message_tokens)


def turn_ends(games: batch.Games, actions: Actions, choose: ChooseFn, samples: int) -> batch.Games:
    """Return [games, samples] positions after the turn: the action is played, then `choose` plays the rest of the turn.

    A game is copied when the first dice are rolled. A game that ends without dice is repeated.
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
    copies, turns = ends.ravel(), np.repeat(games["turn"], samples)  # an attack rolled the first dice: its turn continues
    while len(rows := np.flatnonzero(~batch.is_over(copies) & (copies["turn"] == turns))):
        copies[rows] = play_once(copies[rows], choose(copies[rows]))
    return copies.reshape(ends.shape)


def stratified_rngs(games: batch.Games, samples: int = DEFAULT_SAMPLES) -> RngStates:
    """Return [games, samples] RNG states in sets of 36, one for each outcome of two dice.

    Which sets are used depends on the game's own RNG state, but they reveal nothing about its dice.
    """
    if samples % NUM_ROLLS or not 0 < samples <= NUM_ROLLS * MAX_SETS:
        raise TetrarchiaError(f"samples must be a multiple of {NUM_ROLLS} from {NUM_ROLLS} to {NUM_ROLLS * MAX_SETS}; got {samples}")
    first = batch.rng_states(games["dice"].copy()) % np.uint64(MAX_SETS)
    sets = (first[:, np.newaxis] + np.arange(samples // NUM_ROLLS, dtype=np.uint64)) % np.uint64(MAX_SETS)
    rngs: RngStates = _rng_sets()[sets].reshape(len(games), samples)
    return rngs


@cache
def _rng_sets() -> RngStates:
    """Return [MAX_SETS, 36] RNG states: in each set, two dice show every outcome once."""
    rngs = batch.rng_states(np.arange(NUM_TRIED, dtype=np.uint64))
    after, six = rngs.copy(), np.ones((NUM_TRIED, 6), dtype=np.int8)
    rolls = 6 * batch.random_actions(six, after) + batch.random_actions(six, after)  # the same generator as the dice
    return np.stack([rngs[rolls == roll][:MAX_SETS] for roll in range(NUM_ROLLS)], axis=1)
