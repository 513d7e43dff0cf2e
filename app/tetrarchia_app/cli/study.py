"""The command `study`: summarize games recorded for research and write them as a data set."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.messages import printable

PANEL = "Measure and train"
EXAMPLES = ("tetrarchia study games --out data",)
MAX_FAULTS_SHOWN = 5


def study(
    folder: Annotated[Path, typer.Argument(help="Folder in which `serve --study` recorded games as *.jsonl")],
    out: Annotated[Path | None, typer.Option(help="Write games.csv, decisions.csv and study.npz into this folder")] = None,
) -> None:
    """Summarize the games of a study: win rates and thinking times of each kind of team; optionally write a data set."""
    from tetrarchia_eval.console import show
    from tetrarchia_eval.study import read_study, summary_table, write_data_set

    games, faults = read_study(folder)
    for fault in faults[:MAX_FAULTS_SHOWN]:
        print(f"tetrarchia: skipped: {printable(fault)}", file=sys.stderr)
    if len(faults) > MAX_FAULTS_SHOWN:
        print(f"tetrarchia: skipped {len(faults) - MAX_FAULTS_SHOWN} more lines", file=sys.stderr)
    if not games:
        raise TetrarchiaError(f"{folder} must contain at least one valid game; got none")
    show(summary_table(games))
    for path in write_data_set(games, out) if out else ():
        print(f"written: {printable(path)}")
