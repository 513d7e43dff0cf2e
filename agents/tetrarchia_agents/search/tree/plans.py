"""The plans of a position, each with what the planner sees in it.

Compiling takes long where turns are planned, for every function that leads there: only `find_plans` and what calls it should.
"""

import math

import numpy as np
from numpy.typing import NDArray

from tetrarchia_agents._jit import jit
from tetrarchia_agents.search.beam_search import NONE, WON_OR_LOST, Width, position_hash, search, value_of_rest
from tetrarchia_agents.search.chance import after_barbarians, chances, settle_attack
from tetrarchia_agents.search.tree.arrays import Tree
from tetrarchia_env.engine.state import OVER
from tetrarchia_env.evaluation import Weights, win_probability


@jit
def find_plans(tree: Tree, node: int, width: Width, weights: NDArray[np.void], temperature: float) -> None:
    """The best plans of this position, and by them what it is worth."""
    nodes, buffers = tree.nodes, tree.outer
    forget_plans(tree, node, weights[0])
    ends = search(nodes.games, node, buffers, width.beam, weights[0]) if nodes.games[node].phase != OVER else 0
    attacks = calm = 0
    for place in np.argsort(-buffers.end_values[:ends]):
        if buffers.end_attacks[place] != NONE:
            attacks += 1
            if attacks <= width.attacks:
                note_attack(tree, node, place, width, weights[0])
        elif calm < width.ends and not is_noted(tree, node, place):
            calm += 1
            value = after_barbarians(buffers.ends, place, buffers.spare, weights[0], nodes.games[node].dice)
            note_plan(tree, node, place, value)
    if ends > 0:
        settle_priors(tree, node, temperature)


@jit
def forget_plans(tree: Tree, node: int, weights: Weights) -> None:
    """A position that is new at this place."""
    nodes = tree.nodes
    nodes.plans[node] = nodes.visits[node] = 0
    nodes.residuals[node] = 0.0
    nodes.values[node] = win_probability(nodes.games[node], weights)


@jit
def is_noted(tree: Tree, node: int, place: int) -> bool:
    """Whether a plan of this position ends the turn just as this one on the buffers; IP that are left make no difference (R3.4)."""
    tree.outer.ends[place].ip = 0
    key = position_hash(tree.outer.ends[place])
    first = node * tree.most[0]
    for plan in range(first, first + tree.nodes.plans[node]):
        if tree.plans.attacks[plan] == NONE and position_hash(tree.plans.ends[plan]) == key:
            return True
    return False


@jit
def note_attack(tree: Tree, node: int, place: int, width: Width, weights: Weights) -> None:
    """An attack is worth the mean of its results, the rest of the turn planned from each."""
    buffers, rng = tree.outer, tree.nodes.games[node].dice
    attack = buffers.end_attacks[place]
    likely = chances(buffers.ends[place], attack)
    results = np.zeros(3)
    total = 0.0
    for result in range(3):
        if likely[result] > 0:
            buffers.spare[WON_OR_LOST] = buffers.ends[place]
            settle_attack(buffers.spare[WON_OR_LOST], attack, 1 - result)
            results[result] = value_of_rest(buffers.spare, WON_OR_LOST, tree.inner, width, weights, rng)
            total += likely[result] * results[result]
    plan = note_plan(tree, node, place, total)
    if plan != NONE:
        tree.plans.results[plan] = results


@jit
def note_plan(tree: Tree, node: int, place: int, value: float) -> int:
    """Keep a way on the buffers as a plan, in place of the least if there is no room; where, or NONE."""
    nodes, plans, buffers = tree.nodes, tree.plans, tree.outer
    first, most = node * tree.most[0], tree.most[0]
    plan = first + nodes.plans[node]
    if nodes.plans[node] == most:
        plan = first + np.argmin(plans.values[first : first + most])
        if plans.values[plan] >= value:
            return NONE
    else:
        nodes.plans[node] += 1
    plans.ends[plan] = buffers.ends[place]
    plans.firsts[plan], plans.attacks[plan], plans.values[plan] = buffers.end_firsts[place], buffers.end_attacks[place], value
    plans.tries[plan] = plans.branches[plan] = 0
    plans.found[plan] = 0.0
    plans.children[plan] = NONE
    return plan


@jit
def settle_priors(tree: Tree, node: int, temperature: float) -> None:
    """The better a plan looks, the more it is to be tried; the best one says what the position is worth."""
    first, last = node * tree.most[0], node * tree.most[0] + tree.nodes.plans[node]
    values, priors = tree.plans.values, tree.plans.priors
    best, total = np.max(values[first:last]), 0.0
    tree.nodes.values[node] = best
    for plan in range(first, last):
        priors[plan] = math.exp((values[plan] - best) / temperature)
        total += priors[plan]
    for plan in range(first, last):
        priors[plan] /= total
