"""The analysis of a game as data: agents produce it, pages show it.

Probabilities are win probabilities from 0 to 1. For every decision, `choice` is the effect of the action in the mean over the dice, and
`luck` the effect of the dice: probability before + choice + luck = probability after. Over a game they sum up to the outcome minus the
probability at the beginning.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby

NUM_WORST = 3  # decisions that are marked
ROUNDS_TO_ZERO = 0.005  # smaller changes are shown as 0 %
NOISE = 0.046  # standard deviation of a turn's choices where every action is the network's own (docs/analysis.md); less is not shown


@dataclass(frozen=True)
class Advice:
    """One of the most probable actions in a position."""

    action: int
    text: str
    probability: float  # of the policy
    win_probability: float  # after it: at the end of the turn, mean over the dice
    change: float  # of the win probability, compared with the most probable action


@dataclass(frozen=True)
class Decision:
    """An action that was played, and the alternatives."""

    turn: int  # counted from 0, as in a snapshot
    emperor: str  # whose turn it was
    action: str  # as text
    before: float  # win probability
    expected: float  # win probability after the action, mean over the dice
    after: float  # win probability after the dice
    top_actions: tuple[Advice, ...]

    @property
    def choice(self) -> float:
        """The effect of the action on the win probability."""
        return self.expected - self.before

    @property
    def luck(self) -> float:
        """The effect of the dice on the win probability; its mean is 0, and it is 0 where no dice were rolled."""
        return self.after - self.expected

    @property
    def best(self) -> Advice:
        """The most probable action with the highest win probability."""
        return max(self.top_actions, key=lambda advice: advice.win_probability)

    @property
    def regret(self) -> float:
        """The advantage of the best action over the one played, with the same dice; at least 0."""
        return max(0.0, self.best.win_probability - self.expected)


@dataclass(frozen=True)
class Turn:
    """The sums over all decisions of one turn."""

    number: int  # counted from 0
    emperor: str
    choice: float
    luck: float


@dataclass(frozen=True)
class GameAnalysis:
    """All decisions of a game or of a part of it."""

    critic: str  # the agent that estimated the win probabilities
    decisions: tuple[Decision, ...]
    next_actions: tuple[Advice, ...] = ()  # the most probable actions in the last position, if the game is not over

    @property
    def win_probabilities(self) -> list[float]:
        """The win probability of each position, from the first to the last."""
        return [decision.before for decision in self.decisions] + [decision.after for decision in self.decisions[-1:]]

    @cached_property
    def turns(self) -> tuple[Turn, ...]:
        """The turns in order."""
        grouped = (list(group) for _, group in groupby(self.decisions, lambda decision: decision.turn))
        return tuple(
            Turn(group[0].turn, group[0].emperor, sum(one.choice for one in group), sum(one.luck for one in group)) for group in grouped
        )

    @cached_property
    def mistakes(self) -> tuple[int, ...]:
        """The indexes of all decisions whose regret is above the noise, in descending order of regret."""
        regrets = [decision.regret for decision in self.decisions]
        return tuple(index for index in sorted(range(len(regrets)), key=lambda index: -regrets[index]) if regrets[index] > NOISE)

    @property
    def worst(self) -> tuple[int, ...]:
        """The indexes of the decisions with the highest regret, in descending order."""
        return self.mistakes[:NUM_WORST]


def percent(fraction: float) -> str:
    """Return a fraction as a rounded percentage."""
    return f"{round(100 * fraction)}\N{NO-BREAK SPACE}%"


def split_sentence(luck: float, choice: float) -> str:
    """Return the effects of dice and choices in words, the larger first.

    >>> split_sentence(luck=-0.11, choice=-0.03).replace("\N{NO-BREAK SPACE}", " ")
    'the dice cost 11 %, the choices 3 %'
    >>> split_sentence(luck=0.04, choice=-0.002).replace("\N{NO-BREAK SPACE}", " ")
    'the dice gained 4 %'
    """
    parts = [(name, change) for name, change in (("the dice", luck), ("the choices", choice)) if abs(change) >= ROUNDS_TO_ZERO]
    parts.sort(key=lambda part: -abs(part[1]))
    return ", ".join(_clauses(parts)) or "neither the dice nor the choices changed much"


def _clauses(parts: Sequence[tuple[str, float]]) -> list[str]:
    """Return one clause per part; a verb is omitted if it is the same as before."""
    clauses, previous = [], ""
    for name, change in parts:
        verb = "cost" if change < 0 else "gained"
        clauses.append(f"{name} {percent(abs(change))}" if verb == previous else f"{name} {verb} {percent(abs(change))}")
        previous = verb
    return clauses


def regret_sentence(decision: Decision) -> str:
    """Return how much worse a decision was than the best action, in words."""
    return f"{percent(decision.regret)} worse than {decision.best.text}"
