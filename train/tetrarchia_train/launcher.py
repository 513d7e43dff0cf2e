"""Who this process is among those that a launcher has started: `torchrun`, Slurm, Ray Train. They all set torch's own variables."""

import os
from collections.abc import Mapping
from typing import Any, NamedTuple

from tetrarchia_env.errors import TetrarchiaError

RANK, WORLD_SIZE, ADDRESS, PORT = VARIABLES = ("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")
RESTARTS = "TORCHELASTIC_RESTART_COUNT"  # how often torchrun has started the processes again


class Place(NamedTuple):
    """Of one process among all."""

    rank: int = 0
    world_size: int = 1


def launched() -> Place | None:
    """The place that a launcher has given to this process, if one has."""
    found = [name for name in (RANK, WORLD_SIZE) if os.environ.get(name)]
    if not found:
        return None
    for name in VARIABLES:
        if not os.environ.get(name):
            raise TetrarchiaError(
                f"the environment has {found[0]}, but not {name}: a launcher such as torchrun sets all of {', '.join(VARIABLES)}"
            )
    place = Place(_number(RANK), _number(WORLD_SIZE))
    if not place.rank < place.world_size:
        raise TetrarchiaError(f"{RANK} is less than {WORLD_SIZE}, {place.world_size}, not {place.rank}")
    return place


def leads() -> bool:
    """Whether this process speaks for all: rank 0, or the only one."""
    return (launched() or Place()).rank == 0


def was_restarted() -> bool:
    """Whether the launcher has started the processes again after a failure: then the same command goes on."""
    return os.environ.get(RESTARTS, "0") != "0"


def with_processes(options: Mapping[str, Any]) -> dict[str, Any]:
    """Training options as given, with as many processes as the launcher has started."""
    place = launched()
    if place is None:
        return dict(options)
    if options.get("processes", str(place.world_size)) != str(place.world_size):
        raise TetrarchiaError(
            f"processes is {place.world_size}, as many as the launcher has started, not {options['processes']}: leave it out"
        )
    return {**options, "processes": str(place.world_size)}


def _number(name: str) -> int:
    value = os.environ[name]
    if not value.isdecimal():
        raise TetrarchiaError(f"{name} in the environment is a whole number, not {value!r}")
    return int(value)
