"""`tetrarchia bench`: what it measures and how it compares."""

import json

import pytest

from tetrarchia_eval import benchmark, peers


@pytest.mark.slow
def test_benchmark_measures_and_reports() -> None:
    rows = list(benchmark.measure(benchmark.Effort(seconds=0.01, rounds=1, games=50, presets=("tiny",))))
    report = json.loads(benchmark.report(rows))
    assert {row.unit for row in rows} == {"steps/s", "games/s", "frames/s", "s"}
    assert all(row["value"] > 0 for row in report["rows"])
    assert report["versions"].keys() >= {"tetrarchia", "numba", "numpy"}
    assert report["machine"]["cores"] >= 1


def test_ratios_compare_what_was_measured() -> None:
    rows = [benchmark.Row("AEC, env", 900.0, "steps/s"), benchmark.Row("PettingZoo hanabi_v5", 300.0, "steps/s")]
    assert [(row.value, row.unit) for row in peers.ratios(rows)] == [(3.0, "times")]


def test_peers_that_are_here_are_measured() -> None:
    pytest.importorskip("pygame")  # PettingZoo's classic games need it; the set-up installs it
    names = [row.what for row in peers.measure_peers(benchmark.Effort(seconds=0.01, rounds=1))]
    assert names[:2] == ["PettingZoo tictactoe_v3", "PettingZoo connect_four_v3"]
