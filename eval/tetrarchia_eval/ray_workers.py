"""The chunks of a match as tasks of a Ray cluster: a chunk that is lost with its node or worker is played again elsewhere.

A worker process of Ray plays one chunk after the other, like one of a process pool: it makes its agents once; the first on a node compiles.
"""

import os
import platform
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from typing import Any

import ray

from tetrarchia_env import __version__
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.schema import sanitize_line
from tetrarchia_eval.match import MatchSpec, read_spec, spec_line
from tetrarchia_eval.ray_cluster import connected
from tetrarchia_eval.workers import PlayedChunk, Roster, ThisProcess

RETRIES = 10  # of a chunk: that many nodes lost in a row are no accident
QUEUED = 4  # a chunk waits at the cluster for every so many that are played, so that no processor waits for the driver
NEWS = 2.0  # seconds between two looks at the nodes
LOST = "ray: the cluster gave a chunk up ({reason}): what was played is kept, and the same command goes on"


class RayWorkers:
    """The cluster that this process is connected to; its nodes may come and go.

    most: chunks at once; if not given, as many as there are processors, and some that wait
    """

    def __init__(self, most: int | None = None) -> None:
        self._most = most
        self._play = ray.remote(_player()).options(num_cpus=1, max_retries=RETRIES)
        self._folder = os.getcwd()
        self._waiting: list[Any] = []
        self._look()

    @property
    def size(self) -> int:
        """Chunks that the cluster has at once; without a processor one waits for a node."""
        if time.monotonic() - self._looked > NEWS:
            self._look()
        wanted = self.cpus + -(-self.cpus // QUEUED) or 1
        return min(wanted, self._most or wanted)

    @property
    def place(self) -> str:
        """Where games are played, in words."""
        return f"{self.nodes} {'node' if self.nodes == 1 else 'nodes'} of Ray"

    def submit(self, spec: MatchSpec, chunk: range) -> None:
        """To whichever processor is free."""
        self._waiting.append(self._play.remote(__version__, self._folder, spec_line(spec), chunk.start, chunk.stop))

    def next_played(self) -> PlayedChunk:
        """The one that is finished first."""
        (first, *_), self._waiting = ray.wait(self._waiting)
        try:
            played: PlayedChunk = ray.get(first)
        except ray.exceptions.RayTaskError as error:
            raise error.cause from None
        except ray.exceptions.RayError as error:
            raise TetrarchiaError(LOST.format(reason=sanitize_line(str(error)))) from None
        return played

    def _look(self) -> None:
        alive = [int(node["Resources"].get("CPU", 0)) for node in ray.nodes() if node["Alive"]]
        self.cpus, self.nodes = sum(alive), sum(cpus > 0 for cpus in alive)
        self._looked = time.monotonic()


@contextmanager
def ray_workers(address: str, most: int | None = None) -> Iterator[RayWorkers]:
    """Those of the cluster at this address, or of a new one with so many processors, as long as they are needed."""
    with connected(address, most):
        yield RayWorkers(most)


def _player() -> Callable[[str, str, str, int, int], Any]:
    """What a task does. It travels as a whole, with arguments that anybody can read: a node without this package can say so."""

    def play(version: str, folder: str, line: str, start: int, stop: int) -> Any:
        import platform

        try:
            from tetrarchia_env import __version__ as found
            from tetrarchia_eval.ray_workers import play_here
        except ImportError as error:
            raise TetrarchiaError(
                f"ray: node {platform.node()} cannot load tetrarchia ({error}): install version {version} there"
            ) from None
        if found != version:
            raise TetrarchiaError(
                f"ray: node {platform.node()} has version {found} of tetrarchia, not {version}: install the same on all nodes"
            )
        return play_here(folder, line, range(start, stop))

    return play


def play_here(folder: str, line: str, chunk: range) -> PlayedChunk:
    """In a worker: the games of these indexes of the match that this line describes, its agents' files looked for from this folder."""
    with suppress(OSError):  # of the driver's machine; other machines may have the same
        os.chdir(folder)
    _here.submit(_checked(line), chunk)
    return _here.next_played()


@cache
def _checked(line: str) -> MatchSpec:
    """The match, when its agents are made and compiled and known to choose here as they do where the match was begun."""
    spec = read_spec(line.encode())
    for name, wanted in spec.fingerprints.items():
        try:
            found = _roster.fingerprint(name)
        except ValueError as error:
            raise TetrarchiaError(f"ray: node {platform.node()} cannot make an agent: {error}") from None
        if found != wanted:
            raise TetrarchiaError(
                f"ray: node {platform.node()} has another version of {name} ({found}, not {wanted}): give it the same files"
            )
    return spec


_roster = Roster()
_here = ThisProcess(_roster)
