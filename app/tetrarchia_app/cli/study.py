"""The command `study`: games that people played and gave for research, as a table and as a data set."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.messages import printable

PANEL = "Measure and train"
EXAMPLES = ("tetrarchia study games --out data",)

TOLD = 5  # faulty lines that are told one by one


def study(
    folder: Annotated[Path, typer.Argument(help="Where `serve --study` kept them, as *.jsonl")],
    out: Annotated[Path | None, typer.Option(help="Write games.csv, decisions.csv and study.npz into this folder")] = None,
) -> None:
    """Sum up the games of a study: win rates of each kind of team, times of decisions; and write them as a data set."""
    from tetrarchia_eval.console import show
    from tetrarchia_eval.study_data import read_games, summary, write_data_set

    games, faults = read_games(folder)
    for sentence in faults[:TOLD]:
        print(f"tetrarchia: left out: {printable(sentence)}", file=sys.stderr)
    if len(faults) > TOLD:
        print(f"tetrarchia: and {len(faults) - TOLD} more lines", file=sys.stderr)
    if not games:
        raise TetrarchiaError(f"no line in {folder} holds a game")
    show(summary(games))
    for path in write_data_set(games, out) if out else ():
        print(f"written: {printable(path)}")
