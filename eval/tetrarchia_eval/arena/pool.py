"""Chunks of a run on several cores: worker processes that make the agents for themselves."""

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager

from tetrarchia_agents import Agent
from tetrarchia_eval.arena.chunks import Chunks, play_chunk, seated, warm_up
from tetrarchia_eval.results import Header, Played

Answer = tuple[list[Played], float]  # the games of a chunk and the seconds they took
KILLED = "a worker process was killed (out of memory?): what was played is kept, the same command goes on, with fewer --workers if need be"

_ready: dict[tuple[str, ...], tuple[Agent, ...]] = {}  # by their names, in a worker


def play_in_pool(chunks: Chunks, workers: int, take: Callable[[list[Played]], None]) -> None:
    """All chunks, one at a time for each worker; `take` gets their games as they come, in any order."""
    with pool_of(workers) as pool:
        waiting: set[Future[Answer]] = set()
        while True:
            while len(waiting) < workers and (chunk := chunks.cut()):
                with ctrl_c_waiting():
                    waiting.add(pool.submit(_work, chunks.plan, chunk))
            if not waiting:
                return
            done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
            for future in done:
                games, seconds = future.result()
                chunks.learn(len(games), seconds)
                take(games)


@contextmanager
def pool_of(workers: int) -> Iterator[ProcessPoolExecutor]:
    """Workers that are new processes (forks of one with threads may hang) and that end at once when something goes wrong."""
    others = multiprocessing.active_children()
    with ProcessPoolExecutor(workers, multiprocessing.get_context("spawn"), _settle) as pool:
        try:
            yield pool
        except BaseException as error:
            for process in multiprocessing.active_children():
                if process not in others:
                    process.terminate()
            if isinstance(error, BrokenProcessPool):
                raise ValueError(KILLED) from None
            raise


@contextmanager
def ctrl_c_waiting() -> Iterator[None]:
    """A worker that starts now inherits that Ctrl-C waits: until `_settle` has run it would answer with a traceback."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _settle() -> None:
    """A worker has one core, leaves Ctrl-C to the process that started it, and does not outlive that."""
    os.environ["OMP_NUM_THREADS"] = "1"  # read by torch when an agent imports it, later
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _work(plan: Header, chunk: range) -> Answer:
    agents = _agents_of(plan)
    begun = time.perf_counter()
    games = play_chunk(plan, agents, chunk)
    return games, time.perf_counter() - begun


def _agents_of(plan: Header) -> tuple[Agent, ...]:
    """Made once in a worker: some take long."""
    if plan.agents not in _ready:
        _ready[plan.agents] = seated(plan.agents)
        warm_up(plan, _ready[plan.agents])
    return _ready[plan.agents]
