"""What chance makes of a plan: the Barbarian phase after a turn, or an attack's result."""

import numpy as np

from tetrarchia_agents._jit import jit
from tetrarchia_agents.search.beam_search import NONE
from tetrarchia_agents.search.chance import STRIKES, barbarians_strike, chances, settle_attack
from tetrarchia_agents.search.tree.arrays import Tree
from tetrarchia_env.batch import Games
from tetrarchia_env.engine.dice import draw, next_rng
from tetrarchia_env.engine.state import BARBARIAN, OVER
from tetrarchia_env.evaluation import Weights, win_probability

ALL = np.uint64(STRIKES)
COPRIME = 13  # to 36: steps of so many go through all strikes


@jit
def roll_rng(tree: Tree) -> np.uint64:
    """New chance."""
    tree.rng[0] = next_rng(tree.rng[0])
    return tree.rng[0]


@jit
def try_plan(tree: Tree, plan: int, node: int, weights: Weights) -> None:
    """Put at `node` a position that chance makes of this plan, and what it is worth at first sight."""
    nodes = tree.nodes
    nodes.games[node] = tree.plans.ends[plan]
    game = nodes.games[node]
    game.dice = roll_rng(tree)
    if tree.plans.attacks[plan] != NONE:
        result = fall(chances(game, tree.plans.attacks[plan]), roll_rng(tree))
        settle_attack(game, tree.plans.attacks[plan], 1 - result)
        if game.phase != BARBARIAN:
            nodes.expected[node] = tree.plans.results[plan, result]
            return
    if game.phase != OVER:
        barbarians_strike(game, next_strike(tree, plan))
    nodes.expected[node] = win_probability(game, weights)


@jit
def next_strike(tree: Tree, plan: int) -> int:
    """Strikes come in turn: 36 tries see each once, and the plans of a position, which share its RNG state, see the same ones."""
    return (draw(tree.plans.ends[plan].dice, ALL) + COPRIME * tree.plans.tries[plan]) % STRIKES


@jit
def fall(likely: tuple[float, float, float], rng: np.uint64) -> int:
    """Which of three results it is: 0 won, 1 drawn, 2 lost."""
    point = (rng >> np.uint64(11)) / 2.0**53
    if point < likely[0]:
        return 0
    return 1 if point < likely[0] + likely[1] else 2


@jit
def is_same(games: Games, i: int, j: int) -> bool:
    """Whether two positions under one plan are the same but for the dice to come."""
    one, other = games[i], games[j]
    if one.unrest != other.unrest or one.revolts != other.revolts or one.phase != other.phase or one.ip != other.ip:
        return False
    for army in range(3):
        if one.army_at[army] != other.army_at[army] or one.army_origin[army] != other.army_origin[army]:
            return False
        if one.army_kind[army] != other.army_kind[army]:
            return False
    for emperor in range(4):
        if one.tokens[emperor] != other.tokens[emperor] or one.at[emperor] != other.at[emperor]:
            return False
        if one.glory[emperor] != other.glory[emperor]:
            return False
    return one.at[4] == other.at[4] and one.pirates == other.pirates and one.emperor == other.emperor
