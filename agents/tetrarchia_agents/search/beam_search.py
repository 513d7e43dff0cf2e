"""Beam search for the best way through a turn: action by action, ended by the Barbarian phase (Lowerre, The Harpy system, 1976).

An attack ends a way too: it is worth the mean over its results, and from each result the turn is planned anew.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tetrarchia_agents._jit import jit
from tetrarchia_agents.search.chance import after_barbarians, chances, is_attack, settle_attack
from tetrarchia_env.batch import Games, Masks
from tetrarchia_env.engine import actions as a
from tetrarchia_env.engine.actions import ACTIONS, BASE_ACTIONS
from tetrarchia_env.engine.legal import legal
from tetrarchia_env.engine.movement import enter
from tetrarchia_env.engine.state import ARRIVAL, GAME, NOBODY, OVER, ROMAN, Game, numbers
from tetrarchia_env.engine.tables import CAPITAL, ROMA
from tetrarchia_env.engine.turn import act
from tetrarchia_env.heuristic import Weights, win_probability

CHILDREN = 4096  # positions that one step of the beam may look at
ENDS = 1024  # ways that one plan may end in
WIDEST = 128  # beam; more would not fit into CHILDREN
LONGEST = 14  # actions of a turn
# Places on the buffers's spare; `after_barbarians` takes the first. They are int64, and so are counts that begin at 0:
# for a literal, Numba compiles what is called with it once more.
STRUCK, TRIED, WON_OR_LOST = numbers(3)
NOTHING, NONE = STRUCK, NOBODY  # 0 and -1


class Width(NamedTuple):
    """How much to look at."""

    beam: int  # positions kept after each action
    ends: int  # ends of the turn that the Barbarian phase is looked at for
    attacks: int  # attacks whose results are planned on


class SearchBuffers(NamedTuple):
    """Room to plan one turn on."""

    beam: Games  # the positions to go on from
    firsts: NDArray[np.int64]  # the first action of the way to each
    children: Games
    child_firsts: NDArray[np.int64]
    child_values: NDArray[np.float64]
    child_hashes: NDArray[np.uint64]  # to see that two ways lead to the same position
    ends: Games  # positions in which the turn is ended, or an attack is made
    end_firsts: NDArray[np.int64]
    end_attacks: NDArray[np.int64]  # the attack, or NONE
    end_values: NDArray[np.float64]
    spare: Games  # at STRUCK, TRIED, WON_OR_LOST
    mask: Masks


def new_search_buffers() -> SearchBuffers:
    """An empty one."""
    return SearchBuffers(
        np.zeros(WIDEST, GAME),
        np.zeros(WIDEST, np.int64),
        np.zeros(CHILDREN, GAME),
        np.zeros(CHILDREN, np.int64),
        np.zeros(CHILDREN),
        np.zeros(CHILDREN, np.uint64),
        np.zeros(ENDS, GAME),
        np.zeros(ENDS, np.int64),
        np.zeros(ENDS, np.int64),
        np.zeros(ENDS),
        np.zeros(3, GAME),
        np.zeros(ACTIONS, np.int8),
    )


@jit
def take_action(game: Game, action: int) -> None:
    """An action of the turn that no dice decide, and nothing after it."""
    if game.phase == ARRIVAL:
        enter(game, ROMA if action == a.ENTER_ROMA else CAPITAL[game.emperor])
    else:
        act(game, action)


@jit
def position_hash(game: Game) -> np.uint64:
    """Nearly always different for different positions of one turn."""
    key = np.uint64(game.unrest) * np.uint64(0x9E3779B97F4A7C15) ^ np.uint64(game.revolts) * np.uint64(0xBF58476D1CE4E5B9)
    key ^= np.uint64(game.tokens[game.emperor]) * np.uint64(0x94D049BB133111EB)
    small = game.ip + 16 * game.fleets + 128 * game.used + 1024 * game.supply[game.emperor] + 8192 * game.phase
    small = small * 8 + game.passing + 1
    for figure in range(5):
        small = small * 64 + game.at[figure]
    key ^= np.uint64(small) * np.uint64(0xD6E8FEB86659FD93)
    return key ^ key >> np.uint64(29)


@jit
def ids_of(game: Game) -> int:
    """How many action ids there are to look at."""
    return ACTIONS if game.variants or game.modules or game.scenario else BASE_ACTIONS


@jit
def search(start: Games, i: int, buffers: SearchBuffers, beam: int, weights: Weights) -> int:
    """Fill the buffers with the ways through the turn of start[i]; how many ends it found."""
    buffers.beam[0] = start[i]
    buffers.firsts[0] = NONE
    width, ends = 1, NOTHING
    for _ in range(LONGEST):
        children = NOTHING
        for j in range(width):
            children, ends = expand(buffers, j, children, ends, weights)
        width = keep_best(buffers, children, beam)
        if width == 0:
            break
    return ends


@jit
def expand(buffers: SearchBuffers, j: int, children: int, ends: int, weights: Weights) -> tuple[int, int]:
    """All that can be done in one position of the beam."""
    game = buffers.beam[j]
    mask = buffers.mask
    legal(game, mask)
    for action in range(ids_of(game)):
        if mask[action]:
            first = first_action(buffers, j, action)
            if action == a.END:
                ends = note_end(buffers, ends, buffers.beam, j, first, NONE, value_without_ip(buffers, j, weights))
            elif is_attack(action):
                ends = note_end(buffers, ends, buffers.beam, j, first, action, value_of_attack(buffers, j, action, weights))
            elif children < CHILDREN:
                note_child(buffers, j, action, first, children, weights)
                if buffers.children[children].phase == OVER:  # R9.1: won
                    ends = note_end(buffers, ends, buffers.children, children, first, NONE, 1.0)
                else:
                    children += 1
    return children, ends


@jit
def first_action(buffers: SearchBuffers, j: int, action: int) -> int:
    """The action that the way through this position of the beam, and then this action, begins with."""
    return action if buffers.firsts[j] < 0 else buffers.firsts[j]


@jit
def note_child(buffers: SearchBuffers, j: int, action: int, first: int, place: int, weights: Weights) -> None:
    """The position after one more action."""
    buffers.children[place] = buffers.beam[j]
    child = buffers.children[place]
    take_action(child, action)
    buffers.child_firsts[place] = first
    buffers.child_values[place] = win_probability(child, weights)
    buffers.child_hashes[place] = position_hash(child)


@jit
def note_end(buffers: SearchBuffers, ends: int, games: Games, i: int, first: int, attack: int, value: float) -> int:
    """The turn may end in games[i], or with this attack; in place of the least end when there is no room. How many there are."""
    place = ends if ends < ENDS else np.argmin(buffers.end_values)
    if ends == ENDS and buffers.end_values[place] >= value:
        return ends
    buffers.ends[place] = games[i]
    buffers.end_firsts[place], buffers.end_attacks[place], buffers.end_values[place] = first, attack, value
    return min(ENDS, ends + 1)


@jit
def value_without_ip(buffers: SearchBuffers, j: int, weights: Weights) -> float:
    """What is not spent is lost (R3.4)."""
    buffers.spare[TRIED] = buffers.beam[j]
    buffers.spare[TRIED].ip = 0
    return win_probability(buffers.spare[TRIED], weights)


@jit
def value_of_attack(buffers: SearchBuffers, j: int, action: int, weights: Weights) -> float:
    """The mean worth of its results as they stand."""
    likely = chances(buffers.beam[j], action)
    total = 0.0
    for result in range(3):
        if likely[result] > 0:
            buffers.spare[TRIED] = buffers.beam[j]
            settle_attack(buffers.spare[TRIED], action, 1 - result)
            total += likely[result] * win_probability(buffers.spare[TRIED], weights)
    return total


@jit
def keep_best(buffers: SearchBuffers, children: int, beam: int) -> int:
    """The children that the beam goes on from, best first, each position once; how many."""
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
    """Whether another way to the same position, which is worth the same, stands before this one in the order."""
    place, before = order[rank], rank - 1
    while before >= 0 and buffers.child_values[order[before]] == buffers.child_values[place]:
        if buffers.child_hashes[order[before]] == buffers.child_hashes[place]:
            return True
        before -= 1
    return False


@jit
def plan(start: Games, i: int, outer: SearchBuffers, inner: SearchBuffers, width: Width, weights: Weights) -> int:
    """The action to begin the turn (or the rest of it) of start[i] with."""
    rng = start[i].dice
    ends = search(start, i, outer, width.beam, weights)
    order = np.argsort(-outer.end_values[:ends])
    best, action, attacks, calm = -1.0, NONE, 0, 0
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
    """The mean over its results, the rest of the turn planned from each."""
    attack = outer.end_attacks[place]
    likely = chances(outer.ends[place], attack)
    total = 0.0
    for result in range(3):
        if likely[result] > 0:
            outer.spare[WON_OR_LOST] = outer.ends[place]
            settle_attack(outer.spare[WON_OR_LOST], attack, 1 - result)
            total += likely[result] * value_of_rest(outer.spare, WON_OR_LOST, inner, width, weights, rng)
    return total


@jit
def value_of_rest(start: Games, i: int, inner: SearchBuffers, width: Width, weights: Weights, rng: np.uint64) -> float:
    """What the rest of a turn is worth when it is played well; attacks as they stand."""
    if start[i].phase != ROMAN:  # lost: the Barbarian phase follows; or the game is over
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
