"""R11.1, the module Dux: a fifth figure that every Emperor can use in his turn. Its other actions are in the modules of those rules."""

from tetrarchia_env.engine._jit import jit
from tetrarchia_env.engine.armies import armies
from tetrarchia_env.engine.movement import others
from tetrarchia_env.engine.state import DUX, NOBODY, OFF, GameRecord
from tetrarchia_env.engine.tables import LINKED, ROMAN_PROVINCES

DEPLOY_COST = 2


@jit
def deployments(game: GameRecord) -> int:
    """R11.1: return the spaces where the Dux can be deployed now: linked Roman provinces without Unrest, Revolt or figure."""
    if game.at[DUX] != OFF or game.ip < DEPLOY_COST:
        return 0
    free = ~(game.unrest | game.revolts | armies(game) | others(game, NOBODY))
    return LINKED[game.at[game.emperor]] & ROMAN_PROVINCES & free


@jit
def deploy(game: GameRecord, space: int) -> None:
    """R11.1: deploy the Dux for 2 IP, once per game."""
    game.ip -= DEPLOY_COST
    game.at[DUX] = space
