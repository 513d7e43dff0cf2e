"""The one decorator of the engine, and where its machine code is kept.

Numba's own cache looks only at the file of the function it compiled: a changed callee or board would leave stale code
in every caller. So the cache folder is named by a digest of all that the code is made of.
"""

import hashlib
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numba
from numba.core import event

from tetrarchia_env.board import board_path

PACKAGE = Path(__file__).parent.parent
COMPILED = {"tetrarchia_env": "the rules, about half a minute", "tetrarchia_agents": "the search, about a minute"}  # what is said of it

Function = TypeVar("Function", bound=Callable[..., Any])


def compiler(*packages: Path) -> Callable[[Function], Function]:
    """The decorator for compiled code of these packages, cached in our own folder (the user's other Numba code keeps its own)."""
    cache = _writable_cache(_digest(packages))

    def jit(function: Function) -> Function:
        kept = numba.config.CACHE_DIR
        numba.config.CACHE_DIR = cache
        try:
            compiled: Function = numba.njit(function, cache=True, nogil=True, error_model="numpy")
        finally:
            numba.config.CACHE_DIR = kept
        return compiled

    return jit


def _digest(packages: tuple[Path, ...]) -> str:
    """The compiler's version, the board in use, the game's data, and every source that compiled code comes from."""
    digest = hashlib.sha256(numba.__version__.encode())
    sources = sorted(path for package in packages for path in package.rglob("*.py"))
    for path in [board_path(), *sorted(PACKAGE.rglob("*.toml")), *sources]:
        content = path.read_bytes()
        if path.suffix != ".py" or path.parent.name == "engine" or path.name == "board.py" or b"_jit import" in content:
            digest.update(path.name.encode() + content)
    return digest.hexdigest()[:16]


def _cache_root() -> Path:
    """The user's NUMBA_CACHE_DIR if set, else a folder of ours below the user's cache."""
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    if chosen:
        return Path(chosen)
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "tetrarchia"


def _writable_cache(digest: str) -> str:
    """The folder for this digest; a temporary one where the home cannot be written."""
    folder = _cache_root() / digest
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        folder = Path(tempfile.gettempdir()) / "tetrarchia" / folder.name
        folder.mkdir(parents=True, exist_ok=True)
    return str(folder)


class _Announcer(event.Listener):  # type: ignore[misc]  # numba has no types
    """Says so, once, when code is really compiled: a silent half minute looks like a hang."""

    def __init__(self) -> None:
        self.told: set[str] = set()

    def on_start(self, event: Any) -> None:
        module = event.data["dispatcher"].py_func.__module__
        what = COMPILED.get(module.partition(".")[0])
        if what and what not in self.told:
            self.told.add(what)
            print(f"tetrarchia: compiling {what}, once for each version", file=sys.stderr, flush=True)

    def on_end(self, event: Any) -> None:
        """Nothing to say."""


jit = compiler(PACKAGE)
event.register("numba:compile", _Announcer())
