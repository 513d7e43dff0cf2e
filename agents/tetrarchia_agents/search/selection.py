"""The compiled decisions of the greedy agent and the planner for a batch of games."""

import numpy as np
from numpy.typing import NDArray

from tetrarchia_agents._jit import jit
from tetrarchia_agents.search.beam_search import NO_ACTION, ZERO, SearchBuffers, Width, expand, plan
from tetrarchia_env.batch import Games, Masks
from tetrarchia_env.engine.dice import next_rng
from tetrarchia_env.engine.state import ARRIVAL, ROMAN
from tetrarchia_env.engine.turn import play
from tetrarchia_env.heuristic import Weights, win_probability

NUM_SAMPLES = 16  # dice samples per action, for decisions outside the turn


@jit
def plan_all(
    games: Games,
    masks: Masks,
    outer: SearchBuffers,
    inner: SearchBuffers,
    width: Width,
    weights: NDArray[np.void],
    actions: NDArray[np.int64],
) -> None:
    """Write the planner's action for each game into `actions`."""
    for i in range(len(games)):
        if games[i].phase == ROMAN or games[i].phase == ARRIVAL:
            actions[i] = plan(games, i, outer, inner, width, weights[0])
        else:
            actions[i] = try_all(games, i, masks[i], outer, weights[0])


@jit
def look_ahead_all(games: Games, masks: Masks, buffers: SearchBuffers, weights: NDArray[np.void], actions: NDArray[np.int64]) -> None:
    """Write the greedy agent's action for each game into `actions`."""
    for i in range(len(games)):
        if games[i].phase == ROMAN or games[i].phase == ARRIVAL:
            actions[i] = look_ahead(games, i, buffers, weights[0])
        else:
            actions[i] = try_all(games, i, masks[i], buffers, weights[0])


@jit
def look_ahead(games: Games, i: int, buffers: SearchBuffers, weights: Weights) -> int:
    """Return the action that leads to the best position; an attack counts as the mean over its results."""
    buffers.beam[0] = games[i]
    buffers.firsts[0] = NO_ACTION
    children, ends = expand(buffers, ZERO, ZERO, ZERO, weights)
    best, action = -1.0, NO_ACTION
    for child in range(children):
        if buffers.child_values[child] > best:
            best, action = buffers.child_values[child], buffers.child_firsts[child]
    for end in range(ends):
        if buffers.end_values[end] > best:
            best, action = buffers.end_values[end], buffers.end_firsts[end]
    return action


@jit
def try_all(games: Games, i: int, mask: Masks, buffers: SearchBuffers, weights: Weights) -> int:
    """Return the best action for fleets (R2.6) and reactions (R10.1): the highest mean value over sampled dice."""
    best, chosen = -1.0, NO_ACTION
    for action in range(len(mask)):
        if mask[action]:
            total, rng = 0.0, games[i].dice
            for _ in range(NUM_SAMPLES):
                rng = next_rng(rng)
                buffers.spare[0] = games[i]
                buffers.spare[0].dice = rng
                play(buffers.spare[0], action, buffers.mask)
                total += win_probability(buffers.spare[0], weights)
            if total > best:
                best, chosen = total, action
    return chosen
