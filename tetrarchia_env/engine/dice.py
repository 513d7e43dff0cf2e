"""Dice: each game has its own RNG state, and each die is one step of xorshift64, so a seed and the actions determine a game."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tetrarchia_env.engine._jit import jit
from tetrarchia_env.engine.state import GameRecord

# Shifts of a uint64 by a plain int would turn into floats in compiled code.
_7, _13, _17, _32, _SIX = (np.uint64(n) for n in (7, 13, 17, 32, 6))


@jit
def next_rng(rng: np.uint64) -> np.uint64:
    """Return the RNG state after one step of xorshift64."""
    rng ^= rng << _13
    rng ^= rng >> _7
    rng ^= rng << _17
    return rng


@jit
def draw(rng: np.uint64, choices: np.uint64) -> Any:
    """Return a random number from the upper half of an RNG state.

    Args:
        rng: The RNG state.
        choices: Number of possible results.

    Returns:
        A number in 0..choices-1.
    """
    return np.int64((rng >> _32) * choices >> _32)


@jit
def roll(game: GameRecord) -> int:
    """Roll one die, the Roman R or the normal N, and return 1..6."""
    game.dice = next_rng(game.dice)
    return draw(game.dice, _SIX) + 1


@jit
def rng_states(seeds: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return the initial RNG state of each seed.

    Args:
        seeds: The seeds.

    Returns:
        The outputs of SplitMix64, never 0, where xorshift would stay.
    """
    z = seeds + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ z >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ z >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    z = z ^ z >> np.uint64(31)
    for i in range(len(z)):  # np.where would take a second and a half to compile
        if z[i] == 0:
            z[i] = 1
    return z
