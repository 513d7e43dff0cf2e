"""Simulations of MCTS: select, expand, evaluate, backup.

Selection is PUCT (Rosin, Multi-armed bandits with episode context, 2011); chance nodes grow by progressive widening (Couetoux et al.,
Continuous upper confidence trees, LION 2011).
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tetrarchia_agents._jit import jit
from tetrarchia_agents.search.beam_search import NONE, Width
from tetrarchia_agents.search.tree.arrays import DEEPEST, SPARE, Tree
from tetrarchia_agents.search.tree.plans import find_plans
from tetrarchia_agents.search.tree.sampling import is_same, try_plan
from tetrarchia_env.evaluation import Weights


class MCTSConfig(NamedTuple):
    """How the tree grows."""

    width: Width  # how plans are looked for below the root
    temperature: float  # how much worse a plan may look and still be tried
    exploration: float  # how eagerly plans are tried that were tried seldom
    trust: float  # simulations that speak for a plan as loud as what was found with the position's other plans
    widening: float  # a plan tried n times has about n ** widening positions under it


@jit
def simulate(tree: Tree, simulations: int, config: MCTSConfig, weights: NDArray[np.void]) -> None:
    """So many simulations more."""
    for _ in range(simulations):
        depth = select(tree, config, weights[0])
        node = tree.reached[depth - 1]
        if tree.nodes.visits[node] == 0:
            find_plans(tree, node, config.width, weights, config.temperature)
        backup(tree, depth, tree.nodes.values[node])


@jit
def select(tree: Tree, config: MCTSConfig, weights: Weights) -> int:
    """Choose plans and take what chance makes of them down to a new position, or the game's end; how many plans it was."""
    node = depth = 0
    while depth < DEEPEST:
        plan = most_promising(tree, node, config)
        node = expand(tree, plan, config.widening, weights)
        tree.chosen[depth], tree.reached[depth] = plan, node
        depth += 1
        if tree.nodes.visits[node] == 0 or tree.nodes.plans[node] == 0:
            break
    return depth


@jit
def most_promising(tree: Tree, node: int, config: MCTSConfig) -> int:
    """The plan to try next (PUCT)."""
    best, chosen = -np.inf, NONE
    eager = config.exploration * math.sqrt(tree.nodes.visits[node] + 1)
    first = node * tree.most[0]
    for plan in range(first, first + tree.nodes.plans[node]):
        score = value_of(tree, node, plan, config.trust) + eager * tree.plans.priors[plan] / (1 + tree.plans.tries[plan])
        if score > best:
            best, chosen = score, plan
    return chosen


@jit
def value_of(tree: Tree, node: int, plan: int, trust: float) -> float:
    """A plan's worth and what simulations found more, of which its position's other plans tell while it has few tries."""
    usual = tree.nodes.residuals[node] / max(1, tree.nodes.visits[node])
    return tree.plans.values[plan] + (trust * usual + tree.plans.found[plan]) / (trust + tree.plans.tries[plan])


@jit
def expand(tree: Tree, plan: int, widening: float, weights: Weights) -> int:
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
def backup(tree: Tree, depth: int, value: float) -> None:
    """Add the residual of the last position to every plan on the way: its value less that at first sight, a control variate.

    A plan's value is the exact mean over what chance may do; only the residual is sampled.
    """
    nodes, plans = tree.nodes, tree.plans
    for step in range(depth - 1, -1, -1):
        plan, node = tree.chosen[step], tree.reached[step]
        residual = value - nodes.expected[node]
        nodes.visits[node] += 1
        nodes.residuals[plan // tree.most[0]] += residual
        plans.tries[plan] += 1
        plans.found[plan] += residual
        value = plans.values[plan] + residual
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
