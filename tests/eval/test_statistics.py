"""Tests of the statistics: comparison with SciPy and published examples, and edge cases."""

import math
from dataclasses import astuple
from itertools import product

import numpy as np
import pytest

from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_eval import statistics
from tetrarchia_eval.statistics import (
    bootstrap_mean,
    by_seed,
    compare_scores,
    compare_wins,
    holm,
    log_mcnemar,
    sign_flip,
    tango,
    wilson,
    wilson_by_seed,
)

CAVO = (6, 16, 161)  # Cavo et al. 2012, complete response to therapy: only before, only after, all patients


def make_rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def scores(number: int, seed: int = 1) -> np.ndarray:
    return make_rng(seed).integers(-9, 11, number)


@pytest.mark.parametrize(("wins", "games"), [(0, 1), (1, 1), (0, 50), (50, 50), (7, 10), (623, 1000), (1, 100_000)])
def test_wilson_equals_scipy(wins: int, games: int) -> None:
    binomtest = pytest.importorskip("scipy.stats").binomtest
    interval = binomtest(wins, games).proportion_ci(method="wilson")
    found = wilson(wins, games)
    assert found.value == wins / games
    assert (found.low, found.high) == pytest.approx((interval.low, interval.high), abs=1e-12)


def test_wilson_matches_newcombes_example() -> None:
    """Newcombe, Statistics in Medicine 17 (1998), 857-872: 81 of 263 gives 0.2553 to 0.3662, 0 of 20 gives 0 to 0.1611."""
    assert (wilson(81, 263).low, wilson(81, 263).high) == pytest.approx((0.2553, 0.3662), abs=5e-5)
    assert (wilson(0, 20).low, wilson(0, 20).high) == pytest.approx((0, 0.1611), abs=5e-5)


def test_wilson_stays_between_zero_and_one() -> None:
    assert wilson(0, 30).low == 0
    assert wilson(30, 30).high == 1


@pytest.mark.parametrize(("wins", "games"), [(0, 0), (3, 2), (-1, 5)])
def test_wilson_refuses_impossible_counts(wins: int, games: int) -> None:
    with pytest.raises(TetrarchiaError, match=f"got {wins} of {games}"):
        wilson(wins, games)


def test_wilson_by_seed_equals_wilson_if_all_seeds_differ() -> None:
    won = make_rng().random(500) < 0.3
    assert astuple(wilson_by_seed(won, np.arange(500))) == pytest.approx(astuple(wilson(int(won.sum()), 500)))


def test_wilson_by_seed_counts_copies_of_a_game_once() -> None:
    won, seeds = np.arange(100) < 30, np.arange(100)
    copied = wilson_by_seed(np.tile(won, 4), np.tile(seeds, 4))
    assert astuple(copied) == pytest.approx(astuple(wilson(30, 100)))


def test_wilson_by_seed_nearly_equals_wilson_for_independent_games() -> None:
    won, seeds = make_rng().random(4000) < 0.5, np.tile(np.arange(1000), 4)
    found, expected = wilson_by_seed(won, seeds), wilson(int(won.sum()), 4000)
    assert found.high - found.low == pytest.approx(expected.high - expected.low, rel=0.1)


@pytest.mark.parametrize("wins", [0, 1, 3])
def test_wilson_by_seed_without_variation_counts_seeds(wins: int) -> None:
    """Three games per seed have a mean that is not exactly representable as a float."""
    found = wilson_by_seed(np.repeat(np.arange(3) < wins, 12), np.tile(np.arange(12), 3))
    assert astuple(found) == pytest.approx(astuple(wilson(4 * wins, 12)))


def test_wilson_by_seed_counts_a_single_seed_as_one_game() -> None:
    assert wilson_by_seed([False] * 81, [7] * 81).high == pytest.approx(wilson(0, 1).high)


def test_by_seed_returns_means_if_all_seeds_have_equally_many_games() -> None:
    assert by_seed([1, 2, 3, 5], [7, 8, 7, 8]).tolist() == [2, 3.5]
    assert by_seed([1, 2, 3], [7, 8, 7]).tolist() == [1, 2, 3]


def test_by_seed_distinguishes_the_largest_seeds() -> None:
    assert by_seed([1, 2, 3, 4], [2**63 - 1, 2**63, 2**63 + 1, 2**64 - 1]).tolist() == [1, 2, 3, 4]


def test_bootstrap_equals_scipy() -> None:
    bootstrap = pytest.importorskip("scipy.stats").bootstrap
    values = scores(300)
    theirs = bootstrap((values,), np.mean, method="percentile", n_resamples=10_000, batch=500, random_state=make_rng()).confidence_interval
    found = bootstrap_mean(values, make_rng())
    assert found.value == pytest.approx(values.mean())
    assert (found.low, found.high) == pytest.approx((theirs.low, theirs.high), abs=0.04)


def test_bootstrap_of_many_values_is_close_to_the_normal_interval(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(statistics, "MAX_NUMBERS", 50_000)
    values = make_rng().normal(size=400)
    found = bootstrap_mean(values, make_rng())
    half = 1.96 * values.std() / 20
    assert (found.low, found.high) == pytest.approx((values.mean() - half, values.mean() + half), abs=0.01)


def test_bootstrap_of_one_value_is_that_value() -> None:
    found = bootstrap_mean([3, 3, 3], make_rng())
    assert (found.value, found.low, found.high) == (3, 3, 3)


@pytest.mark.parametrize("counts", [(0, 0), (1, 0), (3, 3), (3, 4), (10, 2), (499, 501), (40_000, 41_000), (0, 900)])
def test_exact_test_equals_scipy(counts: tuple[int, int]) -> None:
    binomtest = pytest.importorskip("scipy.stats").binomtest
    expected = binomtest(counts[0], sum(counts)).pvalue if sum(counts) else 1
    assert math.exp(log_mcnemar(*counts)) == pytest.approx(expected, rel=1e-7)
    assert log_mcnemar(*counts) == log_mcnemar(*reversed(counts))


def test_exact_test_matches_worked_examples() -> None:
    """Fagerland, Lydersen and Laake, Statistical Analysis of Contingency Tables (2017), chapter 8; and 8 coin tosses computed by hand."""
    assert math.exp(log_mcnemar(*CAVO[:2])) == pytest.approx(0.052479, abs=5e-7)
    assert math.exp(log_mcnemar(1, 7)) == pytest.approx(2 * (1 + 8) / 2**8)


def test_exact_test_handles_p_values_below_the_float_range() -> None:
    assert log_mcnemar(100_000, 0) == pytest.approx((1 - 100_000) * math.log(2))
    found = compare_wins(np.ones(100_000), np.zeros(100_000))
    assert found.p == 0
    assert found.difference.high == 1


@pytest.mark.parametrize(("study", "interval"), [(CAVO, (-0.1240, -0.0054)), ((0, 0, 50), (-0.0713, 0.0713))])
def test_tango_matches_worked_examples(study: tuple[int, int, int], interval: tuple[float, float]) -> None:
    """The same book; without discordant pairs the interval is plus or minus z^2 / (n + z^2)."""
    found = tango(*study)
    assert found.value == (study[0] - study[1]) / study[2]
    assert (found.low, found.high) == pytest.approx(interval, abs=5e-5)


@pytest.mark.parametrize("study", [CAVO, (40, 20, 160), (3, 0, 30)])
def test_tango_limits_have_the_normal_quantile_as_score(study: tuple[int, int, int]) -> None:
    """Compute the score statistic at each limit, with the standard deviation of the constrained maximum-likelihood table."""
    only_first, only_second, pairs = study
    shares = np.linspace(1e-9, 1, 2_000_001)  # fraction of pairs that only the second wins
    for limit in (tango(*study).low, tango(*study).high):
        first = shares + limit
        tables = (first > 0) & (first + shares < 1)
        second, first = shares[tables], first[tables]
        both = (pairs - only_first - only_second) * np.log(1 - first - second)
        likeliest = np.argmax(only_first * np.log(first) + only_second * np.log(second) + both)
        deviation = math.sqrt(pairs * (first[likeliest] + second[likeliest] - limit**2))
        assert abs(only_first - only_second - pairs * limit) / deviation == pytest.approx(1.96, abs=0.001)


@pytest.mark.parametrize("study", [(5, 0, 5), (0, 5, 5), (2, 3, 5), (300, 200, 100_000)])
def test_tango_is_symmetric_and_stays_between_minus_one_and_one(study: tuple[int, int, int]) -> None:
    found, turned = tango(*study), tango(study[1], study[0], study[2])
    assert -1 <= found.low <= found.value <= found.high <= 1
    assert (found.low, found.high) == (-turned.high, -turned.low)


@pytest.mark.parametrize("study", [(0, 0, 0), (2, 2, 3), (-1, 0, 3)])
def test_tango_refuses_impossible_counts(study: tuple[int, int, int]) -> None:
    with pytest.raises(TetrarchiaError, match=f"got {study[0]} and {study[1]} of {study[2]}"):
        tango(*study)


def test_comparison_of_wins_counts_discordant_pairs() -> None:
    first, second = [1, 1, 1, 0, 0], [0, 1, 0, 1, 0]
    found = compare_wins(first, second)
    assert found.pairs == 5
    assert found.difference == tango(2, 1, 5)
    assert found.p == 1


def test_comparison_of_equal_results_has_p_1() -> None:
    assert compare_wins([1, 0, 1], [1, 0, 1]).p == 1
    assert compare_scores([4, 5], [4, 5], make_rng()).p == 1


def test_sign_flip_approximates_the_exact_permutation_test() -> None:
    differences = np.array([1, 2, 2, 5, -1, 3])
    sums = [abs(np.dot(signs, differences)) for signs in product((-1, 1), repeat=6)]
    expected = np.mean(np.array(sums) >= differences.sum())
    assert sign_flip(differences, make_rng()) == pytest.approx(expected, abs=0.005)


def test_sign_flip_p_value_is_never_0() -> None:
    assert sign_flip(np.full(2000, 3), make_rng()) == 1 / 100_000


def test_comparison_of_scores_is_reproducible() -> None:
    first, second = scores(200), scores(200, 2)
    assert compare_scores(first, second, make_rng()) == compare_scores(first, second, make_rng())
    assert compare_scores(first, second, make_rng()).difference.value == pytest.approx(float(np.mean(first - second)))


def test_holm_matches_a_worked_example() -> None:
    """The p-values in ascending order are multiplied by 4, 3, 2 and 1 and made non-decreasing."""
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.9, 0.8]) == [1, 1]
    assert holm([]) == []


def test_empty_input_is_refused() -> None:
    for refused in (lambda: bootstrap_mean([], make_rng()), lambda: sign_flip([], make_rng()), lambda: compare_wins([], [])):
        with pytest.raises(TetrarchiaError, match="at least one game"):
            refused()


def test_columns_of_different_length_are_refused() -> None:
    with pytest.raises(TetrarchiaError, match="got 2 and 1"):
        compare_wins([1, 0], [1])
