"""Several processes that learn one network: each plays games of its own, and every update follows the mean of their clipped gradients."""

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

PATIENCE = timedelta(days=7)  # for the others: the leader may measure for long, or be paused


@dataclass(frozen=True)
class Team:
    """A process among those that learn together; all of them call the same methods in the same order."""

    rank: int = 0
    size: int = 1

    @property
    def leads(self) -> bool:
        """The first process tells, measures and keeps."""
        return self.rank == 0

    def same(self, value: float) -> float:
        """The leader's value, in all processes."""
        if self.size == 1:
            return value
        shared = torch.tensor(value, dtype=torch.float64)
        distributed.broadcast(shared, 0)
        return shared.item()

    def begin_alike(self, network: nn.Module) -> None:
        """Give all processes the leader's weights."""
        for parameter in network.parameters() if self.size > 1 else ():
            distributed.broadcast(parameter.data, 0)

    def average_in(self, optimizer: torch.optim.Optimizer) -> None:
        """From now on every step of the optimizer follows the mean gradient of all processes."""
        parameters = [parameter for group in optimizer.param_groups for parameter in group["params"]]
        if self.size > 1:
            optimizer.register_step_pre_hook(lambda *_: self._average([_gradient(one) for one in parameters if one.requires_grad]))

    def wait(self) -> None:
        """Until all processes have come here."""
        if self.size > 1:
            distributed.barrier()

    def _average(self, gradients: list[Tensor]) -> None:
        total = torch.cat([gradient.flatten() for gradient in gradients])
        distributed.all_reduce(total)
        total /= self.size
        for gradient, mean in zip(gradients, total.split([one.numel() for one in gradients]), strict=True):
            gradient.copy_(mean.view_as(gradient))


def _gradient(parameter: Tensor) -> Tensor:
    """That of a parameter, 0 where a minibatch did not need it: all processes average the same parameters."""
    if parameter.grad is None:
        parameter.grad = torch.zeros_like(parameter)
    return parameter.grad


@contextmanager
def team_of(size: int, work: Callable[..., Any], *arguments: Any) -> Iterator[Team]:
    """This process as the leader of a team; the other processes do `work(team, *arguments)`."""
    if size == 1:
        yield Team()
        return
    with tempfile.TemporaryDirectory() as folder:
        meeting = str(Path(folder) / "meeting")
        with _ctrl_c_ignored():
            others = [_started(Team(rank, size), meeting, work, arguments) for rank in range(1, size)]
        with _meeting(Team(0, size), meeting) as team:
            yield team
        for other in others:
            other.join()
            _check(other)


@contextmanager
def _ctrl_c_ignored() -> Iterator[None]:
    """Processes that start now inherit it: Ctrl-C is for the leader."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _started(team: Team, meeting: str, work: Callable[..., Any], arguments: Iterable[Any]) -> SpawnProcess:
    """A process that is on its way to the meeting: nobody waits there for one that failed before."""
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe(duplex=False)
    process = context.Process(target=_join, args=(team, meeting, there, work, arguments), daemon=True)
    process.start()
    wait([here, process.sentinel])
    if not here.poll():
        process.join()
        _check(process)
    return process


def _join(team: Team, meeting: str, ready: Connection, work: Callable[..., Any], arguments: Iterable[Any]) -> None:
    ready.send(True)
    with _meeting(team, meeting):
        work(team, *arguments)


@contextmanager
def _meeting(team: Team, meeting: str) -> Iterator[Team]:
    distributed.init_process_group("gloo", init_method=f"file://{meeting}", rank=team.rank, world_size=team.size, timeout=PATIENCE)
    try:
        yield team
    finally:
        distributed.destroy_process_group()


def _check(process: SpawnProcess) -> None:
    if process.exitcode:
        raise RuntimeError(f"a process that learned with this one failed (exit code {process.exitcode})")
