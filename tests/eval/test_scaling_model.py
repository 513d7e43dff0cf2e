"""The model of an evaluation on many cores, and the page that is made with it."""

import json
import runpy
from pathlib import Path

import pytest

from tetrarchia_eval.arena import GOAL, MOST
from tetrarchia_eval.scaling_model import Driver, bend, games_a_chunk, rate, seconds

ROOT = Path(__file__).parents[2]
DRIVER = Driver(chunk=0.002, game=0.00001)


def test_few_cores_play_as_many_games_as_they_can() -> None:
    assert rate(10, 0.02, 150, DRIVER) == pytest.approx(10 / 0.02)


def test_many_cores_play_as_many_as_the_driver_takes_in() -> None:
    assert rate(100_000, 0.02, 150, DRIVER) == pytest.approx(150 / 0.0035)


def test_a_delay_is_lost_once_a_chunk() -> None:
    assert rate(1, 0.02, 150, DRIVER, delay=3.0) == pytest.approx(25)


@pytest.mark.parametrize(("pace", "games"), [(10.0, 1), (0.02, 150), (0.0001, MOST)])
def test_chunks_are_those_of_the_arena(pace: float, games: int) -> None:
    assert games_a_chunk(pace) == games


def test_the_curve_bends_where_both_limits_meet() -> None:
    cores, games = bend(0.02, DRIVER), games_a_chunk(0.02)

    assert cores == pytest.approx(GOAL / 0.0035)
    assert rate(cores, 0.02, games, DRIVER) == pytest.approx(games / DRIVER.seconds(games))


def test_a_match_takes_a_chunks_time_longer_than_its_games() -> None:
    assert seconds(1_000_000, 100, 0.02, DRIVER) == pytest.approx(200 + GOAL)


def test_the_page_says_what_the_kept_file_holds() -> None:
    maker = runpy.run_path(str(ROOT / "docs" / "make_scaling.py"))

    assert (ROOT / "docs" / "scaling.md").read_text(encoding="utf-8") == maker["page"]()


def test_the_kept_file_has_a_rate_for_one_and_two_workers_of_each_kind() -> None:
    found = json.loads((ROOT / "benchmarks" / "scaling.json").read_text(encoding="utf-8"))["evaluation"]["side_by_side"]

    assert {(side["kind"], side["workers"]) for side in found} == {(kind, number) for kind in ("process pool", "Ray") for number in (1, 2)}
