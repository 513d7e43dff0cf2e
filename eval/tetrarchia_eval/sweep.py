"""All levels of the game side by side (R2.1), from the easiest to the hardest."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from tetrarchia_agents import GameResult
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.options import DIGITS
from tetrarchia_eval.statistics import Estimate, wilson_by_seed

MEANINGS = tuple(meaning for meaning, _ in DIGITS)
Choices = tuple[str, str, str, str]  # the values of each digit, the easiest first

RULEBOOK: Choices = ("543", "321", "012", "012")
EVERY: Choices = ("5432", "3210", "0123", "0123")


def levels_of(choices: Choices) -> tuple[str, ...]:
    """All levels with these digits, the easiest first."""
    return tuple("".join(digits) for digits in product(*choices))


RULEBOOK_LEVELS = levels_of(RULEBOOK)
EVERY_LEVEL = levels_of(EVERY)
NAMED = {"rulebook": RULEBOOK_LEVELS, "every": EVERY_LEVEL}


def levels_named(words: str) -> tuple[str, ...]:
    """Levels with commas, `rulebook` and `every` for all of those; each once."""
    return tuple(dict.fromkeys(level for word in words.split(",") for level in NAMED.get(word, (word,))))


def level_words(levels: Sequence[str]) -> str:
    """The shortest words that name these levels in this order."""
    return next((name for name, named in NAMED.items() if tuple(levels) == named), ",".join(levels))


@dataclass(frozen=True)
class Grid:
    """Numbers of levels: rows by tokens and fleets, columns by Revolts and armies; what was not played is nan."""

    choices: Choices
    values: NDArray[np.float64]


def grid(rates: Mapping[str, float]) -> Grid:
    """The 81 levels of the rulebook, or all 256 if there is one beyond those."""
    choices = RULEBOOK if set(rates) <= set(RULEBOOK_LEVELS) else EVERY
    strange = sorted(set(rates) - set(EVERY_LEVEL))
    if strange:
        raise TetrarchiaError(f"a level is four digits, 2-5 tokens, 0-3 fleets, Revolts and armies, not {strange[0]!r}")
    values = np.array([rates.get(level, np.nan) for level in levels_of(choices)], dtype=np.float64)
    return Grid(choices, values.reshape(len(choices[0]) * len(choices[1]), -1))


def by_digit(games: Sequence[GameResult]) -> dict[tuple[str, str], Estimate]:
    """The win rate of all games whose level has this value of this digit."""
    return {
        (meaning, value): _rate(game for game in games if game.level[place] == value)
        for place, (meaning, values) in enumerate(zip(MEANINGS, EVERY, strict=True))
        for value in values
        if any(game.level[place] == value for game in games)
    }


def _rate(games: Iterable[GameResult]) -> Estimate:
    some = list(games)
    return wilson_by_seed([game.won for game in some], [game.seed for game in some])
