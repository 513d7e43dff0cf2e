"""The order of play: `play` plays one decision and everything that follows without one.

The consequences are played in pieces, and the record determines the next one. The event log calls `decide` and then
`advance_to_decision` one piece at a time; the search, which needs no legal actions in between, calls `advance_phase`.
"""

from typing import Any

import numpy as np

from tetrarchia_env.board import SPACES
from tetrarchia_env.engine import actions as a
from tetrarchia_env.engine._jit import jit
from tetrarchia_env.engine.barbarians import advance, begin_barbarian_phase, defender, strike
from tetrarchia_env.engine.combat import attack, attack_pirates, conclude, fight, margin, next_in_line, settle
from tetrarchia_env.engine.dux import deploy
from tetrarchia_env.engine.imperivm import block, boost, use_power
from tetrarchia_env.engine.legal import Mask, legal, sea_lane
from tetrarchia_env.engine.movement import enter, is_on_board, may_enter_capital, may_enter_rome, move, sail
from tetrarchia_env.engine.outcome import end_game
from tetrarchia_env.engine.patres_patriae import give, take
from tetrarchia_env.engine.setup import fleets_to_place, place_fleet, set_up
from tetrarchia_env.engine.state import (
    ADVANCE,
    ARRIVAL,
    BARBARIAN,
    BLOCK,
    BOOST,
    CONSTANTIUS,
    DUX,
    FLEETS,
    GALERIUS,
    OFF,
    ROMAN,
    SAID,
    STRIKE,
    TRUNCATED,
    GameRecord,
)
from tetrarchia_env.engine.tables import CAPITAL, ROMA
from tetrarchia_env.engine.tokens import calm, secure, subdue

IMPERIVM_POINTS = 6
MAX_PIECES: Any = np.int64(2**62)  # more than can follow a decision


@jit
def begin(game: GameRecord, rng: np.uint64, revolts: int, secured: int, mask: Mask) -> None:
    """Set up a new game and advance to its first decision.

    Args:
        game: The record; its rules (level, variants, modules, scenario, `max_turns`) are set, everything else is overwritten.
        rng: The initial RNG state, not 0.
        revolts: The number of initial Revolts (R2.8).
        secured: The number of borders that are secured from the beginning (R2.8).
        mask: Receives the legal actions of the first decision.
    """
    set_up(game, rng, revolts, secured)
    if fleets_to_place(game) == 0:
        begin_turn(game)
    advance_to_decision(game, mask, MAX_PIECES)


@jit
def play(game: GameRecord, action: int, mask: Mask) -> None:
    """Play one legal action and everything that follows without a decision.

    Args:
        game: The game, which is changed.
        action: The id of a legal action.
        mask: Receives the legal actions of the next decision.
    """
    decide(game, action)
    advance_to_decision(game, mask, MAX_PIECES)


@jit
def decide(game: GameRecord, action: int) -> None:
    """Play one legal action without its consequences."""
    if game.phase == FLEETS:
        place_fleet(game, action - a.FLEET)
        if fleets_to_place(game) == 0:
            begin_turn(game)
    elif game.phase == ARRIVAL:
        enter(game, ROMA if action == a.ENTER_ROMA else CAPITAL[game.emperor])
    elif game.phase == BOOST:
        answer_boost(game, action)
    elif game.phase == BLOCK:
        answer_block(game, action)
    else:
        act(game, action)


@jit
def advance_to_decision(game: GameRecord, mask: Mask, pieces: int) -> bool:
    """R3: play up to the next decision or the end of the game.

    Args:
        game: The game, which is changed.
        mask: Receives the legal actions when a decision is reached.
        pieces: Maximum number of pieces to play.

    Returns:
        Whether more pieces may follow.
    """
    for _ in range(pieces):
        if game.phase >= BARBARIAN:
            advance_phase(game)
        elif legal(game, mask) or game.phase != ROMAN:
            return False
        else:
            game.phase = BARBARIAN  # R3.5: no empty decisions
    return True


@jit
def advance_phase(game: GameRecord) -> None:
    """R6, R8, R3.1: play one piece of the phases without decisions."""
    if game.phase == BARBARIAN:
        begin_barbarian_phase(game)
    elif game.phase == STRIKE:
        strike(game)
    elif game.march[0] != OFF:
        advance(game)
    else:
        finish_turn(game)


@jit
def begin_turn(game: GameRecord) -> None:
    """R3.1, R3.4: set the IP and the phase of the new turn."""
    game.ip = IMPERIVM_POINTS + game.owed[game.emperor]
    game.owed[game.emperor] = 0
    game.used = 0
    if is_on_board(game, game.emperor):
        game.phase = ROMAN
    else:
        arrive(game)


@jit
def arrive(game: GameRecord) -> None:
    """R3.2, R3.3: let the Emperor arrive; two possible spaces make a decision, none leads directly to the Barbarian phase."""
    rome, capital = may_enter_rome(game), may_enter_capital(game)
    if rome and capital:
        game.phase = ARRIVAL
    elif rome:
        enter(game, ROMA)
    elif capital:
        enter(game, CAPITAL[game.emperor])
    else:
        game.phase = BARBARIAN


@jit
def finish_turn(game: GameRecord) -> None:
    """R3.1: begin the next Emperor's turn, unless `max_turns` are finished."""
    game.turn += 1
    if game.turn >= game.max_turns:
        end_game(game, TRUNCATED)
    else:
        game.emperor = (game.emperor + 1) % 4
        begin_turn(game)


@jit
def agent_to_act(game: GameRecord) -> int:
    """Return the Emperor who decides now: the one whose turn it is, except for the reactions of R10.1."""
    if game.phase == BOOST:
        return GALERIUS
    return CONSTANTIUS if game.phase == BLOCK else game.emperor


@jit
def answer_boost(game: GameRecord, action: int) -> None:
    """R10.1: boost Galerius' combat and settle it again, or accept the result."""
    if action == a.BOOST_COMBAT:
        boost(game)
        settle(game)
    else:
        conclude(game, margin(game))


@jit
def answer_block(game: GameRecord, action: int) -> None:
    """R10.1: block the army with Constantius' power, or let him fight it (R8.4)."""
    game.phase = ADVANCE
    if action == a.BLOCK_ARMY:
        block(game)
        next_in_line(game)
    else:
        fight(game, defender(game), game.march[0])


@jit
def act(game: GameRecord, action: int) -> None:
    """R4, R10, R11, R14.7: play an action of the Roman phase, by its block of ids."""
    if action == a.END:  # R4.8
        game.phase = BARBARIAN
    elif action == a.SECURE:
        secure(game)
    elif action == a.SUBDUE:
        subdue(game, game.emperor)
    elif action == a.CALM:
        calm(game, game.emperor)
    elif action < a.FLEET:
        start, goal = sea_lane(action - a.SAIL)
        sail(game, start, goal)
    elif action < a.ATTACK:
        move(game, game.emperor, action - a.MOVE)
    elif action < a.BASE_ACTIONS:
        attack(game, game.emperor, action - a.ATTACK)
    elif action == a.IMPERIVM_POWER:  # R10.1
        use_power(game)
    elif action == a.TAKE:  # R10.4
        take(game)
    elif action == a.GIVE:
        give(game)
    elif action == a.ATTACK_PIRATES:  # R11.2
        attack_pirates(game, game.emperor)
    elif action < a.ORDER:
        act_by_dux(game, action)
    elif action < a.SAY:  # R10.1
        order = action - a.ORDER
        move(game, order // SPACES, order % SPACES)
    else:  # R14.7: the environment keeps the message
        game.used |= SAID


@jit
def act_by_dux(game: GameRecord, action: int) -> None:
    """R11.1: play an action of the Dux."""
    if action < a.DUX_MOVE:
        deploy(game, action - a.DUX_DEPLOY)
    elif action < a.DUX_ATTACK:
        move(game, DUX, action - a.DUX_MOVE)
    elif action < a.DUX_SUBDUE:
        attack(game, DUX, action - a.DUX_ATTACK)
    elif action == a.DUX_SUBDUE:
        subdue(game, DUX)
    elif action == a.DUX_CALM:
        calm(game, DUX)
    else:
        attack_pirates(game, DUX)
