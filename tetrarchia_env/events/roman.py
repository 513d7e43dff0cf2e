"""Descriptions of R2.6, R3 and R4: the decisions of an Emperor's turn, and the beginning of turns."""

from collections.abc import Callable

from tetrarchia_env.board import BOARD, EMPERORS
from tetrarchia_env.engine import actions as a
from tetrarchia_env.engine.bits import count
from tetrarchia_env.engine.movement import is_on_board
from tetrarchia_env.engine.outcome import secured_borders
from tetrarchia_env.engine.state import ARRIVAL, BARBARIAN, DIOCLETIAN, DUX, FIGURES, FLEETS, OVER, PIRATES, GameRecord
from tetrarchia_env.engine.tables import BIT, BORDERS, CAPITAL
from tetrarchia_env.engine.turn import IMPERIVM_POINTS
from tetrarchia_env.events.combats import describe_attack
from tetrarchia_env.events.words import Lines, cost, figure_name, zone_names
from tetrarchia_env.notation import action_text


def describe_fleet(before: GameRecord, game: GameRecord, action: int) -> Lines:
    """R2.6: describe a placed fleet; the first turn begins after the last one."""
    yield f"{EMPERORS[before.emperor]} places a fleet in {BOARD.zones[action - a.FLEET]}"
    if game.phase != FLEETS:
        yield from describe_turn(before, game)


def describe_arrival(_before: GameRecord, game: GameRecord, _action: int) -> Lines:
    """R3.2: describe a chosen arrival."""
    yield _arrival(game)


def describe_turn(before: GameRecord, game: GameRecord) -> Lines:
    """R3.1, R3.3, R10.4: describe the beginning of a turn, without a pending choice of arrival and the normal number of IP."""
    name = EMPERORS[game.emperor]
    if game.phase == OVER:
        return
    if game.ip != IMPERIVM_POINTS:
        yield f"{name} begins with {game.ip} IP"
    if game.phase == BARBARIAN:
        yield f"{name} can enter neither ROMA nor {BOARD.names[CAPITAL[game.emperor]]}"
    elif game.phase != ARRIVAL and not is_on_board(before, game.emperor):
        yield _arrival(game)


def describe_empty_decision(_before: GameRecord, game: GameRecord) -> Lines:
    """R3.5: describe that an Emperor has no action left."""
    yield f"{EMPERORS[game.emperor]} has nothing left to do"


def _arrival(game: GameRecord) -> str:
    return f"{EMPERORS[game.emperor]} arrives in {BOARD.names[game.at[game.emperor]]}"


def describe_act(before: GameRecord, game: GameRecord, action: int) -> Lines:
    """R4, R10, R11, R14.7: describe an action of the Roman phase."""
    figure, verb, goal = _parts(game, action_text(action))
    if verb == "say":
        yield f"{EMPERORS[figure]} says {goal}"
    elif verb == "attack":
        yield from describe_attack(before, game, figure, PIRATES if goal == "PIRATES" else BOARD.space_id(goal))
    else:
        yield _DESCRIPTIONS[verb](before, game, figure)


def _parts(game: GameRecord, text: str) -> tuple[int, str, str]:
    """Return the acting figure, the verb, and the rest of the action's text."""
    figure, verb, goal = int(game.emperor), *text.partition(" ")[::2]
    if verb == "dux":
        figure, verb, goal = int(DUX), *goal.partition(" ")[::2]
    elif verb == "order":
        figure = EMPERORS.index(goal.partition(" ")[0])
    return figure, verb, goal


def _describe_end(_before: GameRecord, _game: GameRecord, figure: int) -> str:
    return f"{FIGURES[figure]} ends his turn"


def _describe_secure(before: GameRecord, game: GameRecord, figure: int) -> str:
    space = game.at[figure]
    result = f": {count(secured_borders(game))} of 6 borders" if BORDERS & BIT[space] else f" {cost(before, game)}"
    return f"{FIGURES[figure]} secures {BOARD.names[space]}{result}"


def _describe_subdue(before: GameRecord, game: GameRecord, figure: int) -> str:
    space = game.at[figure]
    token = "revolt" if before.revolts & BIT[space] else "unrest"
    return f"{figure_name(figure)} subdues the {token} in {BOARD.names[space]} {cost(before, game)}"


def _describe_calm(before: GameRecord, game: GameRecord, figure: int) -> str:
    return f"{figure_name(figure)} calms the revolt in {BOARD.names[game.at[figure]]} {cost(before, game)}"


def _describe_sail(before: GameRecord, game: GameRecord, _figure: int) -> str:
    start, goal = before.fleets & ~game.fleets, game.fleets & ~before.fleets
    return f"a fleet sails from {zone_names(start)} to {zone_names(goal)} {cost(before, game)}"


def _describe_move(before: GameRecord, game: GameRecord, figure: int) -> str:
    how = "passes through" if game.passing == figure else "moves to"
    return f"{figure_name(figure)} {how} {BOARD.names[game.at[figure]]} {cost(before, game)}"


def _describe_order(before: GameRecord, game: GameRecord, figure: int) -> str:
    how = "through" if game.passing == figure else "to"
    return f"{FIGURES[DIOCLETIAN]} sends {FIGURES[figure]} {how} {BOARD.names[game.at[figure]]} {cost(before, game)}"


def _describe_deploy(before: GameRecord, game: GameRecord, figure: int) -> str:
    return f"{EMPERORS[game.emperor]} puts {figure_name(figure)} in {BOARD.names[game.at[figure]]} {cost(before, game)}"


def _describe_power(_before: GameRecord, _game: GameRecord, figure: int) -> str:
    power = "he may move the other Emperors" if figure == DIOCLETIAN else "1 IP more"
    return f"{FIGURES[figure]} pays a token: {power}"


def _describe_take(_before: GameRecord, _game: GameRecord, _figure: int) -> str:
    return "diocletian takes 1 IP from the next turn of galerius"


def _describe_give(_before: GameRecord, _game: GameRecord, _figure: int) -> str:
    return "constantius gives 1 IP to the next turn of maximian"


_DESCRIPTIONS: dict[str, Callable[[GameRecord, GameRecord, int], str]] = {
    "end": _describe_end,
    "secure": _describe_secure,
    "subdue": _describe_subdue,
    "calm": _describe_calm,
    "sail": _describe_sail,
    "move": _describe_move,
    "order": _describe_order,
    "deploy": _describe_deploy,
    "imperivm": _describe_power,
    "take": _describe_take,
    "give": _describe_give,
}
