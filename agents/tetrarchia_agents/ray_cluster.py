"""Joining a Ray cluster (Moritz et al., Ray: a distributed framework for emerging AI applications, OSDI 2018).

What is wrong with an address or with a node is told in one sentence and within a minute, before any work is handed out.
Ray is an extra: only this module and the two that work on Ray import it, and only when they are asked to.
"""

import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from tetrarchia_env import __version__
from tetrarchia_env.schema import one_line

LOCAL, AUTO = "local", "auto"
CLIENT = "ray://"
TCP_PATIENCE = 10.0  # seconds until a port must answer
PROBE_PATIENCE = 60.0  # seconds until a cluster must be joined
NODE_PATIENCE = 120.0  # seconds until each node must tell what it has: its first process loads this package
# Ray asks a wrong port again for many minutes, or ends the process that asked: so a process of its own asks first.
PROBE = """
import sys, ray
try:
    ray.init(address=sys.argv[1], log_to_driver=False, configure_logging=False)
except (ConnectionError, RuntimeError, ValueError) as error:
    sys.exit(f"PROBE {error}")
"""


@dataclass(frozen=True)
class Node:
    """A machine of the cluster, as Ray names it."""

    node_id: str
    name: str
    cpus: int


@contextmanager
def ray_cluster(address: str, needed: Sequence[str] = (), cpus: int | None = None) -> Iterator[list[Node]]:
    """The nodes of the cluster at `address`; of a new one on this machine, with so many CPUs, if it is `local`.

    Every node has the modules in `needed` and this version; ValueError in one sentence if not. The connection is closed in the end.
    """
    ray = import_ray()
    if address == LOCAL:
        _start(lambda: ray.init(num_cpus=cpus, include_dashboard=False, **_quiet()))
    else:
        _probe(_checked(address))
        _start(lambda: ray.init(address=address, **_quiet()))
    try:
        nodes = alive_nodes()
        _check_nodes(nodes, needed)
        yield nodes
    finally:
        ray.shutdown()


def import_ray() -> Any:
    """Ray, which tells nobody that it is used."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # else it warns of what it will do in a later version
    try:
        import ray
    except ModuleNotFoundError as error:
        raise ValueError(f'running on Ray needs the package {error.name}: pip install "tetrarchia[ray]"') from None
    return ray


def alive_nodes() -> list[Node]:
    """Those of the cluster that this process has joined."""
    found = [one for one in import_ray().nodes() if one["Alive"]]
    return [Node(one["NodeID"], one["NodeManagerHostname"], int(one["Resources"].get("CPU", 0))) for one in found]


def _quiet() -> dict[str, Any]:
    return {"log_to_driver": False, "logging_level": "ERROR"}


def _start(init: Callable[[], Any]) -> None:
    try:
        init()
    except (ConnectionError, RuntimeError, ValueError) as error:
        raise ValueError(f"Ray cannot be joined: {_first_line(str(error))}") from None


def _checked(address: str) -> str:
    """An address as this package takes it, at which something answers."""
    if address == AUTO:
        return address
    host, _, port = address.rpartition(":")
    if not host or "/" in host or not port.isdecimal() or not 0 < int(port) < 2**16:
        why = "; run the command on a node of the cluster instead" if address.startswith(CLIENT) else ""
        raise ValueError(f"the address of a Ray cluster is {LOCAL}, {AUTO} or HOST:PORT, such as 10.0.0.1:6379, not {address!r}{why}")
    try:
        socket.create_connection((host.strip("[]"), int(port)), TCP_PATIENCE).close()
    except OSError as error:
        raise ValueError(f"no Ray cluster answers at {address}: {error.strerror or error}") from None
    return address


def _probe(address: str) -> None:
    """That Ray is there, of the same version and with the same Python: nothing that this process cannot come back from."""
    try:
        tried = subprocess.run([sys.executable, "-c", PROBE, address], capture_output=True, text=True, timeout=PROBE_PATIENCE)
    except subprocess.TimeoutExpired:
        raise ValueError(f"what answers at {address} is no Ray cluster: it did not join within {PROBE_PATIENCE:.0f} s") from None
    if tried.returncode:
        told = tried.stderr.rpartition("PROBE ")[2]
        raise ValueError(f"the Ray cluster at {address} cannot be joined: {_first_line(told)}")


def _first_line(text: str) -> str:
    """Of what Ray says, which goes on for pages."""
    return one_line(text.strip().partition("\n")[0]).rstrip(".: ") or "Ray does not say why"


def _check_nodes(nodes: Sequence[Node], needed: Sequence[str]) -> None:
    """That each node has this version of the package, and all that the work needs."""
    ray = import_ray()
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    ask = ray.remote(_question(tuple(needed)))
    asked = [
        ask.options(num_cpus=0, max_retries=1, scheduling_strategy=NodeAffinitySchedulingStrategy(node.node_id, soft=False)).remote()
        for node in nodes
    ]
    try:
        answers = ray.get(asked, timeout=NODE_PATIENCE)
    except (ray.exceptions.RayError, TimeoutError) as error:
        raise ValueError(f"a node of the Ray cluster starts no process: {_first_line(str(error))}") from None
    for node, (version, missing) in zip(nodes, answers, strict=True):
        _check_node(node, version, missing)


def _check_node(node: Node, version: str, missing: str) -> None:
    if missing:
        raise ValueError(
            f"the Ray node {node.name} has no module {missing}: install tetrarchia {__version__} with its extras on every node"
        )
    if version != __version__:
        raise ValueError(f"the Ray node {node.name} has tetrarchia {version}, not {__version__}: install the same version on every node")


def _question(needed: tuple[str, ...]) -> Callable[[], tuple[str, str]]:
    """A function inside a function travels as code: one of a module would need that module, which a node may not have."""

    def answer() -> tuple[str, str]:
        import importlib

        try:
            for name in needed:
                importlib.import_module(name)
            return importlib.import_module("tetrarchia_env").__version__, ""
        except ModuleNotFoundError as error:
            return "", error.name or "tetrarchia_env"

    return answer
