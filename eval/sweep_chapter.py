"""The chapter of the page of results about all levels: heat maps, what each digit of a level does, who is better where."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from eval.chapters import Summaries, best_first, summarize_field
from eval.comparison import shared
from eval.kept import Field, Kept, check_same_rules, sort_games
from eval.page import Album, commands, count_games, folded
from eval.plots import heat_map
from eval.results import Played
from eval.statistics import Estimate, bootstrap_mean, by_seed, compare_wins, holm
from eval.summary import summarize
from eval.sweep import EVERY_LEVEL, RULEBOOK_LEVELS, by_digit, grid
from eval.tables import Column, Table, percent, points

ALPHA = 0.05
LEADS = (
    "A level counts for the one who wins more there with p < 0.05, by McNemar's exact test on the same seeds, corrected for "
    "the number of levels and agents (Holm). The mean difference is over all levels, in points of a percent."
)


@dataclass(frozen=True)
class Lead:
    """The first against the second over many levels."""

    first: str
    second: str
    levels: int
    better: int
    worse: int
    difference: Estimate


def sweep(kept: Sequence[Kept], album: Album) -> Iterator[str]:
    """One heat map for each agent, then the tables."""
    check_same_rules(kept)
    field = sort_games(kept, lambda _, level: level)
    levels = [level for level in EVERY_LEVEL if any(level in found for found in field.values())]
    summaries = best_first(summarize_field(field, levels))
    yield f"## All levels\n\n{_intro(field, levels)}\n"
    yield _overall(field, list(summaries)).markdown()
    for team, found in summaries.items():
        yield _picture(team, {level: one.win_rate.value for level, one in found.items()}, count_games({team: field[team]}), album)
    yield "### What each digit does\n\nThe win rate over all levels with this digit.\n"
    yield _digits(field, list(summaries)).markdown()
    if len(summaries) > 1:
        yield f"### Who is better at how many levels\n\n{LEADS}\n"
        yield lead_table(leads(field, list(summaries), levels)).markdown()
    yield f"### Level by level\n\n{folded(f'Win rates at {len(levels)} levels', _levels(summaries, levels))}"
    yield commands(kept)


def _intro(field: Field, levels: Sequence[str]) -> str:
    which = "The rulebook's 81 levels" if set(levels) == set(RULEBOOK_LEVELS) else f"{len(levels)} levels"
    return f"{which}, {count_games(field)}. The easiest is at the top left of a map, the hardest at the bottom right."


def _overall(field: Field, teams: Sequence[str]) -> Table:
    every = [(team, summarize(_all(field[team]))) for team in teams]
    columns = [Column("agent"), Column("levels"), Column("games"), Column("won, over all levels", percent)]
    return Table(columns, [(team, len(field[team]), one.games, one.win_rate) for team, one in every])


def _picture(team: str, rates: Mapping[str, float], games: str, album: Album) -> str:
    name = re.sub(r"[^a-z0-9]+", "-", team.lower()).strip("-")
    title = f"{team}: games won at {len(rates)} levels\n{games}"
    return album.add(f"sweep-{name}", title, heat_map(title, grid(rates)))


def _digits(field: Field, teams: Sequence[str]) -> Table:
    rates = {team: by_digit(_all(field[team])) for team in teams}
    keys = list(dict.fromkeys(key for found in rates.values() for key in found))
    columns = [Column("digit"), Column("value"), *(Column(team, percent) for team in teams)]
    return Table(columns, [(*key, *(rates[team].get(key) for team in teams)) for key in keys])


def leads(field: Field, teams: Sequence[str], levels: Sequence[str]) -> list[Lead]:
    """Every two teams over the levels that both have played on the same seeds."""
    tested = [
        (pair, compare_wins([one.won for one, _ in games], [other.won for _, other in games]))
        for pair in combinations(teams, 2)
        for level in levels
        if (games := shared(field[pair[0]].get(level, []), field[pair[1]].get(level, [])))
    ]
    ps = holm([test.p for _, test in tested])
    signs: dict[tuple[str, str], list[float]] = {}
    for (pair, test), p in zip(tested, ps, strict=True):
        signs.setdefault(pair, []).append(np.sign(test.difference.value) if p < ALPHA else 0.0)
    return [
        Lead(*pair, len(found), found.count(1.0), found.count(-1.0), _mean_difference(_all(field[pair[0]]), _all(field[pair[1]])))
        for pair, found in signs.items()
    ]


def _mean_difference(first: Sequence[Played], second: Sequence[Played]) -> Estimate:
    pairs = shared(first, second)
    differences = [float(one.won) - float(other.won) for one, other in pairs]
    return bootstrap_mean(by_seed(differences, [one.seed for one, _ in pairs]), np.random.default_rng(0))


def lead_table(found: Sequence[Lead]) -> Table:
    """A row for each two teams."""
    titles = ("agent", "against", "levels", "better at", "worse at")
    rows = [(one.first, one.second, one.levels, one.better, one.worse, one.difference) for one in found]
    return Table([*map(Column, titles), Column("mean difference", points)], rows)


def _levels(summaries: Summaries, levels: Sequence[str]) -> Table:
    columns = [Column("level"), *(Column(team, percent) for team in summaries)]
    rows = [[level, *(found[level].win_rate if level in found else None for found in summaries.values())] for level in levels]
    return Table(columns, rows)


def _all(games: Mapping[str, Sequence[Played]]) -> list[Played]:
    return [game for some in games.values() for game in some]
