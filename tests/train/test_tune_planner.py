"""Tests of tuning the planner's weights: the fit, the choice of the urgency, and the file."""

from collections.abc import Callable
from concurrent.futures import Executor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tetrarchia_env.heuristic import FEATURES, load_weights
from tetrarchia_train import tune_planner
from tetrarchia_train.tune_planner import (
    DEFAULT_WEIGHTS,
    URGENCY,
    Dataset,
    Floats,
    count_wins,
    fit,
    play_chunk,
    tune,
    weights_to_toml,
    with_urgency,
)

BY_HAND = np.array(load_weights(DEFAULT_WEIGHTS)[0].tolist())
TRUE = np.array([-0.5, 1.5, -0.8, 0.0, 0.3])


def synthetic_dataset(true: Floats, positions: int = 20_000) -> Dataset:
    """Return features with different variances, the first always 1, and outcomes drawn from these weights."""
    generator = np.random.default_rng(7)
    counts = generator.normal([1, 1, -1, 0, 0], [0, 1, 2, 0.5, 1], (positions, 5))
    chances = 1 / (1 + np.exp(-counts @ true))
    return Dataset(counts, (generator.random(positions) < chances).astype(np.float64))


@pytest.mark.parametrize("before", [np.zeros(5), TRUE, -TRUE])
def test_fit_recovers_the_true_weights(before: Floats) -> None:
    assert fit(synthetic_dataset(TRUE), before, l2=1e-6) == pytest.approx(TRUE, abs=0.15)


def test_penalty_pulls_the_weights_toward_the_prior() -> None:
    data, before = synthetic_dataset(TRUE), np.array([0.1, 0.2, 0.3, 0.4, 0.5])
    assert fit(data, before, l2=1e6) == pytest.approx(before, abs=1e-3)
    loose, tight = (np.abs(fit(data, before, l2=l2) - before).sum() for l2 in (1e-6, 1.0))
    assert tight < loose


def test_a_constant_feature_keeps_its_weight() -> None:
    data, before = synthetic_dataset(TRUE), np.array([0.0, 0.0, 0.0, -0.7, 0.0])
    data.features[:, 3] = 0
    assert fit(data, before)[3] == pytest.approx(-0.7)


def test_weights_stay_bounded_for_separable_outcomes() -> None:
    counts = np.stack([np.ones(100), np.arange(100.0)], axis=1)
    fitted = fit(Dataset(counts, (np.arange(100) >= 50).astype(np.float64)), np.zeros(2))
    assert np.isfinite(fitted).all()
    assert counts[[40, 60]] @ fitted == pytest.approx([-3, 3], abs=2)


def test_datasets_are_concatenated_in_order() -> None:
    parts = [Dataset(np.full((size, 3), float(size)), np.full(size, float(size % 2))) for size in (1, 2, 3)]
    joined = Dataset.concatenate(iter(parts))
    assert joined.features[:, 0].tolist() == [1, 2, 2, 3, 3, 3]
    assert joined.won.tolist() == [1, 0, 0, 1, 1, 1]


def test_with_urgency_changes_one_weight() -> None:
    changed = dict(zip(FEATURES, with_urgency(BY_HAND, -0.5), strict=True))
    assert changed == dict(zip(FEATURES, BY_HAND, strict=True)) | {URGENCY: -0.5}


def test_written_weights_are_read_back(tmp_path: Path) -> None:
    weights = np.random.default_rng(1).normal(size=len(FEATURES))
    file = tmp_path / "weights.toml"
    file.write_text(weights_to_toml(weights, "python -m tetrarchia_train.tune_planner"), encoding="utf-8")
    assert np.array(load_weights(file)[0].tolist()) == pytest.approx(weights, abs=5e-5)
    assert "# Made by: python -m tetrarchia_train.tune_planner\n" in file.read_text(encoding="utf-8")


def test_training_games_are_reproducible(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tune_planner, "GAMES_PER_CHUNK", 2)
    hard: dict[str, Any] = {"weights": BY_HAND, "levels": ("2033", "2023"), "noise": 0.2}  # short games, soon lost
    (first, won), (second, again), (other, _) = (play_chunk(seed, **hard) for seed in (0, 0, 2))
    assert (first.features.tobytes(), first.won.tobytes(), won) == (second.features.tobytes(), second.won.tobytes(), again)
    assert first.features.shape == (len(first.won), len(FEATURES))
    assert (first.features[:, 0] == 1).all()
    assert set(first.won.tolist()) <= {0.0, 1.0}
    assert other.features.tobytes() != first.features.tobytes()


def fake_play_chunk(urgency: float) -> Callable[..., tuple[Dataset, int]]:
    """Return a replacement for play_chunk that wins more games the closer the urgency is to this one."""

    def play(first_seed: int, *, weights: Floats, levels: tuple[str, ...], noise: float) -> tuple[Dataset, int]:
        data = Dataset(np.ones((4, len(FEATURES))), np.array([0.0, 1.0, 0.0, 1.0]))
        return data, round(50 - 100 * abs(weights[list(FEATURES).index(URGENCY)] - urgency))

    return play


def test_wins_are_counted_by_level_on_held_out_seeds(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []

    def play(first_seed: int, *, weights: Floats, levels: tuple[str, ...], noise: float) -> tuple[Dataset, int]:
        seen.append((levels, first_seed - tune_planner.FIRST_EVAL_SEED, noise))
        return Dataset(np.ones((1, len(FEATURES))), np.zeros(1)), int(levels[0]) // 100

    monkeypatch.setattr(tune_planner, "play_chunk", play)
    with ThreadPoolExecutor(1) as pool:
        assert count_wins(pool, BY_HAND, 100) == [84, 84, 84]
    assert seen == [((level,), first, 0.0) for level in ("4200", "4211", "4222") for first in (0, 50)]


@pytest.mark.parametrize("best", [-0.02, -0.08, -0.2])
def test_the_urgency_with_the_most_wins_is_chosen(best: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def threads(workers: int, mp_context: object) -> Executor:
        return ThreadPoolExecutor(workers)

    monkeypatch.setattr(tune_planner, "ProcessPoolExecutor", threads)
    monkeypatch.setattr(tune_planner, "play_chunk", fake_play_chunk(best))
    tune(games=50, noise=0.0, eval_games=50, workers=1, out=tmp_path / "weights.toml")
    assert load_weights(tmp_path / "weights.toml")[0][URGENCY] == best
