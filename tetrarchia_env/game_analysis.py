"""A game as an agent judges it: data that agents make and pages show, and the sentences that tell of them.

A chance is a probability of winning, from 0 to 1. Of every decision, `choice` is what the action did to it in the mean over the
dice, and `luck` is what the dice made of that: chance before + choice + luck = chance after. So over a whole game they sum up to
its outcome less the chance at its beginning.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby

WORST = 3  # choices that are marked
SMALL = 0.005  # less rounds to 0 %


@dataclass(frozen=True)
class Advice:
    """One of the likeliest actions in a position."""

    action: int
    text: str
    probability: float  # that the policy takes it
    chance: float  # to win after it: at the end of the turn, in the mean over its dice
    change: float  # of that chance, against the likeliest action


@dataclass(frozen=True)
class Decision:
    """One action that was played, and what else could have been."""

    turn: int  # counted from 0, as in a snapshot
    emperor: str  # whose turn it was
    action: str  # as text
    before: float  # the chance to win
    expected: float  # after the action, in the mean over the dice
    after: float  # as the dice fell
    likeliest: tuple[Advice, ...]

    @property
    def choice(self) -> float:
        """What the action did to the chance to win."""
        return self.expected - self.before

    @property
    def luck(self) -> float:
        """What the dice did to it: 0 in the mean, and 0 where none were rolled."""
        return self.after - self.expected

    @property
    def best(self) -> Advice:
        """Of the likeliest actions, the one with the best chance to win."""
        return max(self.likeliest, key=lambda advice: advice.chance)

    @property
    def regret(self) -> float:
        """How much better the best would have been, by the same dice; 0 if the action was as good."""
        return max(0.0, self.best.chance - self.expected)


@dataclass(frozen=True)
class Turn:
    """All decisions of one turn, summed up."""

    number: int  # counted from 0
    emperor: str
    choice: float
    luck: float


@dataclass(frozen=True)
class GameAnalysis:
    """All decisions of a game, or of a part of it."""

    critic: str  # the agent that judged
    decisions: tuple[Decision, ...]

    @property
    def chances(self) -> list[float]:
        """Of each position, from the first to the last."""
        return [decision.before for decision in self.decisions] + [decision.after for decision in self.decisions[-1:]]

    @cached_property
    def turns(self) -> tuple[Turn, ...]:
        """In their order."""
        return tuple(_summed(list(some)) for _, some in groupby(self.decisions, lambda decision: decision.turn))

    @cached_property
    def worst(self) -> tuple[int, ...]:
        """The places of the worst choices among the decisions, the worst first."""
        regrets = [decision.regret for decision in self.decisions]
        places = sorted(range(len(regrets)), key=lambda place: -regrets[place])
        return tuple(place for place in places[:WORST] if regrets[place] >= SMALL)


def _summed(decisions: Sequence[Decision]) -> Turn:
    first = decisions[0]
    return Turn(first.turn, first.emperor, sum(one.choice for one in decisions), sum(one.luck for one in decisions))


def percent(share: float) -> str:
    """In whole percents."""
    return f"{round(100 * share)}\N{NO-BREAK SPACE}%"


def split_sentence(luck: float, choice: float) -> str:
    """What dice and choices did, the larger first.

    >>> split_sentence(luck=-0.11, choice=-0.03).replace("\N{NO-BREAK SPACE}", " ")
    'the dice cost 11 %, the choices 3 %'
    >>> split_sentence(luck=0.04, choice=-0.002).replace("\N{NO-BREAK SPACE}", " ")
    'the dice gained 4 %'
    """
    parts = [(name, change) for name, change in (("the dice", luck), ("the choices", choice)) if abs(change) >= SMALL]
    parts.sort(key=lambda part: -abs(part[1]))
    return ", ".join(_clauses(parts)) or "neither the dice nor the choices changed much"


def _clauses(parts: Iterable[tuple[str, float]]) -> Iterable[str]:
    """A verb is said once as long as it stays the same."""
    said = ""
    for name, change in parts:
        verb = "cost" if change < 0 else "gained"
        yield f"{name} {percent(abs(change))}" if verb == said else f"{name} {verb} {percent(abs(change))}"
        said = verb


def regret_sentence(decision: Decision) -> str:
    """Of a choice that was worse than another."""
    return f"{percent(decision.regret)} worse than {decision.best.text}"
