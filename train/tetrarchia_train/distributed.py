"""Data-parallel training: processes started by torchrun, gradients averaged by torch's DistributedDataParallel over gloo.

Li et al., PyTorch distributed: experiences on accelerating data parallel training (VLDB 2020). All functions also work in a single process.
"""

import logging
import os
import signal
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import torch
from torch import distributed, nn
from torch.distributed import PrefixStore, rendezvous  # type: ignore[attr-defined]
from torch.nn.parallel import DistributedDataParallel

from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_train.config import EXIT_STOPPED

TIMEOUT = timedelta(days=7)  # the other ranks wait while rank zero clones the expert or evaluates
SHUTDOWN_TIMEOUT_S = 600  # time for the ranks to save after SIGINT or SIGTERM
PARENT_POLL_S = 0.2
EXIT_WITH_LAUNCHER = "TETRARCHIA_EXIT_WITH_LAUNCHER"  # variable that a group sets for its runs


def is_launched() -> bool:
    """Return whether torchrun, or another launcher that sets the same variables, started this process."""
    return "RANK" in os.environ and "WORLD_SIZE" in os.environ


def rank() -> int:
    """Return the rank of this process; 0 without a launcher."""
    return int(os.environ["RANK"]) if is_launched() else 0


def world_size() -> int:
    """Return the number of processes that train together."""
    return int(os.environ["WORLD_SIZE"]) if is_launched() else 1


def is_rank_zero() -> bool:
    """Return whether this process logs, evaluates and writes files."""
    return rank() == 0


def torchrun(processes: int, module: str, arguments: Sequence[str]) -> int:
    """Run `python -m module arguments` in several processes on this machine.

    Args:
        processes: Number of processes.
        module: The module to run.
        arguments: Its command-line arguments.

    Returns:
        The exit code of the first rank that failed, or 0; 130 if this process received SIGINT or SIGTERM, which all ranks then receive.
    """
    from torch.distributed.elastic.multiprocessing.api import SignalException
    from torch.distributed.elastic.multiprocessing.errors import ChildFailedError
    from torch.distributed.run import main as run

    logging.disable(logging.ERROR)  # each rank prints its own error message
    os.environ.setdefault("TORCH_ELASTIC_SHUTDOWN_TIMEOUT", str(SHUTDOWN_TIMEOUT_S))
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # the ranks set the number of threads by their options
    try:
        run(["--standalone", "--nproc-per-node", str(processes), "--module", module, *arguments])
    except ChildFailedError as error:
        code = error.get_first_failure()[1].exitcode
        return code if code > 0 else 128 - code
    except SignalException:
        return EXIT_STOPPED
    finally:
        logging.disable(logging.NOTSET)
    return 0


@contextmanager
def process_group() -> Iterator[None]:
    """Join the processes of the launcher; has no effect in a single process.

    Raises:
        TetrarchiaError: In rank zero, if another process of the group ended.
    """
    if world_size() == 1:
        yield
        return
    exit_with_launcher()
    store, number, size = next(rendezvous("env://", timeout=TIMEOUT))
    attempt = os.environ.get("TORCHELASTIC_RESTART_COUNT", "0")  # torchrun keeps one store, with the addresses of ended processes
    store = PrefixStore(f"attempt-{attempt}", store)
    distributed.init_process_group("gloo", store=store, rank=number, world_size=size, timeout=TIMEOUT)
    try:
        yield
    except RuntimeError as error:
        if "gloo" not in str(error):
            raise
        if not is_rank_zero():
            raise SystemExit(2) from None  # rank zero, or the launcher, reports the reason
        raise TetrarchiaError("another process of the group ended: continue from the last save with --resume") from None
    finally:
        distributed.destroy_process_group()


def exit_with_launcher() -> None:
    """End this process when its launcher is killed: ranks of torchrun and runs of a group have a session of their own."""
    launcher = os.getppid()

    def watch() -> None:
        while os.getppid() == launcher:
            time.sleep(PARENT_POLL_S)
        os.kill(os.getpid(), signal.SIGKILL)

    threading.Thread(target=watch, daemon=True).start()


def data_parallel(network: nn.Module, *, all_used: bool = True) -> nn.Module:
    """Return a module whose backward pass averages the gradients over all processes.

    Args:
        network: The network; only its parameters that require gradients now are averaged.
        all_used: Whether every minibatch uses all parameters, which saves looking for the others.
    """
    if world_size() == 1:
        return network
    return DistributedDataParallel(network, find_unused_parameters=not all_used)


def broadcast(value: Any) -> Any:
    """Return the object of rank zero in all processes."""
    shared = [value]
    if world_size() > 1:
        distributed.broadcast_object_list(shared, 0)
    return shared[0]


def gather(value: Any) -> list[Any]:
    """Return the objects of all processes, by rank, in rank zero, and an empty list in the others."""
    if world_size() == 1:
        return [value]
    gathered = [None] * world_size() if is_rank_zero() else None
    distributed.gather_object(value, gathered, 0)
    return gathered or []


def scatter(values: Sequence[Any]) -> Any:
    """Return this rank's object of a list in rank zero; the other ranks pass an empty list."""
    if world_size() == 1:
        return values[0]
    received: list[Any] = [None]
    distributed.scatter_object_list(received, list(values) if is_rank_zero() else None, 0)
    return received[0]


def any_rank(flag: bool) -> bool:
    """Return whether the flag is set in any process."""
    if world_size() == 1:
        return flag
    shared = torch.tensor(float(flag))
    distributed.all_reduce(shared, distributed.ReduceOp.MAX)
    return bool(shared)
