"""How fast the engine is: random playouts with full masks on one core, start-up and compile times."""

import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from statistics import median
from typing import Any

import numba
import numpy as np

from tetrarchia_env import __version__, batch
from tetrarchia_env.engine.dice import words
from tetrarchia_env.engine.state import MODULES, VARIANTS
from tetrarchia_env.options import Options

CONFIGURATIONS = {
    "base game": Options(),
    "everything on": Options(variants=VARIANTS, modules=MODULES),
}
GAMES = 20_000
ROUNDS = 5
START = """
import time
begun = time.perf_counter()
from tetrarchia_env.batch import new_games, step
from tetrarchia_env.options import Options
games, masks = new_games(Options(), 0)
first_reset = time.perf_counter() - begun
step(games, masks.argmax(axis=1), masks)
print(first_reset, time.perf_counter() - begun)
"""


def measure(games: int = GAMES, rounds: int = ROUNDS) -> Iterator[dict[str, Any]]:
    """One row after the other: what was measured, its value and unit."""
    for name, options in CONFIGURATIONS.items():
        steps, finished = playout_rates(options, games, rounds)
        yield row(f"playouts, {name}", steps, "steps/s")
        yield row(f"playouts, {name}", finished, "games/s")
    with tempfile.TemporaryDirectory() as cache:
        _, cold = start_times(cache)
        warm, _ = start_times(cache)
    yield row("import, compile from cold, reset and step", cold, "s")
    yield row("import to first reset, compiled before", warm, "s")


def row(what: str, value: float, unit: str) -> dict[str, Any]:
    """A line of the table."""
    return {"what": what, "value": round(value, 3), "unit": unit}


def playout_rates(options: Options, games: int, rounds: int) -> tuple[float, float]:
    """Steps and games a second of random legal play to the end, full masks written, the median round."""
    rates = []
    for first in range(0, games * (rounds + 1), games):  # one round more: the first warms up
        playing, masks = batch.new_games(options, np.arange(first, first + games))
        choosers = words(np.arange(games, dtype=np.uint64))
        begun = time.perf_counter()
        steps = batch.playout(playing, masks, choosers, steps=1_000_000)
        seconds = time.perf_counter() - begun
        rates.append((steps / seconds, games / seconds))
    return median(steps for steps, _ in rates[1:]), median(finished for _, finished in rates[1:])


def start_times(cache: str) -> tuple[float, float]:
    """Seconds to the first reset and to the first step in a new process that compiles into, or out of, this folder."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
    run = subprocess.run([sys.executable, "-c", START], env=environment, capture_output=True, text=True, check=True)
    reset, step = run.stdout.split()
    return float(reset), float(step)


def report(rows: list[dict[str, Any]]) -> str:
    """The rows as JSON, with the machine, the versions and the date they belong to."""
    machine = {"processor": processor(), "cores": os.cpu_count(), "system": platform.system(), "python": platform.python_version()}
    versions = {"tetrarchia": __version__, "numba": numba.__version__, "numpy": np.__version__}
    date = datetime.now(UTC).isoformat(timespec="seconds")
    return json.dumps({"date": date, "machine": machine, "versions": versions, "rows": rows}, indent=1) + "\n"


def processor() -> str:
    """Its model where the system tells, else its architecture."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as lines:
            return next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.machine()
