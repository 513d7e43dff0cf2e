"""A Ray cluster for this process: one that runs already, or one of this machine alone that ends with it.

Moritz and others, "Ray: A Distributed Framework for Emerging AI Applications", OSDI 2018. What Ray writes goes into its own log files.
"""

import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from tetrarchia_env import __version__
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.extras import import_optional
from tetrarchia_env.schema import sanitize_line

LOCAL, AUTO = "local", "auto"
ADDRESSES = f"HOST:PORT of a cluster's head, {AUTO} for the one that runs on this machine, or {LOCAL} for a new one"
ENDED = "ray: this command or its cluster was told to end: what was done is kept; the same command goes on, a training with --resume"
CONNECTION = 10.0  # seconds to reach a port
NODE_ANSWER = 120.0  # seconds until every node has told what it has: its first process loads this package
ANSWER = 30.0  # seconds until a cluster has answered, loading Ray included; left alone, Ray tries for two minutes
STORE = 200_000_000  # bytes of results on their way: Ray alone would take a third of the memory
QUIET = {"log_to_driver": False, "logging_level": "ERROR", "include_dashboard": False}
SILENT = {"RAY_DEDUP_LOGS_SKIP_REGEX": ".", "RAY_USAGE_STATS_ENABLED": "0"}  # else the log of every node lost is printed
TRY = """
import sys, ray
try:
    ray.init(address=sys.argv[1], log_to_driver=False, logging_level="ERROR")
except BaseException as error:
    sys.exit(f"{type(error).__name__}: {error}")
"""


def load_ray() -> Any:
    """The library; ValueError if it is not installed."""
    for name, value in SILENT.items():
        os.environ.setdefault(name, value)  # read when it is loaded
    return import_optional("ray", "ray", "--ray")


def address_of(given: str) -> str:
    """The address given, else RAY_ADDRESS, else a new cluster of this machine; ValueError if it is none."""
    address = given or os.environ.get("RAY_ADDRESS", "") or LOCAL
    host, _, port = address.rpartition(":")
    if address not in (LOCAL, AUTO) and not (host and "/" not in host and port.isdecimal() and int(port) < 1 << 16):
        raise TetrarchiaError(f"ray: an address is {ADDRESSES}, not {address!r}")
    return address


@contextmanager
def connected(given: str, cpus: int | None = None) -> Iterator[None]:
    """This process is a driver of that cluster, meanwhile; ValueError, in one sentence and within a minute, if that cannot be.

    cpus: of a new cluster of this machine; if not given, all
    """
    ray, address = load_ray(), address_of(given)
    if address == LOCAL:
        _join(ray, address=LOCAL, num_cpus=cpus, object_store_memory=STORE)
    else:
        _check_answer(address)
        _join(ray, address=address)
    try:
        yield
    except SystemExit:
        raise TetrarchiaError(ENDED) from None
    finally:
        ray.shutdown()


def _end(number: int, frame: object) -> None:
    """The answer to SIGTERM: a user's, or Ray's own when its processes on this machine have ended."""
    raise SystemExit(number)


def _join(ray: Any, **options: Any) -> None:
    """Ray would answer SIGTERM with a dump of its stack: it gets the answer that it had, or a sentence."""
    before = signal.getsignal(signal.SIGTERM)
    try:
        ray.init(**options, **QUIET)
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, _end if before is signal.SIG_DFL else before)
    except Exception as error:  # of whatever kind
        raise TetrarchiaError(f"ray: the cluster at {options['address']!r} does not answer ({sanitize_line(str(error))})") from None


def _check_answer(address: str) -> None:
    """That a cluster is there and of our version of Ray: another process tries, which can be stopped."""
    _check_port(address)
    try:
        tried = subprocess.run([sys.executable, "-c", TRY, address], capture_output=True, text=True, errors="replace", timeout=ANSWER)
    except subprocess.TimeoutExpired:
        raise TetrarchiaError(f"ray: what answers at {address!r} is no Ray cluster: it said nothing of use within {ANSWER:.0f} s") from None
    if tried.returncode:
        raise TetrarchiaError(f"ray: there is no joining the cluster at {address!r} ({_reason(tried.stderr)})")


def _check_port(address: str) -> None:
    if address == AUTO:
        return
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), CONNECTION).close()
    except OSError as error:
        raise TetrarchiaError(f"ray: no cluster is at {address!r} ({error.strerror or error}): an address is {ADDRESSES}") from None


def _reason(noise: str) -> str:
    """What went wrong, without the lines of Ray's log before it."""
    lines = [line for line in noise.splitlines() if line.strip() and not line.startswith("[")]
    return sanitize_line(" ".join(lines)) or "it gave no reason"


def check_nodes(modules: Sequence[str]) -> None:
    """That every node has this version of the package, and these modules; ValueError in one sentence if not."""
    ray = load_ray()
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    ask = ray.remote(_question(tuple(modules)))
    places = {node["NodeID"]: node["NodeManagerHostname"] for node in ray.nodes() if node["Alive"]}
    there = [NodeAffinitySchedulingStrategy(node, soft=False) for node in places]
    asked = [ask.options(num_cpus=0, scheduling_strategy=one).remote() for one in there]
    for name, answer in zip(places.values(), asked, strict=True):
        try:
            _check_node(name, *ray.get(answer, timeout=NODE_ANSWER))
        except (ray.exceptions.RayError, TimeoutError) as error:
            raise TetrarchiaError(f"ray: node {name} starts no process ({_reason(str(error))})") from None


def _check_node(name: str, version: str, trouble: str) -> None:
    if version and version != __version__:
        raise TetrarchiaError(f"ray: node {name} has version {version} of tetrarchia, not {__version__}: install the same on all nodes")
    if trouble:
        raise TetrarchiaError(f"ray: node {name} cannot load tetrarchia ({trouble}): install version {__version__} there, with its extras")


def _question(modules: tuple[str, ...]) -> Callable[[], tuple[str, str]]:
    """What a node has, or what it lacks. A function inside a function travels whole: one of a module would need that module there."""

    def answer() -> tuple[str, str]:
        import importlib

        found = ""
        try:
            found = str(importlib.import_module("tetrarchia_env").__version__)
            for name in modules:
                importlib.import_module(name)
        except ImportError as error:
            return found, str(error)
        return found, ""

    return answer
