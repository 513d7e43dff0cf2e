"""The chapters of the page of results: agents side by side at the standard levels, with more search, at all levels, by other rules."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from tetrarchia_env.constants import MODULES, SCENARIOS, VARIANTS
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_eval.analysis import (
    Comparison,
    GamesByTeam,
    all_games,
    compare_games,
    corrected,
    leads,
    shared,
    summarize,
)
from tetrarchia_eval.match import BASE_GAME, Match, MatchSpec, repeat_command, rules_label, team_label
from tetrarchia_eval.plots import bars, heat_map, save
from tetrarchia_eval.result_tables import (
    DECISIONS,
    ENDED,
    GAMES,
    MEDIAN_TURNS,
    MILLISECONDS,
    SCORE,
    TURNS,
    UNSECURED,
    Column,
    Summaries,
    Table,
    comparison_table,
    lead_table,
    markdown_text,
    percent,
    summary_table,
)
from tetrarchia_eval.sweep import EVERY_LEVEL, RULEBOOK_LEVELS, by_digit, grid

Matches = Mapping[str, Match]  # by the names of their files: results/main/planner.jsonl
STANDARD_LEVELS = ("4200", "5300", "4211", "4222")
LONG = 12  # rows of a table that a reader opens
RUNG = re.compile(r"ppo(:candidates=\d+)?")
FEW = 1_000  # games: a row of fewer says little
TESTS = (
    "A difference is that of two win rates, in points of a percent, or of two mean scores. Each p is corrected for the number of "
    "comparisons, the tests of wins among themselves, those of scores likewise: [how](#how-the-numbers-are-made)."
)


@dataclass(frozen=True)
class Album:
    """Where the pictures go, and how the page names that folder."""

    folder: Path
    link: str

    def add(self, name: str, title: str, picture: Any) -> str:
        """Keep a picture, as SVG for the page and as PNG for elsewhere; what the page says to show it."""
        for ending in ("svg", "png"):
            save(picture, self.folder / f"{name}.{ending}")
        words = markdown_text(title.replace("\n", ", "))
        return f"![{words}]({self.link}/{name}.svg)\n"


def in_order(places: set[str], order: Sequence[str]) -> list[str]:
    """Known places in their order, then the others by name."""
    return [place for place in order if place in places] + sorted(places - set(order))


def count_games(by_team: GamesByTeam) -> str:
    """How many each team played at each place."""
    counts = sorted({len(games) for found in by_team.values() for games in found.values()})
    return f"{counts[0]:,} games each" if len(counts) == 1 else f"{counts[0]:,} to {counts[-1]:,} games each"


def folded(words: str, table: Table) -> str:
    """A table; a long one opens when the reader wants it."""
    if len(table.rows) <= LONG:
        return table.markdown()
    return f"<details><summary>{words}</summary>\n\n{table.markdown()}\n</details>\n"


def commands(matches: Matches) -> str:
    """What to type to play all of this again."""
    lines = "\n".join(repeat_command(match.spec, file) for file, match in matches.items())
    return f"<details><summary>The commands of these {len(matches)} matches</summary>\n\n```console\n{lines}\n```\n\n</details>\n"


def check_same_rules(matches: Matches) -> None:
    """ValueError if numbers of different games would stand side by side as if they were of one."""
    found = {rules_label(match.spec): file for file, match in matches.items()}
    if len(found) > 1:
        (rule, path), (other, other_path) = list(found.items())[:2]
        raise TetrarchiaError(f"{path} plays {rule} and {other_path} plays {other}: keep them in different folders")


def sort_games(matches: Matches, place_of: Callable[[MatchSpec, str], str]) -> GamesByTeam:
    """The games by team and place, a place being what a spec and a level make it; ValueError if one comes twice."""
    by_team: GamesByTeam = {}
    seen: dict[tuple[str, str, str, int], str] = {}
    for file, match in matches.items():
        name, places = team_label(match.spec.agents), {level: place_of(match.spec, level) for level in match.spec.levels}
        for game in match.games:
            place = places[game.level]
            twin = seen.setdefault((name, place, game.level, game.seed), file)
            if twin != file:
                raise TetrarchiaError(f"{twin} and {file} both hold the game of {name} at level {game.level} with seed {game.seed}")
            by_team.setdefault(name, {}).setdefault(place, []).append(game)
    return by_team


def standard_levels(matches: Matches, album: Album) -> Iterator[str]:
    """What people look at first."""
    check_same_rules(matches)
    by_team = sort_games(matches, lambda _, level: level)
    yield "## Win rates at the standard levels\n"
    yield (
        "A level is four digits: tokens per Emperor, fleets, extra Revolts and initial armies. Level 4200 is for beginners, "
        f"4211 is normal. One agent plays all four Emperors unless several are named. {_played(by_team)}\n"
    )
    yield from _side_by_side(by_team, STANDARD_LEVELS, "level", "standard-levels", "Win rates at the standard levels", album)
    yield commands(matches)


def rungs(matches: Matches) -> Matches:
    """Those of the agent that the ladder is of, whatever its search."""
    return {file: match for file, match in matches.items() if RUNG.fullmatch(team_label(match.spec.agents))}


def ladder(matches: Matches, album: Album) -> Iterator[str]:
    """The same agent with more and more search."""
    check_same_rules(matches)
    by_team = sort_games(matches, lambda _, level: level)
    yield "## How much search is worth\n"
    how = "The same network chooses among more and more turns that it proposes: [how](agents.md)."
    yield f"{how} {_played(by_team)}\n"
    yield from _side_by_side(by_team, STANDARD_LEVELS, "level", "ladder", "Win rates with more and more search", album)
    yield commands(matches)


def scenarios(matches: Matches, album: Album) -> Iterator[str]:
    """R12."""
    by_team = sort_games(matches, lambda spec, _: rules_label(spec))
    yield "## The historical scenarios\n"
    yield f"Each scenario has its own set-up and level. {_played(by_team)}\n"
    yield from _side_by_side(by_team, SCENARIOS, "scenario", "scenarios", "Win rates in the historical scenarios", album)
    yield commands(matches)


def options(matches: Matches, album: Album) -> Iterator[str]:
    """R10 and R11."""
    levels = sorted({level for match in matches.values() for level in match.spec.levels})
    by_team = sort_games(matches, _rules_and_level if len(levels) > 1 else lambda spec, _: rules_label(spec))
    at = f"level {levels[0]}" if len(levels) == 1 else f"levels {', '.join(levels)}"
    yield "## Variants and modules\n"
    yield f"Each is added to the base game alone, at {at}. {_played(by_team)}\n"
    order = (BASE_GAME, *VARIANTS, *MODULES)
    yield from _side_by_side(by_team, order, "variant or module", "options", f"Win rates with variants and modules, {at}", album)
    yield commands(matches)


def _rules_and_level(spec: MatchSpec, level: str) -> str:
    return f"{rules_label(spec)}, {level}"


def _side_by_side(by_team: GamesByTeam, order: Sequence[str], word: str, name: str, title: str, album: Album) -> Iterator[str]:
    """Win rates, then who is better, then details."""
    places = in_order({place for games in by_team.values() for place in games}, order)
    summaries = best_first(summarize_teams(by_team, places))
    yield _rates(summaries, places).markdown()
    rates = {name: {place: one.win_rate for place, one in found.items()} for name, found in summaries.items()}
    title = f"{title}\n{count_games(by_team)}"
    yield album.add(name, title, bars(title, rates, word if word == "level" else ""))
    tests = corrected(list(_comparisons(by_team, list(summaries), places)))
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
    rate = {(name, place): one.win_rate for name, found in summaries.items() for place, one in found.items()}
    if len(places) <= 4:
        cost = {name: float(np.mean([one.milliseconds for one in found.values()])) for name, found in summaries.items()}
        return Table(
            [Column("agent"), *(Column(place, percent) for place in places), MILLISECONDS[0]],
            [[name, *(rate.get((name, place)) for place in places), cost[name]] for name in summaries],
        )
    return Table(
        [Column(""), *(Column(name, percent) for name in summaries)],
        [[place, *(rate.get((name, place)) for name in summaries)] for place in places],
    )


def summarize_teams(by_team: GamesByTeam, places: Sequence[str]) -> Summaries:
    """A summary for each team and place."""
    return {name: {place: summarize(games[place]) for place in places if place in games} for name, games in by_team.items()}


def best_first(summaries: Summaries) -> Summaries:
    """By the mean of their win rates; then by name."""
    means = {name: float(np.mean([one.win_rate.value for one in found.values()])) for name, found in summaries.items()}
    return {name: summaries[name] for name in sorted(summaries, key=lambda name: (-means[name], name))}


def _comparisons(by_team: GamesByTeam, teams: Sequence[str], places: Sequence[str]) -> Iterator[Comparison]:
    for place in places:
        for first, second in combinations(teams, 2):
            games, others = by_team[first].get(place, []), by_team[second].get(place, [])
            if shared(games, others):
                yield compare_games((first, games), (second, others), place)


def _played(by_team: GamesByTeam) -> str:
    seeds = [game.seed for found in by_team.values() for games in found.values() for game in games]
    return f"The table gives the share of games won and its 95 % interval: {count_games(by_team)}, seeds {min(seeds)} to {max(seeds)}."


LEADS = (
    "A level counts for the one who wins more there with p < 0.05, by McNemar's exact test on the same seeds, corrected for "
    "the number of levels and agents (Holm). The mean difference is over all levels, in points of a percent."
)


def sweep(matches: Matches, album: Album) -> Iterator[str]:
    """One heat map for each agent, then the tables."""
    check_same_rules(matches)
    by_team = sort_games(matches, lambda _, level: level)
    levels = [level for level in EVERY_LEVEL if any(level in found for found in by_team.values())]
    summaries = best_first(summarize_teams(by_team, levels))
    yield f"## All levels\n\n{_intro(by_team, levels)}\n"
    yield _overall(by_team, list(summaries)).markdown()
    for name, found in summaries.items():
        yield _picture(name, {level: one.win_rate.value for level, one in found.items()}, count_games({name: by_team[name]}), album)
    yield "### What each digit does\n\nThe win rate over all levels with this digit.\n"
    yield _digits(by_team, list(summaries)).markdown()
    if len(summaries) > 1:
        yield f"### Who is better at how many levels\n\n{LEADS}\n"
        yield lead_table(leads(by_team, combinations(summaries, 2), levels)).markdown()
    if all(one.games >= FEW for found in summaries.values() for one in found.values()):
        yield f"### Level by level\n\n{folded(f'Win rates at {len(levels)} levels', _levels(summaries, levels))}"
    yield commands(matches)


def _intro(by_team: GamesByTeam, levels: Sequence[str]) -> str:
    which = "The rulebook's 81 levels" if set(levels) == set(RULEBOOK_LEVELS) else f"{len(levels)} levels"
    return f"{which}, {count_games(by_team)}. The easiest is at the top left of a map, the hardest at the bottom right."


def _overall(by_team: GamesByTeam, teams: Sequence[str]) -> Table:
    every = [(name, summarize(all_games(by_team[name]))) for name in teams]
    columns = [Column("agent"), Column("levels"), Column("games"), Column("won, over all levels", percent)]
    return Table(columns, [(name, len(by_team[name]), one.games, one.win_rate) for name, one in every])


def _picture(name: str, rates: Mapping[str, float], games: str, album: Album) -> str:
    slug = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
    title = f"{name}: games won at {len(rates)} levels\n{games}"
    return album.add(f"sweep-{slug}", title, heat_map(title, grid(rates)))


def _digits(by_team: GamesByTeam, teams: Sequence[str]) -> Table:
    rates = {name: by_digit(all_games(by_team[name])) for name in teams}
    keys = list(dict.fromkeys(key for found in rates.values() for key in found))
    columns = [Column("digit"), Column("value"), *(Column(name, percent) for name in teams)]
    return Table(columns, [(*key, *(rates[name].get(key) for name in teams)) for key in keys])


def _levels(summaries: Summaries, levels: Sequence[str]) -> Table:
    columns = [Column("level"), *(Column(name, percent) for name in summaries)]
    rows = [[level, *(found[level].win_rate if level in found else None for found in summaries.values())] for level in levels]
    return Table(columns, rows)
