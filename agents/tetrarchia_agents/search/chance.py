"""Chance events in the search: the three results of a combat, and the Barbarian phase after a turn."""

from typing import Any

import numpy as np

from tetrarchia_agents._jit import jit
from tetrarchia_env.batch import Games
from tetrarchia_env.engine import actions as a
from tetrarchia_env.engine.combat import conclude, odds
from tetrarchia_env.engine.dice import next_rng
from tetrarchia_env.engine.pirates import ATTACK_COST
from tetrarchia_env.engine.state import ARRIVAL, BARBARIAN, BLOCK, BOOST, DUX, OVER, PIRATES, ROMAN, GameRecord
from tetrarchia_env.engine.tables import BIT, NORMAL
from tetrarchia_env.engine.turn import advance_phase, answer_block, answer_boost
from tetrarchia_env.heuristic import Weights, win_probability

NUM_STRIKES = 36  # outcomes of R N in R6.3


@jit
def is_attack(action: int) -> bool:
    """Return whether the action rolls dice (R5)."""
    by_emperor = a.ATTACK <= action < a.BASE_ACTIONS or action == a.ATTACK_PIRATES
    return by_emperor or a.DUX_ATTACK <= action < a.DUX_SUBDUE or action == a.DUX_ATTACK_PIRATES


@jit
def fighters(game: GameRecord, action: int) -> tuple[Any, Any]:
    """Return the attacking figure and its foe (R5.1)."""
    if action == a.ATTACK_PIRATES:
        return game.emperor, PIRATES
    if action == a.DUX_ATTACK_PIRATES:
        return DUX, PIRATES
    if action < a.BASE_ACTIONS:
        return game.emperor, np.int64(action - a.ATTACK)
    return DUX, np.int64(action - a.DUX_ATTACK)


@jit
def attack_odds(game: GameRecord, action: int) -> tuple[float, float, float]:
    """Return the probabilities that an attack is won, drawn, lost (R5.1), without Galerius' boosts (R10.1)."""
    figure, foe = fighters(game, action)
    wins, losses = odds(game, figure, foe)
    return wins / 36, (36 - wins - losses) / 36, losses / 36


@jit
def settle_attack(game: GameRecord, action: int, result: int) -> None:
    """Pay for an attack and apply its result: 1 won, 0 drawn, -1 lost (R4.7, R5.4, R11.2)."""
    figure, foe = fighters(game, action)
    if foe == PIRATES:
        game.ip -= ATTACK_COST
    else:
        cost = 1 if NORMAL[game.at[figure]] & BIT[foe] else 2
        game.ip -= cost + (game.revolts & BIT[foe] != 0)
    game.fighter, game.foe = figure, foe
    conclude(game, result)


@jit
def after_barbarians(games: Games, i: int, spare: Games, weights: Weights, rng: np.uint64) -> float:
    """Return the value of ending the turn in games[i]: the mean over the 36 strikes of R6.3.

    Args:
        games: Positions.
        i: Index of the position.
        spare: Buffer; its first game is overwritten.
        weights: Weights of the heuristic.
        rng: RNG state from which all other dice are derived.
    """
    if games[i].phase == OVER:
        return win_probability(games[i], weights)
    total = 0.0
    for province in range(NUM_STRIKES):
        rng = next_rng(rng)
        spare[0] = games[i]
        spare[0].dice = rng
        barbarians_strike(spare[0], province)
        total += win_probability(spare[0], weights)
    return total / NUM_STRIKES


@jit
def barbarians_strike(game: GameRecord, province: int) -> None:
    """Play R6 with the given first province up to the next Emperor's turn; reactions (R10.1) are declined."""
    game.phase, game.foe = BARBARIAN, province
    while game.phase != OVER and game.phase != ROMAN and game.phase != ARRIVAL:
        play_barbarian_step(game)


@jit
def play_barbarian_step(game: GameRecord) -> None:
    """Play one step of R6 and R8, without computing the legal actions afterwards."""
    if game.phase == BOOST:
        answer_boost(game, a.ACCEPT)
    elif game.phase == BLOCK:
        answer_block(game, a.ACCEPT)
    else:
        advance_phase(game)
