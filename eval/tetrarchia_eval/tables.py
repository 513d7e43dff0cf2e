"""Tables of results: how each kind of figure is written, and export as Markdown, CSV and JSON."""

import csv
import io
import json
import math
import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.files import check_writable, write_text_atomic
from tetrarchia_env.messages import printable
from tetrarchia_eval.statistics import Estimate

Cell = str | int | float | Estimate | None
# Characters with a meaning in Markdown or HTML, except an underscore inside a word and a sign followed by a space.
MARKUP = re.compile(r"[`*~\[\]$]|[<&!](?=\S)|\\(?=[^\w\s])|(?<!\w)_|_(?!\w)|(?<=:)/(?=/)|(?<=www)\.")
MIN_P_SHOWN = 0.0001


def plain(cell: Cell) -> str:
    """Format text as it is and integers with thousands separators."""
    return f"{cell:,}" if isinstance(cell, int) else str(cell)


def percent(cell: Cell) -> str:
    """Format a fraction, e.g. ``62.3 %`` or with its interval ``62.3 % (59.1 to 65.4)``."""
    return _with_interval(cell, lambda fraction: f"{100 * fraction:.1f}", unit=" %")


def percentage_points(cell: Cell) -> str:
    """Format a difference of fractions with its sign, e.g. ``+12.3 (9.1 to 15.4)``."""
    return _with_interval(cell, lambda fraction: f"{100 * fraction:.1f}", signed=True)


def mean(cell: Cell) -> str:
    """Format a mean, e.g. ``4.21`` or with its interval ``4.21 (4.02 to 4.40)``."""
    return _with_interval(cell, lambda value: f"{value:.2f}")


def mean_difference(cell: Cell) -> str:
    """Format a difference of means with its sign, e.g. ``+0.52 (0.31 to 0.74)``."""
    return _with_interval(cell, lambda value: f"{value:.2f}", signed=True)


def milliseconds(cell: Cell) -> str:
    """Format with two decimals, or as many as two significant digits need, e.g. ``12.30`` or ``0.0034``."""
    return _with_interval(cell, lambda value: f"{value:.{max(2, 1 - math.floor(math.log10(value)) if value > 0 else 0)}f}")


def one_decimal(cell: Cell) -> str:
    """Format a number with one decimal."""
    return f"{cell:,.1f}"


def p_value(cell: Cell) -> str:
    """Format a p-value, e.g. ``0.0123`` or ``< 0.0001``."""
    assert isinstance(cell, float)
    return f"{cell:.4f}" if cell >= MIN_P_SHOWN else f"< {MIN_P_SHOWN}"


def _with_interval(cell: Cell, write: Callable[[float], str], unit: str = "", signed: bool = False) -> str:
    def number(value: float) -> str:
        text = write(value)
        return text if float(text) else text.removeprefix("-")  # no minus zero

    estimate = cell if isinstance(cell, Estimate) else None
    value = estimate.value if estimate else cell
    assert isinstance(value, float | int)
    sign = "+" if signed and float(number(value)) > 0 else ""
    interval = f" ({number(estimate.low)} to {number(estimate.high)})" if estimate else ""
    return f"{sign}{number(value)}{unit}{interval}"


@dataclass(frozen=True)
class Column:
    """A column's title and the format of its cells."""

    title: str
    text: Callable[[Cell], str] = plain


@dataclass(frozen=True)
class Table:
    """Rows of cells under columns; an empty cell is None."""

    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.columns):
                raise RuntimeError(f"a row of this table has {len(self.columns)} cells; got {len(row)}: {list(row)}")

    @property
    def titles(self) -> list[str]:
        """The titles of the columns."""
        return [column.title for column in self.columns]

    def texts(self, row: Sequence[Cell]) -> list[str]:
        """Return the formatted cells of a row."""
        return ["" if cell is None else column.text(cell) for column, cell in zip(self.columns, row, strict=True)]

    def is_text(self, place: int) -> bool:
        """Return whether a column has no numbers."""
        return all(isinstance(row[place], str | None) for row in self.rows)

    def markdown(self) -> str:
        """Return the table as Markdown: text columns left-aligned, numbers right-aligned."""

        def line(cells: Sequence[str]) -> str:
            return f"| {' | '.join(cells)} |\n"

        def escaped(cells: Sequence[str]) -> list[str]:
            return [escape_markdown(cell).replace("|", "\\|") for cell in cells]

        marks = ["---" if self.is_text(place) else "---:" for place in range(len(self.columns))]
        return "".join([line(escaped(self.titles)), line(marks), *(line(escaped(self.texts(row))) for row in self.rows)])

    def csv(self) -> str:
        """Return the table as CSV with unrounded numbers; an interval takes two more columns."""
        has_interval = [any(isinstance(row[place], Estimate) for row in self.rows) for place in range(len(self.columns))]

        def spread(row: Sequence[Cell]) -> Iterator[Cell]:
            for cell, wide in zip(row, has_interval, strict=True):
                if isinstance(cell, Estimate):
                    yield from (cell.value, cell.low, cell.high)
                else:
                    yield from (cell, None, None) if wide else (cell,)

        titles = [
            part
            for title, wide in zip(self.titles, has_interval, strict=True)
            for part in ([title, f"{title}, low", f"{title}, high"] if wide else [title])
        ]
        lines = io.StringIO()
        csv.writer(lines, lineterminator="\n").writerows([titles, *map(spread, self.rows)])
        return lines.getvalue()

    def json(self) -> str:
        """Return the table as a JSON list of rows by title; a figure with an interval has value, low and high."""
        cells = [[asdict(cell) if isinstance(cell, Estimate) else cell for cell in row] for row in self.rows]
        return json.dumps([dict(zip(self.titles, row, strict=True)) for row in cells], indent=1, ensure_ascii=False) + "\n"


FORMATS = {".md": Table.markdown, ".csv": Table.csv, ".json": Table.json}


def escape_markdown(text: str) -> str:
    """Return Markdown that renders as this text: names of agents may contain any markup."""
    return MARKUP.sub(r"\\\g<0>", printable(text.replace("\n", " ")))


def write_table(table: Table, path: str | os.PathLike[str]) -> None:
    """Write a table in the format of the file's suffix: .md, .csv or .json.

    Raises:
        TetrarchiaError: If the suffix is another one or the file cannot be written.
    """
    check_table(path)
    write_text_atomic(path, FORMATS[Path(path).suffix](table))


def check_table(path: str | os.PathLike[str]) -> None:
    """Raise TetrarchiaError if a table cannot be written there."""
    if Path(path).suffix not in FORMATS:
        raise TetrarchiaError(f"table must end in {', '.join(FORMATS)}; got {os.fspath(path)!r}")
    check_writable(Path(path))
