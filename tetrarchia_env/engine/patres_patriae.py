"""R10.4, the variant Patres patriae: IP transferred between turns."""

from tetrarchia_env.engine._jit import jit
from tetrarchia_env.engine.state import CONSTANTIUS, DIOCLETIAN, GALERIUS, GIVEN, MAXIMIAN, PATRES_PATRIAE, TAKEN, GameRecord


@jit
def may_take(game: GameRecord) -> bool:
    """R10.4: return whether Diocletian can take 1 IP, once in his turn."""
    return game.variants & PATRES_PATRIAE != 0 and game.emperor == DIOCLETIAN and game.used & TAKEN == 0


@jit
def take(game: GameRecord) -> None:
    """R10.4: take 1 IP from Galerius' next turn."""
    game.used |= TAKEN
    game.ip += 1
    game.owed[GALERIUS] -= 1


@jit
def may_give(game: GameRecord) -> bool:
    """R10.4: return whether Constantius can give 1 IP, once in his turn and if he has one."""
    return game.variants & PATRES_PATRIAE != 0 and game.emperor == CONSTANTIUS and game.used & GIVEN == 0 and game.ip >= 1


@jit
def give(game: GameRecord) -> None:
    """R10.4: give 1 IP to Maximian's next turn."""
    game.used |= GIVEN
    game.ip -= 1
    game.owed[MAXIMIAN] += 1
