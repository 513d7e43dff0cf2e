"""What a terminal shows of an evaluation: its progress, then sentences, tables, and maps of levels."""

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from textwrap import fill

import numpy as np
from rich import box
from rich.console import Console
from rich.measure import Measurement
from rich.progress import BarColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bar
from rich.table import Table as RichTable
from rich.text import Text

from tetrarchia_agents import GameResult
from tetrarchia_env.messages import printable
from tetrarchia_eval.arena import Progress
from tetrarchia_eval.result_tables import Table
from tetrarchia_eval.sweep import Grid

EVERY = 30.0  # seconds between two lines of progress that goes into a file
WIDTH = 20  # of the bar: the words beside it take the rest of a narrow terminal
WIDE = 200  # characters of a line that goes into a pipe or a file: nothing is folded there
NAME = 12  # characters of a name that are not folded
TITLE = 7  # characters of a line of a column's title, unless a word is longer

Part = str | Table | Grid


@contextmanager
def showing(total: int, place: Callable[[], str] = str) -> Iterator[Callable[[str], Progress]]:
    """What gives each match, by its name, someone to tell of its games; so many are to come in all matches.

    place: says where they are played, if that is worth a word
    """
    console, tally = Console(stderr=True), Tally(total, place)
    if not console.is_terminal:
        yield _teller(tally, _Lines())
        return
    words = TextColumn("{task.description}", markup=False)
    with Bar(SpinnerColumn(), BarColumn(WIDTH), words, TimeElapsedColumn(), console=console) as bar:
        yield _teller(tally, _Bar(tally, bar))


@dataclass
class Tally:
    """Counts the games of one match after the other; those that the files held before and compiling are no part of the speed."""

    total: int
    place: Callable[[], str] = str  # where games are played
    done: int = 0
    earlier: int = 0
    name: str = ""  # of the match at hand
    played: int = 0  # of its games
    won: int = 0
    seconds: float = 0.0  # of playing
    told: float = field(default_factory=time.monotonic)  # when there was news

    def begin(self, name: str, games: Sequence[GameResult]) -> None:
        """A match begins, and these of its games were played before."""
        self.name, self.played, self.won = name, 0, 0
        self.earlier += len(games)
        self._count(games)

    def add(self, games: Sequence[GameResult]) -> None:
        """These are finished; none: all is compiled, and playing begins."""
        if games:
            self.seconds += time.monotonic() - self.told
        self._count(games)

    def _count(self, games: Sequence[GameResult]) -> None:
        self.told = time.monotonic()
        self.done += len(games)
        self.played += len(games)
        self.won += sum(game.won for game in games)

    def text(self) -> str:
        """The match, its share of wins, games done, where, speed and time left."""
        words = [f"{self.done:,} of {self.total:,} games"]
        share = f"{self.won / self.played:.1%} won" if self.played else ""
        words = [*filter(None, [f"{printable(self.name)} {share}".strip(), *words, self.place()])]
        fresh = self.done - self.earlier
        if fresh:
            rate = fresh / max(self.seconds, 1e-9)
            words += [
                f"{rate:,.3g} games/s" if rate < 100 else f"{rate:,.0f} games/s",
                f"{timedelta(seconds=round((self.total - self.done) / rate))} left",
            ]
        return ", ".join(words)


def _teller(tally: Tally, show: Callable[[Tally], None]) -> Callable[[str], Progress]:
    def progress_of(name: str) -> Progress:
        tellings = 0

        def tell(games: Sequence[GameResult]) -> None:
            nonlocal tellings
            if tellings == 0:
                tally.begin(name, games)
            else:
                tally.add(games)
            tellings += 1
            show(tally)

        return tell

    return progress_of


class _Lines:
    def __init__(self) -> None:
        self._told = time.monotonic()

    def __call__(self, tally: Tally) -> None:
        if time.monotonic() - self._told >= EVERY:
            self._told = time.monotonic()
            print(f"tetrarchia: {tally.text()}", file=sys.stderr, flush=True)


class _Bar:
    def __init__(self, tally: Tally, bar: Bar) -> None:
        self._bar = bar
        self._task = bar.add_task(tally.text(), total=tally.total)

    def __call__(self, tally: Tally) -> None:
        self._bar.update(self._task, completed=tally.done, description=tally.text())


def show(part: Part) -> None:
    """Print it; a table that is too wide breaks its intervals, and then leaves it to the terminal to fold lines: nothing is cut off."""
    console = Console(width=None if sys.stdout.isatty() else WIDE, highlight=False, markup=False)
    if isinstance(part, str):
        console.print(printable(part))
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
        title = Text(fill(printable(column.title), TITLE, break_long_words=False, break_on_hyphens=False))
        least = min(NAME, max(map(len, [column.title, *(str(row[place]) for row in table.rows)]))) if words else None
        shown.add_column(title, justify="left" if words else "right", no_wrap=not words, overflow="fold", min_width=least)
    for row in table.rows:
        shown.add_row(*(Text(printable(text).replace(" (", before_interval)) for text in table.texts(row)))
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
