"""R2: set-up; R12: the initial pieces of scenarios."""

import numpy as np

from tetrarchia_env.board import SPACES
from tetrarchia_env.engine._jit import jit
from tetrarchia_env.engine.armies import armies, place_army
from tetrarchia_env.engine.barbarians import roll_province
from tetrarchia_env.engine.dice import roll
from tetrarchia_env.engine.goths import come
from tetrarchia_env.engine.movement import FIGURE_COUNT
from tetrarchia_env.engine.outcome import emperor_tokens
from tetrarchia_env.engine.scenarios import FIXED_ARMIES, FIXED_REVOLTS, PIRATE_ZONE, PLACED, STARTS
from tetrarchia_env.engine.state import (
    ARMIES,
    DUX,
    DUX_MODULE,
    FLEETS,
    GONE,
    NOBODY,
    OFF,
    PIRATES_MODULE,
    REBEL,
    REVOLT,
    RUNNING,
    UNREST,
    GameRecord,
)
from tetrarchia_env.engine.tables import BIT, BORDER, PROVINCES, REGION
from tetrarchia_env.engine.tokens import put_revolt

TOKENS, FLEET_DIGIT, EXTRA_REVOLTS, INITIAL_ARMIES = range(4)  # a level's digits


@jit
def set_up(game: GameRecord, rng: np.uint64, revolts: int, secured: int) -> None:
    """R2, R12: set up a new game by the rules in the record, up to the fleets (R2.6).

    Args:
        game: The record; only its rules are read.
        rng: The initial RNG state.
        revolts: The number of initial Revolts (R2.8); 6 without a head start, and in scenarios.
        secured: The number of borders that are secured from the beginning (R2.8); 0 without a head start, and in scenarios.
    """
    game.dice = rng
    clear_time(game)
    clear_board(game)
    place_scenario(game)
    place_revolts(game, spare_regions(game, 6 - revolts))
    if game.scenario == 0:
        place_extra_revolts(game)
        place_initial_armies(game)
        place_pirates(game)
        secure_borders(game, secured)


@jit
def clear_time(game: GameRecord) -> None:
    """Reset turn, phase and everything pending; the first decision is about the fleets."""
    game.turn, game.ip, game.used = 0, 0, 0
    game.emperor = STARTS[game.scenario]
    game.phase, game.outcome = FLEETS, RUNNING
    game.passing, game.fighter, game.foe = NOBODY, NOBODY, OFF
    game.roman_die, game.normal_die = 0, 0
    for emperor in range(4):
        game.owed[emperor] = 0
        game.glory[emperor] = 0


@jit
def clear_board(game: GameRecord) -> None:
    """R1.2: empty the board and put all pieces into the reserve and the supplies."""
    game.unrest, game.revolts, game.fleets, game.pirates = 0, 0, 0, 0
    game.reserve[UNREST], game.reserve[REVOLT], game.reserve[ARMIES] = 21, 21, 3
    for emperor in range(4):
        game.tokens[emperor] = 0
        game.supply[emperor] = game.level[TOKENS]
        game.at[emperor] = OFF
    game.at[DUX] = OFF if game.modules & DUX_MODULE else GONE
    for army in range(3):
        game.army_at[army], game.army_origin[army], game.army_kind[army] = OFF, 0, 0
        game.march[army] = OFF


@jit
def place_scenario(game: GameRecord) -> None:
    """R12: place the scenario's fixed Revolts, armies, figures and Pirates; an ordinary game has none."""
    for space in range(SPACES):
        if FIXED_REVOLTS[game.scenario] & BIT[space]:
            put_revolt(game, space)
    for i in range(3):
        space, kind = FIXED_ARMIES[game.scenario, i]
        if space != OFF:
            place_army(game, space, REGION[space], kind)
            if kind == REBEL:
                put_revolt(game, space)
    for figure in range(FIGURE_COUNT):
        if PLACED[game.scenario, figure] != OFF:
            game.at[figure] = PLACED[game.scenario, figure]
    game.pirates = PIRATE_ZONE[game.scenario]


@jit
def spare_regions(game: GameRecord, number: int) -> int:
    """R2.8: roll regions that get no initial Revolt; return bit r for region r."""
    spared = 0
    for _ in range(number):
        region = roll(game)
        while spared >> region & 1:
            region = roll(game)
        spared |= 1 << region
    return spared


@jit
def place_revolts(game: GameRecord, spared: int) -> None:
    """R2.2, R2.7: place one Revolt in each outer region that is not spared and has none from the scenario."""
    for region in range(1, 7):
        if spared >> region & 1 == 0 and FIXED_REVOLTS[game.scenario] & PROVINCES[region] == 0:
            first = 6 * (region - 1)
            space = first + 2 if game.fixed_setup else first
            while space == first:
                space = roll_province(game, region)
            put_revolt(game, space)


@jit
def place_extra_revolts(game: GameRecord) -> None:
    """R2.3: place extra Revolts by R N; both dice are rolled again while that province has a Revolt."""
    for _ in range(game.level[EXTRA_REVOLTS]):
        space = roll_province(game, roll(game))
        while game.revolts & BIT[space]:
            space = roll_province(game, roll(game))
        put_revolt(game, space)


@jit
def place_initial_armies(game: GameRecord) -> None:
    """R2.4: place armies on borders without one; they may be the Goths (R11.3)."""
    for _ in range(game.level[INITIAL_ARMIES]):
        region = roll(game)
        while armies(game) & BIT[BORDER[region]]:
            region = roll(game)
        come(game, region)


@jit
def place_pirates(game: GameRecord) -> None:
    """R2.5: place the Pirates in INTERNVM or AEGAEVM; N is rolled until it is 2 or 3."""
    if game.modules & PIRATES_MODULE == 0:
        return
    zone = 0
    while zone != 2 and zone != 3:
        zone = roll(game)
    game.pirates = 1 << zone - 1


@jit
def secure_borders(game: GameRecord, number: int) -> None:
    """R2.8: roll borders without token and army; the Emperor with the largest supply, ties in turn order, secures each."""
    for _ in range(number):
        region = roll(game)
        while (emperor_tokens(game) | armies(game)) & BIT[BORDER[region]]:
            region = roll(game)
        richest = 0
        for emperor in range(1, 4):
            if game.supply[emperor] > game.supply[richest]:
                richest = emperor
        game.tokens[richest] |= BIT[BORDER[region]]
        game.supply[richest] -= 1


@jit
def fleets_to_place(game: GameRecord) -> int:
    """R2.6: return the number of fleets that are still to be placed."""
    placed = (game.fleets & 1) + (game.fleets >> 1 & 1) + (game.fleets >> 2 & 1)
    return game.level[FLEET_DIGIT] - placed


@jit
def place_fleet(game: GameRecord, zone: int) -> None:
    """R2.6: place a fleet in a zone."""
    game.fleets |= 1 << zone
