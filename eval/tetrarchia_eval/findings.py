"""What an evaluation has found: as a terminal shows it, as one table to keep, and as pictures."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

from tetrarchia_env.board import EMPERORS
from tetrarchia_eval.comparison import ALL_LEVELS, Comparison, Field, all_games, compare_games, corrected, leads
from tetrarchia_eval.crossplay import odd_one_out_matrix, pair_matrix, seat_matrix
from tetrarchia_eval.overview import (
    EVERYTHING,
    GAMES,
    LOST,
    MEAN_SCORE,
    MILLISECONDS,
    TURNS,
    WON,
    lead_table,
    matrix_table,
    rival_table,
    summary_table,
    tested,
)
from tetrarchia_eval.plots import bars, heat_map, matrix_plot
from tetrarchia_eval.results import Header, Run
from tetrarchia_eval.screen import Part
from tetrarchia_eval.summary import Summary, summarize
from tetrarchia_eval.sweep import grid
from tetrarchia_eval.tables import Cell, Column, Table, gain, p_value, points
from tetrarchia_eval.wishes import ODDS, PAIRS
from tetrarchia_eval.wording import rules

FEW = 12  # levels, up to which each has its own line or bar; more are a map
MAP = "Games won in %: the two digits of a row (tokens, fleets) and of a column (Revolts, armies) are a level."


class Findings(Protocol):
    """Of one evaluation."""

    def shown(self) -> Iterator[Part]:
        """One thing below the other."""

    def table(self) -> Table:
        """All figures."""

    def pictures(self) -> dict[str, Any]:
        """By a word for each; that of an only one is empty."""


@dataclass(frozen=True)
class SideBySide:
    """Line-ups by their names; the first is compared with each of the others."""

    runs: Mapping[str, Run]

    def shown(self) -> Iterator[Part]:
        """Figures of each, then who is better."""
        yield heading(self._header)
        yield summary_table(self._summaries, self._lines, self._word, (GAMES, WON, MEAN_SCORE, TURNS, *self._endings, MILLISECONDS))
        if self._is_sweep:
            yield MAP
            yield from (part for name in self.runs for part in (name, grid(self._rates(name))))
        if len(self.runs) > 1:
            yield from self._leads() if self._is_sweep else self._tests()

    def table(self) -> Table:
        """A line for each place and line-up; beside the others how much more the first has."""
        table = summary_table(self._summaries, self._places, self._word, EVERYTHING)
        if len(self.runs) == 1:
            return table
        found = {(one.where, one.second): tested(one) for one in self._comparisons}
        first = next(iter(self.runs))
        columns = {f"{first} minus this, won": points, "p": p_value, f"{first} minus this, score": gain, "p, score": p_value}
        more = [Column(title, text) for title, text in columns.items()]
        rows = [[*row, *found.get((str(row[0]), str(row[1])), (None,) * len(more))] for row in table.rows]
        return Table([*table.columns, *more], rows)

    def pictures(self) -> dict[str, Any]:
        """Bars, or a map for each line-up."""
        if not self._is_sweep:
            rates = {name: {place: found[place].win_rate for place in self._places} for name, found in self._summaries.items()}
            return {"": bars(f"Games won\n{heading(self._header)}", rates, self._word)}
        maps = [heat_map(f"{name}: games won\n{heading(self._header)}", grid(self._rates(name))) for name in self.runs]
        return dict(zip(self.runs if len(maps) > 1 else [""], maps, strict=True))

    @cached_property
    def _header(self) -> Header:
        return next(iter(self.runs.values())).header

    @property
    def _is_sweep(self) -> bool:
        return len(self._header.levels) > FEW

    @property
    def _word(self) -> str:
        return "scenario" if self._header.arguments.get("scenario") else "level"

    @cached_property
    def _field(self) -> Field:
        place = self._header.arguments.get("scenario")
        field: Field = {name: {} for name in self.runs}
        for name, run in self.runs.items():
            for game in run.games:
                field[name].setdefault(place or game.level, []).append(game)
        return field

    @property
    def _places(self) -> list[str]:
        return list(next(iter(self._field.values())))

    @property
    def _lines(self) -> list[str]:
        """Places that have a line on the screen."""
        all_of_them = [ALL_LEVELS] if len(self._places) > 1 else []
        return all_of_them if self._is_sweep else [*self._places, *all_of_them]

    @cached_property
    def _summaries(self) -> dict[str, dict[str, Summary]]:
        return {
            name: {**{place: summarize(games) for place, games in found.items()}, ALL_LEVELS: summarize(all_games(found))}
            for name, found in self._field.items()
        }

    @property
    def _endings(self) -> Sequence[Any]:
        """Those that came: few games are truncated."""
        return [one for one in LOST if any(found[ALL_LEVELS].endings[one[0].title] for found in self._summaries.values())]

    def _rates(self, name: str) -> dict[str, float]:
        return {level: self._summaries[name][level].win_rate.value for level in self._places}

    @cached_property
    def _comparisons(self) -> list[Comparison]:
        first, *others = self.runs
        return corrected(
            [
                compare_games((first, self._field[first][place]), (other, self._field[other][place]), place)
                for place in self._places
                for other in others
            ]
        )

    def _tests(self) -> Iterator[Part]:
        if len(self._comparisons) == 1:
            yield sentence(self._comparisons[0])
            return
        first, tests = self._comparisons[0].first, len(self._comparisons)
        yield f"{first} minus the others on the same seeds; each p is corrected for these {tests} comparisons (Holm)."
        yield rival_table(self._comparisons, self._word)

    def _leads(self) -> Iterator[Part]:
        first, *others = self.runs
        yield "On the same seeds; a level counts with p < 0.05, corrected for all levels and line-ups (Holm)."
        yield lead_table(leads(self._field, [(first, other) for other in others], self._places))


@dataclass(frozen=True)
class Partners:
    """Cross-play: runs by kind and seating."""

    runs: Mapping[str, Run]

    def shown(self) -> Iterator[Part]:
        """Three matrices."""
        yield heading(next(iter(self.runs.values())).header)
        yield "Two players, in % of games won: rows have diocletian and galerius, columns constantius and maximian."
        yield matrix_table(pair_matrix(self._pairs), "East \\ West")
        yield "One stranger: rows have three Emperors, columns the fourth, whichever he is."
        yield matrix_table(odd_one_out_matrix(self._odds), "three \\ the fourth")
        yield "The same for each Emperor that the stranger may be."
        yield matrix_table(seat_matrix(self._odds), "three + the fourth")

    def table(self) -> Table:
        """A line for each seating."""
        columns = [*map(Column, EMPERORS), *(column for column, _ in EVERYTHING)]
        rows: list[list[Cell]] = []
        for run in self.runs.values():
            figures = summarize(run.games)
            rows.append([*run.header.agents, *(value(figures) for _, value in EVERYTHING)])
        return Table(columns, rows)

    def pictures(self) -> dict[str, Any]:
        """The matrix of pairs and that of odd ones out."""
        where = heading(next(iter(self.runs.values())).header)
        return {
            PAIRS: matrix_plot(
                f"Pair play: games won\n{where}", pair_matrix(self._pairs), "diocletian and galerius", "constantius and maximian"
            ),
            ODDS: matrix_plot(f"One stranger: games won\n{where}", odd_one_out_matrix(self._odds), "three Emperors", "the fourth"),
        }

    @property
    def _pairs(self) -> list[Run]:
        return [run for name, run in self.runs.items() if name.startswith(PAIRS)]

    @property
    def _odds(self) -> list[Run]:
        """And each agent with itself, to compare with."""
        alone = [run for run in self._pairs if len(set(run.header.agents)) == 1]
        return [*alone, *(run for name, run in self.runs.items() if name.startswith(ODDS))]


def heading(header: Header) -> str:
    """What was played."""
    word = "level" if len(header.levels) == 1 else "levels"
    levels = f"{word} {', '.join(header.levels)}" if len(header.levels) <= FEW else f"{len(header.levels)} {word}"
    last = header.first_seed + header.games - 1
    return f"{rules(header)}, {levels}, {header.games:,} games each, seeds {header.first_seed} to {last}"


def sentence(one: Comparison) -> str:
    """A comparison that stands alone."""
    return (
        f"{one.first} minus {one.second} on the same {one.wins.pairs:,} seeds: games won {points(one.wins.difference)} percentage "
        f"points, {_p(one.wins.p)} (McNemar's exact test); score {gain(one.score.difference)}, {_p(one.score.p)} (random signs)."
    )


def _p(p: float) -> str:
    text = p_value(p)
    return f"p {text}" if text.startswith("<") else f"p = {text}"
