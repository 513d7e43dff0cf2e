"""What the chapters of the page of results are made of: pictures, folded tables, comparisons, commands."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tetrarchia_eval.comparison import Field
from tetrarchia_eval.plots import save
from tetrarchia_eval.report.kept import Kept
from tetrarchia_eval.tables import Table

LONG = 12  # rows of a table that a reader opens
TESTS = (
    "A difference is that of two win rates, in points of a percent, or of two mean scores. Each p is corrected for the number of "
    "comparisons, the tests of wins among themselves, those of scores likewise: [how](#how-the-numbers-are-made)."
)


@dataclass(frozen=True)
class Album:
    """Where the pictures go, and how the page names that folder."""

    folder: Path
    link: str

    def add(self, name: str, title: str, picture: Any) -> str:
        """Keep a picture, as SVG for the page and as PNG for elsewhere; what the page says to show it."""
        for ending in ("svg", "png"):
            save(picture, self.folder / f"{name}.{ending}")
        words = title.replace("\n", ", ")
        return f"![{words}]({self.link}/{name}.svg)\n"


def in_order(places: set[str], order: Sequence[str]) -> list[str]:
    """Known places in their order, then the others by name."""
    return [place for place in order if place in places] + sorted(places - set(order))


def count_games(field: Field) -> str:
    """How many each team played at each place."""
    counts = sorted({len(games) for found in field.values() for games in found.values()})
    return f"{counts[0]:,} games each" if len(counts) == 1 else f"{counts[0]:,} to {counts[-1]:,} games each"


def folded(words: str, table: Table) -> str:
    """A table; a long one opens when the reader wants it."""
    if len(table.rows) <= LONG:
        return table.markdown()
    return f"<details><summary>{words}</summary>\n\n{table.markdown()}\n</details>\n"


def commands(kept: Sequence[Kept]) -> str:
    """What to type to play all of this again."""
    lines = "\n".join(one.command for one in kept)
    return f"<details><summary>The commands of these {len(kept)} runs</summary>\n\n```console\n{lines}\n```\n\n</details>\n"
