"""What is seen of a long run: a bar in a terminal, else a line now and then."""

import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta

from rich.console import Console
from rich.progress import BarColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bar

from eval.arena import Progress, run
from eval.results import Header, Played, Run

EVERY = 30.0  # seconds between two lines


def with_progress(plan: Header, path: str | os.PathLike[str], workers: int = 2, chunk: int | None = None) -> Run:
    """The same as `arena.run`, and says on stderr how far it is."""
    with showing(plan.total) as progress:
        return run(plan, path, workers, chunk, progress)


@contextmanager
def showing(total: int) -> Iterator[Progress]:
    """Something to tell of finished games out of so many, and who shows it."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield _Lines(Tally(total))
        return
    with Bar(SpinnerColumn(), BarColumn(), TextColumn("{task.description}"), TimeElapsedColumn(), console=console) as bar:
        yield _Bar(Tally(total), bar)


@dataclass
class Tally:
    """Counts games; its clock starts with those that an earlier run had played."""

    total: int
    done: int = 0
    won: int = 0
    earlier: int | None = None
    begun: float = field(default_factory=time.monotonic)

    def add(self, games: Sequence[Played]) -> None:
        """These are finished."""
        self.done += len(games)
        self.won += sum(game.won for game in games)
        if self.earlier is None:
            self.earlier, self.begun = len(games), time.monotonic()

    def text(self) -> str:
        """Games done, the share of wins, speed and time left."""
        words = [f"{self.done:,} of {self.total:,} games"]
        if self.done:
            words.append(f"{self.won / self.done:.1%} won")
        fresh = self.done - (self.earlier or 0)
        if fresh:
            rate = fresh / max(time.monotonic() - self.begun, 1e-9)
            words += [
                f"{rate:,.3g} games/s" if rate < 100 else f"{rate:,.0f} games/s",
                f"{timedelta(seconds=round((self.total - self.done) / rate))} left",
            ]
        return ", ".join(words)


class _Lines:
    def __init__(self, tally: Tally) -> None:
        self._tally, self._told = tally, time.monotonic()

    def __call__(self, games: Sequence[Played]) -> None:
        self._tally.add(games)
        if time.monotonic() - self._told >= EVERY:
            self._told = time.monotonic()
            print(f"tetrarchia: {self._tally.text()}", file=sys.stderr, flush=True)


class _Bar:
    def __init__(self, tally: Tally, bar: Bar) -> None:
        self._tally, self._bar = tally, bar
        self._task = bar.add_task(tally.text(), total=tally.total)

    def __call__(self, games: Sequence[Played]) -> None:
        self._tally.add(games)
        self._bar.update(self._task, completed=self._tally.done, description=self._tally.text())
