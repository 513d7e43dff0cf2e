"""`tetrarchia bench`: the measured values and their comparison."""

import json
import os
import shutil
from pathlib import Path

import pytest

import tetrarchia_env
from tetrarchia_app.benchmarks import rates
from tetrarchia_app.cli import main


@pytest.fixture
def small() -> rates.Effort:
    return rates.Effort(seconds=0.01, rounds=1, games=50, presets=("tiny",))


@pytest.mark.thorough
def test_every_rate_is_measured_and_reported(small: rates.Effort, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        rates, "run_script", lambda script, *_: [0.1, 0.2, 0.3] if script == rates.START_UP else [0.4]
    )  # the real scripts compile for minutes
    rows = list(rates.measure(small))
    report = json.loads(rates.report(rows))

    assert {row.unit for row in rows} == {"steps/s", "us/step", "games/s", "frames/s", "s"}
    assert all(row["value"] > 0 for row in report["rows"])
    assert report["versions"].keys() >= {"tetrarchia", "numba", "numpy"}
    assert report["machine"]["cores"] >= 1


@pytest.mark.slow
def test_start_up_scripts_run() -> None:
    cache = os.environ.get("NUMBA_CACHE_DIR", str(Path.home() / ".cache" / "tetrarchia"))
    reset, step, decision = rates.run_script(rates.START_UP, cache)
    assert 0 < reset < step < decision
    [ahead] = rates.run_script(rates.COMPILE_AHEAD, cache)
    assert ahead > 0


def test_ratios_compare_the_measured_rows() -> None:
    rows = [rates.Row("AEC, env", 900.0, "steps/s"), rates.Row("PettingZoo hanabi_v5", 300.0, "steps/s")]
    assert [(row.value, row.unit) for row in rates.ratios(rows)] == [(3.0, "times")]


def test_installed_peers_are_measured(small: rates.Effort) -> None:
    pytest.importorskip("pygame")  # PettingZoo's classic games need it
    names = [row.what for row in rates.measure_peers(small)]
    assert names[:2] == ["PettingZoo tictactoe_v3", "PettingZoo connect_four_v3"]


def test_baseline_must_be_a_checkout(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as leaving:
        main(["bench", "--baseline", str(tmp_path), "--out", str(tmp_path / "bench.json")])
    assert leaving.value.code == 2
    assert "--baseline must be a checkout" in capsys.readouterr().err


def test_scripts_run_the_code_of_another_checkout(tmp_path: Path) -> None:
    checkout = tmp_path / "older"
    shutil.copytree(Path(tetrarchia_env.__file__).parent, checkout / "tetrarchia_env")
    script = "import tetrarchia_env; print(float('older' in tetrarchia_env.__file__))"
    assert rates.run_script(script, str(tmp_path / "cache"), checkout) == [1.0]
    assert rates.run_script(script, str(tmp_path / "cache")) == [0.0]


@pytest.mark.thorough
def test_every_value_of_the_web_server_is_measured() -> None:
    pytest.importorskip("websockets")
    pytest.importorskip("uvicorn")
    from tetrarchia_app.benchmarks.web import measure_web

    rows = list(measure_web(rooms=3, games=2, agent="greedy", crowd_s=4.0, mean_think_s=0.1, burst_actions=12))

    crowd, burst = rows[:5], rows[5:10]
    for load, name in ((crowd, "independent players"), (burst, "starting together")):
        assert [row.unit for row in load] == ["ms"] * 4 + ["%"]
        assert all(name in row.what for row in load)
        assert load[0].value <= load[1].value
    assert all(row.value > 0 for row in rows)
