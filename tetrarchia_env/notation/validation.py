"""What makes a position impossible although each of its entries alone could be."""

from collections.abc import Iterator
from itertools import pairwise

from tetrarchia_env.board import BOARD, EMPERORS
from tetrarchia_env.engine.armies import armies, army_on
from tetrarchia_env.engine.barbarians import defender, place_in_line
from tetrarchia_env.engine.bits import count
from tetrarchia_env.engine.combat import margin
from tetrarchia_env.engine.imperivm import has_power, may_order
from tetrarchia_env.engine.movement import destinations, may_enter_capital, may_enter_rome, others
from tetrarchia_env.engine.setup import fleets_to_place
from tetrarchia_env.engine.state import (
    ARMIES,
    ARRIVAL,
    BLOCK,
    BOOST,
    CONSTANTIUS,
    DUX,
    FIGURES,
    FLEETS,
    GALERIUS,
    GOTHS,
    NOBODY,
    OFF,
    OUTCOMES,
    OVER,
    PHASES,
    PIRATES,
    REBEL,
    REVOLT,
    ROMAN,
    RUNNING,
    UNREST,
    GameRecord,
)
from tetrarchia_env.engine.tables import BIT, COAST, LINKED, ROMA

RESERVE = {"unrest": 21, "revolt": 21, "armies": 3}  # R1.2
MOST_TOKENS = 5  # of an Emperor


def problems(game: GameRecord) -> Iterator[str]:
    """A sentence for each reason why there can be no such game."""
    yield from _counts(game)
    yield from _crowding(game)
    if game.turn > game.max_turns or (game.turn == game.max_turns and game.phase != OVER):
        yield f"turn: {game.turn} are finished, but the game ends after {game.max_turns}"
    if game.phase == OVER:
        if game.outcome == RUNNING:
            yield "phase: 'over' needs an outcome"
        return
    if game.outcome != RUNNING:
        yield f"outcome: {OUTCOMES[game.outcome]!r} in the phase {PHASES[game.phase]!r}"
    if armies(game) & BIT[ROMA]:
        yield "armies: one stands in ROMA, but the game is running"
    yield from _phase(game)
    yield from _pending(game)


def _counts(game: GameRecord) -> Iterator[str]:
    """R1.2, R1.3: no more pieces than there are. Fewer are allowed: a position may be set up without some."""
    used = {
        "unrest": count(game.unrest) + game.reserve[UNREST] + sum(game.glory),
        "revolt": count(game.revolts) + game.reserve[REVOLT],
        "armies": count(armies(game)) + game.reserve[ARMIES],
    }
    for piece, number in used.items():
        if number > RESERVE[piece]:
            yield f"{piece}: {number} on the board and in the reserve, there are only {RESERVE[piece]}"
    for e, name in enumerate(EMPERORS):
        if count(game.tokens[e]) + game.supply[e] > MOST_TOKENS:
            yield f"{name}: {count(game.tokens[e]) + game.supply[e]} tokens, there are only {MOST_TOKENS}"
    if sum(kind == GOTHS for kind in game.army_kind) > 1:
        yield "armies: the goths are there twice"


def _crowding(game: GameRecord) -> Iterator[str]:
    """R1.3, R4.3: one figure a space, but for the one that passes."""
    alone = [place for figure, place in enumerate(game.at) if place < OFF and figure != game.passing]
    alone += [place for place in game.army_at if place < OFF]
    for place in alone:
        if alone.count(place) > 1:
            yield f"{BOARD.names[place]} holds more than one figure"
    if game.fleets & game.pirates:
        yield "pirates: a Roman fleet is in their zone"


def _phase(game: GameRecord) -> Iterator[str]:
    """What the phase needs."""
    on_board = game.at[game.emperor] < OFF
    if game.phase == FLEETS and fleets_to_place(game) <= 0:
        yield "phase: 'fleets', but all are placed"
    elif game.phase == ARRIVAL and (on_board or not (may_enter_rome(game) and may_enter_capital(game))):
        yield "phase: 'arrival' needs an Emperor off the board who can enter ROMA and his capital"
    elif game.phase == ROMAN and not on_board:
        yield "phase: 'roman' needs its Emperor on the board"
    elif game.phase == BLOCK and not (game.march[0] != OFF and defender(game) == CONSTANTIUS and has_power(game, CONSTANTIUS)):
        yield "phase: 'block' needs a pending march against constantius, who can pay for his power"
    elif game.phase == BOOST and not (game.fighter == GALERIUS and has_power(game, GALERIUS)):
        yield "phase: 'boost' needs a pending combat of galerius, who can pay for his power"
    if game.passing != NOBODY:
        yield from _passing(game)


def _passing(game: GameRecord) -> Iterator[str]:
    """R4.3: who passes stands with another, can move on, and is moved by whose turn it is."""
    name = FIGURES[game.passing]
    if not others(game, game.passing) & BIT[game.at[game.passing]]:
        yield f"passing: {name} does not stand with another figure"
    elif game.phase != ROMAN or not (game.passing in (game.emperor, DUX) or may_order(game)):
        yield f"passing: {name} is not moved in this turn"
    elif not destinations(game, game.passing):
        yield f"passing: {name} cannot move on"


def _pending(game: GameRecord) -> Iterator[str]:
    """A combat under way is real, and so is each army on the march; neither lasts beyond its phase."""
    yield from _march(game)
    if game.fighter != NOBODY:
        if game.phase != BOOST or game.at[game.fighter] >= OFF or not _can_be_fought(game):
            yield "pending, combat: there is no such combat"
        elif margin(game) > 0:
            yield "pending, combat: galerius has won it, and is not asked"


def _can_be_fought(game: GameRecord) -> bool:
    """R4.7, R8.4, R11.2: the first army in line attacks Galerius, or it is his turn and he attacks a neighbour or the Pirates."""
    here = BIT[game.at[GALERIUS]]
    if game.march[0] != OFF:
        return bool(game.foe == game.march[0] and defender(game) == GALERIUS)
    if game.emperor != GALERIUS:
        return False
    return bool(COAST[game.pirates] & here if game.foe == PIRATES else armies(game) & BIT[game.foe] and LINKED[game.foe] & here)


def _march(game: GameRecord) -> Iterator[str]:
    """R8.1: armies that stand there, Rebels never, in their order."""
    if game.march[0] != OFF and game.phase not in (BOOST, BLOCK):
        yield f"pending, march: no army marches in the phase {PHASES[game.phase]!r}"
    for space in game.march:
        if space != OFF and not armies(game) & BIT[space]:
            yield f"pending, march: no army stands in {BOARD.names[space]}"
            return
    line = [army_on(game, space) for space in game.march if space != OFF]
    if any(game.army_kind[army] == REBEL for army in line):
        yield "pending, march: rebels do not march"
    if any(place_in_line(game, first) >= place_in_line(game, then) for first, then in pairwise(line)):
        yield "pending, march: the armies do not advance in this order"
