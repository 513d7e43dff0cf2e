"""The command `bench`: how fast everything is on this machine, and beyond it."""

import json
from itertools import chain
from pathlib import Path
from typing import Annotated

import typer

from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.messages import printable


def bench(
    out: Annotated[Path, typer.Option(help="Where to write the figures as JSON")] = Path("bench.json"),
    peers: Annotated[bool, typer.Option("--peers", help="Also measure PettingZoo's and OpenSpiel's games, where installed")] = False,
    web: Annotated[bool, typer.Option("--web", help="Also measure the server: 200 rooms at once, its memory over 2,000 games")] = False,
    scaling: Annotated[
        bool, typer.Option("--scaling", help="Only what evaluation on more cores depends on, for docs/scaling.md; needs Ray")
    ] = False,
    before: Annotated[Path | None, typer.Option(help="A checkout of an older version, to measure its start-up beside ours")] = None,
) -> None:
    """Measure the rules, each environment API, training, start-up and compile times. Takes minutes."""
    if scaling:
        _measure_scaling(out)
    else:
        _measure_all(out, peers, web, before)


def _measure_all(out: Path, peers: bool, web: bool, before: Path | None) -> None:
    from tetrarchia_app.benchmarks.peers import measure_peers, ratios
    from tetrarchia_app.benchmarks.rates import measure, report, start_up
    from tetrarchia_app.benchmarks.web import measure_web
    from tetrarchia_env.files import check_goals, write_whole

    check_goals(out)
    _check_checkout(before)
    rows = []
    asked = (start_up(before) if before else (), measure(), measure_peers() if peers else (), measure_web() if web else ())
    for row in chain.from_iterable(asked):
        print(f"{row.what:55} {row.value:>15,.2f} {row.unit}", flush=True)
        rows.append(row)
        write_whole(out, report([*rows, *ratios(rows)]))  # what was measured is kept when it is stopped
    for row in ratios(rows):
        print(f"{row.what:75} {row.value:>8,.1f} {row.unit}")
    print(f"written: {printable(out)}")


def _measure_scaling(out: Path) -> None:
    """Into the file's section on evaluation; its others stay."""
    from tetrarchia_agents.ray_cluster import load_ray
    from tetrarchia_app.benchmarks.rates import surroundings
    from tetrarchia_env.files import check_goals, write_whole

    check_goals(out)
    load_ray()
    from tetrarchia_eval.scaling import Slice, measure_scaling

    others = json.loads(out.read_text(encoding="utf-8")) if out.exists() else {}
    print("measuring: about six minutes; other work on the machine spoils the figures", flush=True)
    write_whole(out, json.dumps({**others, "evaluation": {**surroundings(), **measure_scaling(Slice())}}, indent=1) + "\n")
    print(f"written: {printable(out)}")


def _check_checkout(folder: Path | None) -> None:
    if folder is not None and not (folder / "tetrarchia_env" / "batch.py").is_file():
        raise TetrarchiaError(f"before is a checkout of this project, not {printable(folder)}")
