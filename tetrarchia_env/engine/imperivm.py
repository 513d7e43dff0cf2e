"""R10.1, the variant Imperivm: powers bought with tokens of the supply, which are removed from the game (R1.4)."""

from tetrarchia_env.engine._jit import jit
from tetrarchia_env.engine.state import CONSTANTIUS, DIOCLETIAN, GALERIUS, IMPERIVM, MAXIMIAN, POWER_USED, GameRecord


@jit
def has_power(game: GameRecord, emperor: int) -> bool:
    """R10.1: return whether the variant is played and this Emperor has a token to pay with."""
    return game.variants & IMPERIVM != 0 and game.supply[emperor] > 0


@jit
def may_use_power(game: GameRecord) -> bool:
    """R10.1: return whether Diocletian or Maximian can use his power, once per turn."""
    return (game.emperor == DIOCLETIAN or game.emperor == MAXIMIAN) and game.used & POWER_USED == 0 and has_power(game, game.emperor)


@jit
def use_power(game: GameRecord) -> None:
    """R10.1: pay a token; Maximian gains 1 IP, Diocletian may move the other Emperors for the rest of his turn."""
    game.supply[game.emperor] -= 1
    game.used |= POWER_USED
    if game.emperor == MAXIMIAN:
        game.ip += 1


@jit
def may_order(game: GameRecord) -> bool:
    """R10.1: return whether Diocletian may move the other Emperors."""
    return game.emperor == DIOCLETIAN and game.used & POWER_USED != 0


@jit
def may_boost(game: GameRecord, margin: int) -> bool:
    """R10.1: return whether Galerius can boost: he fights, and his value is not the higher one."""
    return game.fighter == GALERIUS and margin <= 0 and has_power(game, GALERIUS)


@jit
def boost(game: GameRecord) -> None:
    """R10.1: pay a token to add 1 to the Roman die, before doubling."""
    game.supply[GALERIUS] -= 1
    game.roman_die += 1


@jit
def may_block(game: GameRecord, figure: int) -> bool:
    """R10.1: return whether this figure is Constantius and he can block the army that is about to attack him."""
    return figure == CONSTANTIUS and has_power(game, CONSTANTIUS)


@jit
def block(game: GameRecord) -> None:
    """R10.1: pay a token so that the army stays; the caller continues with the next army."""
    game.supply[CONSTANTIUS] -= 1
