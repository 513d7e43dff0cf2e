"""One rule for illegal actions where one player controls all four Emperors, chosen by `illegal`.

`raise`: a ValueError, and no game is changed. `ignore`: nothing happens, and the game is truncated at its MOST_IGNORED-th such action,
so that a policy that knows no other ends too. `lose`: the game is lost, told as `rome fell`.
"""

import numpy as np
from numpy.typing import NDArray

from tetrarchia_env.batch import Games, Masks, Rows
from tetrarchia_env.engine._jit import jit
from tetrarchia_env.engine.outcome import end_game
from tetrarchia_env.engine.state import NOBODY, OFF, ROME_FELL, TRUNCATED
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.schema import truncate_repr

RAISE, IGNORE, LOSE = ILLEGAL = ("raise", "ignore", "lose")
MOST_IGNORED = 1000  # in one game


def check_illegal(rule: str) -> str:
    """The name, if it is one of those that there are."""
    if rule not in ILLEGAL:
        raise TetrarchiaError(f"unknown illegal {truncate_repr(rule)}: choose one of {', '.join(ILLEGAL)}")
    return rule


def punish(games: Games, masks: Masks, rows: Rows, ignored: NDArray[np.int64], rule: str) -> None:
    """End what the rule ends of these games, in which an illegal action was chosen; `ignored` counts those, this one too."""
    ended = rows if rule == LOSE else rows[ignored >= MOST_IGNORED]
    _end(games, ended, ROME_FELL if rule == LOSE else TRUNCATED)
    masks[ended] = 0


@jit
def _end(games: Games, rows: Rows, outcome: int) -> None:
    for i in rows:
        game = games[i]
        game.fighter, game.foe, game.roman_die, game.normal_die = NOBODY, OFF, 0, 0  # of a combat that is left as it is
        end_game(game, outcome)
