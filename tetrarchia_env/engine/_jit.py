"""The decorator of all compiled functions."""

import hashlib
import platform
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import llvmlite  # type: ignore[import-untyped]
import numba
import numpy as np
from numba.core import config

from tetrarchia_env.board import board_path
from tetrarchia_env.engine._code_cache import CodeCache, CodeFolder, NoCache

PACKAGE = Path(__file__).parent.parent
SETTINGS = ("OPT", "LOOP_VECTORIZE", "SLP_VECTORIZE", "ENABLE_AVX", "BOUNDSCHECK", "DEBUGINFO_DEFAULT")

Function = TypeVar("Function", bound=Callable[..., Any])


def source_digest(*packages: Path) -> str:
    """Return a digest of everything that changes compiled code: versions, Numba's settings, data files and sources.

    Args:
        packages: Folders of the packages with compiled functions; data files are those of the first.
    """
    versions = [numba.__version__, llvmlite.__version__, np.__version__, platform.python_implementation(), *sys.version_info[:2]]
    digest = hashlib.sha256(repr([*versions, *(str(getattr(config, name, "")) for name in SETTINGS)]).encode())
    sources = sorted(path for package in packages for path in package.rglob("*.py"))
    for path in [board_path(), *sorted(packages[0].rglob("*.toml")), *sources]:
        content = path.read_bytes()
        if path.suffix != ".py" or path.parent.name == "engine" or path.name in ("board.py", "variants.py") or b"_jit import" in content:
            digest.update(path.name.encode() + content)
    return digest.hexdigest()[:16]


def jit_into(folder: CodeFolder) -> Callable[[Function], Function]:
    """Return the decorator for functions whose compiled code is cached in a folder.

    Args:
        folder: The folder.
    """

    def jit(function: Function) -> Function:
        if config.DISABLE_JIT:
            return function
        compiled: Any = numba.njit(function, nogil=True, error_model="numpy", no_cfunc_wrapper=True)
        compiled._cache = CodeCache(function, folder, folder.path) if folder.path else NoCache(folder)  # as Numba's enable_caching does
        result: Function = compiled
        return result

    return jit


RULES_CODE = CodeFolder(source_digest(PACKAGE), "the rules, about 20 seconds", last="tetrarchia_env.engine.turn.play")
jit = jit_into(RULES_CODE)
