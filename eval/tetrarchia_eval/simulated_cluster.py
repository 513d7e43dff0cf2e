"""A cluster with more processors than this machine has, to see what becomes of the driver.

Nodes, worker processes, the driver and all that travels are real; but a chunk is not played: a worker sleeps as long as it would take, and
gives back games that were played before.
"""

import os
import pickle
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from math import inf
from pathlib import Path
from typing import Any

import ray
from ray.cluster_utils import Cluster

from tetrarchia_agents import GameResult
from tetrarchia_agents.ray_cluster import STORE, connected
from tetrarchia_env import __version__
from tetrarchia_eval.arena import Chunks, hand_out, match_spec
from tetrarchia_eval.match import MatchSpec, spec_line
from tetrarchia_eval.ray_workers import RayWorkers
from tetrarchia_eval.scaling import appending
from tetrarchia_eval.workers import PlayedChunk, Roster, ThisProcess

NODES = (4, 4, 8, 16)  # processors of the nodes that join, one after the other
GAMES = 150  # of a chunk: three seconds of planners
MANY = 1500  # of a chunk whose games cost more than itself
POINTS = (0.3, 0.1, 0.03, 0.01)  # seconds of a chunk
START = 2.0  # seconds of a chunk before measuring
DELAY = 0.2  # seconds more that a chunk keeps its processor, as on a slow network
MOST = 400  # chunks a second: more than any driver takes in
COUNTERS = Path("/proc/net/dev")


@dataclass(frozen=True)
class Point:
    """What was simulated, and what came of it: games and bytes a second, and the driver's seconds for each chunk."""

    cores: int
    games: int
    chunk_seconds: float
    delay: float
    rate: float
    driver_seconds: float
    bytes_a_chunk: float


class SimulatedWorkers(RayWorkers):
    """Of the cluster that this process is connected to; a chunk takes so many seconds, and no processor."""

    def __init__(self, games: Sequence[GameResult], seconds: float) -> None:
        super().__init__()
        self._games = ray.put(pickle.dumps(list(games)))
        self._play = ray.remote(_sleeper(seconds)).options(num_cpus=1)

    def submit(self, spec: MatchSpec, chunk: range) -> None:
        """With the arguments of a real one."""
        self._waiting.append(self._play.remote(self._games, __version__, os.getcwd(), spec_line(spec), chunk.start, chunk.stop))

    def next_played(self) -> PlayedChunk:
        """Those old games in the place of the ones asked for."""
        (first, *_), self._waiting = ray.wait(self._waiting)
        start, stop, games = ray.get(first)
        return PlayedChunk(range(start, stop), pickle.loads(games), 0.0)


def _sleeper(seconds: float) -> Callable[..., tuple[int, int, bytes]]:
    """As a function that travels whole: the workers load nothing of this package."""

    def sleep(games: bytes, version: str, folder: str, line: str, start: int, stop: int) -> tuple[int, int, bytes]:
        import time

        time.sleep(seconds)
        return start, stop, bytes(games)

    return sleep


def simulations(seconds: float) -> dict[str, Any]:
    """Nodes join; then chunks become so short that the driver gets as many as from thousands of cores; so many seconds each."""
    games, found, cores = _old_games(MANY), [], 0
    with _cluster() as cluster:
        for cpus in NODES:
            cluster.add_node(num_cpus=cpus, object_store_memory=STORE)
            cluster.wait_for_nodes()
            cores += cpus
            simulate(games[:GAMES], cores, START, 0.0, 2 * START)  # slow enough for every processor to get a process
            found.append(simulate(games[:GAMES], cores, POINTS[0], 0.0, seconds))
        found += [simulate(games[:GAMES], cores, each, 0.0, seconds) for each in POINTS[1:]]
        found.append(simulate(games[:GAMES], cores, POINTS[0], DELAY, seconds))
        costs = [simulate(games[:number], cores, POINTS[1], 0.0, seconds) for number in (1, MANY)]
    return {"simulated": [*map(asdict, found)], "costs": [*map(asdict, costs)], "append_seconds": append_seconds(games)}


@contextmanager
def _cluster() -> Iterator[Cluster]:
    """A head without processors, with this process as its driver."""
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False, "object_store_memory": STORE})
    try:
        with connected(cluster.address):
            yield cluster
    finally:
        cluster.shutdown()


def _old_games(number: int) -> list[GameResult]:
    here = ThisProcess(Roster())
    here.submit(_spec(number), range(number))
    return here.next_played().games


def _spec(games: int) -> MatchSpec:
    return match_spec("greedy", games)


def simulate(games: Sequence[GameResult], cores: int, chunk_seconds: float, delay: float, seconds: float) -> Point:
    """Chunks of these games, as many as so many cores should play in so many seconds."""
    chunks = max(1, round(seconds * min(cores / (chunk_seconds + delay), MOST)))
    spec, workers = _spec(len(games) * chunks), SimulatedWorkers(games, chunk_seconds + delay)
    with appending(spec) as take:
        begun, used, before = time.perf_counter(), time.process_time(), _bytes_sent()
        hand_out(Chunks(spec, 0, most=len(games), goal=inf, size=len(games)), workers, take)
        passed, used, sent = time.perf_counter() - begun, time.process_time() - used, _bytes_sent() - before
    return Point(cores, len(games), chunk_seconds, delay, spec.total / passed, used / chunks, sent / chunks)


def _bytes_sent() -> int:
    """So far, between the processes of this machine that talk as over a network; 0 where the system does not tell."""
    lines = COUNTERS.read_text(encoding="utf-8").splitlines() if COUNTERS.exists() else []
    return sum(int(line.partition(":")[2].split()[0]) for line in lines if line.strip().startswith("lo:"))


def append_seconds(games: Sequence[GameResult], times: int = 20) -> float:
    """Of a game: to bring it into the file."""
    spec = _spec(len(games) * times)
    with appending(spec) as take:
        begun = time.perf_counter()
        for start in range(0, spec.total, len(games)):
            take(PlayedChunk(range(start, start + len(games)), list(games), 0.0))
        return (time.perf_counter() - begun) / spec.total
