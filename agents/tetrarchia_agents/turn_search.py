"""Search over candidate turns: the policy proposes them, the value function selects one.

1. Propose: the candidates are the policy's greedy turn and turns sampled from the policy, as in sampled policy improvement (Hubert
   et al., Learning and planning in complex action spaces, ICML 2021); the value is unreliable off-policy. A candidate is
   played to its end or its first attack.
2. Evaluate: the mean value over the dice that follow (Tesauro and Galperin, On-line policy improvement using Monte-Carlo search, NIPS
   1996). All candidates of a game are evaluated with the same dice (common random numbers), which reduces the variance of differences.
3. Roll out: candidates that seem better than the greedy turn are evaluated again by truncated rollouts (the same paper): the policy
   plays `rollout_turns` more turns with each of these dice before the value is taken.
4. Confirm: the best of these finalists and the greedy turn are compared once more, with new dice. As in sequential halving (Karnin,
   Koren and Somekh, Almost optimal exploration in multi-armed bandits, ICML 2013) the last ones left get most of the dice.

Another turn than the greedy one is played only if it is better by `margin` after the rollouts and again after the confirmation.
Without the margin and the confirmation, search delays won games: among many candidates there is always one whose value is overestimated.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tetrarchia_agents.chance_samples import NUM_ROLLS, play_again, stratified_rngs
from tetrarchia_env.agent import Actions, RngStates
from tetrarchia_env.batch import Games, Masks, Rows, agents_to_act, is_over, legal_masks, rng_states, step

Float32s = NDArray[np.float32]
Float64s = NDArray[np.float64]
PriorFn = Callable[[Games, Masks], Float32s]  # the log prior probability of each action
ValueFn = Callable[[Games], Float64s]  # the value of each position, finished games included
FINALIST_RANGE = 0.05  # finalists are at most this far below the best candidate; a win is worth 2
SAMPLING_STREAM = np.uint64(1)  # offset of the RNG stream from which candidates are sampled
MAX_TURN_ACTIONS = np.uint64(64)  # RNG states reserved per candidate


@dataclass(frozen=True)
class TurnSearch:
    """The search's settings, and the policy and value function that it uses."""

    candidates: int  # per game
    temperature: float  # of the sampling of all candidates but the first, which is greedy
    chance_samples: int  # evaluations of each of the 36 outcomes of the first two dice
    margin: float  # minimum advantage over the greedy turn
    prior_fn: PriorFn
    value_fn: ValueFn
    rollout_turns: int = 0  # turns played by the policy before finalists are evaluated; 0: no rollouts
    finalists: int = 4  # maximum per game, including the greedy turn
    confirm_samples: int = 0  # like chance_samples, for the comparison of the best finalist with the greedy turn; 0: none

    def plan(self, games: Games, masks: Masks) -> list["Plan"]:
        """Return the best turn found for each game.

        Args:
            games: Running games; they are not changed.
            masks: Their legal actions.
        """
        if not len(games):
            return []
        proposed = self.propose(games, masks)
        distinct, inverse = distinct_candidates(proposed)
        indexes = inverse.reshape(len(games), self.candidates)
        values = self.mean_values(self.roll(proposed, distinct, self.chance_samples), len(distinct))[indexes]
        if self.rollout_turns:
            values = self._evaluate_finalists(proposed, distinct, values, indexes)
        best = (values + np.where(np.arange(self.candidates) == 0, self.margin, 0)).argmax(axis=1)
        firsts = range(0, len(proposed.actions), self.candidates)
        turns = (proposed.actions[first : first + self.candidates] for first in firsts)
        return [Plan(actions, row, int(index)) for actions, row, index in zip(turns, values, best, strict=True)]

    def propose(self, games: Games, masks: Masks) -> "Candidates":
        """Play candidates in each game until dice are rolled, another Emperor decides, or the game is over."""
        proposed = Candidates(np.repeat(games, self.candidates), np.repeat(masks, self.candidates, axis=0))
        while len(rows := proposed.running):
            running = proposed.after[rows]
            distinct, inverse = unique_games(running)
            log_probs = self.prior_fn(running[distinct], proposed.masks[rows[distinct]])[inverse]
            number = rows % self.candidates
            streams = rng_states(rng_states(running["dice"] + SAMPLING_STREAM) + number.astype(np.uint64) * MAX_TURN_ACTIONS)
            sampled = sample(log_probs / self.temperature, streams + np.uint64(proposed.num_played))
            proposed.play(np.where(number == 0, log_probs.argmax(axis=1), sampled))
        return proposed

    def mean_values(self, outcomes: Games, num_candidates: int) -> Float64s:
        """Return the mean value of each candidate's outcomes, which are consecutive."""
        distinct, inverse = unique_games(outcomes)
        values: Float64s = self.value_fn(outcomes[distinct])[inverse].reshape(num_candidates, -1).mean(axis=1)
        return values

    def roll(self, proposed: "Candidates", rows: Rows, samples: int, skip: int = 0) -> Games:
        """Return each of these candidates after its last action, with `samples` sets of dice after the first `skip` sets."""
        before, last = proposed.before[rows], np.array([proposed.actions[row][-1] for row in rows], dtype=np.int64)
        rngs = stratified_rngs(before, NUM_ROLLS * (skip + samples))[:, NUM_ROLLS * skip :]
        outcomes = proposed.after[rows].repeat(rngs.shape[1])
        outcomes["dice"] = rngs.ravel()  # where no dice were rolled yet: for what follows
        rolled = proposed.rolled[rows]
        outcomes[rolled.repeat(rngs.shape[1])] = play_again(before[rolled], last[rolled], rngs[rolled])
        return outcomes

    def play_greedily(self, games: Games, last_turns: NDArray[np.int64]) -> None:
        """Play the most probable actions in each game until its last turn is over."""
        while len(rows := np.flatnonzero(~is_over(games) & (games["turn"] <= last_turns))):
            running = games[rows]
            distinct, inverse = unique_games(running)
            masks = legal_masks(running[distinct])
            step(running, self.prior_fn(running[distinct], masks).argmax(axis=1)[inverse], masks[inverse])
            games[rows] = running

    def rollout_values(self, proposed: "Candidates", rows: Rows, samples: int, skip: int = 0) -> Float64s:
        """Return the mean value of each of these candidates after rollouts, with `samples` sets of dice after the first `skip` sets."""
        outcomes = self.roll(proposed, rows, samples, skip)
        self.play_greedily(outcomes, proposed.before["turn"][rows].repeat(NUM_ROLLS * samples) + self.rollout_turns)
        return self.mean_values(outcomes, len(rows))

    def _evaluate_finalists(self, proposed: "Candidates", distinct: Rows, values: Float64s, indexes: Rows) -> Float64s:
        """Replace the values of finalists by those of rollouts, and limit all other values to the lowest of these.

        Args:
            proposed: All candidates.
            distinct: The rows of the distinct candidates.
            values: [games, candidates] values without rollouts.
            indexes: [games, candidates] index of each candidate in `distinct`.
        """
        skip = 0
        for limit, margin, samples in ((self.finalists, 0.0, self.chance_samples), (2, self.margin, self.confirm_samples)):
            finals = [_finalists(*game, limit, margin) for game in zip(indexes, values, strict=True)]
            if samples and len(rows := np.unique(np.concatenate(finals))):
                by_rollouts = np.zeros(len(distinct))
                by_rollouts[rows] = self.rollout_values(proposed, distinct[rows], samples, skip)
                values = np.stack([_with_rollouts(*game, by_rollouts) for game in zip(indexes, values, finals, strict=True)])
            skip += samples
        return values


def _finalists(indexes: Rows, values: Float64s, limit: int, margin: float) -> Rows:
    """Return the best candidates that exceed the greedy one by the margin, and the greedy one; empty if none does."""
    first = np.unique(indexes, return_index=True)[1]
    rivals = first[values[first] > values[0] + margin]
    best_first = rivals[values[rivals].argsort()[::-1]][: limit - 1]
    close = best_first[values[best_first] >= values[best_first[:1]] - FINALIST_RANGE]
    return indexes[np.append(close, 0)] if len(close) else indexes[:0]


def _with_rollouts(indexes: Rows, values: Float64s, finalists: Rows, by_rollouts: Float64s) -> Float64s:
    if not len(finalists):
        return values
    return np.where(np.isin(indexes, finalists), by_rollouts[indexes], values.clip(max=by_rollouts[finalists].min()))


@dataclass(frozen=True)
class Plan:
    """The best turn found, up to its end or first attack, and the candidates from which it was selected."""

    candidates: Sequence[list[int]]
    values: Float64s  # of the candidates
    best: int
    num_played: int = 0  # actions of it already played

    @property
    def actions(self) -> list[int]:
        """The actions not yet played."""
        return self.candidates[self.best][self.num_played :]

    @property
    def value(self) -> float:
        """The value of the best candidate."""
        return float(self.values[self.best])

    def rest(self) -> "Plan":
        """Return the plan after its next action."""
        return replace(self, num_played=self.num_played + 1)

    def improved_policy(self, temperature: float) -> tuple[list[int], Float64s]:
        """Return the next actions of the candidates and their probabilities after policy improvement.

        The candidates, which were sampled from the policy, are weighted by the softmax of their values (Abdolmaleki et al., Maximum a
        posteriori policy optimisation, ICLR 2018). Only candidates that share the actions already played count.
        """
        begun = self.candidates[self.best][: self.num_played]
        rows = [row for row, turn in enumerate(self.candidates) if len(turn) > self.num_played and turn[: self.num_played] == begun]
        weights = np.exp((self.values[rows] - self.values[rows].max()) / temperature)
        actions, inverse = np.unique([self.candidates[row][self.num_played] for row in rows], return_inverse=True)
        probabilities = np.zeros(len(actions))
        np.add.at(probabilities, inverse, weights / weights.sum())
        return actions.tolist(), probabilities


class Candidates:
    """Turns being proposed, one row each; those of one game are consecutive."""

    def __init__(self, games: Games, masks: Masks) -> None:
        self.before, self.after, self.masks = games.copy(), games, masks  # before and after the last action
        self.actions: list[list[int]] = [[] for _ in games]
        self.rolled = np.zeros(len(games), dtype=bool)  # whether the last action rolled dice
        self.running = np.arange(len(games))
        self.num_played = 0

    def play(self, actions: Actions) -> None:
        """Play one more action of each running candidate."""
        rows = self.running
        before, after, masks = self.after[rows], self.after[rows], self.masks[rows]
        step(after, actions, masks)
        self.before[rows], self.after[rows], self.masks[rows] = before, after, masks
        for row, action in zip(rows.tolist(), actions.tolist(), strict=True):
            self.actions[row].append(action)
        self.rolled[rows] = after["dice"] != before["dice"]
        self.running = rows[~(self.rolled[rows] | is_over(after) | (agents_to_act(after) != agents_to_act(before)))]
        self.num_played += 1


def distinct_candidates(proposed: Candidates) -> tuple[Rows, Rows]:
    """Return the rows of candidates with distinct last position and action, and the index of each candidate among these."""
    indexes: dict[tuple[bytes, int], int] = {}
    keys = [(game.tobytes(), actions[-1]) for game, actions in zip(proposed.before, proposed.actions, strict=True)]
    inverse = np.array([indexes.setdefault(key, len(indexes)) for key in keys], dtype=np.int64)
    return np.unique(inverse, return_index=True)[1], inverse


def unique_games(games: Games) -> tuple[Rows, Rows]:
    """Return the rows of games that differ in more than their dice, and the index of each game among these."""
    _, first, inverse = np.unique(position_keys(games), return_index=True, return_inverse=True)
    return first, inverse


def position_keys(games: Games) -> NDArray[np.void]:
    """Return the bytes of each game without its dice."""
    keys = games.copy()
    keys["dice"] = 0
    return keys.view(np.dtype((np.void, keys.itemsize)))


def sample(logits: Float32s, rngs: RngStates) -> Actions:
    """Sample an action for each row of logits with the RNG state of that row."""
    cumulative = np.exp(logits - logits.max(axis=1, keepdims=True)).cumsum(axis=1, dtype=np.float64)
    points = (rng_states(rngs.copy()) >> np.uint64(11)) / 2.0**53 * cumulative[:, -1]
    sampled: Actions = (cumulative > points[:, np.newaxis]).argmax(axis=1)
    return sampled


class PlanMemory:
    """The rest of the selected turn in each environment, valid while the game proceeds as planned."""

    def __init__(self) -> None:
        self._plans: dict[int, tuple[bytes, Plan]] = {}

    def forget(self, env_ids: Rows) -> None:
        """Discard the plans of these environments."""
        for env_id in env_ids.tolist():
            self._plans.pop(env_id, None)

    def recall(self, games: Games, env_ids: Rows) -> list[Plan | None]:
        """Return the rest of the plan for each game; `None` if there is none or the position is not the planned one."""
        kept = [self._plans.pop(env_id, (b"", None)) for env_id in env_ids.tolist()]
        return [plan if key.tobytes() == expected else None for key, (expected, plan) in zip(position_keys(games), kept, strict=True)]

    def keep(self, games: Games, masks: Masks, env_ids: Rows, plans: list[Plan]) -> None:
        """Store plans of more than one action with the position after the first; only the last action rolls dice."""
        rows = np.array([row for row, plan in enumerate(plans) if len(plan.actions) > 1], dtype=np.int64)
        after = games[rows]
        step(after, np.array([plans[row].actions[0] for row in rows], dtype=np.int64), masks[rows])
        for row, key in zip(rows.tolist(), position_keys(after), strict=True):
            self._plans[int(env_ids[row])] = key.tobytes(), plans[row].rest()
