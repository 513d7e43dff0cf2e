"""How the processes of one start of a group find each other, whatever a start before them has left behind.

torchrun keeps one store over all its restarts, with the addresses of processes that are gone, and its count of restarts may differ
between nodes (pytorch issue 135712). So each process calls itself by a new name, and the first one welcomes the others by theirs.
"""

import time
from datetime import timedelta
from uuid import uuid4

from torch.distributed import DistError, PrefixStore, Store, rendezvous  # type: ignore[attr-defined]

from tetrarchia_env.errors import TetrarchiaError

MEETING = timedelta(minutes=15)  # until all processes of a launcher must have come
PAUSE = 0.05  # seconds between two looks of the first process


def meet(rank: int, world_size: int, store: Store | None = None) -> Store:
    """What this start's processes alone know of: a part of this store, or of that of the environment (`env://`)."""
    try:
        found = PrefixStore("tetrarchia", store or next(rendezvous("env://", timeout=MEETING))[0])
        name = uuid4().hex
        return PrefixStore(_welcomed(found, rank, name) if rank else _welcome(found, world_size, name), found)
    except (DistError, TimeoutError):
        raise TetrarchiaError(f"not all {world_size} processes of the group met within {MEETING.seconds // 60} minutes") from None


def _welcomed(store: Store, rank: int, name: str) -> str:
    """The name of the first process, when it has called this one by its own."""
    store.set(f"arrived/{rank}", name)
    first: str = store.get(f"welcome/{name}").decode()
    store.set(f"joined/{first}/{rank}", "")
    return first


def _welcome(store: Store, world_size: int, name: str) -> str:
    """The same name, when all others know it; one that is gone never answers, and another comes in its place."""
    until = time.monotonic() + MEETING.total_seconds()
    for rank in range(1, world_size):
        while not store.check([f"joined/{name}/{rank}"]):
            if store.check([f"arrived/{rank}"]):
                store.set(f"welcome/{store.get(f'arrived/{rank}').decode()}", name)
            if time.monotonic() > until:
                raise TimeoutError
            time.sleep(PAUSE)
    return name
