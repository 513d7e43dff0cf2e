"""Synchronous data-parallel training: each process plays games of its own, and every update follows the mean of their clipped gradients."""

import multiprocessing
import signal
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, distributed, nn

TIMEOUT = timedelta(days=7)  # rank 0 may evaluate for long, or be paused


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
    """This process as rank 0 of a group; the other processes do `work(group, *arguments)`."""
    if world_size == 1:
        yield ProcessGroup()
        return
    with tempfile.TemporaryDirectory() as folder:
        rendezvous = str(Path(folder) / "rendezvous")
        with _ctrl_c_ignored():
            others = [_started(ProcessGroup(rank, world_size), rendezvous, work, arguments) for rank in range(1, world_size)]
        with _joined(ProcessGroup(0, world_size), rendezvous) as group:
            yield group
        for other in others:
            other.join()
            _check(other)


@contextmanager
def _ctrl_c_ignored() -> Iterator[None]:
    """Processes that start now inherit it: Ctrl-C is for rank 0."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _started(group: ProcessGroup, rendezvous: str, work: Callable[..., Any], arguments: Iterable[Any]) -> SpawnProcess:
    """A process that is on its way to the rendezvous: nobody waits there for one that failed before."""
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe(duplex=False)
    process = context.Process(target=_worker, args=(group, rendezvous, there, work, arguments), daemon=True)
    process.start()
    wait([here, process.sentinel])
    if not here.poll():
        process.join()
        _check(process)
    return process


def _worker(group: ProcessGroup, rendezvous: str, ready: Connection, work: Callable[..., Any], arguments: Iterable[Any]) -> None:
    ready.send(True)
    with _joined(group, rendezvous):
        work(group, *arguments)


@contextmanager
def _joined(group: ProcessGroup, rendezvous: str) -> Iterator[ProcessGroup]:
    init_method = f"file://{rendezvous}"
    distributed.init_process_group("gloo", init_method=init_method, rank=group.rank, world_size=group.world_size, timeout=TIMEOUT)
    try:
        yield group
    finally:
        distributed.destroy_process_group()


def _check(process: SpawnProcess) -> None:
    if process.exitcode:
        raise RuntimeError(f"a process of the group failed (exit code {process.exitcode})")
