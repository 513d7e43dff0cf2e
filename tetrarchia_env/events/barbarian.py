"""Descriptions of R6 and R7: the Barbarian phase up to the advance."""

from tetrarchia_env.board import BOARD, EMPERORS, NUMERALS
from tetrarchia_env.engine.armies import armies
from tetrarchia_env.engine.movement import FIGURE_COUNT, is_on_board
from tetrarchia_env.engine.state import ARMIES, GOTHS, OFF, OVER, GameRecord
from tetrarchia_env.engine.tables import BIT, BORDER, PRINTED, REGION
from tetrarchia_env.events.words import (
    Lines,
    army_name,
    figure_name,
    glory_and_losses,
    province_dice,
    space_names,
    zone_names,
)


def describe_beginning(before: GameRecord, game: GameRecord) -> Lines:
    """R6.1, R6.2: describe the spread of Revolts and the expelled figures."""
    if game.revolts != before.revolts:
        yield f"revolt spreads to {space_names(game.revolts & ~before.revolts)}"
    yield from (f"{figure_name(figure)} is driven out of {BOARD.names[before.at[figure]]}" for figure in _removed(before, game))


def _removed(before: GameRecord, game: GameRecord) -> list[int]:
    return [figure for figure in range(FIGURE_COUNT) if is_on_board(before, figure) and not is_on_board(game, figure)]


def describe_strike(before: GameRecord, game: GameRecord) -> Lines:
    """R6.3: describe the strike on one province."""
    space = before.foe
    place = f"{province_dice(space)} {BOARD.names[space]}"
    if before.revolts & BIT[space]:
        yield from _describe_uprising(before, game, place)
    elif before.unrest & BIT[space]:
        yield f"{place}: unrest becomes revolt"
    elif game.unrest == before.unrest and game.phase != OVER:
        yield f"{place}: protected by {_protector(game, space)}"
    else:
        yield f"{place}: unrest"


def _protector(game: GameRecord, space: int) -> str:
    """R6.3: return the Emperor whose token, placed or printed, protects the space."""
    by_token = [name for emperor, name in enumerate(EMPERORS) if game.tokens[emperor] & BIT[space]]
    by_print = [name for emperor, name in enumerate(EMPERORS) if PRINTED[emperor] & BIT[space]]
    return (by_token or by_print)[0]


def _describe_uprising(before: GameRecord, game: GameRecord, place: str) -> Lines:
    """R7: describe an Uprising; if no army could appear, another province is struck next (R7.2)."""
    yield f"{place} rises{_followers(before, game)}"
    if game.pirates != before.pirates:
        yield f"the Pirates come back to {zone_names(game.pirates)}"
    yield from _describe_newcomers(before, game)
    if game.foe != OFF:
        yield f"no army appears in {BOARD.names[BORDER[REGION[game.foe]]]}, it is not empty"
    elif before.reserve[ARMIES] == 0 and game.phase != OVER:
        yield "no army is left to appear"
    yield from glory_and_losses(before, game)


def _followers(before: GameRecord, game: GameRecord) -> str:
    """R7.1: return the provinces that revolt too; the game may end before the first one (R9.4)."""
    risen = space_names(game.revolts & ~before.revolts)
    if risen:
        return f": {risen} {'revolt' if ',' in risen else 'revolts'}"
    return "" if game.phase == OVER else " alone"


def _describe_newcomers(before: GameRecord, game: GameRecord) -> Lines:
    """R7.2, R11.3: describe an army on an empty border, or the Goths, who replace the pieces there."""
    for space, origin, kind in _standing(game) - _standing(before):
        army = f"an army from {NUMERALS[origin - 1]} appears in {BOARD.names[space]}"
        yield _goths_arrive(before, game, space) if kind == GOTHS else army


def _standing(game: GameRecord) -> set[tuple[int, int, int]]:
    """Return space, origin and kind of each army on the board."""
    rows = zip(game.army_at.tolist(), game.army_origin.tolist(), game.army_kind.tolist(), strict=True)
    return {row for row in rows if row[0] != OFF}


def _goths_arrive(before: GameRecord, game: GameRecord, border: int) -> str:
    driven_out = [figure_name(figure) for figure in _removed(before, game)]
    if armies(before) & BIT[border]:
        driven_out.append(army_name(before, border))
    return f"the Goths arrive in {BOARD.names[border]}" + "".join(f" and drive out {name}" for name in driven_out)
