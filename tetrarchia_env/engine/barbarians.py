"""R6: the Barbarian phase; R7: Uprisings; R8: the armies' advance."""

from tetrarchia_env.board import SPACES
from tetrarchia_env.engine._jit import jit
from tetrarchia_env.engine.armies import armies, army_on
from tetrarchia_env.engine.combat import enter_space, fight, next_in_line
from tetrarchia_env.engine.dice import roll
from tetrarchia_env.engine.goths import come, may_come
from tetrarchia_env.engine.imperivm import may_block
from tetrarchia_env.engine.movement import FIGURE_COUNT, others, remove
from tetrarchia_env.engine.pirates import come_back
from tetrarchia_env.engine.state import ADVANCE, ARMIES, BLOCK, NOBODY, OFF, OVER, REBEL, STRIKE, GameRecord
from tetrarchia_env.engine.tables import (
    BIT,
    BROKEN,
    DEGREE,
    LINKED,
    NEIGHBOURS,
    NEXT_STEP,
    REGION,
    ROMAN_PROVINCES,
    STEPS,
)
from tetrarchia_env.engine.tokens import is_protected, put_revolt, put_unrest


@jit
def begin_barbarian_phase(game: GameRecord) -> None:
    """R6.1, R6.2: spread Revolts, expel figures, and roll R N for the first strike (R6.3) unless `foe` already names a province."""
    spread_revolts(game)
    if game.phase != OVER:
        expel(game)
        game.phase = STRIKE
        if game.foe == OFF:
            game.foe = roll_province(game, roll(game))


@jit
def is_linked_now(game: GameRecord, start: int, goal: int) -> bool:
    """R6.5: return whether a link works in the Barbarian phase; a broken one is rolled for each time and works on 4 to 6."""
    return BROKEN[start] & BIT[goal] == 0 or roll(game) >= 4


@jit
def spread_revolts(game: GameRecord) -> None:
    """R6.1: turn every Unrest linked to a Revolt into a Revolt, and continue from the new ones in the order of a queue."""
    before = game.revolts
    risen = 0
    for space in range(SPACES):
        if before & BIT[space]:
            risen = incite(game, space, risen)
    i = 0
    while i < risen:
        risen = incite(game, game.risen[i], risen)
        i += 1
    for i in range(risen):
        game.risen[i] = 0


@jit
def incite(game: GameRecord, space: int, risen: int) -> int:
    """R6.1: spread one Revolt of the queue to the Unrest linked to it; return the new length of the queue."""
    if LINKED[space] & game.unrest == 0 or game.phase == OVER:
        return risen
    for i in range(DEGREE[space]):
        other = NEIGHBOURS[space, i]
        if game.unrest & BIT[other] and is_linked_now(game, space, other):
            put_revolt(game, other)
            if game.phase == OVER or risen == len(game.risen):  # there are 21 Unrest tokens: the second never happens in a real game
                return risen
            game.risen[risen] = other
            risen += 1
    return risen


@jit
def expel(game: GameRecord) -> None:
    """R6.2: remove Emperors and Dux standing on a Revolt."""
    for figure in range(FIGURE_COUNT):
        if game.revolts & BIT[game.at[figure]]:
            remove(game, figure)


@jit
def roll_province(game: GameRecord, region: int) -> int:
    """Roll N and return the province of this region with that number."""
    return 6 * (region - 1) + roll(game) - 1


@jit
def strike(game: GameRecord) -> None:
    """R6.3: strike the province in `foe`; unless an Uprising names another province to strike, line up the armies (R6.4)."""
    game.foe = strike_province(game, game.foe)
    if game.foe == OFF and game.phase != OVER:
        line_up(game)
        game.phase = ADVANCE


@jit
def strike_province(game: GameRecord, space: int) -> int:
    """R6.3: strike one province; return the province to strike next, or OFF."""
    if is_protected(game, space):
        return OFF
    if game.revolts & BIT[space]:
        return uprising(game, space)
    if game.unrest & BIT[space]:
        put_revolt(game, space)
    else:
        put_unrest(game, space)
    return OFF


@jit
def uprising(game: GameRecord, space: int) -> int:
    """R7: raise Revolts in the linked Roman provinces and bring Pirates and an army; return the province to strike next, or OFF."""
    raise_neighbours(game, space)
    if game.phase == OVER:
        return OFF
    come_back(game, space)
    if game.reserve[ARMIES] == 0:
        return OFF
    region = roll(game)
    if may_come(game, region):
        come(game, region)
        return OFF
    return roll_province(game, region)


@jit
def raise_neighbours(game: GameRecord, space: int) -> None:
    """R7.1: put Revolts, by space id, in the linked Roman provinces that have none."""
    for i in range(DEGREE[space]):
        other = NEIGHBOURS[space, i]
        if ROMAN_PROVINCES & ~game.revolts & BIT[other] and is_linked_now(game, space, other):
            put_revolt(game, other)
            if game.phase == OVER:
                return


@jit
def place_in_line(game: GameRecord, army: int) -> int:
    """R8.1: return the sort key of an army in the advance: steps to ROMA on its path, then current region, then region of origin."""
    space = game.army_at[army]
    origin = game.army_origin[army]
    return 100 * STEPS[origin, space] + 10 * REGION[space] + origin


@jit
def line_up(game: GameRecord) -> None:
    """R8.1: fix the order of all armies except Rebels, before the first one moves."""
    last = -1
    for i in range(3):
        game.march[i] = OFF
        nearest = 10_000
        for army in range(3):
            place = place_in_line(game, army)
            if game.army_at[army] != OFF and game.army_kind[army] != REBEL and last < place < nearest:
                nearest = place
                game.march[i] = game.army_at[army]
        last = nearest


@jit
def advance(game: GameRecord) -> None:
    """R8.2: let the first army in line stay, attack, wait for Constantius (R10.1) or enter the next space."""
    army = game.march[0]
    goal = NEXT_STEP[game.army_origin[army_on(game, army)], army]
    if armies(game) & BIT[goal] or not is_linked_now(game, army, goal):
        next_in_line(game)
    elif others(game, NOBODY) & BIT[goal] == 0:
        enter_space(game, army, goal)
        next_in_line(game)
    elif may_block(game, defender(game)):
        game.phase = BLOCK
    else:
        fight(game, defender(game), army)


@jit
def defender(game: GameRecord) -> int:
    """R8.4: return the figure on the next space of the first army in line, or NOBODY."""
    army = game.march[0]
    goal = NEXT_STEP[game.army_origin[army_on(game, army)], army]
    for figure in range(FIGURE_COUNT):
        if game.at[figure] == goal:
            return figure
    return NOBODY
