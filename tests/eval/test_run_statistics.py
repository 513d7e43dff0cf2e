"""Tests of the statistics of groups of runs: rliable's published examples, values computed by hand, SciPy, and edge cases."""

import math
from dataclasses import astuple
from itertools import product

import numpy as np
import pytest

from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_eval import run_statistics
from tetrarchia_eval.run_statistics import (
    bootstrap,
    bootstrap_crossed,
    bootstrap_each,
    improvement_probability,
    interquartile_mean,
    mean,
    mean_curve,
    median,
    optimality_gap,
    performance_profile,
    self_play_gap,
)
from tetrarchia_eval.statistics import Estimate

# The example of rliable's tests (google-research/rliable, tests/rliable/metrics_test.py): runs x tasks.
X = np.array([[1, 2], [2, 2], [1, 1], [2, 1]], dtype=np.float64)
Y = np.array([[1, 1], [2, 2], [3, 3]], dtype=np.float64)
# The example of its bootstrap tests: five runs of 16 tasks.
LONG = np.arange(80, dtype=np.float64).reshape(5, 16)


def make_rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def win_rates(runs: int, levels: int, seed: int = 0) -> np.ndarray:
    return make_rng(seed).random((runs, levels))


def test_aggregates_equal_rliables_examples() -> None:
    assert [float(one(X)) for one in (median, mean, interquartile_mean)] == [1.5, 1.5, 1.5]
    assert [float(one(Y)) for one in (median, mean, interquartile_mean)] == [2, 2, 2]
    assert improvement_probability(X, Y) == pytest.approx(1 / 3)


def test_aggregates_equal_values_computed_by_hand() -> None:
    scores = np.array([[0.1, 0.9], [0.2, 0.9], [0.9, 0.3], [0.4, 0.5]])
    assert mean(scores) == pytest.approx(4.2 / 8)
    assert median(scores) == pytest.approx((0.4 + 0.65) / 2)  # of the two levels' means
    assert interquartile_mean(scores) == pytest.approx((0.3 + 0.4 + 0.5 + 0.9) / 4)  # without 0.1, 0.2 and two of three 0.9
    assert optimality_gap(scores) == pytest.approx(1 - 4.2 / 8)
    assert optimality_gap(scores, target=0.5) == pytest.approx(0.5 - (0.1 + 0.5 + 0.2 + 0.5 + 0.5 + 0.3 + 0.4 + 0.5) / 8)


@pytest.mark.parametrize("runs", [2, 3, 4, 5, 7, 10])
def test_interquartile_mean_equals_scipys_trimmed_mean(runs: int) -> None:
    trim_mean = pytest.importorskip("scipy.stats").trim_mean
    scores = win_rates(runs, 3)
    assert interquartile_mean(scores) == pytest.approx(trim_mean(scores, 0.25, axis=None))


def test_improvement_probability_equals_the_mann_whitney_statistic() -> None:
    mannwhitneyu = pytest.importorskip("scipy.stats").mannwhitneyu
    first, second = np.round(win_rates(6, 3, 1), 1), np.round(win_rates(4, 3, 2), 1)  # rounded: with ties
    by_level = [mannwhitneyu(first[:, level], second[:, level]).statistic / 24 for level in range(3)]
    assert improvement_probability(first, second) == pytest.approx(np.mean(by_level))
    assert improvement_probability(first, first) == pytest.approx(0.5)
    assert improvement_probability(first + 1, second) == 1


def test_a_profile_is_the_fraction_of_scores_above_each_threshold() -> None:
    scores = np.array([[0.0, 0.5], [0.5, 1.0]])
    assert performance_profile(scores, [0, 0.4, 0.5, 1]).tolist() == [0.75, 0.75, 0.25, 0]


@pytest.mark.parametrize("statistic", [mean, median, interquartile_mean, optimality_gap])
def test_statistics_of_stacked_matrices_are_those_of_each_matrix(statistic: run_statistics.Statistic) -> None:
    stacked = make_rng().random((4, 5, 3))
    assert statistic(stacked).tolist() == pytest.approx([float(statistic(one)) for one in stacked])


def test_an_interval_of_the_mean_equals_that_of_all_resamples() -> None:
    scores = win_rates(5, 1)
    every = np.array([np.mean(drawn) for drawn in product(scores[:, 0], repeat=5)])
    found = bootstrap(mean, scores, rng=make_rng(), resamples=50_000)
    assert astuple(found) == pytest.approx((scores.mean(), *np.quantile(every, (0.025, 0.975))), abs=0.01)


def test_levels_drawn_separately_are_the_strata_of_rliable() -> None:
    """The deviation of the mean over 16 tasks, each with its own draw, is the root of the summed variances, divided by 16."""
    exact = math.sqrt(np.sum(LONG.var(axis=0) / 5)) / 16
    found = bootstrap(mean, LONG, rng=make_rng(), separate_levels=True, resamples=20_000)
    assert found.value == LONG.mean()
    assert (found.high - found.low) / (2 * 1.96) == pytest.approx(exact, rel=0.03)


def test_whole_runs_keep_the_correlation_of_levels() -> None:
    """All levels rank the runs alike: 16 levels say no more about the runs than one."""
    assert astuple(bootstrap(mean, LONG, rng=make_rng())) == pytest.approx(astuple(bootstrap(mean, LONG[:, :1] + 7.5, rng=make_rng())))


def test_intervals_contain_the_value_and_depend_on_the_generator_alone() -> None:
    scores, other = win_rates(5, 4), win_rates(6, 4, 1)
    cases: list[tuple[run_statistics.Statistic, list[np.ndarray]]] = [
        (mean, [scores]),
        (interquartile_mean, [scores]),
        (median, [scores]),
        (improvement_probability, [scores, other]),
    ]
    for statistic, groups in cases:
        first, again = (bootstrap(statistic, *groups, rng=make_rng()) for _ in range(2))
        assert first == again
        assert first.low <= first.value <= first.high


def test_equal_runs_have_an_interval_of_no_width() -> None:
    assert astuple(bootstrap(mean, [[0.25, 0.75]] * 4, rng=make_rng())) == (0.5, 0.5, 0.5)


def test_bands_of_a_profile_contain_it() -> None:
    scores, thresholds = win_rates(6, 2), np.linspace(0, 1, 11)
    band = bootstrap_each(lambda some: performance_profile(some, thresholds), scores, rng=make_rng(), resamples=2_000)
    assert [one.value for one in band] == performance_profile(scores, thresholds).tolist()
    assert all(one.low <= one.value <= one.high for one in band)


def test_chunks_do_not_change_the_distribution(monkeypatch: pytest.MonkeyPatch) -> None:
    scores = win_rates(5, 2)
    whole = bootstrap(mean, scores, rng=make_rng())
    monkeypatch.setattr(run_statistics, "MAX_NUMBERS", 1000)
    assert astuple(bootstrap(mean, scores, rng=make_rng())) == pytest.approx(astuple(whole))


@pytest.mark.parametrize("scores", [[[0.5, 0.5]], [0.5, 0.5], np.zeros((3, 0))])
def test_scores_without_two_runs_and_a_level_are_refused(scores: object) -> None:
    with pytest.raises(TetrarchiaError, match="at least 2 runs"):
        bootstrap(mean, scores, rng=make_rng())  # type: ignore[arg-type]


def test_groups_with_different_levels_are_refused() -> None:
    with pytest.raises(TetrarchiaError, match="got 2 and 3 levels"):
        bootstrap(improvement_probability, win_rates(3, 2), win_rates(3, 3), rng=make_rng())


def test_the_gap_is_self_play_minus_cross_play() -> None:
    rates = [[0.9, 0.4, 0.1], [0.2, 0.6, 0.3], [0.5, 0.3, 0.6]]
    found = self_play_gap(rates, make_rng())
    assert found.self_play.value == pytest.approx(0.7)
    assert found.cross_play.value == pytest.approx(0.3)
    assert found.gap.value == pytest.approx(0.4)
    assert found.gap.low < 0.4 < found.gap.high


def test_a_resample_counts_no_run_with_its_own_copy_as_cross_play() -> None:
    """All runs alone win everything and mixed pairs nothing: whichever runs are drawn, the gap is 1."""
    assert astuple(self_play_gap(np.eye(4), make_rng()).gap) == (1, 1, 1)


def test_the_interval_of_the_gap_equals_that_of_all_resamples() -> None:
    rates = make_rng(3).random((4, 4))
    gaps = []
    for drawn in product(range(4), repeat=4):
        if len(set(drawn)) > 1:
            own = np.mean([rates[one, one] for one in drawn])
            gaps.append(own - np.mean([rates[one, other] for one in drawn for other in drawn if one != other]))
    found = self_play_gap(rates, make_rng(), resamples=50_000).gap
    assert (found.low, found.high) == pytest.approx(tuple(np.quantile(gaps, (0.025, 0.975))), abs=0.02)


@pytest.mark.parametrize("rates", [np.eye(2), np.zeros((3, 4)), [0.5, 0.5, 0.5]])
def test_cross_play_needs_a_square_matrix_of_three_runs(rates: object) -> None:
    with pytest.raises(TetrarchiaError, match="at least 3 runs"):
        self_play_gap(rates, make_rng())  # type: ignore[arg-type]


def test_curves_are_interpolated_where_all_runs_have_values() -> None:
    first, second = [(0.0, 0.0), (2.0, 0.4), (4.0, 0.8)], [(1.0, 0.0), (3.0, 0.2)]
    found = mean_curve([first, second], make_rng())
    assert [place for place, _ in found] == [1, 2, 3]
    assert [one.value for _, one in found] == pytest.approx([0.1, 0.25, 0.4])
    assert [(one.low, one.high) for _, one in found] == [pytest.approx(ends) for ends in ((0, 0.2), (0.1, 0.4), (0.2, 0.6))]


def test_curves_without_a_common_place_have_no_mean() -> None:
    assert mean_curve([[(0.0, 0.1), (1.0, 0.2)], [(2.0, 0.1), (3.0, 0.2)]], make_rng()) == []
    assert mean_curve([[(0.0, 0.1)], []], make_rng()) == []


def test_crossed_bootstrap_draws_rows_and_columns() -> None:
    rng = np.random.default_rng(0)
    effects = rng.normal(size=40)
    rows, columns = np.repeat(effects[:, None], 40, axis=1), np.repeat(effects[None, :], 40, axis=0)
    width = 2 * 1.96 * effects.std() / np.sqrt(40)

    alone = [bootstrap_crossed(scores, rng) for scores in (rows, columns)]
    both = bootstrap_crossed(rows + columns, rng)

    assert [one.value for one in alone] == pytest.approx([effects.mean()] * 2)
    assert [one.high - one.low for one in alone] == pytest.approx([width] * 2, rel=0.1)
    assert both.high - both.low == pytest.approx(np.sqrt(2) * width, rel=0.1)
    assert bootstrap_crossed([[0.5]], rng) == Estimate(0.5, 0.5, 0.5)
