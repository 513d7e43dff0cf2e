"""What is played next: levels by measured win rate, starts from the middle of games."""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import ceil
from typing import Any

import numpy as np

from tetrarchia_env.notation import Snapshot, snapshot
from train.games import SECURED, Finished, TrainingGames
from train.options import TrainOptions

WINDOW = 400  # games at the hardest levels that their win rate is measured on
ENOUGH = 200  # and how many of them must have been played
KEPT = 64  # starts for each number of secured borders and set of rules
HARDEST = 8


def difficulty(level: str) -> int:
    """0 to 8 for the rulebook's levels: a digit harder counts 1 (4200 is 2, 4211 is 4, 4222 is 6)."""
    tokens, fleets, revolts, armies = (int(digit) for digit in level)
    return 5 - tokens + 3 - fleets + revolts + armies


def levels_up_to(options: TrainOptions, hardest: int) -> list[str]:
    """The levels that are not harder, those in focus as often as they are to be drawn."""
    levels = [level for level in options.levels if difficulty(level) <= hardest] or [min(options.levels, key=difficulty)]
    focus = [level for level in options.focus if difficulty(level) <= hardest]
    if not focus or options.focus_share in (0, 1):
        return focus or levels if options.focus_share == 1 else levels
    times = options.focus_share / (1 - options.focus_share) * len(levels) / len(focus)
    return levels + focus * ceil(times)


@dataclass
class Curriculum:
    """The hardest difficulty played, and the results that decide when it rises."""

    options: TrainOptions
    hardest: int
    results: deque[bool] = field(default_factory=lambda: deque(maxlen=WINDOW))  # at the hardest
    lately: deque[bool] = field(default_factory=lambda: deque(maxlen=WINDOW))  # at all levels

    @property
    def levels(self) -> list[str]:
        """What games may be begun at."""
        return levels_up_to(self.options, self.hardest)

    def hear(self, finished: Sequence[Finished]) -> bool:
        """Take in results; whether harder levels open."""
        whole = [game for game in finished if game.whole]
        self.lately.extend(game.outcome == "won" for game in whole)
        self.results.extend(game.outcome == "won" for game in whole if difficulty(game.level) >= self.hardest)
        hardest_of_all = max(map(difficulty, self.options.levels))
        if self.hardest >= hardest_of_all or len(self.results) < ENOUGH or rate(self.results) < self.options.next_difficulty:
            return False
        self.hardest += 1
        self.results.clear()
        return True

    @property
    def middle_share(self) -> float:
        """The share of games to begin from the middle: less and less as more are won."""
        return self.options.middle_share * max(0.0, 1 - rate(self.lately) / self.options.middle_ends)

    def state(self) -> dict[str, Any]:
        """As JSON data."""
        return {"hardest": self.hardest, "results": list(self.results), "lately": list(self.lately)}

    def set_state(self, state: dict[str, Any]) -> None:
        """Go on from there."""
        self.hardest = state["hardest"]
        self.results.extend(state["results"])
        self.lately.extend(state["lately"])


def rate(results: Sequence[bool] | deque[bool]) -> float:
    """The share of True."""
    return sum(results) / len(results) if results else 0.0


def add_middles(starts: list[Snapshot], env: TrainingGames, chance: np.random.Generator) -> list[Snapshot]:
    """Some positions of the games under way with borders secured, as starts; the newest of each kind are kept."""
    secured, games = np.rint(env.seen[:, SECURED] * 6).astype(int), env.games
    for i in chance.permutation(np.flatnonzero((secured > 0) & (games["turn"] >= 2)))[:KEPT]:
        rules = int(i) // (env.num_envs // len(env.parts))
        starts.append({"rules": rules, "borders": int(secured[i]), "game": snapshot(games[i])})
    return _newest(starts)


def _newest(starts: list[Snapshot]) -> list[Snapshot]:
    counts: dict[tuple[int, int], int] = {}
    kept = []
    for start in reversed(starts):
        kind = (start["rules"], start["borders"])
        counts[kind] = counts.get(kind, 0) + 1
        if counts[kind] <= KEPT:
            kept.append(start)
    return kept[::-1]


def fading(first: float, last: float, progress: float) -> float:
    """From first to last as the run goes on from 0 to 1, linear."""
    return first + (last - first) * progress
