"""Handling of illegal actions in the APIs with one player for all four Emperors, chosen by the argument `illegal`.

`raise`: TetrarchiaError, and no game changes. `ignore`: nothing happens, and the game is truncated at its `MAX_IGNORED`-th illegal
action, so that a policy without masks also finishes. `lose`: the game is lost, with the outcome `rome fell`.
"""

from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from tetrarchia_env.batch import Games, Masks, Rows
from tetrarchia_env.engine._jit import jit
from tetrarchia_env.engine.outcome import end_game
from tetrarchia_env.engine.state import NOBODY, OFF, ROME_FELL, TRUNCATED
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.schema import truncate_repr

IllegalRule = Literal["raise", "ignore", "lose"]
ILLEGAL_RULES: tuple[str, ...] = get_args(IllegalRule)
MAX_IGNORED = 1000  # illegal actions per game


def check_illegal(rule: str) -> str:
    """Return the argument `illegal`, checked."""
    if rule not in ILLEGAL_RULES:
        raise TetrarchiaError(f"illegal must be one of {', '.join(ILLEGAL_RULES)}; got {truncate_repr(rule)}")
    return rule


def apply_illegal(games: Games, masks: Masks, rows: Rows, ignored: NDArray[np.int64], rule: str) -> None:
    """End the games that the rule ends after an illegal action.

    Args:
        games: all games
        masks: their legal actions; set to 0 where a game ends
        rows: the games in which an illegal action was chosen
        ignored: the number of illegal actions in each of these games, including this one
        rule: `ignore` or `lose`
    """
    ended = rows if rule == "lose" else rows[ignored >= MAX_IGNORED]
    _end(games, ended, ROME_FELL if rule == "lose" else TRUNCATED)
    masks[ended] = 0


@jit
def _end(games: Games, rows: Rows, outcome: int) -> None:
    for i in rows:
        game = games[i]
        game.fighter, game.foe, game.roman_die, game.normal_die = NOBODY, OFF, 0, 0  # leave no unfinished combat
        end_game(game, outcome)
