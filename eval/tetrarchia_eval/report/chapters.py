"""The chapters of the page of results about agents side by side: at the standard levels, in scenarios, with options."""

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np

from tetrarchia_env.engine.scenarios import SCENARIOS
from tetrarchia_env.engine.state import MODULES, VARIANTS
from tetrarchia_eval.comparison import Comparison, Field, compare_games, corrected, shared
from tetrarchia_eval.overview import (
    DECISIONS,
    ENDED,
    GAMES,
    MEDIAN_TURNS,
    MILLISECONDS,
    SCORE,
    TURNS,
    UNSECURED,
    Summaries,
    comparison_table,
    summary_table,
)
from tetrarchia_eval.plots import bars
from tetrarchia_eval.report.kept import Kept, check_same_rules, sort_games
from tetrarchia_eval.report.page import TESTS, Album, commands, count_games, folded, in_order
from tetrarchia_eval.results import Header
from tetrarchia_eval.summary import summarize
from tetrarchia_eval.tables import Column, Table, percent
from tetrarchia_eval.wording import BASE_GAME, rules

STANDARD_LEVELS = ("4200", "5300", "4211", "4222")


def standard_levels(kept: Sequence[Kept], album: Album) -> Iterator[str]:
    """What people look at first."""
    check_same_rules(kept)
    field = sort_games(kept, lambda _, level: level)
    yield "## Win rates at the standard levels\n"
    yield (
        "A level is four digits: tokens per Emperor, fleets, extra Revolts and initial armies. Level 4200 is for beginners, "
        f"4211 is normal. One agent plays all four Emperors unless several are named. {_played(field)}\n"
    )
    yield from _side_by_side(field, STANDARD_LEVELS, "level", "standard-levels", "Win rates at the standard levels", album)
    yield commands(kept)


def scenarios(kept: Sequence[Kept], album: Album) -> Iterator[str]:
    """R12."""
    field = sort_games(kept, lambda header, _: rules(header))
    yield "## The historical scenarios\n"
    yield f"Each scenario has its own set-up and level. {_played(field)}\n"
    yield from _side_by_side(field, SCENARIOS, "scenario", "scenarios", "Win rates in the historical scenarios", album)
    yield commands(kept)


def options(kept: Sequence[Kept], album: Album) -> Iterator[str]:
    """R10 and R11."""
    levels = sorted({level for one in kept for level in one.run.header.levels})
    field = sort_games(kept, _rules_and_level if len(levels) > 1 else lambda header, _: rules(header))
    at = f"level {levels[0]}" if len(levels) == 1 else f"levels {', '.join(levels)}"
    yield "## Variants and modules\n"
    yield f"Each is added to the base game alone, at {at}. {_played(field)}\n"
    order = (BASE_GAME, *VARIANTS, *MODULES)
    yield from _side_by_side(field, order, "variant or module", "options", f"Win rates with variants and modules, {at}", album)
    yield commands(kept)


def _rules_and_level(header: Header, level: str) -> str:
    return f"{rules(header)}, {level}"


def _side_by_side(field: Field, order: Sequence[str], word: str, name: str, title: str, album: Album) -> Iterator[str]:
    """Win rates, then who is better, then details."""
    places = in_order({place for games in field.values() for place in games}, order)
    summaries = best_first(summarize_field(field, places))
    yield _rates(summaries, places).markdown()
    rates = {team: {place: one.win_rate for place, one in found.items()} for team, found in summaries.items()}
    title = f"{title}\n{count_games(field)}"
    yield album.add(name, title, bars(title, rates, word if word == "level" else ""))
    tests = corrected(list(_comparisons(field, list(summaries), places)))
    if tests:
        yield f"### Who is better on the same seeds\n\n{TESTS}\n"
        yield folded(f"{len(tests)} comparisons", comparison_table(tests, word))
    yield f"### How the games end\n\n{HOW_GAMES_END}\n"
    yield folded("Won, lost and why", summary_table(summaries, places, word, ENDING_COLUMNS))
    yield f"### Score, length and time\n\n{SCORES}\n"
    yield folded("Score, turns, steps, milliseconds", summary_table(summaries, places, word, LENGTH_COLUMNS))


HOW_GAMES_END = (
    "A game is lost when an army enters ROMA (rome fell) or when no Unrest or Revolt is left to put (reserve empty). "
    "It is truncated when nobody has won or lost after the last turn allowed."
)
SCORES = "The score is at most 10, and less for borders, armies and Revolts that are left. An Emperor takes several decisions a turn."
ENDING_COLUMNS = (GAMES, *ENDED, UNSECURED)
LENGTH_COLUMNS = (SCORE, TURNS, MEDIAN_TURNS, DECISIONS, MILLISECONDS)


def _rates(summaries: Summaries, places: Sequence[str]) -> Table:
    """Agents in rows, places in columns; or turned round if there are more places than a page is wide."""
    rate = {(team, place): one.win_rate for team, found in summaries.items() for place, one in found.items()}
    if len(places) <= 4:
        return Table(
            [Column("agent"), *(Column(place, percent) for place in places)],
            [[team, *(rate.get((team, place)) for place in places)] for team in summaries],
        )
    return Table(
        [Column(""), *(Column(team, percent) for team in summaries)],
        [[place, *(rate.get((team, place)) for team in summaries)] for place in places],
    )


def summarize_field(field: Field, places: Sequence[str]) -> Summaries:
    """A summary for each team and place."""
    return {team: {place: summarize(games[place]) for place in places if place in games} for team, games in field.items()}


def best_first(summaries: Summaries) -> Summaries:
    """By the mean of their win rates; then by name."""
    means = {team: float(np.mean([one.win_rate.value for one in found.values()])) for team, found in summaries.items()}
    return {team: summaries[team] for team in sorted(summaries, key=lambda team: (-means[team], team))}


def _comparisons(field: Field, teams: Sequence[str], places: Sequence[str]) -> Iterator[Comparison]:
    for place in places:
        for first, second in combinations(teams, 2):
            games, others = field[first].get(place, []), field[second].get(place, [])
            if shared(games, others):
                yield compare_games((first, games), (second, others), place)


def _played(field: Field) -> str:
    seeds = [game.seed for found in field.values() for games in found.values() for game in games]
    return f"The table gives the share of games won and its 95 % interval: {count_games(field)}, seeds {min(seeds)} to {max(seeds)}."
