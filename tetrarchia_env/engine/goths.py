"""R11.3, the module Goths; R7.2: armies that appear on the borders."""

from tetrarchia_env.engine._jit import jit
from tetrarchia_env.engine.armies import armies, place_army, remove_army
from tetrarchia_env.engine.movement import others, remove
from tetrarchia_env.engine.state import ARMY, DUX, GOTHS, GOTHS_MODULE, NOBODY, GameRecord
from tetrarchia_env.engine.tables import BIT, BORDER
from tetrarchia_env.engine.tokens import lift, lying


@jit
def are_goths_due(game: GameRecord, region: int) -> bool:
    """R11.3: return whether an army on this region's border is the Goths: region III or IV, and they are not on the board."""
    if game.modules & GOTHS_MODULE == 0 or (region != 3 and region != 4):
        return False
    return game.army_kind[0] != GOTHS and game.army_kind[1] != GOTHS and game.army_kind[2] != GOTHS


@jit
def may_come(game: GameRecord, region: int) -> bool:
    """R7.2: return whether an army can appear: the border has neither figure nor token, or the Goths are due."""
    taken = armies(game) | others(game, NOBODY) | lying(game)
    return are_goths_due(game, region) or taken & BIT[BORDER[region]] == 0


@jit
def come(game: GameRecord, region: int) -> None:
    """R2.4, R7.2, R11.3: place an army or the Goths on the region's border."""
    border = BORDER[region]
    if are_goths_due(game, region):
        clear(game, border)
        place_army(game, border, region, GOTHS)
    else:
        place_army(game, border, region, ARMY)


@jit
def clear(game: GameRecord, space: int) -> None:
    """R11.3: remove the token, army and figures from a space."""
    lift(game, space)
    if armies(game) & BIT[space]:
        remove_army(game, space)
    for figure in range(DUX + 1):
        if game.at[figure] == space:
            remove(game, figure)
