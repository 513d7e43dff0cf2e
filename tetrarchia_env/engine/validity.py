"""Validation of positions: errors are found before the rules run on a record from a file or snapshot.

The rules index tables by the numbers of a record: check `outside_limits` first, because `flaw` relies on it. A record that passes both
can be played and observed, and its agent to act has a decision to make. Whether play can lead to it is not checked.
"""

from collections.abc import Mapping
from typing import Any

from numpy.typing import NDArray

from tetrarchia_env.board import SPACES
from tetrarchia_env.engine._jit import jit
from tetrarchia_env.engine.armies import armies, army_on
from tetrarchia_env.engine.barbarians import defender, place_in_line
from tetrarchia_env.engine.bits import count
from tetrarchia_env.engine.combat import margin
from tetrarchia_env.engine.imperivm import has_power, may_order
from tetrarchia_env.engine.movement import destinations, may_enter_capital, may_enter_rome, others
from tetrarchia_env.engine.scenarios import SCENARIOS
from tetrarchia_env.engine.setup import fleets_to_place
from tetrarchia_env.engine.state import (
    ARMIES,
    ARRIVAL,
    BLOCK,
    BOOST,
    CONSTANTIUS,
    DUX,
    DUX_MODULE,
    FIGURES,
    FLEETS,
    GALERIUS,
    GONE,
    GOTHS,
    GOTHS_MODULE,
    IMPERIVM,
    KINDS,
    MODULES,
    NOBODY,
    OFF,
    OUTCOMES,
    OVER,
    PIRATES,
    PIRATES_MODULE,
    REBEL,
    REVOLT,
    ROMAN,
    RUNNING,
    UNREST,
    VARIANTS,
    GameRecord,
)
from tetrarchia_env.engine.tables import BIT, BORDERS, COAST, LINKED, ROMA, STEPS, ZONES

MAX_UNREST, MAX_REVOLTS, MAX_ARMIES = 21, 21, 3  # R1.2
MAX_TOKENS = 5  # per Emperor
MAX_IP = 16
MAX_TURNS = 2**31 - 1
ANY_SPACES = (0, (1 << SPACES) - 1)
FIGURE_COUNT = len(FIGURES)
LIMITS: dict[str, tuple[Any, Any]] = {  # lowest and highest value of each field
    "unrest": ANY_SPACES,
    "revolts": ANY_SPACES,
    "tokens": ANY_SPACES,
    "dice": (1, 2**64 - 1),  # from 0 every die would be 1
    "turn": (0, MAX_TURNS),
    "max_turns": (1, MAX_TURNS),
    "level": ((2, 0, 0, 0), (5, 3, 3, 3)),
    "variants": (0, (1 << len(VARIANTS)) - 1),
    "modules": (0, (1 << len(MODULES)) - 1),
    "scenario": (0, len(SCENARIOS)),
    "fixed_setup": (0, 1),
    "emperor": (0, 3),
    "phase": (0, OVER),
    "ip": (0, MAX_IP),
    "passing": (NOBODY, DUX),
    "outcome": (0, len(OUTCOMES) - 1),
    "used": (0, 15),
    "owed": (-1, 1),
    "supply": (0, MAX_TOKENS),
    "glory": (0, MAX_UNREST),
    "reserve": ((0, 0, 0), (MAX_UNREST, MAX_REVOLTS, MAX_ARMIES)),
    "at": (0, (OFF, OFF, OFF, OFF, GONE)),
    "army_at": (0, OFF),
    "army_origin": (0, 6),
    "army_kind": (0, len(KINDS) - 1),
    "fleets": (0, (1 << ZONES) - 1),
    "pirates": (0, 1 << ZONES - 1),
    "fighter": (NOBODY, DUX),
    "foe": (0, PIRATES),
    "roman_die": (0, 6 + MAX_TOKENS),
    "normal_die": (0, 6),
    "march": (0, OFF),
    "risen": (0, 0),
}

MESSAGES = (
    "",
    "tokens: a space holds more than one token",
    f"unrest: more than {MAX_UNREST} on the board, in the reserve and as glory",
    f"revolt: more than {MAX_REVOLTS} on the board and in the reserve",
    f"armies: more than {MAX_ARMIES} on the board and in the reserve",
    f"supply: an Emperor has more than {MAX_TOKENS} tokens",
    "armies: they are not in the order of their spaces",
    "armies: one is not on its path, or a rebel not on a border",
    "armies: the goths are there twice, or without their module",
    "dux: he is there without his module",
    "pirates: they are there twice, or without their module",
    "pirates: a Roman fleet is in their zone",
    "pirates: no zone is left for a fleet",
    "emperors: a space holds more than one figure",
    "turn: more turns are finished than max_turns allows",
    "phase: 'over' needs an outcome",
    "outcome: the game is not over",
    "armies: one is in ROMA, but the game is running",
    "pending.march: no army marches in this phase",
    "pending.march: there is no army on a space, or a gap",
    "pending.march: rebels do not march",
    "pending.march: the armies do not advance in this order",
    "phase: 'fleets', but all are placed",
    "phase: 'arrival' needs an Emperor off the board who can enter ROMA and his capital",
    "phase: 'roman' needs its Emperor on the board",
    "phase: 'block' needs a march against constantius, who can pay for his power",
    "phase: 'boost' needs a combat of galerius, who can pay for his power",
    "passing: the figure does not share its space",
    "passing: the figure is not moved in this turn",
    "passing: the figure cannot move on",
    "pending.combat: there is no such combat",
    "pending.combat: galerius has won it and has nothing to decide",
)
VALID = 0
(
    TOKENS_CROWDED, UNREST_COUNT, REVOLT_COUNT, ARMY_COUNT, TOKEN_COUNT, ARMY_ORDER, ARMY_PATH, GOTHS_RULE, DUX_RULE, PIRATES_RULE,
    PIRATES_FLEET, PIRATES_ZONE, FIGURES_CROWDED, TURN_LIMIT, NO_OUTCOME, EARLY_OUTCOME, ROME_FELL, MARCH_PHASE, MARCH_SPACE, MARCH_REBEL,
    MARCH_ORDER, FLEETS_PLACED, NO_ARRIVAL, NO_EMPEROR, NO_BLOCK, NO_BOOST, PASSING_ALONE, PASSING_TURN, PASSING_STUCK, NO_COMBAT,
    COMBAT_WON,
) = range(1, len(MESSAGES))  # fmt: skip


def outside_limits(games: NDArray[Any], limits: Mapping[str, tuple[Any, Any]]) -> tuple[int, str] | None:
    """Find the first record with a number outside its limits.

    Args:
        games: An array of records.
        limits: Lowest and highest allowed value of each field, as in LIMITS; NaN is outside any limits.

    Returns:
        The index of the record and the name of the field, or None.
    """
    for name, (lowest, highest) in limits.items():
        fits = (games[name] >= lowest) & (games[name] <= highest)
        if not fits.all():
            return int(fits.reshape(len(games), -1).all(axis=1).argmin()), name
    return None


@jit
def first_flaw(games: Any) -> tuple[int, int]:
    """Find the first record that cannot be a game.

    Args:
        games: An array of records within LIMITS.

    Returns:
        Its index and its flaw, an index of MESSAGES; (-1, VALID) if there is none.
    """
    for i in range(len(games)):
        found = flaw(games[i])
        if found != VALID:
            return i, found
    return -1, VALID


@jit
def flaw(game: GameRecord) -> int:
    """Return the first reason why a record within LIMITS cannot be a game, as an index of MESSAGES."""
    found = _pieces(game)
    if found == VALID:
        found = _armies_and_modules(game)
    if found == VALID:
        found = _figures_and_end(game)
    if found == VALID:
        found = _march(game)
    if found == VALID:
        found = _phase(game)
    if found == VALID and game.passing != NOBODY:
        found = _passing(game)
    if found == VALID:
        found = _combat(game)
    return found


@jit
def _pieces(game: GameRecord) -> int:
    """R1.2, R1.3: check that there is one token per space, and no more pieces than the game has; fewer allow positions set up by hand."""
    taken = game.unrest | game.revolts
    total = count(game.unrest) + count(game.revolts)
    for e in range(4):
        taken |= game.tokens[e]
        total += count(game.tokens[e])
    if count(taken) != total:
        return TOKENS_CROWDED
    glory = game.glory[0] + game.glory[1] + game.glory[2] + game.glory[3]
    if count(game.unrest) + game.reserve[UNREST] + glory > MAX_UNREST:
        return UNREST_COUNT
    if count(game.revolts) + game.reserve[REVOLT] > MAX_REVOLTS:
        return REVOLT_COUNT
    standing = 0
    for army in range(3):
        standing += game.army_at[army] != OFF
    if standing + game.reserve[ARMIES] > MAX_ARMIES:
        return ARMY_COUNT
    for e in range(4):
        if count(game.tokens[e]) + game.supply[e] > MAX_TOKENS:
            return TOKEN_COUNT
    return VALID


@jit
def _armies_and_modules(game: GameRecord) -> int:
    """Check that armies are in the order of their spaces and on their paths, and that pieces of modules have their modules."""
    goths = 0
    for army in range(3):
        space, origin, kind = game.army_at[army], game.army_origin[army], game.army_kind[army]
        if army < 2 and game.army_at[army + 1] < space + (game.army_at[army + 1] != OFF):
            return FIGURES_CROWDED if game.army_at[army + 1] == space else ARMY_ORDER
        if space == OFF:
            if origin != 0 or kind != 0:
                return ARMY_PATH
        elif STEPS[origin, space] == OFF or (kind == REBEL and BIT[space] & BORDERS == 0):
            return ARMY_PATH
        goths += kind == GOTHS
    if goths > 1 or (goths == 1 and game.modules & GOTHS_MODULE == 0):
        return GOTHS_RULE
    if game.modules & DUX_MODULE == 0 and game.at[DUX] != GONE:
        return DUX_RULE
    if game.pirates & (game.pirates - 1) != 0 or (game.modules & PIRATES_MODULE == 0 and game.pirates != 0):
        return PIRATES_RULE
    if game.fleets & game.pirates != 0:
        return PIRATES_FLEET
    if game.modules & PIRATES_MODULE != 0 and game.level[1] >= ZONES:
        return PIRATES_ZONE
    return VALID


@jit
def _figures_and_end(game: GameRecord) -> int:
    """R1.3, R4.3: check for one figure per space, except the passing one. R9: check that phase, outcome and turn agree."""
    taken = armies(game)
    for figure in range(FIGURE_COUNT):
        if figure != game.passing and game.at[figure] < OFF:
            if taken & BIT[game.at[figure]] != 0:
                return FIGURES_CROWDED
            taken |= BIT[game.at[figure]]
    if game.turn > game.max_turns or (game.turn == game.max_turns and game.phase != OVER):
        return TURN_LIMIT
    if game.phase == OVER:
        return NO_OUTCOME if game.outcome == RUNNING else VALID
    if game.outcome != RUNNING:
        return EARLY_OUTCOME
    return ROME_FELL if armies(game) & BIT[ROMA] != 0 else VALID


@jit
def _march(game: GameRecord) -> int:
    """R8.1: check that armies, except Rebels, march in their order, and only while a power is being decided on."""
    if game.march[0] != OFF and game.phase != BOOST and game.phase != BLOCK:
        return MARCH_PHASE
    for i in range(3):
        if game.march[i] == OFF:
            if i < 2 and game.march[i + 1] != OFF:
                return MARCH_SPACE
            continue
        if armies(game) & BIT[game.march[i]] == 0:
            return MARCH_SPACE
        army = army_on(game, game.march[i])
        if game.army_kind[army] == REBEL:
            return MARCH_REBEL
        if i > 0 and place_in_line(game, army_on(game, game.march[i - 1])) >= place_in_line(game, army):
            return MARCH_ORDER
    return VALID


@jit
def _phase(game: GameRecord) -> int:
    """Check the conditions of the phase."""
    on_board = game.at[game.emperor] < OFF
    if game.phase == FLEETS and fleets_to_place(game) <= 0:
        return FLEETS_PLACED
    if game.phase == ARRIVAL and (on_board or not (may_enter_rome(game) and may_enter_capital(game))):
        return NO_ARRIVAL
    if game.phase == ROMAN and not on_board:
        return NO_EMPEROR
    if game.phase == BLOCK and not (game.march[0] != OFF and defender(game) == CONSTANTIUS and has_power(game, CONSTANTIUS)):
        return NO_BLOCK
    if game.phase == BOOST and not (game.fighter == GALERIUS and has_power(game, GALERIUS)):
        return NO_BOOST
    return VALID


@jit
def _passing(game: GameRecord) -> int:
    """R4.3: check that the passing figure shares its space, can move on, and is moved by the Emperor whose turn it is."""
    if others(game, game.passing) & BIT[game.at[game.passing]] == 0:
        return PASSING_ALONE
    ordered = may_order(game) and game.variants & IMPERIVM != 0
    if game.phase != ROMAN or not (game.passing == game.emperor or game.passing == DUX or ordered):
        return PASSING_TURN
    return VALID if destinations(game, game.passing) != 0 else PASSING_STUCK


@jit
def _combat(game: GameRecord) -> int:
    """R4.7, R8.4, R11.2: check that in the boost phase Galerius fights the first army in line or, in his turn, a neighbour or Pirates."""
    if game.phase != BOOST:
        none = game.fighter == NOBODY and game.foe == OFF and game.roman_die == 0 and game.normal_die == 0
        return VALID if none else NO_COMBAT
    if game.roman_die == 0 or game.normal_die == 0 or game.at[GALERIUS] >= OFF:
        return NO_COMBAT
    here = BIT[game.at[GALERIUS]]
    if game.march[0] != OFF:
        real = game.foe == game.march[0] and defender(game) == GALERIUS
    elif game.emperor != GALERIUS:
        real = False
    elif game.foe == PIRATES:
        real = COAST[game.pirates] & here != 0
    else:
        real = game.foe < OFF and armies(game) & BIT[game.foe] != 0 and LINKED[game.foe] & here != 0
    if not real:
        return NO_COMBAT
    return COMBAT_WON if margin(game) > 0 else VALID
