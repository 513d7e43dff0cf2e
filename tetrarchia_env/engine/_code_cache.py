"""Numba's cache of compiled code, in a private folder that is named by a digest of everything the code is compiled from.

Numba's default cache looks only at the source file of each function: after a change in a callee or in the board, callers in
other modules would keep stale code. It also executes whatever it finds and fails where it cannot write. Here a change of
sources or data means another folder, only folders that no other user can write into are used, a damaged file is compiled
again, and code that cannot be saved is compiled in each process.
"""

import hashlib
import os
import pickle
import shutil
import stat
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from numba.core.caching import CompileResultCacheImpl, FunctionCache, NullCache, _CacheLocator
from numba.core.serialize import dumps

MAX_UNUSED_S = 30 * 24 * 3600.0  # folders of other versions are deleted after this time without use


class CodeFolder:
    """The folder with the compiled code of one digest.

    Attributes:
        path: The first usable folder, or None if there is none.
        reasons: Why the folders before it cannot be used.
    """

    def __init__(self, digest: str, label: str, last: str) -> None:
        """Find or create the folder.

        Args:
            digest: Names the folder.
            label: What is compiled and how long that takes, for the message to the user.
            last: The function that is compiled last; if its code is there, compiling the rest takes no noticeable time.
        """
        self.label, self.last = label, last
        self.path: Path | None = None
        self.reasons: list[str] = []
        self._announced = False
        for root in roots():
            folder = root / f"tetrarchia-{digest}"
            if reason := ensure(folder):
                self.reasons.append(reason)
            else:
                self.path = folder
                break

    def has(self, function: str) -> bool:
        """Return whether there is code of this function, given by its full name."""
        return self.path is not None and any(self.path.glob(f"{function}.*.nbc"))

    @property
    def unwritable_reason(self) -> str:
        """Why no code can be saved, or an empty string."""
        if self.path is None:
            return "; ".join(self.reasons)
        return "" if os.access(self.path, os.W_OK) else f"{self.path} is not writable"

    @property
    def status(self) -> str:
        """Where the code is and whether it is there yet, in one line."""
        size = sum(file.stat().st_size for file in self.path.glob("*.nbc")) if self.path else 0
        if size:
            return f"compiled, {size / 1e6:.0f} MB in {self.path}"
        if reason := self.unwritable_reason:
            return f"compiled in each process, because {reason}; set NUMBA_CACHE_DIR to a private folder"
        return f"not compiled yet; the first use compiles it into {self.path}"

    def announce(self) -> None:
        """Print once that compiling takes a while, unless only a few functions are missing."""
        if not self._announced:
            self._announced = True
            if not self.has(self.last):
                reason = self.unwritable_reason
                when = f"in each process, because {reason} (set NUMBA_CACHE_DIR to a private folder)" if reason else "once per version"
                print(f"tetrarchia: compiling {self.label}, {when}", file=sys.stderr, flush=True)


def roots() -> list[Path]:
    """Return where code folders may be: the folder set by the user or the user's cache folder, then a temporary folder of this user."""
    temporary = Path(tempfile.gettempdir()) / f"tetrarchia-{os.getuid() if hasattr(os, 'getuid') else 'user'}"
    if chosen := os.environ.get("NUMBA_CACHE_DIR"):
        return [Path(chosen).absolute(), temporary]
    if cached := os.environ.get("XDG_CACHE_HOME"):
        return [Path(cached).absolute() / "tetrarchia", temporary]
    try:
        return [Path.home() / ".cache" / "tetrarchia", temporary]
    except RuntimeError:  # a user without a home directory
        return [temporary]


def ensure(folder: Path) -> str:
    """Create the folder if necessary; return why it cannot be used, or an empty string."""
    try:
        if not folder.exists():
            folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            _delete_unused(folder.parent)
            folder.mkdir(mode=0o700, exist_ok=True)
        if reason := insecure_reason(folder):
            return reason
        if os.access(folder, os.W_OK):
            os.utime(folder)  # see `_delete_unused`
        elif not any(folder.iterdir()):  # code in a folder that cannot be written, as in a container image, is used
            return f"{folder} is not writable"
        return ""
    except OSError as error:
        return f"{folder}: {error.strerror or error}"


def insecure_reason(folder: Path) -> str:
    """Return why another user could have put files into this folder, or an empty string."""
    if not hasattr(os, "getuid"):
        return ""
    real = folder.resolve()
    for place in (real, *real.parents):
        found = place.stat()
        own_group = found.st_gid == found.st_uid
        others_write = found.st_mode & (stat.S_IWOTH | (0 if own_group else stat.S_IWGRP))
        if found.st_uid not in (0, os.geteuid()):
            return f"{place} belongs to another user"
        if others_write and (place == real or not found.st_mode & stat.S_ISVTX):
            return f"other users may write into {place}"
    return ""


def _delete_unused(root: Path) -> None:
    for folder in root.glob("tetrarchia-" + "[0-9a-f]" * 16):
        with suppress(OSError):
            if time.time() - folder.stat().st_mtime > MAX_UNUSED_S and not folder.is_symlink():
                shutil.rmtree(folder, ignore_errors=True)


class _Locator(_CacheLocator):  # type: ignore[misc]  # numba has no types
    """The locator of our folder; its name is the digest of the sources, so files in it are never out of date."""

    def __init__(self, function: Callable[..., Any], folder: Path) -> None:
        self._py_file, self._folder = function.__code__.co_filename, str(folder)

    def get_cache_path(self) -> str:
        return self._folder

    def get_source_stamp(self) -> str:
        return ""

    def get_disambiguator(self) -> str:
        return ""


class _CheckedCode(CompileResultCacheImpl):  # type: ignore[misc]
    """Numba's format of compiled code, with a checksum."""

    def __init__(self, function: Callable[..., Any], folder: Path) -> None:
        self._lineno = function.__code__.co_firstlineno
        self._locator = _Locator(function, folder)
        self._filename_base = f"{function.__module__}.{function.__qualname__}".replace("<", "").replace(">", "")

    def check_cachable(self, compiled: Any) -> bool:
        return not compiled.library.has_dynamic_globals  # Numba's own method also warns

    def reduce(self, compiled: Any) -> tuple[bytes, bytes]:
        content = dumps(super().reduce(compiled))
        return hashlib.sha256(content).digest(), content

    def rebuild(self, target: Any, saved: tuple[bytes, bytes]) -> Any:
        checksum, content = saved
        if hashlib.sha256(content).digest() != checksum:
            raise pickle.UnpicklingError("the checksum differs")
        return super().rebuild(target, pickle.loads(content))


class NoCache(NullCache):  # type: ignore[misc]
    """The replacement of `CodeCache` when there is no usable folder."""

    def __init__(self, folder: CodeFolder) -> None:
        self.folder = folder

    def load_overload(self, signature: Any, target: Any) -> None:
        self.folder.announce()


class CodeCache(FunctionCache):  # type: ignore[misc]
    """Numba's cache of one function, in our folder."""

    def __init__(self, function: Callable[..., Any], folder: CodeFolder, path: Path) -> None:
        self.folder = folder
        self._impl_class = partial(_CheckedCode, folder=path)
        super().__init__(function)

    def load_overload(self, signature: Any, target: Any) -> Any:
        try:
            found = super().load_overload(signature, target)
        except Exception:  # a damaged file can raise anything; it is compiled again
            found = None
            with suppress(OSError):
                self.flush()
        if found is None:
            self.folder.announce()
        return found

    def save_overload(self, signature: Any, compiled: Any) -> None:
        with suppress(OSError):
            super().save_overload(signature, compiled)
