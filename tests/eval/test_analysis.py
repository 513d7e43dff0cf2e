"""Tests of summaries, comparisons, cross-play matrices and level grids, on small synthetic matches."""

import numpy as np
import pytest

from helpers.made_up_runs import match
from tetrarchia_env.board import EMPERORS
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.variants import RULEBOOK_LEVELS
from tetrarchia_eval.analysis import (
    ad_hoc_matrix,
    ad_hoc_of,
    ad_hoc_teams,
    compare_games,
    emperor_matrix,
    level_grid,
    pair_matrix,
    pair_of,
    pair_teams,
    summarize,
    win_rates_by_digit,
)
from tetrarchia_eval.match import ALL_LEVELS
from tetrarchia_eval.statistics import wilson


def test_summary_has_the_statistics_of_the_games() -> None:
    games = match("middling", ("4200",), 50).games
    found = summarize(games)
    wins = sum(one.won for one in games)
    assert (found.games, found.wins) == (50, wins)
    assert found.win_rate.low == pytest.approx(wilson(wins, 50).low)
    assert found.endings["won"] == wins
    assert sum(found.endings.values()) == 50
    assert found.fraction("rome fell") == sum(one.outcome == "rome fell" for one in games) / 50
    assert found.score.value == pytest.approx(np.mean([one.score for one in games]))
    assert found.median_turns == np.median([one.turns for one in games])
    assert found.unsecured == pytest.approx(6 - np.mean([one.borders for one in games]))
    assert found.milliseconds == pytest.approx(1000 * 0.1 * 50 / sum(one.steps for one in games))


def test_summary_of_no_games_is_refused() -> None:
    with pytest.raises(TetrarchiaError, match="at least one game"):
        summarize(())


def test_comparison_uses_the_games_that_both_agents_played() -> None:
    first, second = match("strong", ("4200", "4222"), 40), match("weak", ("4222",), 30)
    found = compare_games(("strong", first.games), ("weak", second.games))
    assert (found.first, found.second, found.where) == ("strong", "weak", "all")
    assert found.wins.pairs == found.score.pairs == 30
    assert found.wins.difference.value > 0
    assert found.wins.p < 0.01


def test_comparison_without_common_games_is_refused() -> None:
    with pytest.raises(TetrarchiaError, match="strong and weak have no game with the same level and seed"):
        compare_games(("strong", match("strong").games), ("weak", match("weak", ("5300",)).games))


def test_pair_teams_give_each_couple_to_one_agent() -> None:
    """R13.1: each of two players controls two Emperors."""
    teams = pair_teams(["a", "b"])
    assert [team.agents for team in teams] == [tuple(text) for text in ("aaaa", "aabb", "bbaa", "bbbb")]
    assert [pair_of(team.agents) for team in teams] == [("a", "a"), ("a", "b"), ("b", "a"), ("b", "b")]


MIXED = ("baaa", "abaa", "aaba", "aaab", "abbb", "babb", "bbab", "bbba")


def test_ad_hoc_teams_give_each_emperor_to_the_joining_agent() -> None:
    teams = ad_hoc_teams(["a", "b"])
    assert {"".join(team.agents) for team in teams} == {"aaaa", *MIXED, "bbbb"}
    assert len({team.label for team in teams}) == len(teams) == 10
    assert ad_hoc_of(tuple("bbab")) == ("b", "a", "constantius")
    assert ad_hoc_of(tuple("aaaa")) == ("a", "a", "")


def test_teams_that_are_neither_pairs_nor_ad_hoc_are_refused() -> None:
    with pytest.raises(TetrarchiaError, match="a,b,a,b"):
        pair_of(tuple("abab"))
    for agents in ("aabb", "aabc"):
        with pytest.raises(TetrarchiaError, match=",".join(agents)):
            ad_hoc_of(tuple(agents))


def test_pair_matrix_has_the_win_rate_of_each_pair() -> None:
    matches = [match(team.agents, games=30) for team in pair_teams(["weak", "strong"])]
    matrix = pair_matrix(matches)
    assert matrix.rows == matrix.columns == ("strong", "weak")
    assert matrix.cells["weak", "strong"].value == np.mean([game.won for game in matches[1].games])


def test_ad_hoc_matrix_is_the_mean_over_the_four_emperors() -> None:
    matches = [match(team.agents) for team in ad_hoc_teams(["weak", "strong"])]
    joined = [one for one in matches if ad_hoc_of(one.spec.agents)[:2] == ("weak", "strong")]
    matrix, emperors = ad_hoc_matrix(matches), emperor_matrix(matches)
    assert matrix.cells["weak", "strong"].value == np.mean([game.won for one in joined for game in one.games])
    assert emperors.columns == EMPERORS
    assert emperors.cells["weak + strong", "galerius"].value == np.mean([game.won for game in joined[1].games])


def test_ad_hoc_matrix_omits_pairs_without_all_four_emperors() -> None:
    matches = [match(team.agents) for team in ad_hoc_teams(["weak", "strong"])[:-2]]
    assert set(ad_hoc_matrix(matches).cells) == {("weak", "weak"), ("weak", "strong")}


def test_the_rulebook_has_81_levels_and_the_player_aids_256() -> None:
    """R2.1: levels of the rulebook and of the player aids."""
    assert (len(RULEBOOK_LEVELS), len(ALL_LEVELS)) == (81, 256)
    assert (RULEBOOK_LEVELS[0], RULEBOOK_LEVELS[-1], ALL_LEVELS[-1]) == ("5300", "3122", "2033")
    assert {"4200", "4211", "4222"} <= set(RULEBOOK_LEVELS) < set(ALL_LEVELS)


def test_grid_puts_tokens_and_fleets_in_rows_and_revolts_and_armies_in_columns() -> None:
    found = level_grid({"4211": 0.5, "5300": 1.0}).values
    assert found.shape == (9, 9)
    assert (found[0, 0], found[4, 4]) == (1.0, 0.5)
    assert np.isnan(found).sum() == 79
    assert level_grid({"2000": 0.5}).values[15, 0] == 0.5
    with pytest.raises(TetrarchiaError, match="6000"):
        level_grid({"6000": 0.5})


def test_win_rate_by_digit_covers_all_levels_with_the_digit() -> None:
    games = match("middling", ("5300", "4200", "4222"), 30).games
    found = win_rates_by_digit(games)
    assert found["tokens per Emperor", "4"].value == np.mean([one.won for one in games if one.level[0] == "4"])
    assert ("fleets", "1") not in found
