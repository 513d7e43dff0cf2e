"""The observation: the complete game except future dice, as one float32 vector with named parts.

It is relative to the observing Emperor: `own` is the viewer; `second`, `third` and `fourth` follow in turn order. Two games
that differ in anything but the RNG state have different observations. Derived parts (chains, odds, distances, sums) save
a network from having to compute them.
"""

from typing import Any

import numpy as np

from tetrarchia_env.board import SPACES
from tetrarchia_env.engine._jit import jit
from tetrarchia_env.engine.armies import armies
from tetrarchia_env.engine.bits import count, first_of
from tetrarchia_env.engine.combat import chain, margin, odds, targets
from tetrarchia_env.engine.movement import by_sea
from tetrarchia_env.engine.outcome import secured_borders
from tetrarchia_env.engine.state import DUX, DUX_MODULE, GONE, GOTHS, NOBODY, OFF, PIRATES, REBEL, GameRecord
from tetrarchia_env.engine.tables import BIT, BROKEN, NEXT_STEP, NORMAL, PRINTED, PROVINCES, STEPS
from tetrarchia_env.engine.tokens import lying, supporting

BY_SPACE: dict[str, tuple[int, str]] = {  # number of rows with one value per space, and their meaning
    "unrest": (1, "an Unrest token lies here"),
    "revolt": (1, "a Revolt token lies here"),
    "token": (4, "a token of own, second, third, fourth lies here"),
    "printed": (1, "a printed token counts here (R1.5)"),
    "supporting": (1, "a token, placed or printed, that supports the observer (R5.3, R10.3)"),
    "figure": (5, "the figure of own, second, third, fourth, the Dux is here"),
    "army": (3, "an army of any kind, the Goths, a Rebel is here"),
    "army_origin": (1, "the region the army came from, / 6"),
    "army_nearness": (1, "1 - steps to ROMA on its path / 12"),
    "army_next": (1, "an army's next step"),
    "march": (1, "an army that has yet to advance: 1 for the first in line, then 2/3, 1/3 (R8.1)"),
    "foe": (1, "the army of the combat under way"),
    "revolt_chain": (1, "Revolts in this Revolt's chain, / 21 (R5.2)"),
    "support_chain": (1, "tokens in this supporting token's chain, / 21 (R5.3)"),
    "nearness": (1, "1 - c / 8, where c is the IP cost of the observer's cheapest path here, ignoring other figures; 0 if c > 7"),
    "attack": (2, "probability that the observer's attack on this army wins, loses; 0 if it cannot be made now"),
}
OTHERS: dict[str, tuple[int, str]] = {  # number of values, and their meaning
    "identity": (4, "which Emperor the observer is, in turn order"),
    "turn_of": (4, "whose turn it is: own, second, third, fourth"),
    "phase": (6, "fleets, arrival, roman, boost, block, over"),
    "outcome": (5, "running, won, rome fell, reserve empty, truncated"),
    "ip": (1, "IP left, / 16"),
    "passing": (5, "who must move on: own, second, third, fourth, the Dux (R4.3)"),
    "used": (3, "this turn: power, take, give"),
    "supply": (4, "tokens in the supply of own, second, third, fourth, / 5"),
    "glory": (4, "their glory, / 21"),
    "owed": (4, "IP gained or lost in their next turn (R10.4)"),
    "reserve": (3, "Unrest and Revolt tokens in the reserve, / 21, armies, / 3"),
    "fleets": (3, "a Roman fleet in ATLANTICVM, INTERNVM, AEGAEVM"),
    "pirates": (3, "the Pirates there"),
    "dux": (2, "the Dux can be deployed; he is gone"),
    "fighter": (5, "who fights the combat under way: own, second, third, fourth, the Dux"),
    "at_sea": (1, "that combat is against the Pirates"),
    "combat_dice": (2, "its Roman die, boosts added, and normal die, / 12"),
    "combat_margin": (1, "Roman value minus Barbarian value, / 8, clipped to -1 and 1"),
    "secured": (1, "borders secured, / 6"),
    "region_revolts": (7, "Revolts in ITALIA and regions I to VI, / 6"),
    "region_unrest": (7, "Unrest there, / 6"),
    "variants": (5, "imperivm, mare_nostrvm, diarchia, patres_patriae, the_great"),
    "modules": (3, "dux, pirates, goths"),
    "scenario": (4, "carausian_revolt, danube_wars, mauretanian_war, great_persian_war"),
    "level": (4, "the level's digits, / 5, 3, 3, 3"),
    "fixed_setup": (1, "R2.7"),
    "time": (4, "finished turns n and max_turns m: n % 1024 / 1024, n // 1024 / 2**21, then the same for m"),
}
FIELDS: list[Any] = [(name, np.float32, (rows, SPACES)) for name, (rows, _) in BY_SPACE.items()]
FIELDS += [(name, np.float32, (size,)) for name, (size, _) in OTHERS.items()]
OBSERVATION = np.dtype((np.record, FIELDS))
SIZE = OBSERVATION.itemsize // 4
FARTHEST = 7  # maximum cost in IP that `nearness` shows

View = Any  # a record of OBSERVATION


@jit
def encode(game: GameRecord, viewer: int, view: View) -> None:
    """Write the observation of one Emperor into a record.

    Args:
        game: The game.
        viewer: The observing Emperor, 0 to 3.
        view: A record of OBSERVATION, all zero.
    """
    encode_tokens(game, viewer, view)
    encode_figures(game, viewer, view)
    encode_armies(game, view)
    encode_chains(game.revolts, view.revolt_chain[0])
    encode_chains(supporting(game, viewer), view.support_chain[0])
    encode_ways(game, viewer, view)
    encode_odds(game, viewer, view)
    encode_turn(game, viewer, view)
    encode_emperors(game, viewer, view)
    encode_pieces(game, view)
    encode_public(game, view)
    encode_combat(game, viewer, view)
    encode_rules(game, view)


@jit
def seat(viewer: int, figure: int) -> int:
    """Return a figure's index relative to the viewer: 0 for the viewer, 1 to 3 for the next Emperors in turn order, 4 for the Dux."""
    return figure if figure == DUX else (figure - viewer) % 4


@jit
def mark(row: Any, spaces: int, value: float) -> None:
    """Write the value at these spaces of a row."""
    while spaces:
        space = first_of(spaces)
        row[space] = value
        spaces ^= BIT[space]


@jit
def encode_tokens(game: GameRecord, viewer: int, view: View) -> None:
    """Write placed and printed tokens."""
    mark(view.unrest[0], game.unrest, 1.0)
    mark(view.revolt[0], game.revolts, 1.0)
    for emperor in range(4):
        mark(view.token[seat(viewer, emperor)], game.tokens[emperor], 1.0)
    mark(view.printed[0], (PRINTED[0] | PRINTED[1] | PRINTED[2] | PRINTED[3]) & ~lying(game), 1.0)
    mark(view.supporting[0], supporting(game, viewer), 1.0)


@jit
def encode_figures(game: GameRecord, viewer: int, view: View) -> None:
    """Write Emperors and Dux."""
    for figure in range(DUX + 1):
        if game.at[figure] < OFF:
            view.figure[seat(viewer, figure), game.at[figure]] = 1


@jit
def encode_armies(game: GameRecord, view: View) -> None:
    """Write the armies, their next steps, and which of them still have to advance (R8)."""
    for army in range(3):
        space, origin = game.army_at[army], game.army_origin[army]
        if space != OFF:
            view.army[0, space] = 1
            view.army[1, space] = game.army_kind[army] == GOTHS
            view.army[2, space] = game.army_kind[army] == REBEL
            view.army_origin[0, space] = origin / 6
            view.army_nearness[0, space] = 1 - STEPS[origin, space] / 12
            if NEXT_STEP[origin, space] != OFF:
                view.army_next[0, NEXT_STEP[origin, space]] = 1
    for place in range(3):
        if game.march[place] != OFF:
            view.march[0, game.march[place]] = 1 - place / 3


@jit
def encode_chains(tokens: int, row: Any) -> None:
    """Write the chain size of each of these tokens."""
    while tokens:
        one = chain(tokens, tokens & -tokens)
        mark(row, one, count(one) / 21)
        tokens &= ~one


@jit
def encode_ways(game: GameRecord, viewer: int, view: View) -> None:
    """Write the viewer's cost of reaching each space (R4.1), by uniform-cost search."""
    closed = armies(game)
    here = BIT[game.at[viewer]]
    in_one = in_two = in_three = 0  # reached for 1, 2 and 3 IP more
    for cost in range(FARTHEST + 1):
        closed |= here
        while here:
            space = first_of(here)
            here ^= BIT[space]
            view.nearness[0, space] = 1 - cost / 8
            near, far = NORMAL[space] | by_sea(game, space), BROKEN[space]
            in_one |= near & ~game.revolts
            in_two |= near & game.revolts | far & ~game.revolts
            in_three |= far & game.revolts
        here, in_one, in_two, in_three = in_one & ~closed, in_two, in_three, 0


@jit
def encode_odds(game: GameRecord, viewer: int, view: View) -> None:
    """Write the viewer's odds against the armies that can be attacked with the IP of this turn."""
    if game.emperor != viewer:
        return
    attackable = targets(game, viewer)
    for army in range(3):
        space = game.army_at[army]
        if attackable & BIT[space]:
            wins, losses = odds(game, viewer, space)
            view.attack[0, space] = wins / 36
            view.attack[1, space] = losses / 36


@jit
def encode_turn(game: GameRecord, viewer: int, view: View) -> None:
    """Write whose turn it is, the phase, IP and time."""
    view.identity[viewer] = 1
    view.turn_of[seat(viewer, game.emperor)] = 1
    view.phase[game.phase] = 1
    view.outcome[game.outcome] = 1
    view.ip[0] = game.ip / 16
    if game.passing != NOBODY:
        view.passing[seat(viewer, game.passing)] = 1
    for power in range(3):
        view.used[power] = game.used >> power & 1
    view.time[0] = game.turn % 1024 / 1024
    view.time[1] = game.turn // 1024 / 2097152
    view.time[2] = game.max_turns % 1024 / 1024
    view.time[3] = game.max_turns // 1024 / 2097152


@jit
def encode_emperors(game: GameRecord, viewer: int, view: View) -> None:
    """Write each Emperor's supply, glory and owed IP."""
    for emperor in range(4):
        place = seat(viewer, emperor)
        view.supply[place] = game.supply[emperor] / 5
        view.glory[place] = game.glory[emperor] / 21
        view.owed[place] = game.owed[emperor]


@jit
def encode_pieces(game: GameRecord, view: View) -> None:
    """Write reserve, fleets, Pirates, and sums over the board."""
    view.reserve[0] = game.reserve[0] / 21
    view.reserve[1] = game.reserve[1] / 21
    view.reserve[2] = game.reserve[2] / 3
    for zone in range(3):
        view.fleets[zone] = game.fleets >> zone & 1
        view.pirates[zone] = game.pirates >> zone & 1
    for region in range(7):
        view.region_revolts[region] = count(game.revolts & PROVINCES[region]) / 6
        view.region_unrest[region] = count(game.unrest & PROVINCES[region]) / 6


@jit
def encode_public(game: GameRecord, view: View) -> None:
    """Write what R14.3 makes public about distant pieces: whether the Dux is undeployed or gone, and the secured borders."""
    if game.modules & DUX_MODULE:
        view.dux[0] = game.at[DUX] == OFF
        view.dux[1] = game.at[DUX] == GONE
    view.secured[0] = count(secured_borders(game)) / 6


@jit
def encode_combat(game: GameRecord, viewer: int, view: View) -> None:
    """Write the combat that waits for a boost (R10.1)."""
    if game.fighter == NOBODY:
        return
    view.fighter[seat(viewer, game.fighter)] = 1
    if game.foe == PIRATES:
        view.at_sea[0] = 1
    else:
        view.foe[0, game.foe] = 1
    view.combat_dice[0] = game.roman_die / 12
    view.combat_dice[1] = game.normal_die / 12
    view.combat_margin[0] = max(-1, min(1, margin(game) / 8))


@jit
def encode_rules(game: GameRecord, view: View) -> None:
    """Write the configuration: variants, modules, scenario and level."""
    for i in range(5):
        view.variants[i] = game.variants >> i & 1
    for i in range(3):
        view.modules[i] = game.modules >> i & 1
    if game.scenario:
        view.scenario[game.scenario - 1] = 1
    view.level[0] = game.level[0] / 5
    for digit in range(1, 4):
        view.level[digit] = game.level[digit] / 3
    view.fixed_setup[0] = game.fixed_setup


def offset(part: str) -> int:
    """Return the index at which a part of the observation begins.

    Args:
        part: A name in BY_SPACE or OTHERS.
    """
    assert OBSERVATION.fields is not None
    return OBSERVATION.fields[part][1] // 4
