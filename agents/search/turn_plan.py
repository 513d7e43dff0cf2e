"""The best way through a turn: a beam of positions, action by action, ended by the Barbarian phase.

An attack ends a way too: it is worth the mean over its results, and from each result the turn is planned anew.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents._jit import jit
from agents.search.chance import after_barbarians, chances, is_attack, settle_attack
from agents.search.evaluation import Weights, worth
from tetrarchia_env.batch import Games, Masks
from tetrarchia_env.engine import actions as a
from tetrarchia_env.engine.actions import ACTIONS, BASE_ACTIONS
from tetrarchia_env.engine.legal import legal
from tetrarchia_env.engine.movement import enter
from tetrarchia_env.engine.state import ARRIVAL, GAME, NOBODY, OVER, ROMAN, Game, numbers
from tetrarchia_env.engine.tables import CAPITAL, ROMA
from tetrarchia_env.engine.turn import act

CHILDREN = 4096  # positions that one step of the beam may look at
ENDS = 1024  # ways that one plan may end in
WIDEST = 128  # beam; more would not fit into CHILDREN
LONGEST = 14  # actions of a turn
# Places on the desk's spare; `after_barbarians` takes the first. They are int64, and so are counts that begin at 0:
# for a literal, Numba compiles what is called with it once more.
STRUCK, TRIED, WON_OR_LOST = numbers(3)
NOTHING, NONE = STRUCK, NOBODY  # 0 and -1


class Width(NamedTuple):
    """How much to look at."""

    beam: int  # positions kept after each action
    ends: int  # ends of the turn that the Barbarian phase is looked at for
    attacks: int  # attacks whose results are planned on


class Desk(NamedTuple):
    """Room to plan one turn on."""

    beam: Games  # the positions to go on from
    firsts: NDArray[np.int64]  # the first action of the way to each
    children: Games
    child_firsts: NDArray[np.int64]
    child_worths: NDArray[np.float64]
    child_keys: NDArray[np.uint64]  # to see that two ways lead to the same position
    ends: Games  # positions in which the turn is ended, or an attack is made
    end_firsts: NDArray[np.int64]
    end_attacks: NDArray[np.int64]  # the attack, or NONE
    end_worths: NDArray[np.float64]
    spare: Games  # at STRUCK, TRIED, WON_OR_LOST
    mask: Masks


def new_desk() -> Desk:
    """An empty one."""
    return Desk(
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
def key_of(game: Game) -> np.uint64:
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
def search(start: Games, i: int, desk: Desk, beam: int, weights: Weights) -> int:
    """Fill the desk with the ways through the turn of start[i]; how many ends it found."""
    desk.beam[0] = start[i]
    desk.firsts[0] = NONE
    width, ends = 1, NOTHING
    for _ in range(LONGEST):
        children = NOTHING
        for j in range(width):
            children, ends = expand(desk, j, children, ends, weights)
        width = keep_best(desk, children, beam)
        if width == 0:
            break
    return ends


@jit
def expand(desk: Desk, j: int, children: int, ends: int, weights: Weights) -> tuple[int, int]:
    """All that can be done in one position of the beam."""
    game = desk.beam[j]
    mask = desk.mask
    legal(game, mask)
    for action in range(ids_of(game)):
        if mask[action]:
            first = first_action(desk, j, action)
            if action == a.END:
                ends = note_end(desk, ends, desk.beam, j, first, NONE, worth_without_ip(desk, j, weights))
            elif is_attack(action):
                ends = note_end(desk, ends, desk.beam, j, first, action, worth_of_attack(desk, j, action, weights))
            elif children < CHILDREN:
                note_child(desk, j, action, first, children, weights)
                if desk.children[children].phase == OVER:  # R9.1: won
                    ends = note_end(desk, ends, desk.children, children, first, NONE, 1.0)
                else:
                    children += 1
    return children, ends


@jit
def first_action(desk: Desk, j: int, action: int) -> int:
    """The action that the way through this position of the beam, and then this action, begins with."""
    return action if desk.firsts[j] < 0 else desk.firsts[j]


@jit
def note_child(desk: Desk, j: int, action: int, first: int, place: int, weights: Weights) -> None:
    """The position after one more action."""
    desk.children[place] = desk.beam[j]
    child = desk.children[place]
    take_action(child, action)
    desk.child_firsts[place] = first
    desk.child_worths[place] = worth(child, weights)
    desk.child_keys[place] = key_of(child)


@jit
def note_end(desk: Desk, ends: int, games: Games, i: int, first: int, attack: int, value: float) -> int:
    """The turn may end in games[i], or with this attack; in place of the least end when there is no room. How many there are."""
    place = ends if ends < ENDS else np.argmin(desk.end_worths)
    if ends == ENDS and desk.end_worths[place] >= value:
        return ends
    desk.ends[place] = games[i]
    desk.end_firsts[place], desk.end_attacks[place], desk.end_worths[place] = first, attack, value
    return min(ENDS, ends + 1)


@jit
def worth_without_ip(desk: Desk, j: int, weights: Weights) -> float:
    """What is not spent is lost (R3.4)."""
    desk.spare[TRIED] = desk.beam[j]
    desk.spare[TRIED].ip = 0
    return worth(desk.spare[TRIED], weights)


@jit
def worth_of_attack(desk: Desk, j: int, action: int, weights: Weights) -> float:
    """The mean worth of its results as they stand."""
    likely = chances(desk.beam[j], action)
    total = 0.0
    for result in range(3):
        if likely[result] > 0:
            desk.spare[TRIED] = desk.beam[j]
            settle_attack(desk.spare[TRIED], action, 1 - result)
            total += likely[result] * worth(desk.spare[TRIED], weights)
    return total


@jit
def keep_best(desk: Desk, children: int, beam: int) -> int:
    """The children that the beam goes on from, best first, each position once; how many."""
    order = np.argsort(-desk.child_worths[:children])
    width = 0
    for rank in range(children):
        if width < beam and not is_repeated(desk, order, rank):
            desk.beam[width] = desk.children[order[rank]]
            desk.firsts[width] = desk.child_firsts[order[rank]]
            width += 1
    return width


@jit
def is_repeated(desk: Desk, order: NDArray[np.int64], rank: int) -> bool:
    """Whether another way to the same position, which is worth the same, stands before this one in the order."""
    place, before = order[rank], rank - 1
    while before >= 0 and desk.child_worths[order[before]] == desk.child_worths[place]:
        if desk.child_keys[order[before]] == desk.child_keys[place]:
            return True
        before -= 1
    return False


@jit
def plan(start: Games, i: int, outer: Desk, inner: Desk, width: Width, weights: Weights) -> int:
    """The action to begin the turn (or the rest of it) of start[i] with."""
    word = start[i].dice
    ends = search(start, i, outer, width.beam, weights)
    order = np.argsort(-outer.end_worths[:ends])
    best, action, attacks, calm = -1.0, NONE, 0, 0
    for place in order:
        if outer.end_attacks[place] >= 0:
            if attacks == width.attacks:
                continue
            attacks += 1
            value = worth_of_planned_attack(outer, place, inner, width, weights, word)
        else:
            if calm == width.ends:
                continue
            calm += 1
            value = after_barbarians(outer.ends, place, outer.spare, weights, word)
        if value > best:
            best, action = value, outer.end_firsts[place]
    return action


@jit
def worth_of_planned_attack(outer: Desk, place: int, inner: Desk, width: Width, weights: Weights, word: np.uint64) -> float:
    """The mean over its results, the rest of the turn planned from each."""
    attack = outer.end_attacks[place]
    likely = chances(outer.ends[place], attack)
    total = 0.0
    for result in range(3):
        if likely[result] > 0:
            outer.spare[WON_OR_LOST] = outer.ends[place]
            settle_attack(outer.spare[WON_OR_LOST], attack, 1 - result)
            total += likely[result] * worth_of_rest(outer.spare, WON_OR_LOST, inner, width, weights, word)
    return total


@jit
def worth_of_rest(start: Games, i: int, inner: Desk, width: Width, weights: Weights, word: np.uint64) -> float:
    """What the rest of a turn is worth when it is played well; attacks as they stand."""
    if start[i].phase != ROMAN:  # lost: the Barbarian phase follows; or the game is over
        return after_barbarians(start, i, inner.spare, weights, word)
    ends = search(start, i, inner, max(1, width.beam // 4), weights)
    order = np.argsort(-inner.end_worths[:ends])
    best, looked = 0.0, 0
    for place in order:
        if inner.end_attacks[place] >= 0:
            best = max(best, inner.end_worths[place])
        elif looked < max(1, width.ends // 4):
            looked += 1
            best = max(best, after_barbarians(inner.ends, place, inner.spare, weights, word))
    return best
