"""Tests of bounds, normalized scores and the tables of the leaderboard."""

import runpy
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from helpers.made_up_results import made_up_result
from tetrarchia_agents.partners import load_partners
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_eval import leaderboard
from tetrarchia_eval.leaderboard import (
    Bounds,
    TrackResult,
    bounds_text,
    declaration_table,
    load_bounds,
    load_leaderboard,
    measure_bounds,
    partner_table,
    stronger_than_best_response,
    track_table,
    win_rate_profiles,
)
from tetrarchia_eval.protocol import Case, load_protocol, read_result, write_result
from tetrarchia_eval.statistics import Estimate

ROOT = Path(__file__).parents[2]
PARTNERS = list(load_protocol("v1").reporting.partners)
MIN_PROFILE_AGENTS = 5
MIN_PROFILE_DISTANCE = 0.02  # root mean square difference of win rates


def all_bounds(floor: float = 0.1, best: float = 0.6) -> dict[str, Bounds]:
    """Return bounds of all partners, measured from a result of `random` and one best response per partner."""
    results = [made_up_result("random", lambda case: floor, tracks=["teamwork"])]
    results += [made_up_result(f"best-{name}", lambda case: best, tracks=["teamwork"], partners=[name]) for name in PARTNERS]
    return measure_bounds(results)


def test_bounds_are_measured_from_random_and_best_responses() -> None:
    bounds = all_bounds()
    assert list(bounds) == PARTNERS
    for name, one in bounds.items():
        assert one.partner == load_protocol("v1").reporting.partners[name]
        assert (one.floor.agent, one.floor.games, one.floor.won) == ("random", 100, (10,) * 4)
        assert (one.best_response.agent, one.best_response.fingerprint) == (f"best-{name}", "0123456789ab")
        assert one.best_response.win_rate == pytest.approx(0.6)


def test_partners_with_one_bound_are_left_out() -> None:
    floors = made_up_result("random", lambda case: 0.1, tracks=["teamwork"])
    best = made_up_result("best", lambda case: 0.6, tracks=["teamwork"], partners=PARTNERS[:1])
    assert list(measure_bounds([floors, best])) == PARTNERS[:1]
    assert measure_bounds([]) == {}


def test_wrong_bounds_are_refused() -> None:
    floors, best = (made_up_result(name, lambda case: 0.1, tracks=["teamwork"]) for name in ("random", "best"))
    with pytest.raises(TetrarchiaError, match="must win more games"):
        measure_bounds([floors, best])
    with pytest.raises(TetrarchiaError, match="measured once"):
        measure_bounds([best, made_up_result("other", lambda case: 0.2, tracks=["teamwork"])])
    with pytest.raises(TetrarchiaError, match="one agent per file"):
        measure_bounds([made_up_result("two", lambda case: 0.2, {"a": "1", "b": "2"}, tracks=["teamwork"])])


def test_kept_bounds_are_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leaderboard, "PROTOCOLS", tmp_path)
    assert load_bounds("v1") == {}
    leaderboard.bounds_path("v1").write_text(bounds_text(all_bounds()), encoding="utf-8")
    assert load_bounds("v1") == all_bounds()


def test_score_is_0_for_the_floor_and_1_for_the_best_response() -> None:
    bounds = all_bounds(floor=0.1, best=0.6)
    for rate, score in ((0.1, 0.0), (0.35, 0.5), (0.6, 1.0), (0.85, 1.5)):
        found = TrackResult(made_up_result("agent", lambda case, rate=rate: rate), "teamwork").scores(bounds)
        assert found is not None
        assert np.allclose(found, score)


def test_score_is_the_mean_over_seats_and_partners_with_an_interval_over_partners() -> None:
    def win_rate(case: Case) -> float:
        return (0.6 if case.partner == PARTNERS[0] else 0.1) + (0.04 if case.seat == "galerius" else 0.0)

    [row] = track_table([made_up_result("agent", win_rate)], "teamwork", all_bounds()).rows
    rate, score = row[-2:]
    assert isinstance(rate, Estimate)
    assert isinstance(score, Estimate)
    assert rate.value == pytest.approx(0.01 + 0.1 + 0.5 / len(PARTNERS))
    assert score.value == pytest.approx(0.02 + 1 / len(PARTNERS))
    assert score.low < score.value < score.high


def test_no_score_without_the_bounds_of_every_partner() -> None:
    result, bounds = made_up_result("agent", lambda case: 0.5), all_bounds()
    del bounds[PARTNERS[0]]
    assert TrackResult(result, "teamwork").scores(bounds) is None
    assert track_table([result], "teamwork", bounds).titles[-1] == "games won"
    assert track_table([result], "teamwork", all_bounds()).titles[-1] == "score"


def test_bounds_of_an_edited_partner_do_not_count() -> None:
    bounds = all_bounds()
    bounds[PARTNERS[0]] = Bounds("0123456789ab", *[getattr(bounds[PARTNERS[0]], name) for name in ("floor", "best_response")])
    assert TrackResult(made_up_result("agent", lambda case: 0.5), "teamwork").scores(bounds) is None


def test_rows_are_sorted_and_runs_give_the_interval() -> None:
    one = made_up_result("one", lambda case: 0.5)
    runs = made_up_result("runs", lambda case: {"a": 0.6, "b": 0.8}[case.agent], {"a": "1", "b": "2"})

    planning = track_table([one, runs], "planning", {})

    assert planning.titles[4:] == ["4200", "4211", "4222", "mean"]
    assert [row[:2] for row in planning.rows] == [["runs", 2], ["one", 1]]
    assert planning.rows[0][-1] == Estimate(pytest.approx(0.7), pytest.approx(0.6), pytest.approx(0.8))
    assert planning.rows[1][-1].value == pytest.approx(0.5)


def test_win_rates_by_partner_and_declarations_are_shown() -> None:
    results = [made_up_result("one", lambda case: 0.5), made_up_result("planned", lambda case: 0.5, tracks=["planning"])]
    table = partner_table(results, "teamwork", all_bounds())
    assert table.titles == ["partner", "floor", "best response", "one"]
    assert [list(row) for row in table.rows] == [[name, *map(pytest.approx, (0.1, 0.6, 0.5))] for name in PARTNERS]
    assert partner_table(results, "teamwork", {}).titles == ["partner", "one"]
    assert [row[0] for row in declaration_table(results).rows] == ["one", "planned"]


def test_partners_whose_best_response_is_beaten_are_named() -> None:
    def win_rate(case: Case) -> float:
        return 0.7 if case.partner == PARTNERS[1] else 0.5

    results = [made_up_result("one", win_rate), made_up_result("planned", lambda case: 1.0, tracks=["planning"])]
    assert stronger_than_best_response(results, "teamwork", all_bounds()) == {PARTNERS[1]: ["one"]}
    assert stronger_than_best_response(results, "teamwork", {}) == {}


def test_profiles_differ_by_more_than_chance_or_not_at_all() -> None:
    rates = {PARTNERS[0]: 0.5, PARTNERS[1]: 0.5, PARTNERS[2]: 0.56, PARTNERS[3]: 0.2}

    def win_rate(case: Case) -> float:
        return rates.get(case.partner, 0.0)

    runs = made_up_result("runs", win_rate, {"a": "1", "b": "2"})
    profiles = win_rate_profiles([made_up_result("one", win_rate), runs, made_up_result("planned", win_rate, tracks=["planning"])])

    same, alike, near, far = (profiles[name] for name in PARTNERS[:4])
    assert same.games.tolist() == [[100] * 4, [200] * 4]
    assert same.distance(alike) == same.distance(near) == 0.0  # six percentage points of 100 games may be chance
    assert same.distance(far) == pytest.approx(0.3, abs=0.01)


def test_no_two_partners_have_the_same_win_rates() -> None:
    """The rows of the leaderboard with all held-out partners give each partner a profile of win rates by agent and seat."""
    rows = [result for result in load_leaderboard(ROOT / "leaderboard") if "teamwork" in result.games]
    if len(rows) < MIN_PROFILE_AGENTS:
        pytest.skip(f"the leaderboard has {len(rows)} rows with partners, fewer than {MIN_PROFILE_AGENTS}")
    profiles = win_rate_profiles(rows)
    distances = {pair: profiles[pair[0]].distance(profiles[pair[1]]) for pair in combinations(profiles, 2)}
    assert min(distances.values()) >= MIN_PROFILE_DISTANCE, sorted(distances.items(), key=lambda one: one[1])[:5]


def test_rows_of_the_leaderboard_are_not_held_out_partners() -> None:
    rows = {agent for result in load_leaderboard(ROOT / "leaderboard") for agent in result.agents}
    assert not rows & {load_partners()[name].agent for name in PARTNERS}


def test_leaderboard_refuses_short_results_some_partners_and_equal_names(tmp_path: Path) -> None:
    good = made_up_result("good", lambda case: 0.5)
    write_result(good, tmp_path / "good.json")
    assert load_leaderboard(tmp_path) == [good]
    for other in (
        made_up_result("short", lambda case: 0.5, split="development"),
        made_up_result("some", lambda case: 0.5, partners=PARTNERS[1:]),
        good,
    ):
        write_result(other, tmp_path / "other.json")
        with pytest.raises(TetrarchiaError, match=r"other\.json"):
            load_leaderboard(tmp_path)


def test_kept_files_are_valid_and_the_page_shows_them() -> None:
    parts = runpy.run_path(str(ROOT / "docs" / "make_results.py"))["leaderboard_parts"]()
    page = (ROOT / "docs" / "leaderboard.md").read_text(encoding="utf-8")
    for name, part in parts.items():
        assert f"<!-- begin {name} -->\n{part.strip()}\n<!-- end {name} -->" in page
    for path in (ROOT / "leaderboard").rglob("*.json"):
        read_result(path)
