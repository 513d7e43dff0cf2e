"""A run's folder: one writer at a time, and folders in it that are there whole or not at all."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tetrarchia_env.errors import TetrarchiaError

try:
    import fcntl
except ImportError:  # Windows has no such locks
    fcntl = None  # type: ignore[assignment]

LOCK = ".lock"
LATEST, FINAL = "latest", "final"  # the checkpoint of a run under way, and of a finished one


@contextmanager
def only_writer(folder: Path) -> Iterator[None]:
    """Nobody else writes into this run meanwhile; the lock goes with its process, however that ends."""
    with open(folder / LOCK, "a", encoding="utf-8") as lock:
        if fcntl is not None:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise TetrarchiaError(f"another process writes into {folder}: let it finish, or choose another name") from None
        _remove_drafts(folder)
        yield


@contextmanager
def whole_folder(goal: Path) -> Iterator[Path]:
    """A folder beside the goal that takes its place in the end; `found_folder` finds the old one or the new one at any moment."""
    draft, old = goal.with_name(f".{goal.name}.draft"), _old(goal)
    shutil.rmtree(draft, ignore_errors=True)
    draft.mkdir()
    try:
        yield draft
    except BaseException:
        shutil.rmtree(draft, ignore_errors=True)
        raise
    if goal.exists():
        shutil.rmtree(old, ignore_errors=True)
        goal.rename(old)
    draft.rename(goal)
    shutil.rmtree(old, ignore_errors=True)


def found_folder(goal: Path) -> Path | None:
    """Where the folder is that was last written whole, if any was."""
    return next((folder for folder in (goal, _old(goal)) if folder.is_dir()), None)


def _old(goal: Path) -> Path:
    return goal.with_name(f".{goal.name}.old")


def _remove_drafts(folder: Path) -> None:
    """Files that a process was writing when it was killed: with the lock nobody is."""
    for draft in folder.glob(".*.[0-9]*"):
        if draft.is_file():
            draft.unlink(missing_ok=True)
