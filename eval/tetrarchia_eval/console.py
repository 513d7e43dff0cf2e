"""Terminal output of an evaluation: progress, texts, tables and maps of levels."""

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
from rich.progress import Progress as ProgressBar
from rich.table import Table as RichTable
from rich.text import Text

from tetrarchia_env.messages import printable
from tetrarchia_eval.analysis import LevelGrid
from tetrarchia_eval.arena import FinishedGame, Progress
from tetrarchia_eval.tables import Table

LOG_INTERVAL_S = 30.0  # between two lines of progress without a terminal
BAR_WIDTH = 20  # characters
PIPE_WIDTH = 200  # characters of a line that goes into a pipe or a file
MIN_NAME_WIDTH = 12  # characters of a name that are not folded
TITLE_WIDTH = 7  # characters of a line of a column's title, unless a word is longer

Part = str | Table | LevelGrid


@dataclass
class ProgressTracker:
    """Counts the games of several matches; games from earlier runs and compiling do not count for the speed."""

    total: int
    place: Callable[[], str] = str  # where the games are played
    done: int = 0
    from_earlier_runs: int = 0
    name: str = ""  # of the current match
    played: int = 0  # games of the current match
    won: int = 0
    seconds: float = 0.0  # of playing
    last_update: float = field(default_factory=time.monotonic)

    def begin(self, name: str, games: Sequence[FinishedGame]) -> None:
        """Start a match, some of whose games were played before."""
        self.name, self.played, self.won = name, 0, 0
        self.from_earlier_runs += len(games)
        self._count(games)

    def add(self, games: Sequence[FinishedGame]) -> None:
        """Count finished games; none means that everything is compiled."""
        if games:
            self.seconds += time.monotonic() - self.last_update
        self._count(games)

    def _count(self, games: Sequence[FinishedGame]) -> None:
        self.last_update = time.monotonic()
        self.done += len(games)
        self.played += len(games)
        self.won += sum(game.won for game in games)

    def text(self) -> str:
        """Return match, win rate, games, place, speed and remaining time in one line."""
        win_rate = f"{self.won / self.played:.1%} won" if self.played else ""
        parts = [f"{printable(self.name)} {win_rate}".strip(), f"{self.done:,} of {self.total:,} games", self.place()]
        if played_now := self.done - self.from_earlier_runs:
            rate = played_now / max(self.seconds, 1e-9)
            parts.append(f"{rate:,.3g} games/s" if rate < 100 else f"{rate:,.0f} games/s")
            parts.append(f"{timedelta(seconds=round((self.total - self.done) / rate))} left")
        return ", ".join(filter(None, parts))


@contextmanager
def show_progress(total: int, place: Callable[[], str] = str) -> Iterator[Callable[[str], Progress]]:
    """Show progress as a bar, or as a line now and then without a terminal.

    Args:
        total: Number of games of all matches.
        place: Returns where the games are played, for the line.

    Yields:
        A function that returns the progress callback of the match with a name.
    """
    console, tracker = Console(stderr=True), ProgressTracker(total, place)

    def progress_of(update: Callable[[], None]) -> Callable[[str], Progress]:
        def for_match(name: str) -> Progress:
            is_first = True

            def progress(games: Sequence[FinishedGame]) -> None:
                nonlocal is_first
                if is_first:
                    tracker.begin(name, games)
                else:
                    tracker.add(games)
                is_first = False
                update()

            return progress

        return for_match

    if not console.is_terminal:
        printed = time.monotonic()

        def print_line() -> None:
            nonlocal printed
            if time.monotonic() - printed >= LOG_INTERVAL_S:
                printed = time.monotonic()
                print(f"tetrarchia: {tracker.text()}", file=sys.stderr, flush=True)

        yield progress_of(print_line)
        return
    columns = (SpinnerColumn(), BarColumn(BAR_WIDTH), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
    with ProgressBar(*columns, console=console) as bar:
        task = bar.add_task(tracker.text(), total=total)
        yield progress_of(lambda: bar.update(task, completed=tracker.done, description=tracker.text()))


def show(part: Part) -> None:
    """Print a text, table or map. A table wider than the terminal breaks before its intervals; nothing is cut off."""
    console = Console(width=None if sys.stdout.isatty() else PIPE_WIDTH, highlight=False, markup=False)

    def width(table: RichTable) -> int:
        return Measurement.get(console, console.options.update(width=10 * PIPE_WIDTH), table).maximum

    if isinstance(part, str):
        console.print(printable(part))
        return
    drawn = _grid(part) if isinstance(part, LevelGrid) else _table(part, " (")
    if isinstance(part, Table) and width(drawn) > console.width:
        drawn = _table(part, "\n(")
    console.print(drawn, width=max(width(drawn), console.width), crop=False)
    console.print()


def _new_table() -> RichTable:
    return RichTable(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False)


def _table(table: Table, before_interval: str) -> RichTable:
    shown = _new_table()
    for place, column in enumerate(table.columns):
        is_text = table.is_text(place)
        title = Text(fill(printable(column.title), TITLE_WIDTH, break_long_words=False, break_on_hyphens=False))
        longest = max(map(len, [column.title, *(str(row[place]) for row in table.rows)]))
        shown.add_column(
            title,
            justify="left" if is_text else "right",
            no_wrap=not is_text,
            overflow="fold",
            min_width=min(MIN_NAME_WIDTH, longest) if is_text else None,
        )
    for row in table.rows:
        shown.add_row(*(Text(printable(text).replace(" (", before_interval)) for text in table.texts(row)))
    return shown


def _grid(grid: LevelGrid) -> RichTable:
    """Draw win rates in percent."""
    shown = _new_table()
    shown.add_column("", style="bold")
    for column in grid.columns:
        shown.add_column(column, justify="right", min_width=3)
    for name, row in zip(grid.rows, grid.values, strict=True):
        shown.add_row(name, *("" if np.isnan(value) else f"{100 * value:.0f}" for value in row))
    return shown
