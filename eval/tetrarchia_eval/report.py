"""Reports of an evaluation: what the terminal shows, one table with all figures, and plots."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from tetrarchia_env.board import EMPERORS
from tetrarchia_eval.analysis import (
    ENDINGS,
    OVERALL,
    Comparison,
    GamesByTeam,
    Matrix,
    Summary,
    ad_hoc_matrix,
    all_games,
    compare_games,
    corrected,
    emperor_matrix,
    leads,
    level_grid,
    pair_matrix,
    paired_games,
    summarize,
)
from tetrarchia_eval.console import Part
from tetrarchia_eval.match import Match, MatchSpec, rules_label
from tetrarchia_eval.plots import bars, heat_map, matrix_plot
from tetrarchia_eval.statistics import SIGN_FLIPS, Estimate
from tetrarchia_eval.tables import (
    MIN_P_SHOWN,
    Cell,
    Column,
    Table,
    mean,
    mean_difference,
    milliseconds,
    one_decimal,
    p_value,
    percent,
    percentage_points,
)

PAIRS, AD_HOC = "pair", "ad-hoc"  # the two kinds of cross-play, and their folders
EAST_WEST, THREE_FOURTH = "East \\ West", "three \\ the fourth"  # corners of the matrices
MAX_LEVEL_ROWS = 12  # more levels are shown as a map
MAP_LEGEND = "Games won in %. Rows: first two digits of the level (tokens, fleets); columns: last two digits (Revolts, armies)."

Statistic = tuple[Column, Callable[[Summary], Cell]]
GAMES: Statistic = (Column("games"), lambda one: one.games)
WON: Statistic = (Column("won", percent), lambda one: one.win_rate)
SCORE: Statistic = (Column("score", mean), lambda one: one.score)
MEAN_SCORE: Statistic = (Column("score", mean), lambda one: one.score.value)
TURNS: Statistic = (Column("turns, mean", one_decimal), lambda one: one.turns)
MEDIAN_TURNS: Statistic = (Column("turns, median", one_decimal), lambda one: one.median_turns)
DECISIONS: Statistic = (Column("decisions per game", one_decimal), lambda one: one.steps)
UNSECURED: Statistic = (Column("borders not secured", mean), lambda one: one.unsecured)
MILLISECONDS: Statistic = (Column("ms per decision", milliseconds), lambda one: one.milliseconds)


def ended(ending: str) -> Statistic:
    """Return the column of the fraction of games with an outcome."""
    return Column(ending, percent), lambda one: one.fraction(ending)


ENDED = tuple(map(ended, ENDINGS))
LOST = ENDED[1:]
ALL_STATISTICS = (GAMES, WON, SCORE, TURNS, MEDIAN_TURNS, DECISIONS, *LOST, UNSECURED, MILLISECONDS)


@dataclass(frozen=True)
class Results:
    """Games by team and place (level, scenario or rules) with their statistics."""

    games: GamesByTeam
    places: Sequence[str]
    place_kind: str  # title of the column of places

    @cached_property
    def summaries(self) -> dict[str, dict[str, Summary]]:
        """Statistics by team and place."""
        return {team: {place: summarize(found[place]) for place in self.places if place in found} for team, found in self.games.items()}

    @cached_property
    def overall(self) -> dict[str, Summary]:
        """Statistics of each team over all places."""
        return {team: summarize(all_games(found)) for team, found in self.games.items()}

    def win_rates(self) -> dict[str, dict[str, Estimate]]:
        """Return the win rates by team and place."""
        return {team: {place: one.win_rate for place, one in found.items()} for team, found in self.summaries.items()}

    def table(self, statistics: Sequence[Statistic], *, overall: bool = False, places: bool = True) -> Table:
        """Return a row for each place and team, and for each team over all places if asked for."""
        rows = [(place, team, found[place]) for place in self.places for team, found in self.summaries.items() if place in found and places]
        rows += [(OVERALL, team, one) for team, one in self.overall.items() if overall]
        columns = [Column(self.place_kind), Column("agent"), *(column for column, _ in statistics)]
        return Table(columns, [[place, team, *(value(one) for _, value in statistics)] for place, team, one in rows])

    def comparisons(self, pairs: Iterable[tuple[str, str]]) -> list[Comparison]:
        """Compare pairs of teams at each place on the same seeds, with Holm's correction."""
        pairs = list(pairs)
        return corrected(
            [
                compare_games((first, self.games[first][place]), (second, self.games[second][place]), place)
                for place in self.places
                for first, second in pairs
                if paired_games(self.games[first].get(place, []), self.games[second].get(place, []))
            ]
        )

    def leads(self, pairs: Iterable[tuple[str, str]]) -> Table:
        """Return at how many levels each team of a pair is better."""
        titles = ("agent", "against", "levels", "better at", "worse at")
        return Table([*map(Column, titles), Column("mean difference", percentage_points)], leads(self.games, pairs, self.places))


def comparison_table(tests: Sequence[Comparison], place_kind: str, team: str = "agent") -> Table:
    """Return a row for each comparison: wins, then scores."""
    differences = [
        Column("difference", percentage_points),
        Column("p", p_value),
        Column("score", mean_difference),
        Column("p, score", sign_flip_p(len(tests))),
    ]
    columns = [*map(Column, (place_kind, team, "against", "pairs")), *differences]
    return Table(columns, [(one.where, one.first, one.second, one.wins.pairs, *comparison_cells(one)) for one in tests])


def sign_flip_p(tests: int) -> Callable[[Cell], str]:
    """Return the format of p-values of the sign-flip test after Holm's correction for a number of tests.

    The test draws a fixed number of random signs, so that its p-values have a minimum: it is written as a bound, ``<= 0.0022``.
    """
    minimum = min(1.0, tests / (1 + SIGN_FLIPS))

    def text(cell: Cell) -> str:
        assert isinstance(cell, float)
        return f"<= {p_value(cell)}" if MIN_P_SHOWN <= cell <= minimum * (1 + 1e-9) else p_value(cell)

    return text


def comparison_cells(one: Comparison) -> tuple[Cell, ...]:
    """Return difference and p-value of wins, then of scores."""
    return one.wins.difference, one.wins.p, one.score.difference, one.score.p


def matrix_table(matrix: Matrix, corner: str) -> Table:
    """Return win rates by row and column."""
    columns = [Column(corner), *(Column(name, percent) for name in matrix.columns)]
    return Table(columns, [[row, *(matrix.cells.get((row, column)) for column in matrix.columns)] for row in matrix.rows])


def match_title(spec: MatchSpec) -> str:
    """Return rules, levels, games and seeds in one line."""
    kind = "level" if len(spec.levels) == 1 else "levels"
    levels = f"{kind} {', '.join(spec.levels)}" if len(spec.levels) <= MAX_LEVEL_ROWS else f"{len(spec.levels)} {kind}"
    last = spec.first_seed + spec.games - 1
    privileged = f", full information: {', '.join(spec.full_information)}" if spec.full_information else ""
    return f"{rules_label(spec)}, {levels}, {spec.games:,} games each, seeds {spec.first_seed} to {last}{privileged}"


class ComparisonReport:
    """Line-ups at the same levels and seeds; the first is compared with each of the others."""

    def __init__(self, matches: Mapping[str, Match]) -> None:
        self._spec = next(iter(matches.values())).spec
        self._first, *self._others = matches
        self._is_sweep = len(self._spec.levels) > MAX_LEVEL_ROWS
        set_up, kind = self._spec.set_up, "scenario" if self._spec.arguments.get("scenario") else "task"
        games: GamesByTeam = {name: {} for name in matches}
        for name, match in matches.items():
            for game in match.games:
                games[name].setdefault(set_up or game.level, []).append(game)
        self._results = Results(games, list(games[self._first]), kind if set_up else "level")
        self._pairs = [(self._first, other) for other in self._others]

    def parts(self) -> Iterator[Part]:
        """Yield what the terminal shows: statistics of each line-up, then comparisons."""
        results = self._results
        endings = [one for one in LOST if any(summary.endings[one[0].title] for summary in results.overall.values())]
        statistics = (GAMES, WON, MEAN_SCORE, TURNS, *endings, MILLISECONDS)
        yield match_title(self._spec)
        yield results.table(statistics, overall=len(results.places) > 1, places=not self._is_sweep)
        if self._is_sweep:
            yield MAP_LEGEND
            for name, rates in results.win_rates().items():
                yield name
                yield level_grid({level: rate.value for level, rate in rates.items()})
        if self._others and self._is_sweep:
            yield "On the same seeds; a level counts with p < 0.05, corrected for all levels and line-ups (Holm)."
            yield results.leads(self._pairs)
        elif self._others:
            yield from self._comparison_parts()

    def _comparison_parts(self) -> Iterator[Part]:
        tests = self._results.comparisons(self._pairs)
        if len(tests) > 1:
            yield f"{self._first} minus the others on the same seeds; p-values are corrected for {len(tests)} comparisons (Holm)."
            table = comparison_table(tests, self._results.place_kind)
            yield Table([table.columns[0], *table.columns[2:]], [[row[0], *row[2:]] for row in table.rows])
            return

        def p(text: str) -> str:
            return f"p {text}" if text.startswith("<") else f"p = {text}"

        (one,) = tests
        yield (
            f"{one.first} minus {one.second} on the same {one.wins.pairs:,} seeds: "
            f"games won {percentage_points(one.wins.difference)} percentage points, {p(p_value(one.wins.p))} (McNemar's exact test); "
            f"score {mean_difference(one.score.difference)}, {p(sign_flip_p(1)(one.score.p))} (sign-flip test)."
        )

    def table(self) -> Table:
        """Return all statistics: a row for each place and line-up, with the first line-up's lead over it."""
        table = self._results.table(ALL_STATISTICS)
        if not self._others:
            return table
        found = {(one.where, one.second): comparison_cells(one) for one in self._results.comparisons(self._pairs)}
        minus = f"{self._first} minus this"
        formats = {
            f"{minus}, won": percentage_points,
            "p": p_value,
            f"{minus}, score": mean_difference,
            "p, score": sign_flip_p(len(found)),
        }
        more = [Column(title, text) for title, text in formats.items()]
        rows = [[*row, *found.get((str(row[0]), str(row[1])), (None,) * len(more))] for row in table.rows]
        return Table([*table.columns, *more], rows)

    def plots(self) -> dict[str, Any]:
        """Return bars, or a heat map for each line-up; a single plot has an empty name."""
        rates, title = self._results.win_rates(), match_title(self._spec)
        if not self._is_sweep:
            return {"": bars(f"Games won\n{title}", rates, self._results.place_kind)}
        grids = {name: level_grid({level: rate.value for level, rate in found.items()}) for name, found in rates.items()}
        maps = {name: heat_map(f"{name}: games won\n{title}", grid) for name, grid in grids.items()}
        return maps if len(maps) > 1 else {"": maps[self._first]}


class CrossPlayReport:
    """Every agent with every other; the names of the matches begin with the kind of cross-play."""

    def __init__(self, matches: Mapping[str, Match]) -> None:
        self._matches = list(matches.values())
        self._title = match_title(self._matches[0].spec)
        pairs = [match for name, match in matches.items() if name.startswith(PAIRS)]
        alone = [match for match in pairs if len(set(match.spec.agents)) == 1]
        ad_hoc = [*alone, *(match for name, match in matches.items() if name.startswith(AD_HOC))]
        self._pair_matrix, self._ad_hoc_matrix, self._emperor_matrix = pair_matrix(pairs), ad_hoc_matrix(ad_hoc), emperor_matrix(ad_hoc)

    def parts(self) -> Iterator[Part]:
        """Yield what the terminal shows: three matrices."""
        yield self._title
        yield "Two players, games won in %. Rows: diocletian and galerius; columns: constantius and maximian."
        yield matrix_table(self._pair_matrix, EAST_WEST)
        yield "Ad hoc teamwork, games won in %. Rows: three Emperors; columns: the fourth, mean over the four Emperors."
        yield matrix_table(self._ad_hoc_matrix, THREE_FOURTH)
        yield "Ad hoc teamwork by the fourth Emperor, games won in %."
        yield matrix_table(self._emperor_matrix, "three + the fourth")

    def table(self) -> Table:
        """Return all statistics: a row for each team."""
        columns = [*map(Column, EMPERORS), *(column for column, _ in ALL_STATISTICS)]
        rows: list[list[Cell]] = []
        for match in self._matches:
            summary = summarize(match.games)
            rows.append([*match.spec.team, *(value(summary) for _, value in ALL_STATISTICS)])
        return Table(columns, rows)

    def plots(self) -> dict[str, Any]:
        """Return the matrix of pairs and that of ad hoc teams."""
        return {
            PAIRS: pair_plot(self._pair_matrix, self._title),
            AD_HOC: ad_hoc_plot(self._ad_hoc_matrix, self._title),
        }


def pair_plot(matrix: Matrix, title: str) -> Any:
    """Draw the matrix of pairs."""
    return matrix_plot(f"Cross-play in pairs: games won\n{title}", matrix, "diocletian and galerius", "constantius and maximian")


def ad_hoc_plot(matrix: Matrix, title: str) -> Any:
    """Draw the matrix of ad hoc teams."""
    return matrix_plot(f"Ad hoc teamwork: games won\n{title}", matrix, "three Emperors", "the fourth")
