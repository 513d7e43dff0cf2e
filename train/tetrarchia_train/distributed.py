"""Synchronous data-parallel training: each process plays games of its own, and every update follows the mean of their clipped gradients."""

import multiprocessing
import os
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, distributed, nn

from tetrarchia_agents.pools import ctrl_c_waiting, end_with_parent

TIMEOUT = timedelta(days=7)  # rank 0 may evaluate for long, or be paused
GRACE = 2.0  # seconds that rank 0 has to end a process that it has left
PATIENCE = 10.0  # seconds that rank 0 has to notice by itself that another process failed


@dataclass(frozen=True)
class ProcessGroup:
    """A process among those that train one network; all of them call the same methods in the same order."""

    rank: int = 0
    world_size: int = 1

    @property
    def is_rank_0(self) -> bool:
        """The first process logs, evaluates and saves."""
        return self.rank == 0

    def broadcast(self, value: float) -> float:
        """The value of rank 0, in all processes."""
        if self.world_size == 1:
            return value
        shared = torch.tensor(value, dtype=torch.float64)
        distributed.broadcast(shared, 0)
        return shared.item()

    def sync_parameters(self, network: nn.Module) -> None:
        """Give all processes the weights of rank 0."""
        for parameter in network.parameters() if self.world_size > 1 else ():
            distributed.broadcast(parameter.data, 0)

    def average_gradients(self, optimizer: torch.optim.Optimizer) -> None:
        """From now on every step of the optimizer follows the mean gradient of all processes."""
        parameters = [parameter for group in optimizer.param_groups for parameter in group["params"]]
        if self.world_size > 1:
            optimizer.register_step_pre_hook(lambda *_: self._all_reduce([_gradient(one) for one in parameters if one.requires_grad]))

    def barrier(self) -> None:
        """Wait until all processes have come here."""
        if self.world_size > 1:
            distributed.barrier()

    def _all_reduce(self, gradients: list[Tensor]) -> None:
        total = torch.cat([gradient.flatten() for gradient in gradients])
        distributed.all_reduce(total)
        total /= self.world_size
        for gradient, mean in zip(gradients, total.split([one.numel() for one in gradients]), strict=True):
            gradient.copy_(mean.view_as(gradient))


def _gradient(parameter: Tensor) -> Tensor:
    """That of a parameter, 0 where a minibatch did not need it: all processes average the same parameters."""
    if parameter.grad is None:
        parameter.grad = torch.zeros_like(parameter)
    return parameter.grad


@contextmanager
def process_group(world_size: int, work: Callable[..., Any], *arguments: Any) -> Iterator[ProcessGroup]:
    """This process as rank 0 of a group; the other processes do `work(group, *arguments)`, and end with it."""
    if world_size == 1:
        yield ProcessGroup()
        return
    with tempfile.TemporaryDirectory() as folder, _others() as others:
        rendezvous = str(Path(folder) / "rendezvous")
        with ctrl_c_waiting(signal.SIGTERM):  # for ever in the others: both are for rank 0, who needs them to save
            for rank in range(1, world_size):
                others.append(Other(ProcessGroup(rank, world_size), rendezvous, work, arguments))
        with _joined(ProcessGroup(0, world_size), rendezvous) as group:
            yield group
        for other in others:
            other.process.join()
            other.check()


@contextmanager
def _others() -> Iterator[list["Other"]]:
    """The other processes: if one fails the group cannot go on, whatever rank 0 does or waits for."""
    others: list[Other] = []
    left = threading.Event()
    threading.Thread(target=_watch, args=(others, left), daemon=True).start()
    try:
        yield others
    except RuntimeError:  # what torch raises when another process is gone
        for other in others:
            other.process.join(PATIENCE / 2)
            other.check()
        raise
    finally:
        left.set()
        for other in others:
            other.process.kill()


def _watch(others: list["Other"], left: threading.Event) -> None:
    """A process that died on its way to the rendezvous is waited for by all others, in code that hears no exception: leave."""
    while not left.wait(1.0):
        failed = [other for other in others if other.process.exitcode]
        if failed and not left.wait(PATIENCE):
            print(f"tetrarchia: {failed[0].sentence()}", file=sys.stderr, flush=True)
            for other in others:
                other.process.kill()
            os._exit(2)


class Other:
    """Another process of the group, on its way to the rendezvous: nobody waits there for one that failed before."""

    def __init__(self, group: ProcessGroup, rendezvous: str, work: Callable[..., Any], arguments: Iterable[Any]) -> None:
        context = multiprocessing.get_context("spawn")
        self.told, there = context.Pipe(duplex=False)
        self.process = context.Process(target=_worker, args=(group, rendezvous, there, work, arguments), daemon=True)
        self.process.start()
        there.close()
        wait([self.told, self.process.sentinel])
        if not self.told.poll() or self.told.recv():
            self.process.join()
            self.check()

    def check(self) -> None:
        """ValueError if it failed."""
        if self.process.exitcode:
            raise ValueError(self.sentence())

    def sentence(self) -> str:
        """Why it ended: what it told of, or that it was killed."""
        try:
            if self.told.poll():
                return str(self.told.recv())
        except EOFError:
            pass
        code = self.process.exitcode or 0
        how = f"was killed by signal {-code} (out of memory?)" if code < 0 else f"failed (exit code {code})"
        return f"a process of the group {how}: go on from what was saved last with --resume"


def _worker(group: ProcessGroup, rendezvous: str, tell: Connection, work: Callable[..., Any], arguments: Iterable[Any]) -> None:
    """Tell that it has begun, and why it cannot go on."""
    end_with_parent()
    tell.send("")
    try:
        with _joined(group, rendezvous):
            work(group, *arguments)
    except ValueError as error:
        tell.send(str(error))
    except OSError as error:
        tell.send(f"{error.filename or 'input or output'}: {error.strerror}")
    except RuntimeError:
        time.sleep(GRACE)  # if rank 0 is gone, this process ends now, and need not tell of it
        raise
    else:
        return
    sys.exit(1)


@contextmanager
def _joined(group: ProcessGroup, rendezvous: str) -> Iterator[ProcessGroup]:
    init_method = f"file://{rendezvous}"
    distributed.init_process_group("gloo", init_method=init_method, rank=group.rank, world_size=group.world_size, timeout=TIMEOUT)
    try:
        yield group
    finally:
        distributed.destroy_process_group()
