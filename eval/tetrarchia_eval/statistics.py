"""Rates, means and differences with their 95 % intervals, and tests on the same seeds: pure functions on numbers.

The bootstrap and the permutation test draw counts instead of games: a mean depends only on how often each value comes,
so a resample is one multinomial draw, and a flip of signs one binomial draw for each size of difference. Scores have few
values: this is the same distribution a hundred times faster.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray

from tetrarchia_env.errors import TetrarchiaError

Z = NormalDist().inv_cdf(0.975)
RESAMPLES = 10_000
FLIPS = 99_999  # one less than a round number: the real signs count as one more
CHUNK = 4_000_000  # numbers held at once
Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class Estimate:
    """A figure and its 95 % interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class PairedTest:
    """How much more the first has than the second on the same seeds, and how likely so much is by chance alone."""

    pairs: int
    difference: Estimate
    p: float


def wilson(wins: int, games: int) -> Estimate:
    """The share of games won, with Wilson's score interval (1927).

    >>> rate = wilson(90, 100)
    >>> f"{rate.value:.0%} ({rate.low:.0%} to {rate.high:.0%})"
    '90% (83% to 94%)'
    """
    if not 0 <= wins <= games or games == 0:
        raise TetrarchiaError(f"a win rate needs at least one game and no more wins than games, not {wins} of {games}")
    return _wilson(wins / games, games)


def wilson_by_seed(won: ArrayLike, seeds: ArrayLike) -> Estimate:
    """The same for games of which several share a seed (other levels, other team): those are no independent witnesses.

    Wilson's interval for as many independent games as would vary so much from seed to seed: no fewer than there are
    seeds, no more than there are games. With one game a seed it is Wilson's; if all seeds are alike, seeds are counted.
    """
    means, games = by_seed(won, seeds), np.size(won)
    rate, spread = float(means.mean()), float(means.var() / len(means))
    alike = rate * (1 - rate) / spread if np.ptp(means) > 0 else 0  # rounding gives equal means a spread, too
    return _wilson(rate, min(max(alike, len(means)), games))


def _wilson(rate: float, games: float) -> Estimate:
    shrink = 1 + Z**2 / games
    centre = (rate + Z**2 / (2 * games)) / shrink
    half = Z / shrink * math.sqrt(rate * (1 - rate) / games + (Z / (2 * games)) ** 2)
    return Estimate(rate, 0.0 if rate == 0 else centre - half, 1.0 if rate == 1 else centre + half)


def by_seed(values: ArrayLike, seeds: ArrayLike) -> Numbers:
    """The mean of each seed's games; the values themselves where some seeds have more games than others."""
    given = _numbers("a mean", values)
    _, places, counts = np.unique(np.asarray(seeds, dtype=np.uint64), return_inverse=True, return_counts=True)
    return np.bincount(places, given) / counts if np.all(counts == counts[0]) else given


def bootstrap_mean(values: ArrayLike, rng: Generator, resamples: int = RESAMPLES) -> Estimate:
    """The mean, with the percentile interval of its bootstrap."""
    seen, counts = np.unique(_numbers("a mean", values), return_counts=True)
    number = int(counts.sum())
    means = np.concatenate([rng.multinomial(number, counts / number, rows) @ seen / number for rows in _chunks(resamples, len(seen))])
    low, high = np.quantile(means, (0.025, 0.975))
    return Estimate(float(seen @ counts) / number, float(low), float(high))


def compare_wins(first: ArrayLike, second: ArrayLike) -> PairedTest:
    """Two columns of won (1) or not (0) on the same seeds: McNemar's exact test and Tango's interval.

    >>> test = compare_wins([1, 1, 1, 1, 1, 0], [0, 0, 0, 0, 1, 0])
    >>> round(test.difference.value, 2), round(test.p, 3)
    (0.67, 0.125)
    """
    one, other = _pairs(first, second)
    only_first, only_second = int(np.sum(one > other)), int(np.sum(other > one))
    difference = tango(only_first, only_second, len(one))
    return PairedTest(len(one), difference, math.exp(log_mcnemar(only_first, only_second)))


def compare_scores(first: ArrayLike, second: ArrayLike, rng: Generator) -> PairedTest:
    """Two columns of scores on the same seeds: the mean difference, its bootstrap and a test that flips signs."""
    one, other = _pairs(first, second)
    return PairedTest(len(one), bootstrap_mean(one - other, rng), sign_flip(one - other, rng))


def log_mcnemar(only_first: int, only_second: int) -> float:
    """The logarithm of McNemar's exact two-sided p: a fair coin for each pair that only one of the two won.

    In logarithms, because p itself may be less than any float; the terms of the tail are summed as shares of the largest.
    """
    few, tosses = min(only_first, only_second), only_first + only_second
    if few < 0:
        raise TetrarchiaError(f"pairs are counted from 0 on, not {only_first} and {only_second}")
    largest = math.lgamma(tosses + 1) - math.lgamma(few + 1) - math.lgamma(tosses - few + 1) - tosses * math.log(2)
    steps = np.arange(few, 0, -1)
    tail = 1 + float(np.cumprod(steps / (tosses - steps + 1)).sum())
    return min(0.0, largest + math.log(2 * tail))


def tango(only_first: int, only_second: int, pairs: int) -> Estimate:
    """The difference of two win rates on the same seeds, with its score interval.

    Tango, Equivalence test and confidence interval for the difference in proportions for the paired-sample design,
    Statistics in Medicine 17 (1998), 891-908.
    """
    if pairs < 1 or min(only_first, only_second) < 0 or only_first + only_second > pairs:
        raise TetrarchiaError(f"a paired difference needs pairs, some won by one alone, not {only_first} and {only_second} of {pairs}")
    low = _lower_limit(only_first, only_second, pairs)
    return Estimate((only_first - only_second) / pairs, low, -_lower_limit(only_second, only_first, pairs))


def _lower_limit(more: int, less: int, pairs: int) -> float:
    """By bisection: the score falls as the supposed difference grows."""
    low, high = -1.0, (more - less) / pairs
    for _ in range(60):  # finer than a float
        middle = (low + high) / 2
        if more - less - pairs * middle > Z * _score_deviation(middle, more, less, pairs):
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _score_deviation(difference: float, more: int, less: int, pairs: int) -> float:
    """Of `more - less`, if this were the true difference: by the likeliest share of pairs that only the second wins."""
    b = (2 * pairs - more + less) * difference - more - less
    c = -less * difference * (1 - difference)
    share = (math.sqrt(max(b * b - 8 * pairs * c, 0.0)) - b) / (4 * pairs)
    return math.sqrt(max(pairs * (2 * share + difference * (1 - difference)), 0.0))


def sign_flip(differences: ArrayLike, rng: Generator, flips: int = FLIPS) -> float:
    """Two-sided p of a mean difference: the share of random signs that give as much; the real ones count once."""
    given = _numbers("a test", differences)
    sums = np.zeros(flips)
    for size, count in zip(*np.unique(np.abs(given), return_counts=True), strict=True):
        sums += size * (2 * rng.binomial(count, 0.5, flips) - count)
    least = abs(given.sum()) - 1e-9 * np.abs(given).sum()  # the order of a sum of floats must not matter
    return (1 + int(np.sum(np.abs(sums) >= least))) / (1 + flips)


def holm(ps: Sequence[float]) -> list[float]:
    """Holm's correction (1979): the p of each of many tests, so that false alarms among all of them stay rare.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    corrected, most = [0.0] * len(ps), 0.0
    for rank, place in enumerate(sorted(range(len(ps)), key=ps.__getitem__)):
        most = max(most, min(1.0, (len(ps) - rank) * ps[place]))
        corrected[place] = most
    return corrected


def _chunks(rows: int, width: int) -> Iterator[int]:
    """The rows in parts that fit into memory."""
    part = max(1, CHUNK // width)
    yield from (min(part, rows - begun) for begun in range(0, rows, part))


def _numbers(what: str, values: ArrayLike) -> Numbers:
    numbers = np.asarray(values, dtype=np.float64).ravel()
    if len(numbers) == 0:
        raise TetrarchiaError(f"{what} needs at least one game, not none")
    return numbers


def _pairs(first: ArrayLike, second: ArrayLike) -> tuple[Numbers, Numbers]:
    one, other = _numbers("a comparison", first), _numbers("a comparison", second)
    if len(one) != len(other):
        raise TetrarchiaError(f"a comparison needs as many games of the first as of the second, not {len(one)} and {len(other)}")
    return one, other
