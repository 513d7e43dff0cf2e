"""Groups of training runs: their checkpoints, the matches that evaluate them, and reports in which the run is the unit."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from msgspec.structs import replace

from tetrarchia_agents.cards import CARD, CHECKPOINTS
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.local_view import LocalOptions
from tetrarchia_eval.analysis import OVERALL, Matrix, pair_of
from tetrarchia_eval.console import Part
from tetrarchia_eval.match import Match, MatchSpec
from tetrarchia_eval.plots import bars, curves, matrix_plot, profiles
from tetrarchia_eval.report import EAST_WEST, match_title, matrix_table
from tetrarchia_eval.run_statistics import (
    MIN_CROSS_PLAY_RUNS,
    MIN_RUNS,
    Curve,
    SelfPlayGap,
    Statistic,
    bootstrap,
    bootstrap_each,
    improvement_probability,
    interquartile_mean,
    mean,
    mean_curve,
    median,
    optimality_gap,
    performance_profile,
    self_play_gap,
)
from tetrarchia_eval.statistics import Estimate, Numbers, wilson, wilson_by_seed
from tetrarchia_eval.tables import Cell, Column, Table, percent, percentage_points

RUNS, FINAL_DIR = Path("runs"), "final"  # where training writes its runs
RUN_FOLDER = re.compile(r"seed-(\d+)")
STATISTICS: dict[str, Statistic] = {"mean": mean, "median": median, "IQM": interquartile_mean, "gap to 100 %": optimality_gap}
SHOWN_STATISTICS = ("mean", "IQM")
TABLE_THRESHOLDS = (0.1, 0.25, 0.5, 0.75, 0.9)
PLOT_THRESHOLDS = np.linspace(0, 1, 101)
PROFILE_RESAMPLES = 2_000  # for each of 101 thresholds
INTERVALS = "95 % intervals over runs"


@dataclass(frozen=True)
class Group:
    """A group of runs and the agent that plays the checkpoint of each."""

    name: str
    agents: Mapping[str, str]  # by run

    def line_ups(self, cross_play: bool) -> dict[str, str]:
        """Return the agents of each match by its name: each run alone, and with `cross_play` every ordered pair of runs."""
        found = {f"{self.name}/{run}": agent for run, agent in self.agents.items()}
        if cross_play:
            if len(self.agents) < MIN_CROSS_PLAY_RUNS:
                raise TetrarchiaError(
                    f"cross-play of a group needs at least {MIN_CROSS_PLAY_RUNS} runs; {self.name} has {len(self.agents)}"
                )
            for east, west in combinations(self.agents, 2):
                for one, other in ((east, west), (west, east)):
                    found[f"{self.name}/{one}+{other}"] = f"{self.agents[one]},{self.agents[other]}"
        return found


def find_group(name: str, shipped: Path = CHECKPOINTS) -> Group:
    """Return a group of runs or of published checkpoints.

    Args:
        name: A folder with the folders `seed-1`, `seed-2`, ...; a bare name is a group in `runs/`, a shipped one, or one here.
        shipped: The folder of the shipped checkpoints.

    Raises:
        TetrarchiaError: If there is no such group, a bare name fits several, it has fewer than two runs, or a run is not finished.
    """
    folders = [Path(name)] if Path(name).name != name else [RUNS / name, shipped / name, Path(name)]
    found = {folder: runs for folder in folders if (runs := _run_folders(folder))}
    if not found:
        raise TetrarchiaError(f"no group {name!r}: give a folder with runs seed-1, seed-2, ..., see tetrarchia train --seeds")
    if len(found) > 1:
        raise TetrarchiaError(f"there are several groups {name!r}: give the folder, one of {', '.join(str(folder) for folder in found)}")
    ((folder, runs),) = found.items()
    if len(runs) < MIN_RUNS:
        raise TetrarchiaError(f"group {folder} must have at least {MIN_RUNS} runs; got {len(runs)}")
    is_shipped = folder.parent.resolve() == shipped.resolve()
    agents = {}
    for run in runs:
        goal = next((goal for goal in (run, run / FINAL_DIR) if (goal / CARD).is_file()), None)
        if goal is None:
            raise TetrarchiaError(
                f"group {folder}: {run.name} is not finished: continue with tetrarchia train --resume --name {folder.name}"
            )
        agents[run.name] = f"ppo:{folder.name}/{run.name}" if is_shipped and goal == run else f"ppo:{goal.as_posix()}"
    return Group(folder.name, agents)


def _run_folders(group: Path) -> list[Path]:
    """Return the folders of a group's runs in the order of their seeds."""
    return sorted((path for path in group.glob("seed-*") if RUN_FOLDER.fullmatch(path.name)), key=lambda path: int(path.name[5:]))


@dataclass(frozen=True)
class GroupResults:
    """The matches of one group."""

    name: str
    runs: Mapping[str, Match]  # self-play, by run
    pairs: Mapping[tuple[str, str], Match]  # cross-play of different runs, by the runs of East and West

    @property
    def local(self) -> LocalOptions:
        """The information of the runs."""
        return next(iter(self.runs.values())).spec.local

    @property
    def places(self) -> list[str]:
        """The levels, or the scenario or task."""
        return list(_win_rates(next(iter(self.runs.values()))))

    @cached_property
    def scores(self) -> Numbers:
        """The win rate of each run (rows) at each place (columns)."""
        return np.array([list(_win_rates(match).values()) for match in self.runs.values()])

    def columns(self, place: str) -> Numbers:
        """Return the scores at one place, or at all."""
        return self.scores if place == OVERALL else self.scores[:, [self.places.index(place)]]

    def cross_play_rates(self, place: str) -> Numbers:
        """Return the win rate of each run of the East (rows) with each run of the West (columns), at one place or the mean of all."""

        def rate(match: Match) -> float:
            rates = _win_rates(match)
            return float(np.mean(list(rates.values()))) if place == OVERALL else rates[place]

        return np.array([[rate(self.runs[one] if one == other else self.pairs[one, other]) for other in self.runs] for one in self.runs])

    def gap(self, place: str) -> SelfPlayGap:
        """Return self-play, cross-play and their difference at one place or over all."""
        return self_play_gap(self.cross_play_rates(place), _rng())

    @property
    def has_cross_play(self) -> bool:
        """Whether every pair of at least three runs was played."""
        return len(self.runs) >= MIN_CROSS_PLAY_RUNS and len(self.pairs) == len(self.runs) * (len(self.runs) - 1)

    def matrix(self) -> Matrix:
        """Return the win rates of all pairs over all places, with intervals over games."""
        games = {(run, run): match for run, match in self.runs.items()} | dict(self.pairs)
        cells = {
            pair: wilson_by_seed([game.won for game in match.games], [game.seed for game in match.games]) for pair, match in games.items()
        }
        return Matrix(tuple(self.runs), tuple(self.runs), cells)


def _rng() -> np.random.Generator:
    return np.random.default_rng(0)  # the same results give the same intervals


def _win_rates(match: Match) -> dict[str, float]:
    """Return the win rate by level, or of the scenario or task."""
    won: dict[str, list[bool]] = {}
    for game in match.games:
        won.setdefault(match.spec.set_up or game.level, []).append(game.won)
    return {place: float(np.mean(some)) for place, some in won.items()}


def _without_local(spec: MatchSpec) -> MatchSpec:
    rules = {name: value for name, value in spec.arguments.items() if name not in spec.local.arguments()}
    return replace(spec, arguments=rules, full_information=())


def group_results(matches: Mapping[str, Match]) -> dict[str, GroupResults]:
    """Sort matches into groups; each group may have its own local information (R14).

    Args:
        matches: Matches by name, GROUP/RUN for a run alone and GROUP/ANYTHING for a pair of runs of this group.

    Raises:
        TetrarchiaError: If matches of one comparison have other rules, levels, games or seeds, or a pair has another agent.
    """
    first_name, first = next(iter(matches.items()))
    found: dict[str, dict[str, Match]] = {}
    for name, match in matches.items():
        for what in ("arguments", "levels", "games", "first_seed", "seed"):
            if getattr(_without_local(match.spec), what) != getattr(_without_local(first.spec), what):
                raise TetrarchiaError(f"{name} and {first_name} must have the same rules, levels, games and seeds; {what} differs")
        group, _, label = name.partition("/")
        found.setdefault(group, {})[label] = match
    return {group: _one_group(group, some) for group, some in found.items()}


def _one_group(group: str, matches: Mapping[str, Match]) -> GroupResults:
    runs = {label: match for label, match in matches.items() if len(set(match.spec.agents)) == 1}
    if len(runs) < MIN_RUNS:
        raise TetrarchiaError(f"group {group} must have results of at least {MIN_RUNS} runs; got {len(runs)}")
    run_of = {match.spec.agents[0]: label for label, match in runs.items()}
    pairs = {}
    for label, match in matches.items():
        if label not in runs:
            east, west = pair_of(match.spec.agents)
            if not {east, west} <= set(run_of):
                raise TetrarchiaError(f"{group}/{label} must be a pair of runs of the group; got {east} and {west}")
            pairs[run_of[east], run_of[west]] = match
    if len({match.spec.local for match in matches.values()}) > 1:
        raise TetrarchiaError(f"the matches of group {group} must have the same local information")
    return GroupResults(group, runs, pairs)


class GroupReport:
    """Groups at the same levels and seeds; the first is compared with each of the others.

    Args:
        matches: Matches by name, see `group_results`.
        learning_curves: For each group and run the points of its learning curve, as training writes them; optional.
    """

    def __init__(self, matches: Mapping[str, Match], learning_curves: Mapping[str, Mapping[str, Sequence[Any]]] | None = None) -> None:
        self.groups = group_results(matches)
        spec = next(iter(matches.values())).spec
        self.title = match_title(spec if len({group.local for group in self.groups.values()}) == 1 else _without_local(spec))
        self._first, *self._others = self.groups.values()
        self._curves = learning_curves or {}
        self.places = [*self._first.places, *([OVERALL] if len(self._first.places) > 1 else [])]

    def parts(self) -> Iterator[Part]:
        """Yield what the terminal shows."""
        yield self.title
        yield f"Games won by groups of runs; {INTERVALS}, by bootstrap. Over all levels whole runs are drawn."
        yield self.summary(SHOWN_STATISTICS)
        yield "Games won by each run; 95 % intervals over games."
        yield self.run_table()
        yield f"Performance profile: runs and levels with more games won than the threshold, in %; {INTERVALS}."
        yield self.profile_table()
        if self._others:
            yield f"Probability of improvement: a run of the first group wins more games than one of the second; {INTERVALS}."
            yield self.improvement_table()
        for group in self.cross_play_groups():
            yield f"Cross-play in {group.name}, games won; 95 % intervals over games. Rows: diocletian and galerius; columns: the others."
            yield matrix_table(group.matrix(), EAST_WEST)
        if self.cross_play_groups():
            yield f"Self-play minus cross-play over all pairs of runs; {INTERVALS}."
            yield self.gap_table()

    def cross_play_groups(self) -> list[GroupResults]:
        """Return the groups of which every pair of runs was played."""
        return [group for group in self.groups.values() if group.has_cross_play]

    def summary(self, statistics: Sequence[str] = tuple(STATISTICS)) -> Table:
        """Return aggregates over the runs of each group, by level and over all levels, with the worst and the best run."""
        columns = [Column("level"), Column("group"), Column("runs"), *(Column(name, percent) for name in statistics)]
        rows: list[list[Cell]] = []
        for place in self.places:
            for group in self.groups.values():
                scores = group.columns(place)
                by_run = scores.mean(axis=1)
                cells = [bootstrap(STATISTICS[name], scores, rng=_rng()) for name in statistics]
                rows.append([place, group.name, len(scores), *cells, float(by_run.min()), float(by_run.max())])
        return Table([*columns, Column("worst run", percent), Column("best run", percent)], rows)

    def run_table(self) -> Table:
        """Return the win rate of each run at each level."""
        rows: list[list[Cell]] = []
        for group in self.groups.values():
            for run, match in group.runs.items():
                rates = [wilson(round(rate * match.spec.games), match.spec.games) for rate in _win_rates(match).values()]
                rows.append([group.name, run, *rates])
        return Table([Column("group"), Column("run"), *(Column(place, percent) for place in self._first.places)], rows)

    def profile_table(self) -> Table:
        """Return the performance profile of each group at a few thresholds."""
        columns = [Column("group"), *(Column(f"above {threshold:.0%}", percent) for threshold in TABLE_THRESHOLDS)]
        return Table(columns, [[name, *_profile(group, TABLE_THRESHOLDS)] for name, group in self.groups.items()])

    def improvement_table(self) -> Table:
        """Return the probability that a run of one group is better than one of another, by level and averaged over levels."""
        columns = [Column("level"), Column("group"), Column("against"), Column("probability of improvement", percent)]
        rows: list[list[Cell]] = []
        for place in self.places:
            for one, other in combinations(self.groups.values(), 2):
                found = bootstrap(improvement_probability, one.columns(place), other.columns(place), rng=_rng())
                rows.append([place, one.name, other.name, found])
        return Table(columns, rows)

    def difference_table(self) -> Table:
        """Return the mean win rate of each group, and its difference from the first group, by level and over all levels."""
        shown = [Column(place, percent) for place in self.places]
        differences = [Column(f"{place}: difference", percentage_points) for place in self.places]
        rows: list[list[Cell]] = []
        for group in self.groups.values():
            rates: list[Cell] = [bootstrap(mean, group.columns(place), rng=_rng()) for place in self.places]
            gains: list[Cell] = [
                None if group is self._first else bootstrap(_mean_difference, group.columns(place), self._first.columns(place), rng=_rng())
                for place in self.places
            ]
            rows.append([group.name, len(group.runs), *rates, *gains])
        return Table([Column("group"), Column("runs"), *shown, *differences], rows)

    def gap_table(self) -> Table:
        """Return self-play, cross-play and their difference by level and over all levels."""
        columns = [*map(Column, ("level", "group", "runs")), Column("self-play", percent), Column("cross-play", percent)]
        rows: list[list[Cell]] = []
        for place in self.places:
            for group in self.cross_play_groups():
                found = group.gap(place)
                rows.append([place, group.name, len(group.runs), found.self_play, found.cross_play, found.gap])
        return Table([*columns, Column("difference", percentage_points)], rows)

    def table(self) -> Table:
        """Return all aggregates: a row for each level and group, with the first group's probability of improvement and the gap."""
        summary = self.summary()
        columns, rows = [*summary.columns], [list(row) for row in summary.rows]
        if self._others:
            columns.append(Column(f"probability that {self._first.name} is better", percent))
            for row in rows:
                first, other = (self.groups[name].columns(str(row[0])) for name in (self._first.name, str(row[1])))
                row.append(None if row[1] == self._first.name else bootstrap(improvement_probability, first, other, rng=_rng()))
        if self.cross_play_groups():
            columns += [Column("cross-play", percent), Column("self-play minus cross-play", percentage_points)]
            for row in rows:
                group = self.groups[str(row[1])]
                gap = group.gap(str(row[0])) if group.has_cross_play else None
                row += [gap.cross_play, gap.gap] if gap else [None, None]
        return Table(columns, rows)

    def plots(self) -> dict[str, Any]:
        """Return the interquartile means by level, the performance profile, cross-play matrices and learning curves."""
        rates = {
            name: {place: bootstrap(interquartile_mean, group.columns(place), rng=_rng()) for place in self.places}
            for name, group in self.groups.items()
        }
        found = {
            "levels": bars(f"Interquartile mean of games won; {INTERVALS}\n{self.title}", rates, "level"),
            "profile": profiles(
                f"Performance profile\n{self.title}",
                {name: list(zip(PLOT_THRESHOLDS, _profile(group, PLOT_THRESHOLDS), strict=True)) for name, group in self.groups.items()},
            ),
        }
        for group in self.cross_play_groups():
            title = f"Cross-play in {group.name}: games won\n{self.title}"
            found[f"cross-play-{group.name}"] = matrix_plot(title, group.matrix(), "diocletian and galerius", "constantius and maximian")
        for name, runs in self._curves.items():
            found |= {f"{name}-{axis}": plot for axis, plot in learning_curve_plots(name, runs).items()}
        return found


def _mean_difference(first: Numbers, second: Numbers) -> Numbers:
    return mean(first) - mean(second)


def _profile(group: GroupResults, thresholds: Any) -> list[Estimate]:
    return bootstrap_each(lambda some: performance_profile(some, thresholds), group.scores, rng=_rng(), resamples=PROFILE_RESAMPLES)


def learning_curve_plots(name: str, runs: Mapping[str, Sequence[Any]]) -> dict[str, Any]:
    """Draw the learning curves of a group against timesteps and against minutes: the mean over runs with its band, and each run.

    Args:
        name: The group's name.
        runs: The points of each run's curve, as training writes them: timesteps, seconds and win rates by level.

    Returns:
        Plots by the name of their axis, `timesteps` and `minutes`; empty if the runs have no curves.
    """
    places = [place for points in runs.values() for place in (points[-1]["win_rates"] if points else ())]
    common = [place for place in dict.fromkeys(places) if places.count(place) == len(runs)]
    plots = {}
    for axis, label, entry, unit in (("timesteps", "million timesteps", "timesteps", 1e6), ("minutes", "minutes of PPO", "seconds", 60)):
        each: dict[str, list[Curve]] = {
            place: [
                [(point[entry] / unit, point["win_rates"][place]) for point in points if place in point["win_rates"]]
                for points in runs.values()
            ]
            for place in common
        }
        lines = {place: found for place, some in each.items() if (found := mean_curve(some, _rng()))}
        if lines:
            plots[axis] = curves(f"Learning curves of {name}: mean of {len(runs)} runs", lines, label, each)
    return plots
