"""The agent that looks several turns ahead: Monte Carlo tree search (Coulom, CG 2006; Kocsis and Szepesvari, ECML 2006), a turn a step."""

import math
import time
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from tetrarchia_agents.agent import Actions, Agent, EnvIds, check_rows
from tetrarchia_agents.search.beam_search import Width
from tetrarchia_agents.search.selection import plan_all
from tetrarchia_agents.search.tree.arrays import Tree, new_tree
from tetrarchia_agents.search.tree.plans import find_plans
from tetrarchia_agents.search.tree.simulation import MCTSConfig, best_plan, simulate
from tetrarchia_env.batch import Games, Masks
from tetrarchia_env.engine.state import ARRIVAL, ROMAN
from tetrarchia_env.evaluation import load_weights

AT_ROOT = Width(128, 128, 16)  # wider than the planner: with time for the turns to come there is time for this one
SHARES = 28  # of a turn's time: a decision with n IP left gets n + 1, so that six actions of 1 IP get 7 + 6 + ... + 1
SLICE = 16  # simulations between two looks at the clock
MOST = 64  # plans, positions: more make no sense
REFERENCE = 64  # simulations a turn, of one whose choices can be repeated


@dataclass(frozen=True)
class MCTSAgent(Agent):
    """Tries its best plans with the Barbarian phase after each, the next Emperor's best plans after that, and so on.

    Where no turn is to be planned, with fleets (R2.6) and reactions (R10.1), it chooses as the planner does.
    """

    time: float = 1.0  # seconds a turn
    simulations: int = 0  # above 0: so many a turn, whatever the time; then the same RNG state gives the same choices
    plans: int = 8  # looked at in each position
    beam: int = 24  # positions kept after each action, below the root; with fewer, colleagues are taken for worse than they are
    exploration: float = 0.2  # how eagerly plans are tried that were tried seldom
    temperature: float = 0.03  # how much worse a plan may look and still be tried
    trust: float = 3.0  # simulations that speak for a plan as loud as what was found with the others
    widening: float = 0.7  # a plan tried n times has about n ** widening positions under it
    weights: NDArray[np.void] = field(default_factory=load_weights, init=False, repr=False, compare=False)
    tree: Tree = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        for option, fits, wanted in (
            ("time", 0 < self.time < math.inf, "seconds above 0"),
            ("simulations", self.simulations >= 0, "from 0 on"),
            ("plans", 1 <= self.plans <= MOST, f"from 1 to {MOST}"),
            ("beam", 1 <= self.beam <= MOST, f"from 1 to {MOST}"),
            ("exploration", 0 <= self.exploration < math.inf, "a number from 0 on"),
            ("temperature", 0 < self.temperature < math.inf, "a number above 0"),
            ("trust", 0 < self.trust < math.inf, "a number above 0"),
            ("widening", 0 <= self.widening <= 1, "from 0 to 1"),
        ):
            if not fits:
                raise ValueError(f"mcts:{option} is {wanted}, not {getattr(self, option)}")
        object.__setattr__(self, "tree", new_tree(self.plans))

    def act(self, games: Games, masks: Masks, env_ids: EnvIds) -> Actions:
        """The first action of the best plan in each game, one game after the other."""
        check_rows(games, masks)
        actions = np.zeros(len(games), dtype=np.int64)
        tree = self.tree
        for i in range(len(games)):
            if games[i]["phase"] in (ROMAN, ARRIVAL):
                actions[i] = self._choose(games[i : i + 1])
            else:
                plan_all(games[i : i + 1], masks[i : i + 1], tree.outer, tree.inner, AT_ROOT, self.weights, actions[i : i + 1])
        return actions

    def _choose(self, game: Games) -> int:
        tree, begun, share = self.tree, time.perf_counter(), (int(game["ip"][0]) + 1) / SHARES
        config = MCTSConfig(Width(self.beam, self.beam, 2), self.temperature, self.exploration, self.trust, self.widening)
        tree.nodes.games[:1], tree.rng[:], tree.size[:] = game, game["dice"], 1
        find_plans(tree, 0, AT_ROOT, self.weights, config.temperature)
        if np.ptp(tree.plans.firsts[: tree.nodes.plans[0]]) == 0:  # all begin alike
            return int(tree.plans.firsts[0])
        left = math.ceil(self.simulations * share)
        while left > 0 if self.simulations else time.perf_counter() - begun < self.time * share:
            simulate(tree, min(left, SLICE) if self.simulations else SLICE, config, self.weights)
            left -= SLICE
        return int(tree.plans.firsts[best_plan(tree, config.trust)])

    def weights_digest(self) -> bytes:
        """Those of the evaluation."""
        return self.weights.tobytes()

    def reference(self) -> "MCTSAgent":
        """By simulations, not by time."""
        return replace(self, simulations=self.simulations or REFERENCE)
