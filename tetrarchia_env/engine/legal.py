"""Legal actions, as a mask over the action ids."""

import numpy as np
from numpy.typing import NDArray

from tetrarchia_env.board import SPACES
from tetrarchia_env.engine import actions as a
from tetrarchia_env.engine._jit import jit
from tetrarchia_env.engine.combat import targets
from tetrarchia_env.engine.dux import deployments
from tetrarchia_env.engine.imperivm import may_order, may_use_power
from tetrarchia_env.engine.movement import destinations, is_on_board, may_sail, open_zones
from tetrarchia_env.engine.patres_patriae import may_give, may_take
from tetrarchia_env.engine.pirates import may_attack_pirates
from tetrarchia_env.engine.state import (
    ARRIVAL,
    BLOCK,
    BOOST,
    DUX,
    DUX_MODULE,
    FLEETS,
    IMPERIVM,
    NOBODY,
    PATRES_PATRIAE,
    PIRATES_MODULE,
    ROMAN,
    SAID,
    GameRecord,
)
from tetrarchia_env.engine.tables import ZONES
from tetrarchia_env.engine.tokens import may_calm, may_secure, may_subdue

Mask = NDArray[np.int8]


@jit
def legal(game: GameRecord, mask: Mask) -> bool:
    """Write the legal actions of the agent to act into the mask.

    Args:
        game: The game.
        mask: Receives 1 for each legal action, 0 for all others; longer than ACTIONS if there are messages.

    Returns:
        Whether there is any legal action other than `end`; always true outside the Roman phase.
    """
    mask[:] = 0
    if game.phase == ROMAN:
        if game.passing != NOBODY:  # R4.3: only moves of the figure that must move on
            return mark(mask, moves_of(game, game.passing), destinations(game, game.passing))
        return legal_in_turn(game, mask)
    if game.phase == FLEETS:
        for zone in range(ZONES):
            mask[a.FLEET + zone] = open_zones(game) >> zone & 1
    elif game.phase == ARRIVAL:
        mask[a.ENTER_ROMA] = mask[a.ENTER_CAPITAL] = 1
    elif game.phase == BOOST:
        mask[a.BOOST_COMBAT] = mask[a.ACCEPT] = 1
    elif game.phase == BLOCK:
        mask[a.BLOCK_ARMY] = mask[a.ACCEPT] = 1
    return True


@jit
def mark(mask: Mask, first: int, spaces: int) -> bool:
    """Make the actions `first` + space legal for these spaces; return whether there is one."""
    if spaces == 0:
        return False
    for space in range(SPACES):
        mask[first + space] = spaces >> space & 1
    return True


@jit
def set_legal(mask: Mask, action: int, may: bool) -> bool:
    """Make one action legal if `may`; return `may`."""
    mask[action] = may
    return may


@jit
def moves_of(game: GameRecord, figure: int) -> int:
    """Return the first id of the actions that move this figure in the current turn."""
    if figure == game.emperor:
        return a.MOVE
    return a.DUX_MOVE if figure == DUX else a.ORDER + SPACES * figure


@jit
def sea_lane(lane: int) -> tuple[int, int]:
    """Return the start and goal zones, as bits, of the sail action with this index."""
    west = 1 << (lane >> 1)
    east = west << 1
    return (east, west) if lane & 1 else (west, east)


@jit
def legal_in_turn(game: GameRecord, mask: Mask) -> bool:
    """R4, R10, R11, R14.7: write the actions of the Roman phase into the mask; return whether there is any other than `end`."""
    mask[a.END] = 1
    choice = False
    if game.ip > 0:
        emperor = game.emperor
        choice |= mark(mask, a.MOVE, destinations(game, emperor))
        choice |= mark(mask, a.ATTACK, targets(game, emperor))
        choice |= set_legal(mask, a.SECURE, may_secure(game))
        choice |= set_legal(mask, a.SUBDUE, may_subdue(game, emperor))
        choice |= set_legal(mask, a.CALM, may_calm(game, emperor))
        for lane in range(4):  # R4.4
            start, goal = sea_lane(lane)
            choice |= set_legal(mask, a.SAIL + lane, may_sail(game, start, goal))
        if may_order(game):  # R10.1: Diocletian moves the other Emperors on the board
            for other in range(1, 4):
                choice |= mark(mask, a.ORDER + SPACES * other, destinations(game, other))
        if game.modules & PIRATES_MODULE:
            choice |= set_legal(mask, a.ATTACK_PIRATES, may_attack_pirates(game, emperor))
        if game.modules & DUX_MODULE:
            choice |= legal_for_dux(game, mask)
    if game.variants & IMPERIVM:
        choice |= set_legal(mask, a.IMPERIVM_POWER, may_use_power(game))
    if game.variants & PATRES_PATRIAE:
        choice |= set_legal(mask, a.TAKE, may_take(game))
        choice |= set_legal(mask, a.GIVE, may_give(game))
    if len(mask) > a.ACTIONS and game.used & SAID == 0:  # R14.7
        mask[a.SAY :] = 1
        choice = True
    return choice


@jit
def legal_for_dux(game: GameRecord, mask: Mask) -> bool:
    """R11.1: write the actions of the Dux: deploy, or once on the board move, attack, subdue, calm (not secure)."""
    if not is_on_board(game, DUX):
        return mark(mask, a.DUX_DEPLOY, deployments(game))
    choice = mark(mask, a.DUX_MOVE, destinations(game, DUX))
    choice |= mark(mask, a.DUX_ATTACK, targets(game, DUX))
    choice |= set_legal(mask, a.DUX_SUBDUE, may_subdue(game, DUX))
    choice |= set_legal(mask, a.DUX_CALM, may_calm(game, DUX))
    if game.modules & PIRATES_MODULE:
        choice |= set_legal(mask, a.DUX_ATTACK_PIRATES, may_attack_pirates(game, DUX))
    return choice
