"""Compile what a command will need before it does: in two processes, with a bar that shows how far they are.

A process looks for what the other has compiled before it compiles a function, so they share the work.
"""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

import tetrarchia_agents._jit  # noqa: F401  (its store)
from tetrarchia_env import batch
from tetrarchia_env.engine._folders import turn
from tetrarchia_env.engine._jit import stores
from tetrarchia_env.engine.state import GAME
from tetrarchia_env.options import Options

SEARCH = "tetrarchia_agents.search.selection"  # imported by agents that search
FUNCTIONS = {False: 160, True: 202}  # files of machine code, without and with the search; a test counts them
LAST = {False: ("tetrarchia_env.batch._step-called", "tetrarchia_env.batch._observe-called"), True: (f"{SEARCH}.plan_all-called",)}


def compile_ahead(search: bool | None = None) -> None:
    """Compile what is not compiled yet: rules, and the search if an agent that searches was made.

    Where there is no second core, or no place to keep machine code, each function is compiled when it is called.
    """
    search = SEARCH in sys.modules if search is None else search
    if _cores() > 1 and stores and not is_compiled(search) and not any(store.lost() for store in stores):
        with turn(stores[0].folders[0]):
            if not is_compiled(search):  # another process may have done it meanwhile
                _compile_in_processes(search)


def is_compiled(search: bool) -> bool:
    """Whether the machine code of rules, and search, is there."""
    names = [*LAST[False], *(LAST[True] if search else ())]
    return all(any(True for folder in _folders() for _ in folder.glob(f"{name}-*")) for name in names)


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _folders() -> list[Path]:
    return [folder for store in stores for folder in store.readable()]


def _compile_in_processes(search: bool) -> None:
    what = "rules and search" if search else "the rules"
    print(f"tetrarchia: compiling {what} in two processes, once for each version", file=sys.stderr, flush=True)
    with _started(["rules", "search" if search else "observation"]) as processes, _bar(FUNCTIONS[search]) as show:
        while any(process.poll() is None for process in processes):
            show(sum(1 for folder in _folders() for _ in folder.glob("*.code")))
            time.sleep(0.1)


@contextmanager
def _started(parts: Sequence[str]) -> Iterator[list["subprocess.Popen[bytes]"]]:
    """A process for each part; none outlives this block."""
    quiet = subprocess.DEVNULL
    command = [sys.executable, "-m", __name__]
    processes = [subprocess.Popen([*command, part], stdin=quiet, stdout=quiet, stderr=quiet) for part in parts]
    try:
        yield processes
    finally:
        for process in processes:
            process.terminate()
            process.wait()


@contextmanager
def _bar(total: int) -> Iterator[Callable[[int], None]]:
    """Shows how many functions of all are compiled; on a terminal only."""
    console = Console(stderr=True)
    columns = (TextColumn("compiled"), BarColumn(), MofNCompleteColumn(), TextColumn("functions"), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("", total=total)
        yield lambda count: progress.update(task, completed=min(count, total))


def _use_rules() -> None:
    games, masks = batch.new_games(Options(), 0)
    batch.step(games, masks.argmax(axis=1), masks)


def _use_observation() -> None:
    batch.observe(np.zeros(1, GAME), np.zeros(1, np.int64))


def _use_search() -> None:
    from tetrarchia_agents import TeamPolicy, make_agents

    _use_observation()
    env_id = np.array([0])
    for agent in ("planner", "greedy"):
        team = TeamPolicy(make_agents(agent), env_ids=1)
        team.begin(env_id, 1)
        games, masks = batch.new_games(Options(), 0)
        team.act(games, masks, env_id)


PARTS = {"rules": _use_rules, "observation": _use_observation, "search": _use_search}

if __name__ == "__main__":
    PARTS[sys.argv[1]]()
