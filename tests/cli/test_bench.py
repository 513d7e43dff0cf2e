"""`tetrarchia bench`: what it measures and how it compares."""

import json
import shutil
from pathlib import Path

import pytest

import tetrarchia_env
from tetrarchia_app.benchmarks import peers
from tetrarchia_app.benchmarks import rates as benchmark
from tetrarchia_app.cli import main


@pytest.mark.slow
def test_benchmark_measures_and_reports() -> None:
    rows = list(benchmark.measure(benchmark.Effort(seconds=0.01, rounds=1, games=50, presets=("tiny",))))
    report = json.loads(benchmark.report(rows))
    assert {row.unit for row in rows} == {"steps/s", "us/step", "games/s", "frames/s", "s"}
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


def test_before_is_a_checkout(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as leaving:
        main(["bench", "--before", str(tmp_path), "--out", str(tmp_path / "bench.json")])
    assert leaving.value.code == 2
    assert "before is a checkout of this project, not" in capsys.readouterr().err


@pytest.mark.slow
def test_start_up_of_another_checkout_runs_its_code(tmp_path: Path) -> None:
    checkout = tmp_path / "older"
    shutil.copytree(Path(tetrarchia_env.__file__).parent, checkout / "tetrarchia_env")
    where = "import tetrarchia_env; print(float('older' in tetrarchia_env.__file__))"
    assert benchmark.seconds_of(where, str(tmp_path / "cache"), checkout) == [1.0]
    assert benchmark.seconds_of(where, str(tmp_path / "cache")) == [0.0]
