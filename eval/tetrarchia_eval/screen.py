"""Results as a terminal shows them: sentences, tables, and maps of levels."""

import sys
from textwrap import fill

import numpy as np
from rich import box
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table as RichTable
from rich.text import Text

from tetrarchia_eval.sweep import Grid
from tetrarchia_eval.tables import Table

WIDE = 200  # characters of a line that goes into a pipe or a file: nothing is folded there
NAME = 12  # characters of a name that are not folded
TITLE = 7  # characters of a line of a column's title, unless a word is longer

Part = str | Table | Grid


def show(part: Part) -> None:
    """Print it; a table that is too wide breaks its intervals, and then leaves it to the terminal to fold lines: nothing is cut off."""
    console = Console(width=None if sys.stdout.isatty() else WIDE, highlight=False, markup=False)
    if isinstance(part, str):
        console.print(part)
        return
    drawn = _map(part) if isinstance(part, Grid) else _table(part, " (")
    if isinstance(part, Table) and _width(drawn, console) > console.width:
        drawn = _table(part, "\n(")
    console.print(drawn, width=max(_width(drawn, console), console.width), crop=False)
    console.print()


def _width(table: RichTable, console: Console) -> int:
    """Of a table with nothing folded."""
    return Measurement.get(console, console.options.update(width=10 * WIDE), table).maximum


def _table(table: Table, before_interval: str) -> RichTable:
    """Words at the left, numbers at the right and never broken but before an interval."""
    shown = RichTable(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False)
    for place, column in enumerate(table.columns):
        words = table.holds_words(place)
        title = Text(fill(column.title, TITLE, break_long_words=False, break_on_hyphens=False))
        least = min(NAME, max(map(len, [column.title, *(str(row[place]) for row in table.rows)]))) if words else None
        shown.add_column(title, justify="left" if words else "right", no_wrap=not words, overflow="fold", min_width=least)
    for row in table.rows:
        shown.add_row(*(Text(text.replace(" (", before_interval)) for text in table.texts(row)))
    return shown


def _map(grid: Grid) -> RichTable:
    """Win rates in percent: a row's two digits and a column's two are a level."""
    tokens, fleets, revolts, armies = grid.choices
    shown = RichTable(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False)
    shown.add_column("", style="bold")
    for column in (more + less for more in revolts for less in armies):
        shown.add_column(column, justify="right", min_width=3)
    for name, row in zip((more + less for more in tokens for less in fleets), grid.values, strict=True):
        shown.add_row(name, *("" if np.isnan(value) else f"{100 * value:.0f}" for value in row))
    return shown
