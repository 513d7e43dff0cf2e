"""The results page: tables, plots and commands generated from result files, filled into the markers of a hand-written page."""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from tetrarchia_env.constants import MODULES, SCENARIOS, VARIANTS
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.files import check_writable, write_text_atomic
from tetrarchia_env.messages import printable
from tetrarchia_env.variants import RULEBOOK_LEVELS
from tetrarchia_eval.analysis import (
    Comparison,
    GamesByTeam,
    ad_hoc_matrix,
    ad_hoc_of,
    all_games,
    compare_games,
    corrected,
    emperor_matrix,
    level_grid,
    pair_matrix,
    pair_of,
    paired_games,
    win_rates_by_digit,
)
from tetrarchia_eval.cooperation import CROSS_PLAY, TEAMMATES
from tetrarchia_eval.groups import INTERVALS, GroupReport
from tetrarchia_eval.local_information import LOCAL
from tetrarchia_eval.match import ALL_LEVELS, BASE_GAME, Match, MatchSpec, repeat_command, rules_label
from tetrarchia_eval.plots import bars, dots, heat_map, save
from tetrarchia_eval.report import (
    DECISIONS,
    EAST_WEST,
    ENDED,
    GAMES,
    MEDIAN_TURNS,
    SCORE,
    THREE_FOURTH,
    TURNS,
    UNSECURED,
    Results,
    ad_hoc_plot,
    comparison_table,
    matrix_table,
    pair_plot,
)
from tetrarchia_eval.result_files import load_match
from tetrarchia_eval.tables import Cell, Column, Table, escape_markdown, percent

Matches = Mapping[str, Match]  # by file name, e.g. results/main/planner.jsonl
PairOfTeam = Callable[[Sequence[str]], tuple[str, tuple[str, ...]]]  # label of a mixed team, and the agents it is compared with
FOLDERS = (
    *("main", "ladder", "sweep", "scenarios", "options", "crossplay/pair", "crossplay/ad-hoc"),
    *("tasks", TEAMMATES, CROSS_PLAY),  # shown on other pages than docs/results.md
)
GROUPS, ABLATIONS = "groups", "ablations"  # with a folder for each group of training runs
GROUP_FOLDERS = (GROUPS, ABLATIONS, LOCAL)
STANDARD_LEVELS = ("4200", "5300", "4211", "4222")
# In the README and in the first plot.
HEADLINE_AGENTS = ("ppo:candidates=32", "ppo", "ppo:ppo-full", "ppo:scratch-large", "planner", "greedy", "random")
LADDER_AGENT = re.compile(r"ppo(:candidates=\d+)?")  # whose matches at the standard levels are part of the ladder
PLOTS = "pictures/results"  # next to the page
MAX_OPEN_ROWS = 12  # longer tables are folded
MAX_COLUMN_PLACES = 4  # more places are rows
MIN_LEVEL_GAMES = 1_000  # for win rates level by level


def write_report(folder: str | os.PathLike[str], page: str | os.PathLike[str]) -> None:
    """Fill the markers of a page from result files and write its plots next to it; a page that does not exist is created.

    Args:
        folder: Folder of results, with the folders of `FOLDERS` and `GROUP_FOLDERS`.
        page: Markdown page with a pair of markers for each part, see `fill`. Parts about groups of runs may be on other pages.

    Raises:
        TetrarchiaError: If there are no results, a file is in another folder, or files do not fit together.
    """
    goal = Path(page)
    if not Path(folder).is_dir():
        raise TetrarchiaError(f"report must be a folder with results; got {printable(folder)}")
    check_writable(goal)
    found = load_results(folder)
    parts, groups = report_parts(found, goal.parent / PLOTS), group_parts(found[GROUPS])
    save_group_plots(found[GROUPS], goal.parent / PLOTS)
    text = goal.read_text(encoding="utf-8") if goal.exists() else new_page(parts | groups)
    write_text_atomic(goal, fill(text, parts | marked(text, groups), goal.name))


def fill(text: str, parts: Mapping[str, str], page: str) -> str:
    """Replace the text between the markers `<!-- begin NAME -->` and `<!-- end NAME -->` of each part.

    Args:
        text: The page.
        parts: Texts by name.
        page: Name of the page for errors.

    Raises:
        TetrarchiaError: If a pair of markers is missing.
    """
    for name, part in parts.items():
        begin, end = f"<!-- begin {name} -->", f"<!-- end {name} -->"
        if not 0 <= text.find(begin) < text.find(end):
            raise TetrarchiaError(f"{page} must have the markers {begin} and {end}, in this order")
        before, rest = text.split(begin, 1)
        text = f"{before}{begin}\n{part.strip()}\n{end}{rest.split(end, 1)[1]}"
    return text


def marked(text: str, parts: Mapping[str, str]) -> dict[str, str]:
    """Return the parts for which a page has markers."""
    return {name: part for name, part in parts.items() if f"<!-- begin {name} -->" in text}


def new_page(parts: Mapping[str, str]) -> str:
    """Return a page with a heading and markers for each part."""
    return "# Results\n" + "".join(f"\n## {name.capitalize()}\n\n<!-- begin {name} -->\n<!-- end {name} -->\n" for name in parts)


def load_results(folder: str | os.PathLike[str]) -> dict[str, Matches]:
    """Read all result files by their folder below the given one.

    Raises:
        TetrarchiaError: If there is none, or a file is in a folder that no section of the page reads.
    """
    results = Path(folder)
    paths = {name: sorted((results / name).glob("*.jsonl")) for name in FOLDERS}
    for name in GROUP_FOLDERS:
        paths[name] = sorted((results / name).glob("*/*.jsonl"), key=lambda path: [path.parent.name, len(path.stem), path.stem])
    unread = sorted({*results.rglob("*.jsonl")} - {path for some in paths.values() for path in some})
    if unread:
        folders = ", ".join([*FOLDERS, *(f"{name}/GROUP" for name in GROUP_FOLDERS)])
        raise TetrarchiaError(f"result files must be in one of {folders}; got {', '.join(map(str, unread))}")
    if not any(paths.values()):
        raise TetrarchiaError(f"there are no results in {results}: no file {' or '.join(f'{name}/*.jsonl' for name in FOLDERS)}")
    return {
        name: {f"{results.name}/{path.relative_to(results).as_posix()}": load_match(path) for path in some} for name, some in paths.items()
    }


def report_parts(found: Mapping[str, Matches], plots: Path) -> dict[str, str]:
    """Return the parts of the page by name, and write the plots into a folder."""
    plots.mkdir(parents=True, exist_ok=True)
    parts: dict[str, str] = {}
    for section in SECTIONS:
        if found[section.folder]:
            matches = dict(found[section.folder])
            if section.folder == "ladder":
                matches |= {file: one for file, one in found["main"].items() if LADDER_AGENT.fullmatch(one.spec.team_label)}
            parts |= comparison_section(section, matches, plots)
    if found["sweep"]:
        parts |= sweep_section(found["sweep"], plots)
    if found["crossplay/pair"] or found["crossplay/ad-hoc"]:
        parts |= crossplay_section(found["crossplay/pair"], found["crossplay/ad-hoc"], plots)
    return parts | {"versions": versions([match.spec for some in found.values() for match in some.values()])}


@dataclass(frozen=True)
class Section:
    """A section that compares agents at several places: levels, scenarios or rules."""

    folder: str
    title: str  # of the plot
    plot: str  # file name
    order: Sequence[str]  # of the places; others follow by name
    place_kind: str

    @property
    def is_by_level(self) -> bool:
        """Whether the places are levels of the same rules."""
        return self.place_kind == "level"


SECTIONS = (
    Section("main", "Win rates at the standard levels", "standard-levels", STANDARD_LEVELS, "level"),
    Section("ladder", "Win rates by number of candidate turns", "ladder", STANDARD_LEVELS, "level"),
    Section("scenarios", "Win rates in the historical scenarios", "scenarios", SCENARIOS, "scenario"),
    Section("options", "Win rates with variants and modules", "options", (BASE_GAME, *VARIANTS, *MODULES), "variant or module"),
)


def comparison_section(section: Section, matches: Matches, plots: Path) -> dict[str, str]:
    """Return win rates, comparisons, endings, scores and commands of a section."""
    results = section_results(section, matches)
    if section.folder == "main":
        shown = {team: results.games[team] for team in headline_agents(results)}
        title = f"{section.title}\n{count_games(shown)}"
        plot = dots(title, {team: results.win_rates()[team] for team in shown}, section.place_kind)
    else:
        title = f"{section.title}\n{count_games(results.games)}"
        plot = bars(title, results.win_rates(), section.place_kind if section.is_by_level else "")
    tests = results.comparisons(combinations(results.games, 2))
    tables = {
        "comparisons": folded(f"{len(tests)} comparisons", comparison_table(tests, section.place_kind)) if tests else "",
        "endings": folded("Outcomes and borders not secured", results.table((GAMES, *ENDED, UNSECURED))),
        "scores": folded("Score, turns and decisions", results.table((SCORE, TURNS, MEDIAN_TURNS, DECISIONS))),
        "commands": commands(matches),
    }
    caption = f"{count_games(results.games)}, {seeds(matches)}."
    table = win_rate_table(results).markdown()
    rates = f"{table}\n{caption}\n\n{save_plot(plot, title, plots, section.plot)}"
    return {f"{section.folder} {name}": part for name, part in {"rates": rates, **tables}.items()}


def section_results(section: Section, matches: Matches) -> Results:
    """Return the games of a section by team, best first, and place."""
    if section.is_by_level:
        check_same_rules(matches)
        by_team = sort_games(matches, lambda spec, level: level)
    else:
        several = section.folder == "options" and len({level for match in matches.values() for level in match.spec.levels}) > 1
        by_team = sort_games(matches, lambda spec, level: f"{rules_label(spec)}, {level}" if several else rules_label(spec))
    found = {place for games in by_team.values() for place in games}
    places = [place for place in section.order if place in found] + sorted(found - set(section.order))
    return best_first(Results(by_team, places, section.place_kind))


def best_first(results: Results) -> Results:
    """Sort the teams by their mean win rate, then by name."""
    means = {team: float(np.mean([one.win_rate.value for one in found.values()])) for team, found in results.summaries.items()}
    teams = sorted(results.games, key=lambda team: (-means[team], team))
    return Results({team: results.games[team] for team in teams}, results.places, results.place_kind)


def headline_agents(results: Results) -> list[str]:
    """Return the agents that a newcomer needs, best first; all of them if none of these was played."""
    return [team for team in results.games if team in HEADLINE_AGENTS] or list(results.games)


def win_rate_table(results: Results, teams: Sequence[str] | None = None) -> Table:
    """Return agents in rows and places in columns; many places are rows instead.

    Args:
        results: The games.
        teams: Agents to show, by default all.
    """
    shown = list(results.games) if teams is None else teams
    rates, places = results.win_rates(), results.places
    if len(places) > MAX_COLUMN_PLACES:
        columns = [Column(""), *(Column(team, percent) for team in shown)]
        return Table(columns, [[place, *(rates[team].get(place) for team in shown)] for place in places])
    columns = [Column("agent"), Column(f"games per {results.place_kind}"), *(Column(place, percent) for place in places)]
    rows: list[list[Cell]] = [
        [team, _span(map(len, results.games[team].values())), *(rates[team].get(place) for place in places)] for team in shown
    ]
    return Table(columns, rows)


def sweep_section(matches: Matches, plots: Path) -> dict[str, str]:
    """Return a heat map for each agent, win rates by digit, and at how many levels each agent is better."""
    check_same_rules(matches)
    by_team = sort_games(matches, lambda spec, level: level)
    results = best_first(Results(by_team, [level for level in ALL_LEVELS if any(level in found for found in by_team.values())], "level"))
    teams = list(results.games)
    which = "The rulebook's 81 levels" if set(results.places) == set(RULEBOOK_LEVELS) else f"{len(results.places)} levels"
    overall = Table(
        [Column("agent"), Column("levels"), Column("games"), Column("won, over all levels", percent)],
        [(team, len(results.games[team]), one.games, one.win_rate) for team, one in results.overall.items()],
    )
    maps = []
    for team, rates in results.win_rates().items():
        title = f"{team}: games won at {len(rates)} levels\n{count_games({team: results.games[team]})}"
        plot = heat_map(title, level_grid({level: rate.value for level, rate in rates.items()}))
        slug = re.sub(r"[^a-z0-9]+", "-", team.lower()).strip("-")
        maps.append(save_plot(plot, title, plots, f"sweep-{slug}"))
    digits = {team: win_rates_by_digit(all_games(results.games[team])) for team in teams}
    keys = list(dict.fromkeys(key for found in digits.values() for key in found))
    by_digit = Table(
        [Column("digit"), Column("value"), *(Column(team, percent) for team in teams)],
        [(*key, *(digits[team].get(key) for team in teams)) for key in keys],
    )
    parts = {
        "sweep rates": f"{overall.markdown()}\n{which}, {count_games(results.games)}, {seeds(matches)}.\n\n" + "\n".join(maps),
        "sweep digits": by_digit.markdown(),
        "sweep leads": results.leads(combinations(teams, 2)).markdown() if len(teams) > 1 else "",
        "sweep commands": commands(matches),
    }
    if all(one.games >= MIN_LEVEL_GAMES for found in results.summaries.values() for one in found.values()):
        parts["sweep levels"] = folded(f"Win rates at {len(results.places)} levels", win_rate_table(results))
    return parts


def crossplay_section(pairs: Matches, ad_hoc: Matches, plots: Path) -> dict[str, str]:
    """Return the matrices of pairs and of ad hoc teams, and what a mixed team costs."""
    parts = {}
    if pairs:
        matrix, caption = pair_matrix(pairs.values()), _same_levels(pairs)
        plot = save_plot(pair_plot(matrix, caption), f"Cross-play in pairs: games won, {caption}", plots, "crossplay-pair")
        parts["crossplay pairs"] = f"{matrix_table(matrix, EAST_WEST).markdown()}\n{caption}, {seeds(pairs)}.\n\n{plot}"
        parts["crossplay pair comparisons"] = _mixed_team_tests(pairs, _pair_label, "mixed pairs and pairs of one agent")
    if ad_hoc:
        known = {match.spec.team_label for match in ad_hoc.values()}
        alone = {file: match for file, match in pairs.items() if _is_alone(match) and match.spec.team_label not in known}
        teams = {**ad_hoc, **alone}
        matrix, caption = ad_hoc_matrix(teams.values()), _same_levels(teams)
        plot = save_plot(ad_hoc_plot(matrix, caption), f"Ad hoc teamwork: games won, {caption}", plots, "crossplay-ad-hoc")
        parts["crossplay ad hoc"] = f"{matrix_table(matrix, THREE_FOURTH).markdown()}\n{caption}, {seeds(teams)}.\n\n{plot}"
        parts["crossplay emperors"] = matrix_table(emperor_matrix(teams.values()), "three + the fourth").markdown()
        parts["crossplay ad hoc comparisons"] = _mixed_team_tests(teams, _ad_hoc_label, "mixed teams and teams of one agent")
    return {**parts, "crossplay commands": commands({**pairs, **ad_hoc})}


def group_report(matches: Matches) -> GroupReport:
    """Return the report of the result files of groups."""
    return GroupReport({f"{Path(file).parent.name}/{Path(file).stem}": match for file, match in matches.items()})


def group_parts(matches: Matches) -> dict[str, str]:
    """Return the parts about groups of training runs by name; empty without results. Nothing is written."""
    if not matches:
        return {}
    report = group_report(matches)
    caption = f"{report.title}; {INTERVALS}."

    def image(name: str, text: str) -> str:
        return f"![{escape_markdown(text)}]({PLOTS}/{GROUPS}-{name}.svg)\n"

    parts = {
        "rates": f"{report.summary().markdown()}\n{caption}\n\n{image('levels', 'Interquartile mean of games won by groups of runs')}",
        "runs": folded(f"Win rates of {sum(len(one.runs) for one in report.groups.values())} runs", report.run_table()),
        "profile": f"{report.profile_table().markdown()}\n{image('profile', 'Performance profile')}",
        "commands": commands(matches),
    }
    if len(report.groups) > 1:
        parts["improvement"] = report.improvement_table().markdown()
    if report.cross_play_groups():
        matrices = [image(f"cross-play-{one.name}", f"Cross-play in {one.name}") for one in report.cross_play_groups()]
        parts["cross-play"] = f"{report.gap_table().markdown()}\n{''.join(matrices)}"
    return {f"groups {name}": part for name, part in parts.items()}


def save_group_plots(matches: Matches, folder: Path) -> None:
    """Write the plots that `group_parts` refers to."""
    for name, plot in group_report(matches).plots().items() if matches else ():
        save_plot(plot, name, folder, f"{GROUPS}-{name}")


def _pair_label(agents: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    east, west = pair_of(agents)
    return f"{east} + {west}", (east, west)


def _ad_hoc_label(agents: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    mate, joiner, emperor = ad_hoc_of(agents)
    return f"{mate}, {joiner} as {emperor}", (mate,)


def _mixed_team_tests(matches: Matches, label_of: PairOfTeam, title: str) -> str:
    """Compare each mixed team with the teams of one of its agents alone, level by level."""
    alone = {match.spec.team_label: match.games for match in matches.values() if _is_alone(match)}

    def comparisons() -> Iterator[Comparison]:
        for match in matches.values():
            label, agents = label_of(match.spec.team)
            for agent in agents:
                for level in match.spec.levels if agent in alone and not _is_alone(match) else ():
                    games = [game for game in match.games if game.level == level]
                    if paired_games(games, alone[agent]):
                        yield compare_games((label, games), (agent, alone[agent]), level)

    tests = corrected(list(comparisons()))
    return folded(f"{len(tests)} comparisons of {title}", comparison_table(tests, "level", "team")) if tests else ""


def _is_alone(match: Match) -> bool:
    return len(set(match.spec.agents)) == 1


def _same_levels(matches: Matches) -> str:
    """Return levels and games; TetrarchiaError if the teams of a matrix were not played at the same levels."""
    check_same_rules(matches)
    (first, one), *others = matches.items()
    for file, match in others:
        if match.spec.levels != one.spec.levels:
            raise TetrarchiaError(f"{first} and {file} have different levels: a matrix needs all teams at the same levels")
    levels, games = one.spec.levels, _span(len(match.games) for match in matches.values())
    return f"Level{'s' * (len(levels) > 1)} {', '.join(levels)}, {games} games per team"


def versions(specs: Sequence[MatchSpec]) -> str:
    """Return the number of games, and the versions, machines and fingerprints of the files."""
    packages = sorted({", ".join(f"{name} {version}" for name, version in spec.versions.items()) for spec in specs})
    machines = sorted({", ".join(f"{name}: {value}" for name, value in spec.machine.items()) for spec in specs})
    agents = sorted({pair for spec in specs for pair in spec.fingerprints.items()})
    rows = [
        ("games", f"{sum(spec.total for spec in specs):,} in {len(specs)} files"),
        ("environment", ", ".join(sorted({spec.environment for spec in specs}))),
        ("versions", "; ".join(packages)),
        ("machine", "; ".join(machines)),
    ]
    lines = [f"- {name}: {escape_markdown(text)}\n" for name, text in rows]
    fingerprints = ", ".join(f"{escape_markdown(name)} `{printable(text).replace('`', '')}`" for name, text in agents)
    return "".join(lines) + f"- [fingerprints](evaluation.md) of the agents: {fingerprints}\n"


def sort_games(matches: Matches, place_of: Callable[[MatchSpec, str], str]) -> GamesByTeam:
    """Return the games by team and place.

    Raises:
        TetrarchiaError: If two files contain the same game.
    """
    by_team: GamesByTeam = {}
    seen: dict[tuple[str, str, str, int], str] = {}
    for file, match in matches.items():
        team, places = match.spec.team_label, {level: place_of(match.spec, level) for level in match.spec.levels}
        for game in match.games:
            place = places[game.level]
            twin = seen.setdefault((team, place, game.level, game.seed), file)
            if twin != file:
                raise TetrarchiaError(f"{twin} and {file} both contain the game of {team} at level {game.level} with seed {game.seed}")
            by_team.setdefault(team, {}).setdefault(place, []).append(game)
    return by_team


def check_same_rules(matches: Matches) -> None:
    """Raise TetrarchiaError if files of one section have different rules."""
    found = {rules_label(match.spec): file for file, match in matches.items()}
    if len(found) > 1:
        (rules, path), (other, other_path) = list(found.items())[:2]
        raise TetrarchiaError(f"{path} plays {rules} and {other_path} plays {other}: keep them in different folders")


def count_games(by_team: GamesByTeam) -> str:
    """Return the number of games of each team at each place."""
    return f"{_span(len(games) for found in by_team.values() for games in found.values())} games each"


def _span(counts: Iterable[int]) -> str:
    """Return the smallest and the largest of these numbers, or the number if all are equal."""
    found = sorted(set(counts))
    return f"{found[0]:,}" if len(found) == 1 else f"{found[0]:,} to {found[-1]:,}"


def seeds(matches: Matches) -> str:
    """Return the range of seeds."""
    specs = [match.spec for match in matches.values()]
    return f"seeds {min(spec.first_seed for spec in specs)} to {max(spec.first_seed + spec.games - 1 for spec in specs)}"


def folded(summary: str, table: Table) -> str:
    """Return a table, folded if it is long."""
    if len(table.rows) <= MAX_OPEN_ROWS:
        return table.markdown()
    return f"<details><summary>{summary}</summary>\n\n{table.markdown()}\n</details>\n"


def commands(matches: Matches) -> str:
    """Return the commands that play the matches again, folded."""
    lines = "\n".join(repeat_command(match.spec, file) for file, match in matches.items())
    return f"<details><summary>Commands of {len(matches)} matches</summary>\n\n```console\n{lines}\n```\n\n</details>\n"


def save_plot(plot: Any, title: str, folder: Path, name: str) -> str:
    """Write a plot as SVG and PNG and return the image's Markdown."""
    for suffix in ("svg", "png"):
        save(plot, folder / f"{name}.{suffix}")
    text = escape_markdown(title.replace("\n", ", "))
    return f"![{text}]({PLOTS}/{name}.svg)\n"
