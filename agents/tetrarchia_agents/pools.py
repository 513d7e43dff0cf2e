"""Worker processes: spawned (forking a process with threads may hang), with one thread each, and ended with their parent."""

import multiprocessing
import os
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager

from tetrarchia_env.errors import TetrarchiaError


@contextmanager
def worker_pool(size: int, killed: str) -> Iterator[ProcessPoolExecutor]:
    """Yield a pool of worker processes that are terminated at once if the block raises.

    Args:
        size: The number of processes.
        killed: The message of the TetrarchiaError that is raised if a worker is killed.
    """
    others = multiprocessing.active_children()
    with ProcessPoolExecutor(size, multiprocessing.get_context("spawn"), start_worker) as pool:
        try:
            yield pool
        except BaseException as error:
            for process in multiprocessing.active_children():
                if process not in others:
                    process.terminate()
            if isinstance(error, BrokenProcessPool):
                raise TetrarchiaError(killed) from None
            raise


@contextmanager
def defer_sigint(*others: signal.Signals) -> Iterator[None]:
    """Block SIGINT and `others` in this thread; processes started in the block inherit that.

    A worker that is interrupted before `start_worker` has run would print a traceback.
    """
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT, *others])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def available_cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def start_worker() -> None:
    """Initialize a worker process: use one thread, ignore SIGINT, and exit with the parent."""
    os.environ["OMP_NUM_THREADS"] = "1"  # read by torch when an agent imports it, later
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    exit_with_parent()


def exit_with_parent() -> None:
    """End this process as soon as its parent has ended, even if it was killed."""

    def wait() -> None:
        parent = multiprocessing.parent_process()
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=wait, daemon=True).start()
