"""The folder of a training run."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tetrarchia_env.files import file_lock, remove_drafts

LOCK = ".lock"
LATEST, FINAL = "latest", "final"  # the checkpoint of an unfinished and of a finished run


@contextmanager
def run_lock(folder: Path) -> Iterator[None]:
    """Be the only process that writes into a run's folder.

    Raises:
        TetrarchiaError: Another process does.
    """
    with file_lock(folder / LOCK, f"another process writes into {folder}: let it finish, or choose another name"):
        remove_drafts(folder)
        yield
