"""Files are written whole or not at all."""

import os
from pathlib import Path


def write_whole(path: str | os.PathLike[str], text: str) -> None:
    """Write beside the place and move there: an interrupted run leaves the old file or none."""
    goal = Path(path)
    if not goal.parent.is_dir():
        raise ValueError(f"cannot write {goal}: there is no folder {goal.parent}")
    draft = goal.with_name(f".{goal.name}.{os.getpid()}")
    try:
        draft.write_text(text, encoding="utf-8")
        os.replace(draft, goal)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
