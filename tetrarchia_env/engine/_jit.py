"""The one decorator of the engine, and how its machine code is made.

Numba's own cache looks only at the file of the function it compiled: a changed callee or board would leave stale code
in every caller. So the folder of machine code is named by a digest of all that the code is made of.
"""

import hashlib
import os
import platform
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numba
import numpy as np
from numba.core import config, event

from tetrarchia_env.board import board_path
from tetrarchia_env.engine._machine_code import MachineCode, Store

PACKAGE = Path(__file__).parent.parent
COMPILED = {"tetrarchia_env": "the rules, about 15 seconds", "tetrarchia_agents": "the search, about 15 seconds more"}  # what is said of it
LEVEL = 1  # of optimization: 3, Numba's own, is as fast and takes half as long again
CALLED, INNER = "called", "inner"  # from Python, and from compiled code

stores: list[Store] = []  # of the rules, and of the search once that is imported
Function = TypeVar("Function", bound=Callable[..., Any])


def compiler(*packages: Path) -> Callable[[Function], Function]:
    """The decorator for compiled code of these packages, kept in our own folder (the user's other Numba code keeps its own)."""
    if config.DISABLE_JIT:
        return lambda function: function
    store = Store(_digest(packages))
    stores.append(store)

    def jit(function: Function) -> Function:
        """Two of each: one that Python calls, and one that compiled code calls, which takes half the time to compile."""
        called = _compiled(function, store, CALLED)
        inner = _compiled(function, store, INNER, no_cpython_wrapper=True)
        called.get_call_template, called.get_overload = inner.get_call_template, inner.get_overload
        result: Function = called
        return result

    return jit


def _compiled(function: Callable[..., Any], store: Store, kind: str, **options: bool) -> Any:
    dispatcher = numba.njit(function, nogil=True, error_model="numpy", no_cfunc_wrapper=True, **options)
    dispatcher._cache = MachineCode(function, store, kind)
    return dispatcher


def _digest(packages: tuple[Path, ...]) -> str:
    """The compiler's version and level, the board in use, the game's data, and every source that compiled code comes from."""
    versions = [numba.__version__, np.__version__, platform.python_implementation(), *sys.version_info[:2]]
    settings = [str(config.OPT), "NUMBA_OPT" in os.environ, config.BOUNDSCHECK]
    digest = hashlib.sha256(repr(versions + settings).encode())
    sources = sorted(path for package in packages for path in package.rglob("*.py"))
    for path in [board_path(), *sorted(PACKAGE.rglob("*.toml")), *sources]:
        content = path.read_bytes()
        if path.suffix != ".py" or path.parent.name == "engine" or path.name == "board.py" or b"_jit import" in content:
            digest.update(path.name.encode() + content)
    return digest.hexdigest()[:16]


def _level(package: str, kind: str) -> Any:
    """How much our code is optimized: as the user says for all his Numba code, else LEVEL.

    But for rules that Python calls: all that they call is part of them, and playouts at LEVEL would lose a tenth.
    """
    if "NUMBA_OPT" in os.environ or (package, kind) == ("tetrarchia_env", CALLED):
        return config.OPT
    return type(config.OPT)(LEVEL)


class _Watcher(event.Listener):  # type: ignore[misc]  # numba has no types
    """Sets the level of optimization while our code is compiled, and says once that it is: a silent minute looks like a hang.

    Numba tells it under the lock that all compiling waits for, so that the user's own code is compiled at his level.
    """

    def __init__(self) -> None:
        self.told: set[str] = set()
        self.levels: list[Any] = []

    def on_start(self, event: Any) -> None:
        dispatcher = event.data["dispatcher"]
        package = dispatcher.py_func.__module__.partition(".")[0]
        self.levels.append(config.OPT)
        if package in COMPILED and isinstance(dispatcher._cache, MachineCode):
            config.OPT = _level(package, dispatcher._cache.kind)
            self.tell(package, dispatcher._cache.store.lost() if package not in self.told else "")

    def on_end(self, event: Any) -> None:
        config.OPT = self.levels.pop()

    def tell(self, package: str, lost: str) -> None:
        """Once for each package."""
        if package not in self.told:
            self.told.add(package)
            kept = f"each time anew ({lost}; set NUMBA_CACHE_DIR to a folder of your own)" if lost else "once for each version"
            print(f"tetrarchia: compiling {COMPILED[package]}, {kept}", file=sys.stderr, flush=True)


jit = compiler(PACKAGE)
event.register("numba:compile", _Watcher())
