"""What is seen of long runs: a bar in a terminal, else a line now and then."""

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta

from rich.console import Console
from rich.progress import BarColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bar

from tetrarchia_eval.arena.match import Progress
from tetrarchia_eval.results import Played

EVERY = 30.0  # seconds between two lines
WIDTH = 20  # of the bar: the words beside it take the rest of a narrow terminal


@contextmanager
def showing(total: int) -> Iterator[Callable[[str], Progress]]:
    """What gives each run, by its name, someone to tell of its games; so many are to come in all runs."""
    console, tally = Console(stderr=True), Tally(total)
    if not console.is_terminal:
        yield _teller(tally, _Lines())
        return
    with Bar(SpinnerColumn(), BarColumn(WIDTH), TextColumn("{task.description}"), TimeElapsedColumn(), console=console) as bar:
        yield _teller(tally, _Bar(tally, bar))


@dataclass
class Tally:
    """Counts the games of one run after the other; those that the files held before and compiling are no part of the speed."""

    total: int
    done: int = 0
    earlier: int = 0
    name: str = ""  # of the run at hand
    played: int = 0  # of its games
    won: int = 0
    seconds: float = 0.0  # of playing
    told: float = field(default_factory=time.monotonic)  # when there was news

    def begin(self, name: str, games: Sequence[Played]) -> None:
        """A run begins, and these of its games were played before."""
        self.name, self.played, self.won = name, 0, 0
        self.earlier += len(games)
        self._count(games)

    def add(self, games: Sequence[Played]) -> None:
        """These are finished; none: all is compiled, and playing begins."""
        if games:
            self.seconds += time.monotonic() - self.told
        self._count(games)

    def _count(self, games: Sequence[Played]) -> None:
        self.told = time.monotonic()
        self.done += len(games)
        self.played += len(games)
        self.won += sum(game.won for game in games)

    def text(self) -> str:
        """The run, its share of wins, games done, speed and time left."""
        words = [f"{self.done:,} of {self.total:,} games"]
        share = f"{self.won / self.played:.1%} won" if self.played else ""
        words = [*filter(None, [f"{self.name} {share}".strip()]), *words]
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

        def tell(games: Sequence[Played]) -> None:
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
