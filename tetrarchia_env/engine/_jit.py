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

Function = TypeVar("Function", bound=Callable[..., Any])


def jit(function: Function) -> Function:
    """Compile a rule, caching the result in our own folder (the user's other Numba code keeps its own)."""
    kept = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = _CACHE
    try:
        compiled: Function = numba.njit(function, cache=True, nogil=True, error_model="numpy")
    finally:
        numba.config.CACHE_DIR = kept
    return compiled


def _digest() -> str:
    """The compiler's version, the board in use, the package's data, and every source that compiled code comes from."""
    package = Path(__file__).parent.parent
    digest = hashlib.sha256(numba.__version__.encode())
    for path in [board_path(), *sorted(package.rglob("*.toml")), *sorted(package.rglob("*.py"))]:
        content = path.read_bytes()
        if path.suffix != ".py" or path.parent.name == "engine" or path.name == "board.py" or b"_jit import jit" in content:
            digest.update(path.name.encode() + content)
    return digest.hexdigest()[:16]


def _cache_root() -> Path:
    """The user's NUMBA_CACHE_DIR if set, else a folder of ours below the user's cache."""
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    if chosen:
        return Path(chosen)
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "tetrarchia"


def _writable_cache() -> str:
    """The folder for this digest; a temporary one where the home cannot be written."""
    folder = _cache_root() / _digest()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        folder = Path(tempfile.gettempdir()) / "tetrarchia" / folder.name
        folder.mkdir(parents=True, exist_ok=True)
    return str(folder)


class _Announcer(event.Listener):  # type: ignore[misc]  # numba has no types
    """Says so, once, when a rule is really compiled: a silent half minute looks like a hang."""

    told = False

    def on_start(self, event: Any) -> None:
        module = event.data["dispatcher"].py_func.__module__
        if not self.told and module.startswith("tetrarchia_env."):
            self.told = True
            print("tetrarchia: compiling the rules, about half a minute, once for each version", file=sys.stderr, flush=True)

    def on_end(self, event: Any) -> None:
        """Nothing to say."""


_CACHE = _writable_cache()
event.register("numba:compile", _Announcer())
