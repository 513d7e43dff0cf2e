"""Tables of results as Markdown to read, as CSV and JSON to go on computing with; the one way each kind of figure is written."""

import csv
import io
import json
import math
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.files import check_writable, write_text_atomic
from tetrarchia_env.messages import printable
from tetrarchia_eval.analysis import ENDINGS, Comparison, Lead, Matrix, Summary
from tetrarchia_eval.statistics import Estimate

Cell = str | int | float | Estimate | None
# What begins something in Markdown or HTML; not an underscore within a word, nor a sign that stands before a blank.
MARKUP = re.compile(r"[`*~\[\]$]|[<&!](?=\S)|\\(?=[^\w\s])|(?<!\w)_|_(?!\w)|(?<=:)/(?=/)|(?<=www)\.")
LEAST_P = 0.0001  # smaller ones are not told apart on a page


def plain(cell: Cell) -> str:
    """Words as they are, whole numbers with commas."""
    return f"{cell:,}" if isinstance(cell, int) else str(cell)


def percent(cell: Cell) -> str:
    """A share: 62.3 %, with its interval: 62.3 % (59.1 to 65.4)."""
    return _told(cell, lambda share: f"{100 * share:.1f}", " %")


def points(cell: Cell) -> str:
    """A difference of shares, with its sign: +12.3 (9.1 to 15.4)."""
    return _told(cell, lambda share: f"{100 * share:.1f}", "", signed=True)


def figure(cell: Cell) -> str:
    """A mean: 4.21, with its interval: 4.21 (4.02 to 4.40)."""
    return _told(cell, lambda value: f"{value:.2f}", "")


def milliseconds(cell: Cell) -> str:
    """A mean with two decimals, or as many more as show two digits: 12.30, 0.0034."""
    return _told(cell, lambda value: f"{value:.{max(2, 1 - math.floor(math.log10(value)) if value > 0 else 0)}f}", "")


def gain(cell: Cell) -> str:
    """A difference of means, with its sign: +0.52 (0.31 to 0.74)."""
    return _told(cell, lambda value: f"{value:.2f}", "", signed=True)


def short(cell: Cell) -> str:
    """A mean with one decimal."""
    return f"{cell:,.1f}"


def p_value(cell: Cell) -> str:
    """A p: 0.0123, or < 0.0001."""
    assert isinstance(cell, float)
    return f"{cell:.4f}" if cell >= LEAST_P else f"< {LEAST_P}"


def _told(cell: Cell, write: Callable[[float], str], unit: str, signed: bool = False) -> str:
    value = cell.value if isinstance(cell, Estimate) else cell
    assert isinstance(value, float | int)
    number = _without_minus_zero(write(value))
    sign = "+" if signed and not number.startswith("-") and float(number) else ""
    if not isinstance(cell, Estimate):
        return f"{sign}{number}{unit}"
    return f"{sign}{number}{unit} ({_without_minus_zero(write(cell.low))} to {_without_minus_zero(write(cell.high))})"


def _without_minus_zero(number: str) -> str:
    return number if float(number) else number.removeprefix("-")


@dataclass(frozen=True)
class Column:
    """Its title, and how a reader sees its cells."""

    title: str
    text: Callable[[Cell], str] = plain


@dataclass(frozen=True)
class Table:
    """Rows of cells under columns; a cell without a value is None."""

    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.columns):
                raise TetrarchiaError(f"a row of this table has {len(self.columns)} cells, not {len(row)}: {list(row)}")

    def markdown(self) -> str:
        """To read; columns of words stand at the left, numbers at the right."""
        marks = ["---" if self.holds_words(place) else "---:" for place in range(len(self.columns))]
        lines = [[column.title for column in self.columns], *([self.texts(row) for row in self.rows])]
        return "".join(f"| {' | '.join(cells)} |\n" for cells in (_escaped(lines[0]), marks, *map(_escaped, lines[1:])))

    def csv(self) -> str:
        """To compute with: an interval takes two more columns."""
        lines = io.StringIO()
        writer = csv.writer(lines, lineterminator="\n")
        writer.writerow(self._spread([column.title for column in self.columns], lambda title: [title, f"{title}, low", f"{title}, high"]))
        for row in self.rows:
            writer.writerow(self._spread(row, lambda cell: [None] * 3 if cell is None else [cell.value, cell.low, cell.high]))
        return lines.getvalue()

    def json(self) -> str:
        """To compute with: a list of rows by title; a figure with an interval is a table of value, low and high."""
        titles = [column.title for column in self.columns]
        rows = [{title: _data(cell) for title, cell in zip(titles, row, strict=True)} for row in self.rows]
        return json.dumps(rows, indent=1, ensure_ascii=False) + "\n"

    def texts(self, row: Sequence[Cell]) -> list[str]:
        """What a reader sees of a row."""
        return ["" if cell is None else column.text(cell) for column, cell in zip(self.columns, row, strict=True)]

    def holds_words(self, place: int) -> bool:
        """Whether this column is no numbers."""
        return all(isinstance(row[place], str | None) for row in self.rows)

    def _spread(self, row: Sequence[Any], parts: Callable[[Any], list[Any]]) -> list[Any]:
        return [part for place, cell in enumerate(row) for part in (parts(cell) if self._holds_estimates(place) else [cell])]

    def _holds_estimates(self, place: int) -> bool:
        return any(isinstance(row[place], Estimate) for row in self.rows)


FORMS = {".md": Table.markdown, ".csv": Table.csv, ".json": Table.json}


def _escaped(cells: Sequence[str]) -> Iterator[str]:
    yield from (markdown_text(cell).replace("|", "\\|") for cell in cells)


def markdown_text(words: str) -> str:
    """As Markdown that reads as these words, whatever signs of markup they hold: names of agents may be anything."""
    return MARKUP.sub(r"\\\g<0>", printable(words.replace("\n", " ")))


def _data(cell: Cell) -> object:
    return asdict(cell) if isinstance(cell, Estimate) else cell


def write_table(table: Table, path: str | os.PathLike[str]) -> None:
    """Write a table as its file's ending says: .md, .csv or .json."""
    check_table(path)
    write_text_atomic(path, FORMS[Path(path).suffix](table))


def check_table(path: str | os.PathLike[str]) -> None:
    """ValueError if a table cannot be written there."""
    ending = Path(path).suffix
    if ending not in FORMS:
        raise TetrarchiaError(f"a table is written as {', '.join(FORMS)}, not {ending or os.fspath(path)!r}")
    check_writable(Path(path))


Summaries = Mapping[str, Mapping[str, Summary]]  # by team and place: a level, a scenario, ...
Drawn = tuple[Column, Callable[[Summary], Cell]]

GAMES: Drawn = (Column("games"), lambda one: one.games)
WON: Drawn = (Column("won", percent), lambda one: one.win_rate)
SCORE: Drawn = (Column("score", figure), lambda one: one.score)
MEAN_SCORE: Drawn = (Column("score", figure), lambda one: one.score.value)
TURNS: Drawn = (Column("turns, mean", short), lambda one: one.turns)
MEDIAN_TURNS: Drawn = (Column("turns, median", short), lambda one: one.median_turns)
DECISIONS: Drawn = (Column("decisions a game", short), lambda one: one.steps)
UNSECURED: Drawn = (Column("borders not secured", figure), lambda one: one.unsecured)
MILLISECONDS: Drawn = (Column("ms a decision", milliseconds), lambda one: one.milliseconds)


def ended(ending: str) -> Drawn:
    """The share of games that ended so."""
    return Column(ending, percent), lambda one: one.share(ending)


ENDED = tuple(map(ended, ENDINGS))
LOST = ENDED[1:]
EVERYTHING = (GAMES, WON, SCORE, TURNS, MEDIAN_TURNS, DECISIONS, *LOST, UNSECURED, MILLISECONDS)


def summary_table(summaries: Summaries, places: Sequence[str], word: str, columns: Sequence[Drawn]) -> Table:
    """A row for each place and team that played there."""
    rows = [
        [place, team, *(value(found[place]) for _, value in columns)]
        for place in places
        for team, found in summaries.items()
        if place in found
    ]
    return Table([Column(word), Column("agent"), *(column for column, _ in columns)], rows)


def comparison_table(tests: Sequence[Comparison], word: str, who: str = "agent") -> Table:
    """A row for each: wins, then scores."""
    titles = (word, who, "against", "pairs")
    columns = [*map(Column, titles), Column("difference", points), Column("p", p_value), Column("score", gain), Column("p, score", p_value)]
    return Table(columns, [(one.where, one.first, one.second, one.wins.pairs, *tested(one)) for one in tests])


def rival_table(tests: Sequence[Comparison], word: str) -> Table:
    """The same for one that is compared with several others: its name need not be told."""
    table = comparison_table(tests, word)
    return Table([table.columns[0], *table.columns[2:]], [[row[0], *row[2:]] for row in table.rows])


def tested(one: Comparison) -> tuple[Cell, ...]:
    """The figures of a comparison."""
    return one.wins.difference, one.wins.p, one.score.difference, one.score.p


def lead_table(found: Sequence[Lead]) -> Table:
    """A row for each two teams."""
    titles = ("agent", "against", "levels", "better at", "worse at")
    rows = [(one.first, one.second, one.levels, one.better, one.worse, one.difference) for one in found]
    return Table([*map(Column, titles), Column("mean difference", points)], rows)


def matrix_table(matrix: Matrix, corner: str) -> Table:
    """Win rates of rows with columns."""
    columns = [Column(corner), *(Column(name, percent) for name in matrix.columns)]
    return Table(columns, [[row, *(matrix.cells.get((row, column)) for column in matrix.columns)] for row in matrix.rows])
