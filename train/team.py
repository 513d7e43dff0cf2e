"""Several processes that learn one network: each plays games of its own, and every update follows the mean of their gradients."""

import multiprocessing
import signal
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, distributed, nn


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
        shared = torch.tensor(value, dtype=torch.float64)
        self._all(distributed.broadcast, shared)
        return shared.item()

    def begin_alike(self, network: nn.Module) -> None:
        """Give all processes the leader's weights."""
        for parameter in network.parameters():
            self._all(distributed.broadcast, parameter.data)

    def average_in(self, optimizer: torch.optim.Optimizer) -> None:
        """From now on every step of the optimizer follows the mean gradient of all processes."""
        parameters = [parameter for group in optimizer.param_groups for parameter in group["params"]]
        if self.size > 1:
            optimizer.register_step_pre_hook(lambda *_: self._average([one.grad for one in parameters if one.grad is not None]))

    def wait(self) -> None:
        """Until all processes have come here."""
        self.same(0.0)

    def _average(self, gradients: list[Tensor]) -> None:
        total = torch.cat([gradient.flatten() for gradient in gradients])
        distributed.all_reduce(total)
        total /= self.size
        for gradient, mean in zip(gradients, total.split([one.numel() for one in gradients]), strict=True):
            gradient.copy_(mean.view_as(gradient))

    def _all(self, together: Callable[..., Any], tensor: Tensor) -> None:
        if self.size > 1:
            together(tensor, 0)


@contextmanager
def team_of(size: int, work: Callable[..., Any], *arguments: Any) -> Iterator[Team]:
    """This process as the leader of a team; the other processes do `work(team, *arguments)`."""
    if size == 1:
        yield Team()
        return
    with tempfile.TemporaryDirectory() as folder:
        meeting = str(Path(folder) / "meeting")
        context = multiprocessing.get_context("spawn")
        others = [context.Process(target=_join, args=(Team(rank, size), meeting, work, arguments), daemon=True) for rank in range(1, size)]
        for other in others:
            other.start()
        with _meeting(Team(0, size), meeting) as team:
            yield team
        _wait_for(others)


def _join(team: Team, meeting: str, work: Callable[..., Any], arguments: Iterable[Any]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the leader
    with _meeting(team, meeting):
        work(team, *arguments)


@contextmanager
def _meeting(team: Team, meeting: str) -> Iterator[Team]:
    distributed.init_process_group("gloo", init_method=f"file://{meeting}", rank=team.rank, world_size=team.size)
    try:
        yield team
    finally:
        distributed.destroy_process_group()


def _wait_for(others: list[Any]) -> None:
    for other in others:
        other.join()
        if other.exitcode:
            raise RuntimeError(f"a process that learned with this one failed (exit code {other.exitcode})")
