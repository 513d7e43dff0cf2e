"""The tree as arrays: positions to decide in, the best few plans of each, and under a plan what chance made of it.

Position `node` has its plans at `node * most` and on; the positions under a plan are a linked list. The last place is for a
position that is not kept.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tetrarchia_agents.search.beam_search import SearchBuffers, new_search_buffers
from tetrarchia_env.batch import Games
from tetrarchia_env.engine.state import GAME

NODES = 8192  # positions that one tree may keep
SPARE = NODES - 1
DEEPEST = 64  # plans from the root to a leaf

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
RngStates = NDArray[np.uint64]


class Nodes(NamedTuple):
    """Positions to decide in."""

    games: Games
    expected: Floats  # its value at first sight: the control variate for the chance of coming there
    values: Floats  # what its best plan is worth
    plans: Ints  # how many it has; 0: the game is over
    visits: Ints
    residuals: Floats  # what simulations from there found more than the plans' worth, added up
    drawn: Ints  # how often chance led there from the plan above
    sibling: Ints  # the next position under the same plan


class Plans(NamedTuple):
    """Ways through a turn, to its end or to an attack."""

    ends: Games  # where the turn ends or the attack is made
    firsts: Ints  # the action it begins with
    attacks: Ints  # the attack, or NONE
    values: Floats  # what the planner sees in it
    results: Floats  # [plan, 3] the same for its attack won, drawn, lost
    priors: Floats  # how eagerly to try it; those of a position add up to 1
    tries: Ints
    found: Floats  # what simulations found more than its worth, added up
    children: Ints  # the first position under it
    branches: Ints  # how many there are


class Tree(NamedTuple):
    """All of it, and what a simulation needs on its way."""

    most: Ints  # [1] plans that a position may have
    size: Ints  # [1] positions kept
    rng: RngStates  # [1] where chance comes from
    nodes: Nodes
    plans: Plans
    chosen: Ints  # the plans of the simulation under way
    reached: Ints  # and the positions they led to
    outer: SearchBuffers
    inner: SearchBuffers


def new_tree(most: int) -> Tree:
    """An empty one, for so many plans a position; memory is taken as it grows."""
    return Tree(
        np.full(1, most),
        _ints(1),
        np.zeros(1, np.uint64),
        _new_nodes(NODES),
        _new_plans(NODES * most),
        _ints(DEEPEST),
        _ints(DEEPEST),
        new_search_buffers(),
        new_search_buffers(),
    )


def _new_nodes(room: int) -> Nodes:
    return Nodes(np.zeros(room, GAME), np.zeros(room), np.zeros(room), _ints(room), _ints(room), np.zeros(room), _ints(room), _ints(room))


def _new_plans(room: int) -> Plans:
    ints, floats = [_ints(room) for _ in range(5)], [np.zeros(room) for _ in range(3)]
    return Plans(np.zeros(room, GAME), ints[0], ints[1], floats[0], np.zeros((room, 3)), floats[1], ints[2], floats[2], ints[3], ints[4])


def _ints(room: int) -> Ints:
    return np.zeros(room, np.int64)
