"""The command `bench`."""

from itertools import chain
from pathlib import Path
from typing import Annotated

import typer

from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.messages import printable

PANEL = "Measure and train"
EXAMPLES = ("tetrarchia bench --peers --out bench.json",)


def bench(
    out: Annotated[Path, typer.Option(help="JSON file to write")] = Path("bench.json"),
    peers: Annotated[bool, typer.Option("--peers", help="Also measure games of PettingZoo and OpenSpiel, where installed")] = False,
    web: Annotated[bool, typer.Option("--web", help="Also measure the web server: 500 rooms at once, memory over 2,000 games")] = False,
    baseline: Annotated[Path | None, typer.Option(help="Checkout of another version whose start-up is measured for comparison")] = None,
) -> None:
    """Measure the speed of the engine, each environment API and training, and start-up and compile times; takes minutes."""
    from tetrarchia_app.benchmarks.rates import measure, measure_peers, measure_start_up, ratios, report
    from tetrarchia_app.benchmarks.web import measure_web
    from tetrarchia_env.files import check_output_paths, write_text_atomic

    check_output_paths(out)
    if baseline is not None and not (baseline / "tetrarchia_env" / "batch.py").is_file():
        raise TetrarchiaError(f'--baseline must be a checkout of this project; got "{baseline}"')
    rows = []
    parts = (measure_start_up(baseline) if baseline else (), measure(), measure_peers() if peers else (), measure_web() if web else ())
    for row in chain.from_iterable(parts):
        print(f"{row.what:55} {row.value:>15,.2f} {row.unit}", flush=True)
        rows.append(row)
        write_text_atomic(out, report([*rows, *ratios(rows)]))  # after each row, in case the command is stopped
    for row in ratios(rows):
        print(f"{row.what:75} {row.value:>8,.2f} {row.unit}")
    print(f"written: {printable(out)}")
