"""The model of how training goes on with more processes."""

import pytest

pytest.importorskip("torch")
pytest.importorskip("sb3_contrib")
pytest.importorskip("tensorboard")

from tetrarchia_train.config import read_preset
from tetrarchia_train.distributed import ProcessGroup
from tetrarchia_train.scaling import Measured, all_reduce_seconds, figures, iteration_seconds, ring_seconds

MEASURED = Measured(rollout=2.0, rollout_deviation=0.1, update=0.05, gradient_bytes=1_000_000)


def test_a_ring_sends_twice_the_gradient_at_most() -> None:
    assert ring_seconds(1, 1_000_000, 1e-4, 1e9) == 0
    assert ring_seconds(2, 1_000_000, 0, 1e9) == pytest.approx(1e-3)
    assert ring_seconds(1000, 1_000_000, 0, 1e9) == pytest.approx(2e-3, rel=0.01)
    assert ring_seconds(100, 0, 1e-4, 1e9) == pytest.approx(198e-4)


def test_one_process_waits_for_nobody() -> None:
    config = read_preset("tiny")  # 2 epochs of 16 x 8 decisions, 64 in a minibatch

    assert iteration_seconds(MEASURED, config, 1, 1e-4, 1e9) == pytest.approx(2.0 + 4 * 0.05)
    assert iteration_seconds(MEASURED, config, 100, 1e-4, 1e9) > iteration_seconds(MEASURED, config, 2, 1e-4, 1e9) > 2.2


def test_every_time_is_measured() -> None:
    assert len(all_reduce_seconds(ProcessGroup(), 10, times=3)) == 3


@pytest.mark.slow
def test_all_that_the_page_tells_is_measured() -> None:
    found = figures("tiny")

    assert all(rate > 0 for rate in found["rates"].values())
    assert [one["processes"] for one in found["all_reduce"]] == [2, 4]
    assert found["model"][1000] > found["model"][1] > 0
