"""Atomic writes: a file is written whole or not at all."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def check_folder(goal: Path) -> None:
    """ValueError if there is none to write this file into."""
    if not goal.parent.is_dir():
        raise ValueError(f"cannot write {goal}: there is no folder {goal.parent}")


@contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A file beside the goal that is moved there in the end: an interrupted run leaves the old file or none."""
    goal = Path(path)
    check_folder(goal)
    draft = goal.with_name(f".{goal.name}.{os.getpid()}")
    try:
        yield draft
        os.replace(draft, goal)
    finally:
        draft.unlink(missing_ok=True)


def write_whole(path: str | os.PathLike[str], text: str) -> None:
    """Write a text file so."""
    with atomic_write(path) as draft:
        draft.write_text(text, encoding="utf-8")
