"""R11.2, the module Pirates; combat values against them are in combat.py."""

from tetrarchia_env.board import SPACES
from tetrarchia_env.engine._jit import jit
from tetrarchia_env.engine.movement import remove
from tetrarchia_env.engine.state import PIRATES_MODULE, GameRecord
from tetrarchia_env.engine.tables import BIT, COAST, ZONES
from tetrarchia_env.engine.tokens import lift_emperor_token

ATTACK_COST = 2


@jit
def may_attack_pirates(game: GameRecord, figure: int) -> bool:
    """R11.2: return whether this figure is on the Pirates' coast and has the 2 IP to attack them."""
    return game.ip >= ATTACK_COST and COAST[game.pirates] & BIT[game.at[figure]] != 0


@jit
def lose_at_sea(game: GameRecord, figure: int) -> None:
    """R11.2: remove the figure, and every Emperor's token on that coast."""
    remove(game, figure)
    for space in range(SPACES):
        if COAST[game.pirates] & BIT[space]:
            lift_emperor_token(game, space)


@jit
def come_back(game: GameRecord, space: int) -> None:
    """R11.2: after an Uprising here, return absent Pirates to the westernmost zone of this coast without a Roman fleet."""
    if game.modules & PIRATES_MODULE == 0 or game.pirates:
        return
    for zone in range(ZONES):
        bit = 1 << zone
        if COAST[bit] & BIT[space] and not game.fleets & bit:
            game.pirates = bit
            return
