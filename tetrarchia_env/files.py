"""Files are written whole or not at all."""

import os
import tempfile
from pathlib import Path


def write_whole(path: str | os.PathLike[str], text: str) -> None:
    """Write beside the place and move there: an interrupted run leaves the old file or none."""
    goal = Path(path)
    if not goal.parent.is_dir():
        raise ValueError(f"cannot write {goal}: there is no folder {goal.parent}")
    handle, draft = tempfile.mkstemp(dir=goal.parent, prefix=f".{goal.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(draft, goal)
    except BaseException:
        os.unlink(draft)
        raise
