"""Worker processes: they are new (forks of a process with threads may hang), have one core each, and end with the one that started them."""

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
def pool_of(size: int, killed: str) -> Iterator[ProcessPoolExecutor]:
    """So many workers, which end at once when something goes wrong; if one of them is killed, ValueError with this sentence."""
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
def ctrl_c_waiting(*also: signal.Signals) -> Iterator[None]:
    """A worker that starts now inherits that Ctrl-C waits: until `start_worker` has run it would answer with a traceback."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT, *also])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def start_worker() -> None:
    """A worker has one core, leaves Ctrl-C to the process that started it, and does not outlive that."""
    os.environ["OMP_NUM_THREADS"] = "1"  # read by torch when an agent imports it, later
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_with_parent()


def end_with_parent() -> None:
    """From now on this process ends when its parent has, even if that was killed."""
    threading.Thread(target=_wait_for_parent, daemon=True).start()


def _wait_for_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
