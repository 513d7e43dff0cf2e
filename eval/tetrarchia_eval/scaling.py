"""What the page on scaling is made of: the pace of agents, processes and Ray side by side, and a simulated cluster."""

import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from math import inf
from pathlib import Path
from statistics import median
from typing import Any

from tetrarchia_app.benchmarks.rates import Row
from tetrarchia_eval.arena import Chunks, InOrder, hand_out, match_spec
from tetrarchia_eval.match import MatchSpec
from tetrarchia_eval.ray_workers import RayWorkers, ray_workers
from tetrarchia_eval.result_files import ResultFile
from tetrarchia_eval.workers import PlayedChunk, Roster, ThisProcess, Workers, process_pool

LEVEL = "4200"
AGENT = "planner"
PACES = {"random": 4096, "greedy": 2048, "planner": 100}  # games of a chunk that is long enough to tell an agent's pace
CHUNK = 1.0  # seconds: less than the arena's, so that what a chunk costs is rather seen too large
POOL, RAY = "process pool", "Ray"
_roster = Roster()


@dataclass(frozen=True)
class Slice:
    """How much is played at a time: seconds of work for each worker, and how often."""

    seconds: float = 15.0
    rounds: int = 3


def measure_scaling(size: Slice) -> dict[str, Any]:
    """All figures, as plain data."""
    from tetrarchia_eval.simulated_cluster import simulations

    paces = {agent: pace_of(agent, games) for agent, games in PACES.items()}
    sides = side_by_side([(kind, number) for number in (1, 2) for kind in (POOL, RAY)], paces[AGENT], size)
    return {"agent": AGENT, "level": LEVEL, "paces": paces, "side_by_side": sides, **simulations(size.seconds / 2)}


def ray_rows(size: Slice) -> Iterator[Row]:
    """Two workers of a local Ray against a pool of two processes."""
    pool, cluster = side_by_side([(POOL, 2), (RAY, 2)], pace_of(AGENT, PACES[AGENT]), size)
    yield Row(f"games of {AGENT} at {LEVEL}, pool of two processes", median(pool["rates"]), "games/s")
    yield Row(f"games of {AGENT} at {LEVEL}, local Ray with two workers", median(cluster["rates"]), "games/s")
    yield Row("local Ray / process pool, in turns (aim: 0.9)", median(cluster["rates"]) / median(pool["rates"]), "times")
    yield Row("start of a local Ray, to its first games", cluster["start_seconds"], "s")


def pace_of(agent: str, games: int) -> float:
    """Seconds a game on one core, in a chunk of so many."""
    spec, here = match_spec(agent, games, levels=[LEVEL], roster=_roster), ThisProcess(_roster)
    here.submit(spec, range(games))
    return here.next_played().seconds / games


def side_by_side(sides: Sequence[tuple[str, int]], pace: float, size: Slice) -> list[dict[str, Any]]:
    """Games a second of so many workers of each kind, in turns, so that what else the machine does meets all alike."""
    games = max(1, int(CHUNK / pace))
    with ExitStack() as stack:
        opened: dict[tuple[str, int], tuple[Workers, float]] = {}
        for side in sides:
            begun = time.perf_counter()
            workers = stack.enter_context(_opened(*side, opened))
            play(workers, 1, 2 * side[1])
            opened[side] = workers, time.perf_counter() - begun
        chunks = max(1, round(size.seconds / CHUNK))
        rounds = [{side: play(opened[side][0], games, chunks * side[1]) for side in sides} for _ in range(size.rounds)]
    return [
        {"kind": kind, "workers": number, "start_seconds": opened[kind, number][1], "rates": [one[kind, number] for one in rounds]}
        for kind, number in sides
    ]


@contextmanager
def _opened(kind: str, number: int, others: Mapping[tuple[str, int], object]) -> Iterator[Workers]:
    """Workers of this kind; those of Ray share one cluster of two processors."""
    if kind == POOL:
        with process_pool(number) as pool:
            yield pool
    elif any(other == RAY for other, _ in others):
        yield RayWorkers(number if number < 2 else None)
    else:
        with ray_workers("local", 2):
            yield RayWorkers(number if number < 2 else None)


def play(workers: Workers, games: int, chunks: int) -> float:
    """Games a second of so many chunks of so many games each, the file included."""
    spec = match_spec(AGENT, games * chunks, levels=[LEVEL], roster=_roster)
    with appending(spec) as take:
        begun = time.perf_counter()
        hand_out(Chunks(spec, 0, most=games, goal=inf, size=games), workers, take)
        return spec.total / (time.perf_counter() - begun)


@contextmanager
def appending(spec: MatchSpec) -> Iterator[Callable[[PlayedChunk], None]]:
    """What takes chunks into a file that is removed afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        file = ResultFile.planned(spec, Path(folder) / "match.jsonl")
        with file.appending():
            yield InOrder(file, lambda games: None).take
