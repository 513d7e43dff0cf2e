"""Summaries, comparisons, cross-play and levels, from small made-up runs."""

import numpy as np
import pytest

from helpers.made_up_runs import run
from tetrarchia_env.board import EMPERORS
from tetrarchia_eval.comparison import compare_games
from tetrarchia_eval.crossplay import (
    odd_one_out_matrix,
    odd_one_out_of,
    odd_one_out_seatings,
    pair_matrix,
    pair_of,
    pair_seatings,
    seat_matrix,
)
from tetrarchia_eval.statistics import wilson
from tetrarchia_eval.summary import summarize
from tetrarchia_eval.sweep import EVERY_LEVEL, RULEBOOK_LEVELS, by_digit, grid


def test_summary_counts_what_was_played() -> None:
    games = run("middling", ("4200",), 50).games
    found = summarize(games)
    wins = sum(one.won for one in games)
    assert (found.games, found.wins) == (50, wins)
    assert found.win_rate.low == pytest.approx(wilson(wins, 50).low)
    assert found.endings["won"] == wins
    assert sum(found.endings.values()) == 50
    assert found.share("rome fell") == sum(one.outcome == "rome fell" for one in games) / 50
    assert found.score.value == pytest.approx(np.mean([one.score for one in games]))
    assert found.median_turns == np.median([one.turns for one in games])
    assert found.unsecured == pytest.approx(6 - np.mean([one.borders for one in games]))
    assert found.milliseconds == pytest.approx(1000 * 0.1 * 50 / sum(one.steps for one in games))


def test_summary_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one game"):
        summarize(())


def test_comparison_is_made_on_the_games_that_both_have_played() -> None:
    first, second = run("strong", ("4200", "4222"), 40), run("weak", ("4222",), 30)
    found = compare_games(("strong", first.games), ("weak", second.games))
    assert (found.first, found.second, found.where) == ("strong", "weak", "all")
    assert found.wins.pairs == found.score.pairs == 30
    assert found.wins.difference.value > 0
    assert found.wins.p < 0.01


def test_comparison_of_other_games_is_refused() -> None:
    with pytest.raises(ValueError, match="strong and weak have no game with the same level and seed"):
        compare_games(("strong", run("strong").games), ("weak", run("weak", ("5300",)).games))


def test_pair_seatings_give_each_couple_to_one_agent() -> None:
    """R13.1, two players."""
    seatings = pair_seatings(["a", "b"])
    assert [seating.agents for seating in seatings] == [tuple(text) for text in ("aaaa", "aabb", "bbaa", "bbbb")]
    assert [pair_of(seating.agents) for seating in seatings] == [("a", "a"), ("a", "b"), ("b", "a"), ("b", "b")]


STRANGERS = ("baaa", "abaa", "aaba", "aaab", "abbb", "babb", "bbab", "bbba")


def test_odd_one_out_seatings_give_each_seat_to_the_stranger() -> None:
    seatings = odd_one_out_seatings(["a", "b"])
    assert {"".join(seating.agents) for seating in seatings} == {"aaaa", *STRANGERS, "bbbb"}
    assert len({seating.label for seating in seatings}) == len(seatings) == 10
    assert odd_one_out_of(tuple("bbab")) == ("b", "a", "constantius")
    assert odd_one_out_of(tuple("aaaa")) == ("a", "a", "")


def test_seatings_that_are_of_another_kind_are_refused() -> None:
    with pytest.raises(ValueError, match="a,b,a,b"):
        pair_of(tuple("abab"))
    for agents in ("aabb", "aabc"):
        with pytest.raises(ValueError, match=",".join(agents)):
            odd_one_out_of(tuple(agents))


def test_pair_matrix_has_the_win_rate_of_each_pair() -> None:
    runs = [run(seating.agents, games=30) for seating in pair_seatings(["weak", "strong"])]
    matrix = pair_matrix(runs)
    assert matrix.rows == matrix.columns == ("strong", "weak")
    assert matrix.cells["weak", "strong"].value == np.mean([game.won for game in runs[1].games])


def test_odd_one_out_matrix_is_the_mean_of_four_seats() -> None:
    runs = [run(seating.agents) for seating in odd_one_out_seatings(["weak", "strong"])]
    guests = [one for one in runs if odd_one_out_of(one.header.agents)[:2] == ("weak", "strong")]
    matrix, team = odd_one_out_matrix(runs), seat_matrix(runs)
    assert matrix.cells["weak", "strong"].value == np.mean([game.won for one in guests for game in one.games])
    assert team.columns == EMPERORS
    assert team.cells["weak + strong", "galerius"].value == np.mean([game.won for game in guests[1].games])


def test_odd_one_out_matrix_leaves_out_what_lacks_a_seat() -> None:
    runs = [run(seating.agents) for seating in odd_one_out_seatings(["weak", "strong"])[:-2]]
    assert set(odd_one_out_matrix(runs).cells) == {("weak", "weak"), ("weak", "strong")}


def test_the_rulebook_has_81_levels_and_the_player_aids_256() -> None:
    """R2.1."""
    assert (len(RULEBOOK_LEVELS), len(EVERY_LEVEL)) == (81, 256)
    assert (RULEBOOK_LEVELS[0], RULEBOOK_LEVELS[-1], EVERY_LEVEL[-1]) == ("5300", "3122", "2033")
    assert {"4200", "4211", "4222"} <= set(RULEBOOK_LEVELS) < set(EVERY_LEVEL)


def test_grid_puts_tokens_and_fleets_in_rows_and_revolts_and_armies_in_columns() -> None:
    found = grid({"4211": 0.5, "5300": 1.0}).values
    assert found.shape == (9, 9)
    assert (found[0, 0], found[4, 4]) == (1.0, 0.5)
    assert np.isnan(found).sum() == 79
    assert grid({"2000": 0.5}).values[15, 0] == 0.5
    with pytest.raises(ValueError, match="6000"):
        grid({"6000": 0.5})


def test_by_digit_is_the_rate_of_all_levels_with_it() -> None:
    games = run("middling", ("5300", "4200", "4222"), 30).games
    found = by_digit(games)
    assert found["tokens per Emperor", "4"].value == np.mean([one.won for one in games if one.level[0] == "4"])
    assert ("fleets", "1") not in found
