"""The agents' compiled choices, game after game: one action ahead, or a whole turn."""

import numpy as np
from numpy.typing import NDArray

from agents._jit import jit
from agents.search.evaluation import Weights, worth
from agents.search.turn_plan import NONE, NOTHING, Desk, Width, expand, plan
from tetrarchia_env.batch import Games, Masks
from tetrarchia_env.engine.dice import next_word
from tetrarchia_env.engine.state import ARRIVAL, ROMAN
from tetrarchia_env.engine.turn import play

SAMPLES = 16  # games that a decision out of turn is tried in


@jit
def plan_all(
    games: Games, masks: Masks, outer: Desk, inner: Desk, width: Width, weights: NDArray[np.void], actions: NDArray[np.int64]
) -> None:
    """The planner's choice in each game."""
    for i in range(len(games)):
        if games[i].phase == ROMAN or games[i].phase == ARRIVAL:
            actions[i] = plan(games, i, outer, inner, width, weights[0])
        else:
            actions[i] = try_all(games, i, masks[i], outer, weights[0])


@jit
def look_ahead_all(games: Games, masks: Masks, desk: Desk, weights: NDArray[np.void], actions: NDArray[np.int64]) -> None:
    """The best action by the position after it, in each game."""
    for i in range(len(games)):
        if games[i].phase == ROMAN or games[i].phase == ARRIVAL:
            actions[i] = look_ahead(games, i, desk, weights[0])
        else:
            actions[i] = try_all(games, i, masks[i], desk, weights[0])


@jit
def look_ahead(games: Games, i: int, desk: Desk, weights: Weights) -> int:
    """The action of the turn that leads to the best position; of an attack the mean."""
    desk.beam[0] = games[i]
    desk.firsts[0] = NONE
    children, ends = expand(desk, NOTHING, NOTHING, NOTHING, weights)
    best, action = -1.0, NONE
    for child in range(children):
        if desk.child_worths[child] > best:
            best, action = desk.child_worths[child], desk.child_firsts[child]
    for end in range(ends):
        if desk.end_worths[end] > best:
            best, action = desk.end_worths[end], desk.end_firsts[end]
    return action


@jit
def try_all(games: Games, i: int, mask: Masks, desk: Desk, weights: Weights) -> int:
    """Fleets (R2.6) and reactions (R10.1): the action whose results, dice rolled anew, are worth most in the mean."""
    best, chosen = -1.0, NONE
    for action in range(len(mask)):
        if mask[action]:
            total, word = 0.0, games[i].dice
            for _ in range(SAMPLES):
                word = next_word(word)
                desk.spare[0] = games[i]
                desk.spare[0].dice = word
                play(desk.spare[0], action, desk.mask)
                total += worth(desk.spare[0], weights)
            if total > best:
                best, chosen = total, action
    return chosen
