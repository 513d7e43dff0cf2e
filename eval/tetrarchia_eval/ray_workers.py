"""Workers on a Ray cluster: each chunk of a match is a Ray task, and a lost task is repeated on another node.

Moritz et al., Ray: a distributed framework for emerging AI applications (OSDI 2018). Ray is imported only when it is used.
"""

import os
import platform
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from typing import Any

from tetrarchia_env import __version__
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.extras import import_optional
from tetrarchia_env.schema import sanitize_line
from tetrarchia_eval.match import MatchSpec, read_spec, spec_line
from tetrarchia_eval.workers import AgentCache, PlayedChunk, ThisProcess

LOCAL, AUTO = "local", "auto"
ADDRESSES = f"HOST:PORT of the head node, {AUTO} for the cluster on this machine, or {LOCAL} for a new one"
CONTINUE = "finished games are kept; run the same command again to continue"
CONNECT_TIMEOUT_S = 10.0
JOIN_TIMEOUT_S = 30.0  # including the import of Ray, which by itself would try for two minutes
OBJECT_STORE_BYTES = 200_000_000  # Ray's default is a third of the memory
MAX_RETRIES = 10  # of a chunk
CHUNKS_PER_QUEUED = 4  # one chunk is queued per this many processors, so that none waits for the driver
NODE_REFRESH_S = 2.0
QUIET = {"log_to_driver": False, "logging_level": "ERROR", "include_dashboard": False}
ENVIRONMENT = {"RAY_DEDUP_LOGS_SKIP_REGEX": ".", "RAY_USAGE_STATS_ENABLED": "0"}  # otherwise logs of lost nodes are printed
TRY_TO_JOIN = """
import sys, ray
try:
    ray.init(address=sys.argv[1], log_to_driver=False, logging_level="ERROR")
except BaseException as error:
    sys.exit(f"{type(error).__name__}: {error}")
"""


def load_ray() -> Any:
    """Import Ray.

    Raises:
        TetrarchiaError: If it is not installed.
    """
    for name, value in ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    return import_optional("ray", "ray", "--ray")


def cluster_address(given: str) -> str:
    """Return the given address, else RAY_ADDRESS, else `local`.

    Raises:
        TetrarchiaError: If it is not an address.
    """
    address = given or os.environ.get("RAY_ADDRESS", "") or LOCAL
    host, _, port = address.rpartition(":")
    if address not in (LOCAL, AUTO) and not (host and "/" not in host and port.isdecimal() and int(port) < 1 << 16):
        raise TetrarchiaError(f"ray must be {ADDRESSES}; got {address!r}")
    return address


@contextmanager
def ray_workers(address: str, max_chunks: int | None = None) -> Iterator["RayWorkers"]:
    """Connect to a cluster, or start a local one, and disconnect afterwards.

    Args:
        address: As for `cluster_address`.
        max_chunks: Maximum number of chunks at once, and of processors of a local cluster; by default all processors.

    Raises:
        TetrarchiaError: If that fails, within a minute.
    """
    ray, address = load_ray(), cluster_address(address)
    if address == LOCAL:
        _join(ray, address=LOCAL, num_cpus=max_chunks, object_store_memory=OBJECT_STORE_BYTES)
    else:
        _check_cluster(address)
        _join(ray, address=address)
    try:
        yield RayWorkers(ray, max_chunks)
    except SystemExit:
        raise TetrarchiaError(f"ray: the command or its cluster was terminated: {CONTINUE}") from None
    finally:
        ray.shutdown()


def _join(ray: Any, **options: Any) -> None:
    """Connect, and restore the handler of SIGTERM, for which Ray would print its stack."""

    def terminate(number: int, frame: object) -> None:
        raise SystemExit(number)

    before = signal.getsignal(signal.SIGTERM)
    try:
        ray.init(**options, **QUIET)
    except Exception as error:  # Ray raises many kinds
        raise TetrarchiaError(f"ray: cannot join the cluster at {options['address']!r} ({sanitize_line(str(error))})") from None
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, terminate if before is signal.SIG_DFL else before)


def _check_cluster(address: str) -> None:
    """Check that a cluster with our version of Ray answers; another process tries, because it can be stopped."""
    if address != AUTO:
        host, _, port = address.rpartition(":")
        try:
            socket.create_connection((host.strip("[]"), int(port)), CONNECT_TIMEOUT_S).close()
        except OSError as error:
            raise TetrarchiaError(
                f"ray: there is no cluster at {address!r} ({error.strerror or error}): an address is {ADDRESSES}"
            ) from None
    command = [sys.executable, "-c", TRY_TO_JOIN, address]
    try:
        tried = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=JOIN_TIMEOUT_S)
    except subprocess.TimeoutExpired:
        raise TetrarchiaError(f"ray: {address!r} is not a Ray cluster: no valid answer within {JOIN_TIMEOUT_S:.0f} s") from None
    if tried.returncode:
        lines = [line for line in tried.stderr.splitlines() if line.strip() and not line.startswith("[")]  # without Ray's log
        raise TetrarchiaError(f"ray: cannot join the cluster at {address!r} ({sanitize_line(' '.join(lines)) or 'no reason given'})")


class RayWorkers:
    """The processors of the connected cluster; nodes may join and leave."""

    def __init__(self, ray: Any, max_chunks: int | None = None) -> None:
        self._ray, self._max_chunks = ray, max_chunks
        self._play = ray.remote(_task()).options(num_cpus=1, max_retries=MAX_RETRIES)
        self._folder = os.getcwd()
        self._waiting: list[Any] = []
        self._count_nodes()

    @property
    def size(self) -> int:
        """The number of chunks in the cluster at once; at least one, which waits for a node."""
        if time.monotonic() - self._counted > NODE_REFRESH_S:
            self._count_nodes()
        wanted = self.cpus + -(-self.cpus // CHUNKS_PER_QUEUED) or 1
        return min(wanted, self._max_chunks or wanted)

    @property
    def place(self) -> str:
        """The number of nodes, for the progress line."""
        return f"{self.nodes} Ray {'node' if self.nodes == 1 else 'nodes'}"

    def submit(self, spec: MatchSpec, chunk: range) -> None:
        """Queue the chunk for the next free processor."""
        self._waiting.append(self._play.remote(__version__, self._folder, spec_line(spec), chunk.start, chunk.stop))

    def next_played(self) -> PlayedChunk:
        """Wait for the next finished chunk."""
        (first, *_), self._waiting = self._ray.wait(self._waiting)
        try:
            played: PlayedChunk | str = self._ray.get(first)
        except self._ray.exceptions.RayTaskError as error:
            raise error.cause from None
        except self._ray.exceptions.RayError as error:
            raise TetrarchiaError(f"ray: the cluster lost a chunk ({sanitize_line(str(error))}): {CONTINUE}") from None
        if isinstance(played, str):
            raise TetrarchiaError(f"ray: {played}")
        return played

    def _count_nodes(self) -> None:
        alive = [int(node["Resources"].get("CPU", 0)) for node in self._ray.nodes() if node["Alive"]]
        self.cpus, self.nodes = sum(alive), sum(cpus > 0 for cpus in alive)
        self._counted = time.monotonic()


def _task() -> Callable[[str, str, str, int, int], Any]:
    """Return the function of a task, which returns a chunk, or a text if this node cannot play.

    A nested function is sent by value. It refers to nothing of this package, so that a node without it can report that.
    """

    def play(version: str, folder: str, line: str, start: int, stop: int) -> Any:
        import platform

        try:
            from tetrarchia_env import __version__ as found
            from tetrarchia_eval.ray_workers import play_in_worker
        except ImportError as error:
            return f"node {platform.node()} cannot import tetrarchia ({error}): install version {version} there"
        if found != version:
            return f"node {platform.node()} has version {found} of tetrarchia, not {version}: install the same version on all nodes"
        return play_in_worker(folder, line, range(start, stop))

    return play


def play_in_worker(folder: str, line: str, chunk: range) -> PlayedChunk:
    """Play games in a process of a node.

    Args:
        folder: Working folder of the driver, from which agents' files are found if this node has the same folder.
        line: The match, as the first line of its result file.
        chunk: Indexes of the games.
    """
    with suppress(OSError):
        os.chdir(folder)
    _in_worker.submit(_checked_spec(line), chunk)
    return _in_worker.next_played()


@cache
def _checked_spec(line: str) -> MatchSpec:
    """Parse the match and check that its agents have the same fingerprints on this node."""
    spec = read_spec(line.encode())
    for name, wanted in spec.fingerprints.items():
        try:
            found = _agents.fingerprint(name)
        except ValueError as error:  # also one raised by the user's own agent class
            raise TetrarchiaError(f"ray: node {platform.node()} cannot create an agent: {error}") from None
        if found != wanted:
            raise TetrarchiaError(
                f"ray: node {platform.node()} has another version of {name} ({found}, not {wanted}): give it the same files"
            )
    return spec


_agents = AgentCache()
_in_worker = ThisProcess(_agents)
