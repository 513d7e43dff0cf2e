"""Compilation ahead of use: rules and search in two processes, before a command needs them.

Each process looks for what the other has compiled before it compiles a function, so they share the work.
"""

import subprocess
import sys

import numpy as np
from numba.core import config
from rich.console import Console

from tetrarchia_agents._jit import SEARCH_CODE
from tetrarchia_agents.pools import available_cores
from tetrarchia_env import batch
from tetrarchia_env.engine._jit import RULES_CODE
from tetrarchia_env.engine.state import GAME
from tetrarchia_env.files import file_lock
from tetrarchia_env.options import Options

SEARCH_MODULE = "tetrarchia_agents.search.selection"  # imported by agents that search


def compile_ahead(search: bool | None = None) -> None:
    """Compile in two processes what is not compiled yet, or wait for another process that already does.

    Without a second core or a writable cache, each function is compiled when it is first called.

    Args:
        search: Whether to compile the search as well; by default if an agent that searches was made.
    """
    search = SEARCH_MODULE in sys.modules if search is None else search
    folder = RULES_CODE.path
    if config.DISABLE_JIT or folder is None or available_cores() < 2 or RULES_CODE.unwritable_reason or SEARCH_CODE.unwritable_reason:
        return
    if not is_compiled(search):
        with file_lock(folder / "lock", wait=True):
            if not is_compiled(search):
                _compile_in_processes(search)


def is_compiled(search: bool) -> bool:
    """Return whether the code of the rules, and of the search if asked for, is in the cache."""
    rules = all(RULES_CODE.has(f"tetrarchia_env.batch.{name}") for name in ("_step", "_observe"))
    return rules and (not search or SEARCH_CODE.has(SEARCH_CODE.last))


def cache_status() -> dict[str, str]:
    """Return where the compiled code of rules and search is, or why it is not there."""
    if config.DISABLE_JIT:
        return dict.fromkeys(("rules", "search"), "the compiler is off (NUMBA_DISABLE_JIT): everything is slow")
    return {"rules": RULES_CODE.status, "search": SEARCH_CODE.status}


def _compile_in_processes(search: bool) -> None:
    """Run one process for each part that is not compiled yet; none outlives this function."""
    if is_compiled(search=False):
        what, parts = "the search", ["search"]
    else:
        what, parts = ("rules and search", ["rules", "search"]) if search else ("the rules", ["rules", "observation"])
    print(f"tetrarchia: compiling {what}, once per version", file=sys.stderr, flush=True)
    quiet = subprocess.DEVNULL
    processes = [subprocess.Popen([sys.executable, "-m", __name__, part], stdin=quiet, stdout=quiet, stderr=quiet) for part in parts]
    try:
        with Console(stderr=True).status("compiling, up to a minute"):
            for process in processes:
                process.wait()
    finally:
        for process in processes:
            process.terminate()
            process.wait()


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
