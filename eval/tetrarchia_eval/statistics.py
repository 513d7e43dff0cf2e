"""Rates, means and differences with 95 % intervals, and paired tests: pure functions on numbers.

The bootstrap and the sign-flip test draw counts instead of games: a mean depends only on how often each value occurs,
so a resample is one multinomial draw, and a flip of signs one binomial draw for each absolute difference. Scores have few
different values, which makes this a hundred times faster with the same distribution.
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
SIGN_FLIPS = 99_999  # the observed signs are counted in addition
MAX_NUMBERS = 4_000_000  # in memory at once
Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class Estimate:
    """A value and its 95 % interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class PairedTest:
    """The difference of two columns on the same seeds, first minus second, and its two-sided p-value."""

    pairs: int
    difference: Estimate
    p: float


def wilson(wins: int, games: int) -> Estimate:
    """Return the fraction of games won with Wilson's score interval (1927).

    Args:
        wins: Number of games won.
        games: Number of games played, at least 1.

    Raises:
        TetrarchiaError: The numbers do not fit together.

    >>> rate = wilson(90, 100)
    >>> f"{rate.value:.0%} ({rate.low:.0%} to {rate.high:.0%})"
    '90% (83% to 94%)'
    """
    if not 0 <= wins <= games or games == 0:
        raise TetrarchiaError(f"wins must be between 0 and games, and games at least 1; got {wins} of {games}")
    return _wilson(wins / games, games)


def wilson_by_seed(won: ArrayLike, seeds: ArrayLike) -> Estimate:
    """Return a win rate for games that share seeds (other levels or teams) and are therefore not independent.

    The interval is Wilson's for the effective number of independent games, estimated from the variance between seeds: at least
    the number of seeds and at most the number of games. With one game per seed it is Wilson's interval.

    Args:
        won: Whether each game was won.
        seeds: The seed of each game.
    """
    means, games = by_seed(won, seeds), np.size(won)
    rate, spread = float(means.mean()), float(means.var() / len(means))
    independent = rate * (1 - rate) / spread if np.ptp(means) > 0 else 0  # rounding gives equal means a variance
    return _wilson(rate, min(max(independent, len(means)), games))


def _wilson(rate: float, games: float) -> Estimate:
    shrink = 1 + Z**2 / games
    center = (rate + Z**2 / (2 * games)) / shrink
    half = Z / shrink * math.sqrt(rate * (1 - rate) / games + (Z / (2 * games)) ** 2)
    return Estimate(rate, 0.0 if rate == 0 else center - half, 1.0 if rate == 1 else center + half)


def by_seed(values: ArrayLike, seeds: ArrayLike) -> Numbers:
    """Return the mean of each seed's values, or the values themselves if the seeds have different numbers of games."""
    given = _numbers("a mean", values)
    _, places, counts = np.unique(np.asarray(seeds, dtype=np.uint64), return_inverse=True, return_counts=True)
    return np.bincount(places, given) / counts if np.all(counts == counts[0]) else given


def bootstrap_mean(values: ArrayLike, rng: Generator, resamples: int = RESAMPLES) -> Estimate:
    """Return the mean with its percentile bootstrap interval.

    Args:
        values: The observed values.
        rng: The generator of the resamples.
        resamples: Number of bootstrap resamples.
    """
    seen, counts = np.unique(_numbers("a mean", values), return_counts=True)
    number = int(counts.sum())
    means = np.concatenate([rng.multinomial(number, counts / number, rows) @ seen / number for rows in _chunks(resamples, len(seen))])
    low, high = np.quantile(means, (0.025, 0.975))
    return Estimate(float(seen @ counts) / number, float(low), float(high))


def compare_wins(first: ArrayLike, second: ArrayLike) -> PairedTest:
    """Compare two columns of won (1) or not (0) on the same seeds: Tango's interval and McNemar's exact test.

    Args:
        first: 1 or 0 for each game of the first team.
        second: The same for the second team, in the same order of seeds.

    Returns:
        The difference of the win rates, first minus second, and its p-value.

    >>> test = compare_wins([1, 1, 1, 1, 1, 0], [0, 0, 0, 0, 1, 0])
    >>> round(test.difference.value, 2), round(test.p, 3)
    (0.67, 0.125)
    """
    one, other = _pairs(first, second)
    only_first, only_second = int(np.sum(one > other)), int(np.sum(other > one))
    difference = tango(only_first, only_second, len(one))
    return PairedTest(len(one), difference, math.exp(log_mcnemar(only_first, only_second)))


def compare_scores(first: ArrayLike, second: ArrayLike, rng: Generator) -> PairedTest:
    """Compare two columns of scores on the same seeds: the mean difference, its bootstrap interval and the sign-flip test.

    Args:
        first: The scores of the first team.
        second: Those of the second team, in the same order of seeds.
        rng: The generator of the bootstrap and the random signs.

    Returns:
        The mean difference, first minus second, and its p-value.
    """
    one, other = _pairs(first, second)
    return PairedTest(len(one), bootstrap_mean(one - other, rng), sign_flip(one - other, rng))


def log_mcnemar(only_first: int, only_second: int) -> float:
    """Return the logarithm of McNemar's exact two-sided p-value: a fair coin for each pair that only one of the two won.

    The p-value itself may underflow; the terms of the tail are summed relative to the largest.
    """
    few, tosses = min(only_first, only_second), only_first + only_second
    if few < 0:
        raise TetrarchiaError(f"numbers of pairs must be at least 0; got {only_first} and {only_second}")
    largest = math.lgamma(tosses + 1) - math.lgamma(few + 1) - math.lgamma(tosses - few + 1) - tosses * math.log(2)
    steps = np.arange(few, 0, -1)
    tail = 1 + float(np.cumprod(steps / (tosses - steps + 1)).sum())
    return min(0.0, largest + math.log(2 * tail))


def tango(only_first: int, only_second: int, pairs: int) -> Estimate:
    """Return the difference of two win rates on the same seeds with its score interval.

    Tango, Equivalence test and confidence interval for the difference in proportions for the paired-sample design,
    Statistics in Medicine 17 (1998), 891-908.
    """
    if pairs < 1 or min(only_first, only_second) < 0 or only_first + only_second > pairs:
        raise TetrarchiaError(f"pairs must be at least 1 and include those won by one alone; got {only_first} and {only_second} of {pairs}")
    low = _lower_limit(only_first, only_second, pairs)
    return Estimate((only_first - only_second) / pairs, low, -_lower_limit(only_second, only_first, pairs))


def _lower_limit(more: int, less: int, pairs: int) -> float:
    """Find the limit by bisection: the score statistic decreases with the hypothesized difference."""
    low, high = -1.0, (more - less) / pairs
    for _ in range(60):  # beyond float precision
        middle = (low + high) / 2
        if more - less - pairs * middle > Z * _score_deviation(middle, more, less, pairs):
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _score_deviation(difference: float, more: int, less: int, pairs: int) -> float:
    """Return the standard deviation of `more - less` under this difference, with the maximum-likelihood nuisance parameter."""
    b = (2 * pairs - more + less) * difference - more - less
    c = -less * difference * (1 - difference)
    nuisance = (math.sqrt(max(b * b - 8 * pairs * c, 0.0)) - b) / (4 * pairs)
    return math.sqrt(max(pairs * (2 * nuisance + difference * (1 - difference)), 0.0))


def sign_flip(differences: ArrayLike, rng: Generator, flips: int = SIGN_FLIPS) -> float:
    """Return the two-sided p-value of a mean difference: the fraction of random signs that give at least as much.

    Args:
        differences: The difference of each pair.
        rng: The generator of the random signs.
        flips: Number of random sets of signs; the observed signs are counted in addition.
    """
    given = _numbers("a test", differences)
    sums = np.zeros(flips)
    for size, count in zip(*np.unique(np.abs(given), return_counts=True), strict=True):
        sums += size * (2 * rng.binomial(count, 0.5, flips) - count)
    least = abs(given.sum()) - 1e-9 * np.abs(given).sum()  # tolerate rounding
    return (1 + int(np.sum(np.abs(sums) >= least))) / (1 + flips)


def holm(ps: Sequence[float]) -> list[float]:
    """Return p-values corrected for the number of tests by Holm's method (1979).

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    corrected, most = [0.0] * len(ps), 0.0
    for rank, place in enumerate(sorted(range(len(ps)), key=ps.__getitem__)):
        most = max(most, min(1.0, (len(ps) - rank) * ps[place]))
        corrected[place] = most
    return corrected


def _chunks(rows: int, width: int) -> Iterator[int]:
    """Yield numbers of rows that fit into memory."""
    part = max(1, MAX_NUMBERS // width)
    yield from (min(part, rows - begun) for begun in range(0, rows, part))


def _numbers(what: str, values: ArrayLike) -> Numbers:
    numbers = np.asarray(values, dtype=np.float64).ravel()
    if len(numbers) == 0:
        raise TetrarchiaError(f"{what} needs at least one game; got none")
    return numbers


def _pairs(first: ArrayLike, second: ArrayLike) -> tuple[Numbers, Numbers]:
    one, other = _numbers("a comparison", first), _numbers("a comparison", second)
    if len(one) != len(other):
        raise TetrarchiaError(f"both columns must have the same number of games; got {len(one)} and {len(other)}")
    return one, other
