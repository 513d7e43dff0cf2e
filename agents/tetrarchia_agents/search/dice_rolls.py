"""One action by each of the 36 ways that its first two dice can fall: what chance makes of it, without the noise of samples."""

import numpy as np
from numpy.typing import NDArray

from tetrarchia_agents._jit import jit
from tetrarchia_agents.search.chance import STRIKES, is_attack
from tetrarchia_env.batch import Games, Masks
from tetrarchia_env.engine.dice import draw, next_rng
from tetrarchia_env.engine.legal import legal
from tetrarchia_env.engine.state import BARBARIAN, ROMAN, Game
from tetrarchia_env.engine.turn import ALL, decide, go_on

ROLLS = int(STRIKES)  # R N of a combat (R5.1), or of the province that is struck (R6.3)
_SIX = np.uint64(6)


@jit
def play_rolls(games: Games, actions: NDArray[np.int64], rolls: NDArray[np.int64], masks: Masks) -> None:
    """A legal action in each game with the first roll given, 0 to 35; all other dice come from the game's RNG state."""
    for i in range(len(games)):
        play_roll(games[i], actions[i], rolls[i], masks[i])


@jit
def play_roll(game: Game, action: int, roll: int, mask: Masks) -> None:
    """R5.1: an attack is rolled so; R6.3: or else, if the turn ends, the province that is struck."""
    attacks = is_attack(action)
    if attacks:
        game.dice = rng_before(game.dice, roll)
    decide(game, action)
    if game.phase == ROMAN and not legal(game, mask):
        game.phase = BARBARIAN
    if game.phase == BARBARIAN and not attacks:
        game.foe = roll
    go_on(game, mask, ALL)


@jit
def rng_before(rng: np.uint64, roll: int) -> np.uint64:
    """The first RNG state from this one on whose next two dice are these."""
    while True:
        first = next_rng(rng)
        if 6 * draw(first, _SIX) + draw(next_rng(first), _SIX) == roll:
            return rng
        rng = first
