"""The chapter of the page of results about all levels: heat maps, what each digit of a level does, who is better where."""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

from tetrarchia_eval.comparison import Field, all_games, leads
from tetrarchia_eval.overview import Summaries, lead_table
from tetrarchia_eval.plots import heat_map
from tetrarchia_eval.report.chapters import best_first, summarize_field
from tetrarchia_eval.report.kept import Kept, check_same_rules, sort_games
from tetrarchia_eval.report.page import Album, commands, count_games, folded
from tetrarchia_eval.summary import summarize
from tetrarchia_eval.sweep import EVERY_LEVEL, RULEBOOK_LEVELS, by_digit, grid
from tetrarchia_eval.tables import Column, Table, percent

LEADS = (
    "A level counts for the one who wins more there with p < 0.05, by McNemar's exact test on the same seeds, corrected for "
    "the number of levels and agents (Holm). The mean difference is over all levels, in points of a percent."
)


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
        yield lead_table(leads(field, combinations(summaries, 2), levels)).markdown()
    yield f"### Level by level\n\n{folded(f'Win rates at {len(levels)} levels', _levels(summaries, levels))}"
    yield commands(kept)


def _intro(field: Field, levels: Sequence[str]) -> str:
    which = "The rulebook's 81 levels" if set(levels) == set(RULEBOOK_LEVELS) else f"{len(levels)} levels"
    return f"{which}, {count_games(field)}. The easiest is at the top left of a map, the hardest at the bottom right."


def _overall(field: Field, teams: Sequence[str]) -> Table:
    every = [(team, summarize(all_games(field[team]))) for team in teams]
    columns = [Column("agent"), Column("levels"), Column("games"), Column("won, over all levels", percent)]
    return Table(columns, [(team, len(field[team]), one.games, one.win_rate) for team, one in every])


def _picture(team: str, rates: Mapping[str, float], games: str, album: Album) -> str:
    name = re.sub(r"[^a-z0-9]+", "-", team.lower()).strip("-")
    title = f"{team}: games won at {len(rates)} levels\n{games}"
    return album.add(f"sweep-{name}", title, heat_map(title, grid(rates)))


def _digits(field: Field, teams: Sequence[str]) -> Table:
    rates = {team: by_digit(all_games(field[team])) for team in teams}
    keys = list(dict.fromkeys(key for found in rates.values() for key in found))
    columns = [Column("digit"), Column("value"), *(Column(team, percent) for team in teams)]
    return Table(columns, [(*key, *(rates[team].get(key) for team in teams)) for key in keys])


def _levels(summaries: Summaries, levels: Sequence[str]) -> Table:
    columns = [Column("level"), *(Column(team, percent) for team in summaries)]
    rows = [[level, *(found[level].win_rate if level in found else None for found in summaries.values())] for level in levels]
    return Table(columns, rows)
