"""Simulations: down the tree by the plans that promise most, to a new position, and what it tells back up."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents._jit import jit
from agents.search.evaluation import Weights
from agents.search.tree.arrays import DEEPEST, SPARE, Tree
from agents.search.tree.chance import is_same, try_plan
from agents.search.tree.planning import find_plans
from agents.search.turn_plan import NONE, Width


class Growth(NamedTuple):
    """How the tree grows."""

    width: Width  # how plans are looked for below the root
    temperature: float  # how much worse a plan may look and still be tried
    exploration: float  # how eagerly plans are tried that were tried seldom
    trust: float  # simulations that speak for a plan as loud as what was found with the position's other plans
    widening: float  # a plan tried n times has about n ** widening positions under it
    turns: int  # turns played on from a new position


@jit
def simulate(tree: Tree, simulations: int, growth: Growth, weights: NDArray[np.void]) -> None:
    """So many simulations more."""
    for _ in range(simulations):
        depth = descend(tree, growth, weights[0])
        node = tree.reached[depth - 1]
        if tree.nodes.visits[node] == 0:
            find_plans(tree, node, growth.width, weights, growth.temperature)
        value = tree.nodes.values[node]
        for _ in range(growth.turns):
            if tree.nodes.plans[node] == 0:
                break
            try_plan(tree, best_looking(tree, node), SPARE, weights[0])
            node = SPARE
            find_plans(tree, node, growth.width, weights, growth.temperature)
            value += tree.nodes.values[node] - tree.nodes.expected[node]
        learn(tree, depth, value)


@jit
def descend(tree: Tree, growth: Growth, weights: Weights) -> int:
    """Choose plans and take what chance makes of them down to a new position, or the game's end; how many plans it was."""
    node = depth = 0
    while depth < DEEPEST:
        plan = most_promising(tree, node, growth)
        node = come_to(tree, plan, growth.widening, weights)
        tree.chosen[depth], tree.reached[depth] = plan, node
        depth += 1
        if tree.nodes.visits[node] == 0 or tree.nodes.plans[node] == 0:
            break
    return depth


@jit
def most_promising(tree: Tree, node: int, growth: Growth) -> int:
    """The plan to try next (PUCT)."""
    best, chosen = -np.inf, NONE
    eager = growth.exploration * math.sqrt(tree.nodes.visits[node] + 1)
    first = node * tree.most[0]
    for plan in range(first, first + tree.nodes.plans[node]):
        score = value_of(tree, node, plan, growth.trust) + eager * tree.plans.priors[plan] / (1 + tree.plans.tries[plan])
        if score > best:
            best, chosen = score, plan
    return chosen


@jit
def value_of(tree: Tree, node: int, plan: int, trust: float) -> float:
    """A plan's worth and what simulations found more, of which its position's other plans tell while it has few tries."""
    usual = tree.nodes.surprises[node] / max(1, tree.nodes.visits[node])
    return tree.plans.worths[plan] + (trust * usual + tree.plans.found[plan]) / (trust + tree.plans.tries[plan])


@jit
def best_looking(tree: Tree, node: int) -> int:
    """The plan that the planner would take."""
    first = node * tree.most[0]
    return first + np.argmax(tree.plans.worths[first : first + tree.nodes.plans[node]])


@jit
def come_to(tree: Tree, plan: int, widening: float, weights: Weights) -> int:
    """A position that chance makes of this plan: a new one while there are few for its tries, else one that is there."""
    nodes, node = tree.nodes, tree.size[0]
    if tree.plans.branches[plan] > (tree.plans.tries[plan] + 1) ** widening:
        return seldom_visited(tree, plan)
    try_plan(tree, plan, node, weights)
    child = tree.plans.children[plan]
    while child != NONE:
        if is_same(nodes.games, child, node):
            nodes.drawn[child] += 1
            return child
        child = nodes.sibling[child]
    nodes.visits[node] = 0
    if node != SPARE:
        keep(tree, plan, node)
    return node


@jit
def keep(tree: Tree, plan: int, node: int) -> None:
    """The new position stays under its plan."""
    tree.nodes.drawn[node] = 1
    tree.nodes.sibling[node] = tree.plans.children[plan]
    tree.plans.children[plan] = node
    tree.plans.branches[plan] += 1
    tree.size[0] += 1


@jit
def seldom_visited(tree: Tree, plan: int) -> int:
    """Of the positions under a plan the one with the fewest visits for its share of the chance."""
    child, chosen, least = tree.plans.children[plan], NONE, np.inf
    while child != NONE:
        share = tree.nodes.visits[child] / tree.nodes.drawn[child]
        if share < least:
            chosen, least = child, share
        child = tree.nodes.sibling[child]
    return chosen


@jit
def learn(tree: Tree, depth: int, value: float) -> None:
    """Tell all the way up what the last position is worth, less the luck of each step: what was found at first sight stands for it.

    A plan's worth is the mean over what chance may do; only what comes on top of it is sampled (a control variate).
    """
    nodes, plans = tree.nodes, tree.plans
    for step in range(depth - 1, -1, -1):
        plan, node = tree.chosen[step], tree.reached[step]
        surprise = value - nodes.expected[node]
        nodes.visits[node] += 1
        nodes.surprises[plan // tree.most[0]] += surprise
        plans.tries[plan] += 1
        plans.found[plan] += surprise
        value = plans.worths[plan] + surprise
    nodes.visits[0] += 1


@jit
def best_plan(tree: Tree, trust: float) -> int:
    """The root's plan to begin with."""
    best, chosen = -np.inf, NONE
    for plan in range(tree.nodes.plans[0]):
        value = value_of(tree, 0, plan, trust)
        if value > best:
            best, chosen = value, plan
    return chosen
