"""Folders for machine code, which runs when it is read: only folders that nobody but this user, or root, can write into."""

import os
import re
import shutil
import stat
import tempfile
import time
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

VERSIONS = 6  # folders of other versions that stay, the last used ones; rules and search have one each
DAY = 24 * 3600.0  # folders used within it stay too
OURS = re.compile("[0-9a-f]{16}")  # how our folders are named
USED = "used"  # touched by each process that uses its folder, and locked while it runs
TURN = "turn"  # locked by the one that compiles ahead
SUFFIXES = (".code", ".nbi", ".nbc", ".tmp")  # of our files, now and in former versions


def roots() -> list[Path]:
    """Where folders may lie: where the user says, or below his cache; else in a temporary folder of his own."""
    temporary = Path(tempfile.gettempdir()) / f"tetrarchia-{os.getuid() if hasattr(os, 'getuid') else 'user'}"
    if chosen := os.environ.get("NUMBA_CACHE_DIR"):
        return [Path(chosen).absolute(), temporary]
    if cached := os.environ.get("XDG_CACHE_HOME"):
        return [Path(cached).absolute() / "tetrarchia", temporary]
    try:
        return [Path.home() / ".cache" / "tetrarchia", temporary]
    except RuntimeError:  # a user whom the system does not know
        return [temporary]


def distrust(folder: Path) -> str:
    """Why files in this folder may be another user's, or nothing; folders on the way to it are looked at as well."""
    if not hasattr(os, "getuid"):
        return ""
    real = folder.resolve()
    for place in (real, *real.parents):
        found = place.stat()
        if found.st_uid not in (0, os.geteuid()):
            return f"{place} belongs to another user"
        if _others_write(found) and (place == real or not found.st_mode & stat.S_ISVTX):
            return f"others may write into {place}"
    return ""


def _others_write(found: os.stat_result) -> bool:
    """Whether more users than its owner; a group of the owner's number is his own."""
    group = 0 if found.st_gid == found.st_uid else stat.S_IWGRP
    return bool(found.st_mode & (stat.S_IWOTH | group))


@cache
def refusal(folder: Path) -> str:
    """Why nothing may be read from this folder, or nothing. Once found, it stands for this process."""
    try:
        return distrust(folder)
    except OSError as error:
        return f"{folder}: {error.strerror or error}"


def made(folder: Path) -> bool:
    """Whether this folder is there, made if need be, and nobody else writes into it."""
    try:
        folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not distrust(folder.parent):
            folder.mkdir(mode=0o700, exist_ok=True)
        refusal.cache_clear()
        return not distrust(folder)
    except OSError:
        return False


def write(file: Path, content: bytes) -> bool:
    """Whether it could be written; whoever reads finds all of it or nothing."""
    half = file.with_name(f"{uuid.uuid4().hex}.tmp")
    try:
        half.write_bytes(content)
        half.replace(file)
        return True
    except OSError:
        with suppress(OSError):
            half.unlink()
        return False


def hold(folder: Path) -> int | None:
    """Say that this folder is in use, until what is returned, an open file's number, is closed: by the end of the process at last."""
    used = folder / USED
    with suppress(OSError):
        if os.access(folder, os.W_OK):
            used.touch()
        if fcntl:
            held = os.open(used, os.O_RDONLY)
            with suppress(OSError):
                fcntl.flock(held, fcntl.LOCK_SH | fcntl.LOCK_NB)
            return held
    return None


@contextmanager
def turn(folder: Path) -> Iterator[None]:
    """Only one process at a time is inside, where files can be locked; the others wait."""
    with ExitStack() as stack:
        with suppress(OSError):
            file = stack.enter_context((folder / TURN).open("wb"))
            if fcntl:
                fcntl.flock(file, fcntl.LOCK_EX)
        yield


def prune(root: Path, now: float | None = None) -> None:
    """Remove folders of other versions that nobody has used for a while."""
    with suppress(OSError):
        folders = sorted((folder for folder in root.iterdir() if _is_ours(folder)), key=_last_use, reverse=True)
        for folder in folders[VERSIONS:]:
            if (now or time.time()) - _last_use(folder) > DAY and not _is_held(folder):
                _remove(folder)


def _remove(folder: Path) -> None:
    """At once for whoever looks for it by its name."""
    with suppress(OSError):
        shutil.rmtree(folder.rename(folder.with_name(f"{uuid.uuid4().hex}.tmp")), ignore_errors=True)


def _is_ours(folder: Path) -> bool:
    if not OURS.fullmatch(folder.name) or folder.is_symlink() or not folder.is_dir():
        return False
    return all(file.is_dir() or file.suffix in SUFFIXES or file.name in (USED, TURN) or ".tmp." in file.name for file in folder.rglob("*"))


def _last_use(folder: Path) -> float:
    used = folder / USED
    return (used if used.exists() else folder).stat().st_mtime


def _is_held(folder: Path) -> bool:
    """Whether a process that runs uses it; where files cannot be locked, its last use tells enough."""
    used = folder / USED
    if not fcntl or not used.exists():
        return False
    with used.open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return True
    return False
