"""R11.1, the module Dux: a fifth figure that the Emperor whose turn it is may use. Its actions are in the other chapters."""

from tetrarchia_env.engine._jit import jit
from tetrarchia_env.engine.armies import armies
from tetrarchia_env.engine.movement import others
from tetrarchia_env.engine.state import DUX, NOBODY, OFF, GameRecord
from tetrarchia_env.engine.tables import LINKED, ROMAN_PROVINCES

DEPLOY_COST = 2


@jit
def deployments(game: GameRecord) -> int:
    """R11.1: where he may be put now: linked Roman provinces without Unrest, Revolt or figure."""
    if game.at[DUX] != OFF or game.ip < DEPLOY_COST:
        return 0
    free = ~(game.unrest | game.revolts | armies(game) | others(game, NOBODY))
    return LINKED[game.at[game.emperor]] & ROMAN_PROVINCES & free


@jit
def deploy(game: GameRecord, space: int) -> None:
    """R11.1: 2 IP, once a game."""
    game.ip -= DEPLOY_COST
    game.at[DUX] = space
