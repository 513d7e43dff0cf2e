"""`tetrarchia eval`: play what is asked for, show it, keep it."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from tetrarchia_eval.arena.match import run
from tetrarchia_eval.arena.progress import showing
from tetrarchia_eval.findings import Findings, Partners, SideBySide
from tetrarchia_eval.plots import save
from tetrarchia_eval.report import write_report
from tetrarchia_eval.results import Run
from tetrarchia_eval.screen import show
from tetrarchia_eval.tables import write_table
from tetrarchia_eval.wishes import LineUp, Wishes, file_name, line_ups

PAGE = Path("docs/results.md")
MANY = 6  # files, from which only their folder is told


def evaluate(wishes: Wishes) -> None:
    """Do what the user wishes; ValueError in one sentence if that cannot be done."""
    if wishes.report is not None:
        _report(wishes)
        return
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # a process has one core; read by torch when an agent imports it, later
    teams = line_ups(wishes)
    runs = _play(teams, wishes.cores)
    _tell(Partners(runs) if wishes.partners else SideBySide(runs), wishes)
    _tell_files(teams)


def _report(wishes: Wishes) -> None:
    """Write the page of results again."""
    if wishes != Wishes(report=wishes.report, out=wishes.out):
        raise ValueError("report: the page is made of kept results alone: give no option beside it but out")
    assert wishes.report is not None
    page = wishes.out or PAGE
    write_report(wishes.report, page)
    print(f"written: {page}")


def _play(teams: Sequence[LineUp], workers: int) -> dict[str, Run]:
    """What the files lack; the same command goes on with them."""
    try:
        with showing(sum(one.plan.total for one in teams)) as progress_of:
            return {one.name: run(one.plan, one.file, workers, progress=progress_of(one.name)) for one in teams}
    except KeyboardInterrupt:
        print("tetrarchia: stopped; what was played is kept, and the same command goes on from there.", file=sys.stderr)
        raise


def _tell(findings: Findings, wishes: Wishes) -> None:
    """On the screen, then in the files wished for."""
    for part in findings.shown():
        show(part)
    if wishes.table:
        write_table(findings.table(), wishes.table)
        print(f"written: {wishes.table}")
    if wishes.plot:
        for word, picture in findings.pictures().items():
            path = wishes.plot.with_stem(f"{wishes.plot.stem}-{file_name(word)}") if word else wishes.plot
            save(picture, path)
            print(f"written: {path}")


def _tell_files(teams: Sequence[LineUp]) -> None:
    if len(teams) < MANY:
        for one in teams:
            print(f"kept: {one.file}")
    else:
        print(f"kept: {len(teams)} files in {os.path.commonpath([one.file.parent for one in teams])}")
