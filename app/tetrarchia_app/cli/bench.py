"""The command `bench`: how fast everything is on this machine."""

from itertools import chain
from pathlib import Path
from typing import Annotated

import typer

from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.messages import printable

PANEL = "Measure and train"
EXAMPLES = ("tetrarchia bench --peers --out bench.json",)


def bench(
    out: Annotated[Path, typer.Option(help="Where to write the figures as JSON")] = Path("bench.json"),
    peers: Annotated[bool, typer.Option("--peers", help="Also measure PettingZoo's and OpenSpiel's games, where installed")] = False,
    web: Annotated[bool, typer.Option("--web", help="Also measure the server: 200 rooms at once, its memory over 2,000 games")] = False,
    before: Annotated[Path | None, typer.Option(help="A checkout of an older version, to measure its start-up beside ours")] = None,
) -> None:
    """Measure the rules, each environment API, training, start-up and compile times. Takes minutes."""
    from tetrarchia_app.benchmarks.peers import measure_peers, ratios
    from tetrarchia_app.benchmarks.rates import measure, report, start_up
    from tetrarchia_app.benchmarks.web import measure_web
    from tetrarchia_env.files import check_goals, write_text_atomic

    check_goals(out)
    _check_checkout(before)
    rows = []
    asked = (start_up(before) if before else (), measure(), measure_peers() if peers else (), measure_web() if web else ())
    for row in chain.from_iterable(asked):
        print(f"{row.what:55} {row.value:>15,.2f} {row.unit}", flush=True)
        rows.append(row)
        write_text_atomic(out, report([*rows, *ratios(rows)]))  # what was measured is kept when it is stopped
    for row in ratios(rows):
        print(f"{row.what:75} {row.value:>8,.1f} {row.unit}")
    print(f"written: {printable(out)}")


def _check_checkout(folder: Path | None) -> None:
    if folder is not None and not (folder / "tetrarchia_env" / "batch.py").is_file():
        raise TetrarchiaError(f"before is a checkout of this project, not {printable(folder)}")
