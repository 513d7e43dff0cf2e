"""Beam search for the best turn, action by action up to the Barbarian phase (Lowerre, The Harpy system, 1976).

An attack also ends a candidate turn: its value is the mean over its results, and the rest of the turn is planned from each of them.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tetrarchia_agents._jit import jit
from tetrarchia_agents.search.chance import after_barbarians, attack_odds, is_attack, settle_attack
from tetrarchia_env.batch import Games, Masks
from tetrarchia_env.engine import actions as a
from tetrarchia_env.engine.actions import ACTIONS, BASE_ACTIONS
from tetrarchia_env.engine.legal import legal
from tetrarchia_env.engine.movement import enter
from tetrarchia_env.engine.state import ARRIVAL, GAME, NOBODY, OVER, ROMAN, GameRecord, numbers
from tetrarchia_env.engine.tables import CAPITAL, ROMA
from tetrarchia_env.engine.turn import act
from tetrarchia_env.heuristic import Weights, win_probability

MAX_CHILDREN = 4096  # positions per step of the beam
MAX_ENDS = 1024  # turn endings per search
MAX_BEAM = 128  # width of the beam; a wider one would not fit into MAX_CHILDREN
MAX_TURN_ACTIONS = 14  # actions per turn
# Indexes into SearchBuffers.spare; `after_barbarians` uses the first. They and the counts that start at 0 are int64, because Numba would
# compile every function again that is called with a literal.
STRUCK, TRIED, WON_OR_LOST = numbers(3)
ZERO, NO_ACTION = STRUCK, NOBODY  # 0 and -1


class Width(NamedTuple):
    """The limits of the search."""

    beam: int  # positions kept after each action
    ends: int  # turn endings evaluated over the Barbarian phase
    attacks: int  # attacks whose results are planned further


class SearchBuffers(NamedTuple):
    """Memory for the search of one turn."""

    beam: Games  # the positions to expand
    firsts: NDArray[np.int64]  # the first action of the turn that leads to each
    children: Games
    child_firsts: NDArray[np.int64]
    child_values: NDArray[np.float64]
    child_hashes: NDArray[np.uint64]  # to detect repeated positions
    ends: Games  # positions in which the turn ends or an attack is made
    end_firsts: NDArray[np.int64]
    end_attacks: NDArray[np.int64]  # the attack, or NO_ACTION
    end_values: NDArray[np.float64]
    spare: Games  # at STRUCK, TRIED, WON_OR_LOST
    mask: Masks
    allowed: Masks  # the actions that may be planned, whatever is legal


def new_search_buffers() -> SearchBuffers:
    """Return empty buffers."""
    return SearchBuffers(
        np.zeros(MAX_BEAM, GAME),
        np.zeros(MAX_BEAM, np.int64),
        np.zeros(MAX_CHILDREN, GAME),
        np.zeros(MAX_CHILDREN, np.int64),
        np.zeros(MAX_CHILDREN),
        np.zeros(MAX_CHILDREN, np.uint64),
        np.zeros(MAX_ENDS, GAME),
        np.zeros(MAX_ENDS, np.int64),
        np.zeros(MAX_ENDS, np.int64),
        np.zeros(MAX_ENDS),
        np.zeros(3, GAME),
        np.zeros(ACTIONS, np.int8),
        np.ones(ACTIONS, np.int8),
    )


@jit
def take_action(game: GameRecord, action: int) -> None:
    """Play an action of the turn that rolls no dice, without its consequences."""
    if game.phase == ARRIVAL:
        enter(game, ROMA if action == a.ENTER_ROMA else CAPITAL[game.emperor])
    else:
        act(game, action)


@jit
def position_hash(game: GameRecord) -> np.uint64:
    """Return a hash that almost always differs for different positions of one turn."""
    key = np.uint64(game.unrest) * np.uint64(0x9E3779B97F4A7C15) ^ np.uint64(game.revolts) * np.uint64(0xBF58476D1CE4E5B9)
    key ^= np.uint64(game.tokens[game.emperor]) * np.uint64(0x94D049BB133111EB)
    small = game.ip + 16 * game.fleets + 128 * game.used + 1024 * game.supply[game.emperor] + 8192 * game.phase
    small = small * 8 + game.passing + 1
    for figure in range(5):
        small = small * 64 + game.at[figure]
    key ^= np.uint64(small) * np.uint64(0xD6E8FEB86659FD93)
    return key ^ key >> np.uint64(29)


@jit
def num_action_ids(game: GameRecord) -> int:
    """Return the number of action ids that may be legal."""
    return ACTIONS if game.variants or game.modules or game.scenario else BASE_ACTIONS


@jit
def search(start: Games, i: int, buffers: SearchBuffers, beam: int, weights: Weights) -> int:
    """Search the turn of start[i] and store its endings in the buffers; return their number."""
    buffers.beam[0] = start[i]
    buffers.firsts[0] = NO_ACTION
    width, ends = 1, ZERO
    for _ in range(MAX_TURN_ACTIONS):
        children = ZERO
        for j in range(width):
            children, ends = expand(buffers, j, children, ends, weights)
        width = keep_best(buffers, children, beam)
        if width == 0:
            break
    return ends


@jit
def expand(buffers: SearchBuffers, j: int, children: int, ends: int, weights: Weights) -> tuple[int, int]:
    """Play every legal action in position j of the beam; return the numbers of children and ends."""
    game = buffers.beam[j]
    mask = buffers.mask
    legal(game, mask)
    for action in range(num_action_ids(game)):
        if mask[action] and buffers.allowed[action]:
            first = first_action(buffers, j, action)
            if action == a.END:
                ends = add_end(buffers, ends, buffers.beam, j, first, NO_ACTION, value_of_ending(buffers, j, weights))
            elif is_attack(action):
                ends = add_end(buffers, ends, buffers.beam, j, first, action, value_of_attack(buffers, j, action, weights))
            elif children < MAX_CHILDREN:
                add_child(buffers, j, action, first, children, weights)
                if buffers.children[children].phase == OVER:  # R9.1: won
                    ends = add_end(buffers, ends, buffers.children, children, first, NO_ACTION, 1.0)
                else:
                    children += 1
    return children, ends


@jit
def first_action(buffers: SearchBuffers, j: int, action: int) -> int:
    """Return the first action of the turn that leads through position j of the beam to this action."""
    return action if buffers.firsts[j] < 0 else buffers.firsts[j]


@jit
def add_child(buffers: SearchBuffers, j: int, action: int, first: int, place: int, weights: Weights) -> None:
    """Store the position after one more action."""
    buffers.children[place] = buffers.beam[j]
    child = buffers.children[place]
    take_action(child, action)
    buffers.child_firsts[place] = first
    buffers.child_values[place] = win_probability(child, weights)
    buffers.child_hashes[place] = position_hash(child)


@jit
def add_end(buffers: SearchBuffers, ends: int, games: Games, i: int, first: int, attack: int, value: float) -> int:
    """Store a turn that ends in games[i] or with an attack there; return the number of ends.

    If the buffer is full, the worst end is replaced.
    """
    place = ends if ends < MAX_ENDS else np.argmin(buffers.end_values)
    if ends == MAX_ENDS and buffers.end_values[place] >= value:
        return ends
    buffers.ends[place] = games[i]
    buffers.end_firsts[place], buffers.end_attacks[place], buffers.end_values[place] = first, attack, value
    return min(MAX_ENDS, ends + 1)


@jit
def value_of_ending(buffers: SearchBuffers, j: int, weights: Weights) -> float:
    """Return the value of ending the turn: remaining IP are lost (R3.4)."""
    buffers.spare[TRIED] = buffers.beam[j]
    buffers.spare[TRIED].ip = 0
    return win_probability(buffers.spare[TRIED], weights)


@jit
def value_of_attack(buffers: SearchBuffers, j: int, action: int, weights: Weights) -> float:
    """Return the mean value of an attack's results, without planning further."""
    likely = attack_odds(buffers.beam[j], action)
    total = 0.0
    for result in range(3):
        if likely[result] > 0:
            buffers.spare[TRIED] = buffers.beam[j]
            settle_attack(buffers.spare[TRIED], action, 1 - result)
            total += likely[result] * win_probability(buffers.spare[TRIED], weights)
    return total


@jit
def keep_best(buffers: SearchBuffers, children: int, beam: int) -> int:
    """Move the best distinct children into the beam, best first; return their number."""
    order = np.argsort(-buffers.child_values[:children])
    width = 0
    for rank in range(children):
        if width < beam and not is_repeated(buffers, order, rank):
            buffers.beam[width] = buffers.children[order[rank]]
            buffers.firsts[width] = buffers.child_firsts[order[rank]]
            width += 1
    return width


@jit
def is_repeated(buffers: SearchBuffers, order: NDArray[np.int64], rank: int) -> bool:
    """Return whether the same position occurs earlier in the order; equal positions have equal values."""
    place, before = order[rank], rank - 1
    while before >= 0 and buffers.child_values[order[before]] == buffers.child_values[place]:
        if buffers.child_hashes[order[before]] == buffers.child_hashes[place]:
            return True
        before -= 1
    return False


@jit
def plan(start: Games, i: int, outer: SearchBuffers, inner: SearchBuffers, width: Width, weights: Weights) -> int:
    """Return the first action of the best turn found for start[i], or of the rest of the turn."""
    rng = start[i].dice
    ends = search(start, i, outer, width.beam, weights)
    order = np.argsort(-outer.end_values[:ends])
    best, action, attacks, calm = -1.0, NO_ACTION, 0, 0
    for place in order:
        if outer.end_attacks[place] >= 0:
            if attacks == width.attacks:
                continue
            attacks += 1
            value = value_of_planned_attack(outer, place, inner, width, weights, rng)
        else:
            if calm == width.ends:
                continue
            calm += 1
            value = after_barbarians(outer.ends, place, outer.spare, weights, rng)
        if value > best:
            best, action = value, outer.end_firsts[place]
    return action


@jit
def value_of_planned_attack(
    outer: SearchBuffers, place: int, inner: SearchBuffers, width: Width, weights: Weights, rng: np.uint64
) -> float:
    """Return the mean value of an attack's results, with the rest of the turn planned from each."""
    attack = outer.end_attacks[place]
    likely = attack_odds(outer.ends[place], attack)
    total = 0.0
    for result in range(3):
        if likely[result] > 0:
            outer.spare[WON_OR_LOST] = outer.ends[place]
            settle_attack(outer.spare[WON_OR_LOST], attack, 1 - result)
            total += likely[result] * value_of_rest(outer.spare, WON_OR_LOST, inner, width, weights, rng)
    return total


@jit
def value_of_rest(start: Games, i: int, inner: SearchBuffers, width: Width, weights: Weights, rng: np.uint64) -> float:
    """Return the value of the best rest of a turn; further attacks are not planned."""
    if start[i].phase != ROMAN:  # the attack was lost and the Barbarian phase follows, or the game is over
        return after_barbarians(start, i, inner.spare, weights, rng)
    ends = search(start, i, inner, max(1, width.beam // 4), weights)
    order = np.argsort(-inner.end_values[:ends])
    best, looked = 0.0, 0
    for place in order:
        if inner.end_attacks[place] >= 0:
            best = max(best, inner.end_values[place])
        elif looked < max(1, width.ends // 4):
            looked += 1
            best = max(best, after_barbarians(inner.ends, place, inner.spare, weights, rng))
    return best
