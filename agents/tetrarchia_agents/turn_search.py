"""Search over whole turns: the policy proposes some, the value chooses among them.

The candidates are the policy's greedy turn and others drawn from it, as in sampled policy improvement (Hubert et al., Learning and
planning in complex action spaces, ICML 2021): what the policy would never do only feeds the value's errors. Each is played up
to its end or its first attack, and judged by the mean value of the positions that the dice make of it (Tesauro and Galperin,
On-line policy improvement using Monte-Carlo search, NIPS 1996). All candidates of a game meet the same dice (common random
numbers), so that small differences show. What seems better than the greedy turn must prove it in truncated rollouts (the same
paper): the policy plays `rollout_turns` more by each of these dice before the value is asked. The best of these finalists must then
win against the greedy turn once more, by more dice and none that chose it: as in sequential halving (Karnin, Koren and Somekh,
Almost optimal exploration in multi-armed bandits, ICML 2013) the last ones left get most of the dice. Only a turn that is better
by a margin each time is played instead. Without that a won game is put off: among many candidates there is always one whose
value is too high.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tetrarchia_agents.chance_samples import WAYS, play_again, stratified_rngs
from tetrarchia_env.agent import Actions
from tetrarchia_env.batch import Games, Masks, Rows, agents_to_act, is_over, legal_masks, rng_states, step

Floats = NDArray[np.float32]
Amounts = NDArray[np.float64]
Rngs = NDArray[np.uint64]
PriorFn = Callable[[Games, Masks], Floats]  # the logarithm of each action's prior
ValueFn = Callable[[Games], Amounts]  # what each position is worth, finished ones included
CLOSE = 0.05  # to the best candidate, where a win is worth 2: what is further off is no finalist
DRAWS = np.uint64(1)  # the RNG stream of a decision's draws
LONGEST = np.uint64(64)  # actions of a turn: draws of one candidate


@dataclass(frozen=True)
class TurnSearch:
    """How turns are proposed and judged."""

    turns: int  # candidates for each game
    temperature: float  # that all but the first, which is greedy, are drawn at
    chance_samples: int  # times that the first two dice fall in each of their 36 ways
    margin: float  # that a turn must be better by than the greedy one
    prior_fn: PriorFn
    value_fn: ValueFn
    rollout_turns: int = 0  # turns that the policy plays on before the finalists are judged; 0: there are no finalists
    finalists: int = 4  # at most, of each game, the greedy turn among them
    confirm_samples: int = 0  # times that the best of them and the greedy turn meet each way again, by dice that chose neither

    def plan(self, games: Games, masks: Masks) -> list["Plan"]:
        """The best turn found for each game."""
        if not len(games):
            return []
        found = self._propose(games, masks)
        distinct, back = _distinct_rows(found)
        judged, places = self._judge(found, distinct), back.reshape(len(games), self.turns)
        values = self._judge_finalists(found, distinct, judged[places], places) if self.rollout_turns else judged[places]
        best = (values + np.where(np.arange(self.turns) == 0, self.margin, 0)).argmax(axis=1)
        firsts = range(0, len(found.actions), self.turns)
        turns = (found.actions[first : first + self.turns] for first in firsts)
        return [Plan(candidates, worth, int(row)) for candidates, worth, row in zip(turns, values, best, strict=True)]

    def _propose(self, games: Games, masks: Masks) -> "Candidates":
        """Candidates for each game, played until dice fall, another Emperor decides, or the game is over."""
        found = Candidates(np.repeat(games, self.turns), np.repeat(masks, self.turns, axis=0))
        while len(found.running):
            found.play(self._draw(found))
        return found

    def _draw(self, found: "Candidates") -> Actions:
        """The next action of each candidate under way."""
        games, running = found.after[found.running], found.running
        distinct, back = unique_games(games)
        log_probs = self.prior_fn(games[distinct], found.masks[running[distinct]])[back]
        streams = rng_states(rng_states(games["dice"] + DRAWS) + (running % self.turns).astype(np.uint64) * LONGEST)
        drawn = sample(log_probs / self.temperature, streams + np.uint64(found.played))
        return np.where(running % self.turns == 0, log_probs.argmax(axis=1), drawn)

    def _judge(self, found: "Candidates", rows: Rows) -> Amounts:
        """The mean value of what the dice make of each of these candidates."""
        return self._mean_values(self._roll(found, rows, self.chance_samples), len(rows))

    def _judge_later(self, found: "Candidates", rows: Rows, samples: int, after: int) -> Amounts:
        """The same after more turns of the policy, by so many sets of dice after the first ones."""
        outcomes = self._roll(found, rows, samples, after)
        self._play_on(outcomes, found.before["turn"][rows].repeat(WAYS * samples) + self.rollout_turns)
        return self._mean_values(outcomes, len(rows))

    def _mean_values(self, outcomes: Games, candidates: int) -> Amounts:
        """Of each candidate's outcomes, which stand together."""
        distinct, back = unique_games(outcomes)
        values: Amounts = self.value_fn(outcomes[distinct])[back].reshape(candidates, -1).mean(axis=1)
        return values

    def _roll(self, found: "Candidates", rows: Rows, samples: int, after: int = 0) -> Games:
        """Each of these candidates after its last action, by so many sets of dice after the first ones; its outcomes stand together."""
        before, last = found.before[rows], np.array([found.actions[row][-1] for row in rows], dtype=np.int64)
        rngs = stratified_rngs(before, WAYS * (after + samples))[:, WAYS * after :]
        outcomes = found.after[rows].repeat(rngs.shape[1])
        outcomes["dice"] = rngs.ravel()  # none has fallen yet: they are for what comes after
        rolled = found.rolled[rows]
        outcomes[rolled.repeat(rngs.shape[1])] = play_again(before[rolled], last[rolled], rngs[rolled])
        return outcomes

    def _play_on(self, games: Games, last_turns: NDArray[np.int64]) -> None:
        """The policy's likeliest actions in each game until its last turn is over."""
        while len(rows := np.flatnonzero(~is_over(games) & (games["turn"] <= last_turns))):
            running = games[rows]
            distinct, back = unique_games(running)
            masks = legal_masks(running[distinct])
            step(running, self.prior_fn(running[distinct], masks).argmax(axis=1)[back], masks[back])
            games[rows] = running

    def _judge_finalists(self, found: "Candidates", distinct: Rows, values: Amounts, places: Rows) -> Amounts:
        """[games, turns] values: of finalists by rollouts; no other candidate is worth more than the last of these.

        values: the same by what the candidates lead to at once
        places: [games, turns] which of the distinct candidates each is
        """
        done = 0
        for most, margin, samples in ((self.finalists, 0.0, self.chance_samples), (2, self.margin, self.confirm_samples)):
            finals = [_finalists(*game, most, margin) for game in zip(places, values, strict=True)]
            if samples and len(rows := np.unique(np.concatenate(finals))):
                by_rollouts = np.zeros(len(distinct))
                by_rollouts[rows] = self._judge_later(found, distinct[rows], samples, done)
                values = np.stack([_judged_anew(*game, by_rollouts) for game in zip(places, values, finals, strict=True)])
            done += samples
        return values


def _finalists(places: Rows, values: Amounts, most: int, margin: float) -> Rows:
    """Of a game's candidates the greedy one, and the best and closest of those that seem better by a margin; none if none does."""
    first = np.unique(places, return_index=True)[1]
    rivals = first[values[first] > values[0] + margin]
    best_first = rivals[values[rivals].argsort()[::-1]][: most - 1]
    close = best_first[values[best_first] >= values[best_first[:1]] - CLOSE]
    return places[np.append(close, 0)] if len(close) else places[:0]


def _judged_anew(places: Rows, values: Amounts, finalists: Rows, by_rollouts: Amounts) -> Amounts:
    """A game's values when its finalists, if it has any, have been played on."""
    if not len(finalists):
        return values
    return np.where(np.isin(places, finalists), by_rollouts[places], values.clip(max=by_rollouts[finalists].min()))


@dataclass(frozen=True)
class Plan:
    """The best turn found, up to its end or first attack, and the candidates that it was chosen from."""

    candidates: Sequence[list[int]]
    values: Amounts  # of the candidates
    best: int
    played: int = 0  # actions of it

    @property
    def actions(self) -> list[int]:
        """What is left of it."""
        return self.candidates[self.best][self.played :]

    @property
    def value(self) -> float:
        """What it is worth."""
        return float(self.values[self.best])

    def rest(self) -> "Plan":
        """After its next action."""
        return replace(self, played=self.played + 1)

    def improved_policy(self, temperature: float) -> tuple[list[int], Amounts]:
        """Some actions and how likely they should be: the candidates, drawn from the policy, weigh by the softmax of their values.

        Abdolmaleki et al., Maximum a posteriori policy optimisation (ICLR 2018). Only those count that begin as this turn did.
        """
        begun = self.candidates[self.best][: self.played]
        rows = [row for row, turn in enumerate(self.candidates) if len(turn) > self.played and turn[: self.played] == begun]
        weights = np.exp((self.values[rows] - self.values[rows].max()) / temperature)
        actions, back = np.unique([self.candidates[row][self.played] for row in rows], return_inverse=True)
        likely = np.zeros(len(actions))
        np.add.at(likely, back, weights / weights.sum())
        return actions.tolist(), likely


class Candidates:
    """Turns, a row each; those of one game stand together."""

    def __init__(self, games: Games, masks: Masks) -> None:
        self.before, self.after, self.masks = games.copy(), games, masks  # the last action
        self.actions: list[list[int]] = [[] for _ in games]
        self.rolled = np.zeros(len(games), dtype=bool)  # whether dice have decided what the last action did
        self.running = np.arange(len(games))
        self.played = 0

    def play(self, actions: Actions) -> None:
        """One more action of each that is running."""
        rows = self.running
        before, after, masks = self.after[rows], self.after[rows], self.masks[rows]
        step(after, actions, masks)
        self.before[rows], self.after[rows], self.masks[rows] = before, after, masks
        for row, action in zip(rows.tolist(), actions.tolist(), strict=True):
            self.actions[row].append(action)
        self.rolled[rows] = after["dice"] != before["dice"]
        self.running = rows[~(self.rolled[rows] | is_over(after) | (agents_to_act(after) != agents_to_act(before)))]
        self.played += 1


def _distinct_rows(found: Candidates) -> tuple[Rows, Rows]:
    """The first of those that do the same in the same game, and for each candidate which of these it is like."""
    places: dict[tuple[bytes, int], int] = {}
    keys = [(game.tobytes(), actions[-1]) for game, actions in zip(found.before, found.actions, strict=True)]
    back = np.array([places.setdefault(key, len(places)) for key in keys], dtype=np.int64)
    return np.unique(back, return_index=True)[1], back


def unique_games(games: Games) -> tuple[Rows, Rows]:
    """The first of those that are alike but for their dice, and for each game which of these it is like."""
    _, first, back = np.unique(position_keys(games), return_index=True, return_inverse=True)
    return first, back


def position_keys(games: Games) -> NDArray[np.void]:
    """The bytes of each game but for its dice."""
    keys = games.copy()
    keys["dice"] = 0
    return keys.view(np.dtype((np.void, keys.itemsize)))


def sample(logits: Floats, dice: Rngs) -> Actions:
    """An action for each row by the RNG state beside it: where a point between 0 and the sum of chances falls."""
    chances = np.exp(logits - logits.max(axis=1, keepdims=True)).cumsum(axis=1, dtype=np.float64)
    points = (rng_states(dice.copy()) >> np.uint64(11)) / 2.0**53 * chances[:, -1]
    drawn: Actions = (chances > points[:, np.newaxis]).argmax(axis=1)
    return drawn


class PlansUnderWay:
    """What is left of the turn chosen in each environment: for as long as the game goes as it was foreseen."""

    def __init__(self) -> None:
        self._rests: dict[int, tuple[bytes, Plan]] = {}

    def forget(self, env_ids: Rows) -> None:
        """New games begin there."""
        for env_id in env_ids.tolist():
            self._rests.pop(env_id, None)

    def recall(self, games: Games, env_ids: Rows) -> list[Plan | None]:
        """What is left for each game, nothing if it stands otherwise than foreseen."""
        kept = [self._rests.pop(env_id, (b"", None)) for env_id in env_ids.tolist()]
        return [rest if key.tobytes() == foreseen else None for key, (foreseen, rest) in zip(position_keys(games), kept, strict=True)]

    def keep(self, games: Games, masks: Masks, env_ids: Rows, plans: list[Plan]) -> None:
        """Foresee the positions after the first action of each plan that has more; no dice fall before its last."""
        rows = np.array([row for row, plan in enumerate(plans) if len(plan.actions) > 1], dtype=np.int64)
        after = games[rows]
        step(after, np.array([plans[row].actions[0] for row in rows], dtype=np.int64), masks[rows])
        for row, key in zip(rows.tolist(), position_keys(after), strict=True):
            self._rests[int(env_ids[row])] = key.tobytes(), plans[row].rest()
