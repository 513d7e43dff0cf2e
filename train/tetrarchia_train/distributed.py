"""Synchronous data-parallel training: each process plays games of its own, and every update follows the mean of their clipped gradients."""

import multiprocessing
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from datetime import timedelta
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, distributed, nn
from torch.distributed import Store, TCPStore  # type: ignore[attr-defined]

from tetrarchia_agents.pools import defer_sigint, exit_with_parent
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_train.launcher import VARIABLES, Place, launched
from tetrarchia_train.meeting import meet

TIMEOUT = timedelta(days=7)  # rank 0 may evaluate for long, or be paused
LOOPBACK = "127.0.0.1"
GRACE = 2.0  # seconds that rank 0 has to end a process that it has left
PATIENCE = 10.0  # seconds that rank 0 has to notice by itself that another process failed


def _nothing(_: Path) -> None:
    """What most do when a run was kept."""


@dataclass(frozen=True)
class ProcessGroup:
    """A process among those that train one network; all of them call the same methods in the same order."""

    rank: int = 0
    world_size: int = 1
    on_save: Callable[[Path], None] = _nothing

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

    def any(self, flag: bool) -> bool:
        """Whether it is so in any of the processes."""
        if self.world_size == 1:
            return flag
        shared = torch.tensor(float(flag))
        distributed.all_reduce(shared, distributed.ReduceOp.MAX)
        return bool(shared)

    def share(self, value: Any) -> Any:
        """The object of rank 0, in all processes."""
        shared = [value]
        if self.world_size > 1:
            distributed.broadcast_object_list(shared, 0)
        return shared[0]

    def gather(self, value: Any) -> list[Any]:
        """The objects of all processes, by rank, in rank 0; nothing in the others."""
        if self.world_size == 1:
            return [value]
        gathered = [None] * self.world_size if self.is_rank_0 else None
        distributed.gather_object(value, gathered, 0)
        return gathered or []

    def scatter(self, values: list[Any]) -> Any:
        """That of these objects, as rank 0 has them, which is for this process."""
        if self.world_size == 1:
            return values[0]
        received: list[Any] = [None]
        distributed.scatter_object_list(received, values if self.is_rank_0 else None, 0)
        return received[0]

    def _all_reduce(self, gradients: list[Tensor]) -> None:
        total = torch.cat([gradient.flatten() for gradient in gradients])
        distributed.all_reduce(total)
        total /= self.world_size
        for gradient, mean in zip(gradients, total.split([one.numel() for one in gradients]), strict=True):
            gradient.copy_(mean.view_as(gradient))


ALONE = ProcessGroup()


def _gradient(parameter: Tensor) -> Tensor:
    """That of a parameter, 0 where a minibatch did not need it: all processes average the same parameters."""
    if parameter.grad is None:
        parameter.grad = torch.zeros_like(parameter)
    return parameter.grad


@contextmanager
def launched_group(on_save: Callable[[Path], None] = _nothing) -> Iterator[ProcessGroup]:
    """The group that a launcher has put this process into; without a launcher this process is alone, and leads.

    on_save: what all of its processes do with the folder of a run that was kept
    """
    group = ProcessGroup(*launched() or Place(), on_save)
    if group.world_size == 1:
        yield group
        return
    with _gone_in_one_sentence(), nullcontext() if distributed.is_initialized() else _joined(group):
        yield group
        if group.is_rank_0:
            group.share(None)


@contextmanager
def process_group(world_size: int, work: Callable[..., Any], *arguments: Any, leader: ProcessGroup | None = None) -> Iterator[ProcessGroup]:
    """This process as rank 0 of a group; the other processes do `work(group, *arguments)`.

    They are those of the launcher, if `leader` leads any, or new ones on this machine, which end with this process.
    """
    group = leader or ALONE
    if launched() and group.world_size != world_size:
        raise TetrarchiaError(f"the run has {world_size} processes, but the launcher has started {group.world_size}")
    with nullcontext(group) if group.world_size == world_size else _started(world_size) as group:
        group.share((work, arguments))
        yield group


def follow(group: ProcessGroup) -> Any:
    """Do what rank 0 asks for until it has nothing more; what came of the last."""
    result = None
    while (task := group.share(None)) is not None:
        work, arguments = task
        result = work(group, *arguments)
    return result


@contextmanager
def _gone_in_one_sentence() -> Iterator[None]:
    """What torch raises in the processes of a launcher when one of them is gone."""
    try:
        yield
    except RuntimeError as error:
        if "gloo" not in str(error):
            raise
        raise TetrarchiaError("another process of the group is gone: go on from what was saved last with --resume") from None


@contextmanager
def _started(world_size: int) -> Iterator[ProcessGroup]:
    """Rank 0 of processes that it starts with the variables of a launcher."""
    with _others() as others:
        store = _own_store()
        with defer_sigint(signal.SIGTERM):  # for ever in the others: both are for rank 0, who needs them to save
            for rank in range(1, world_size):
                others.append(Other(ProcessGroup(rank, world_size), store.port))
        with _joined(ProcessGroup(0, world_size), store) as group:
            yield group
            group.share(None)
        for other in others:
            other.process.join()
            other.check()


def _own_store() -> TCPStore:
    """Where the processes of this machine meet; nobody from elsewhere can connect."""
    with socket.create_server((LOOPBACK, 0)) as listening:
        port = listening.getsockname()[1]
        return TCPStore(LOOPBACK, port, is_master=True, wait_for_workers=False, master_listen_fd=listening.detach())


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

    def __init__(self, group: ProcessGroup, port: int) -> None:
        context = multiprocessing.get_context("spawn")
        self.told, there = context.Pipe(duplex=False)
        self.process = context.Process(target=_worker, args=(group, port, there), daemon=True)
        self.process.start()
        there.close()
        wait([self.told, self.process.sentinel])
        if not self.told.poll() or self.told.recv():
            self.process.join()
            self.check()

    def check(self) -> None:
        """ValueError if it failed."""
        if self.process.exitcode:
            raise TetrarchiaError(self.sentence())

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


def _worker(group: ProcessGroup, port: int, tell: Connection) -> None:
    """Tell that it has begun, and why it cannot go on."""
    exit_with_parent()
    tell.send("")
    os.environ.update(zip(VARIABLES, (str(group.rank), str(group.world_size), LOOPBACK, str(port)), strict=True))
    try:
        with _joined(group):
            follow(group)
    except ValueError as error:
        tell.send(str(error))
    except OSError as error:
        tell.send(f"{error.filename or 'input or output'}: {error.strerror}")
    except RuntimeError:
        time.sleep(GRACE)  # if rank 0 is gone, this process ends now, and need not tell of it
        raise
    else:
        sys.stdout.flush()
        os._exit(0)  # threads of torch that end while Python does were seen to abort
    sys.exit(1)


@contextmanager
def _joined(group: ProcessGroup, store: Store | None = None) -> Iterator[ProcessGroup]:
    """The processes meet at this store, or at that of the environment."""
    private = meet(group.rank, group.world_size, store)
    distributed.init_process_group("gloo", store=private, rank=group.rank, world_size=group.world_size, timeout=TIMEOUT)
    try:
        yield group
    finally:
        distributed.destroy_process_group()
