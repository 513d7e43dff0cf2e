"""Fuzz targets: `python tests/fuzz/families.py snapshots 0 1000` runs the seeds 0 to 999.

Each input works or is refused by a TetrarchiaError of one line, in bounded time; anything else ends the process and prints the seed.
"""

import faulthandler
import os
import random
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from fuzz.damaged_files import FOLDER, boards, checkpoints, presets, protocol_results, replays, results
from fuzz.damaged_records import actions, snapshots, states
from tetrarchia_env.errors import TetrarchiaError

SECONDS = 300.0 if os.environ.get("NUMBA_BOUNDSCHECK") else 20.0  # per input; most take a millisecond, but bounds checks may compile first

FAMILIES: dict[str, Callable[[random.Random], None]] = {
    family.__name__: family for family in (snapshots, replays, results, protocol_results, boards, presets, checkpoints, actions, states)
}


def try_one(name: str, seed: int) -> bool:
    """Return whether the input worked; otherwise check its refusal."""
    begun = time.perf_counter()
    try:
        FAMILIES[name](random.Random(f"{name} {seed}"))
        worked = True
    except TetrarchiaError as error:
        check_refusal(error)
        worked = False
    assert seed < 0 or time.perf_counter() - begun < SECONDS, "it took too long"
    return worked


def check_refusal(error: TetrarchiaError) -> None:
    assert "\n" not in str(error), str(error)
    assert len(str(error)) < 5000, str(error)[:300]


def main(name: str, first: int, number: int) -> None:
    faulthandler.enable()
    for seed in range(-30, 0):  # compile everything first
        try_one(name, seed)
    worked = 0
    for seed in range(first, first + number):
        try:
            worked += try_one(name, seed)
        except BaseException:
            print(f"{name}: seed {seed}", file=sys.stderr, flush=True)
            raise
    shutil.rmtree(FOLDER)
    print(f"{name}: {number} inputs, {worked} worked, {number - worked} refused")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
