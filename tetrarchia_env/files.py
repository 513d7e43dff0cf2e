"""Files are read up to a bound and written whole or not at all; what goes wrong with one is said with its name."""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

STRINGS = re.compile(r'"[^"\n]*"|\'[^\'\n]*\'|#[^\n]*')
PIECE = 1 << 20  # bytes
DEEPEST = 16  # brackets or dots: no file of ours comes to 4


def check_folder(goal: Path) -> None:
    """ValueError if there is none to write this file into."""
    if not goal.parent.is_dir():
        raise ValueError(f"cannot write {goal}: there is no folder {goal.parent}")


def read_bounded(path: str | os.PathLike[str], most: int, start: int = 0) -> bytes:
    """What a file holds from a byte on; ValueError if that is more than any honest one has, before more of it is read."""
    content = bytearray()
    with open(path, "rb") as file:
        file.seek(start)
        while piece := file.read(PIECE):  # asked for all at once, all that memory would be taken, however small the file
            content += piece
            if len(content) > most:
                raise ValueError(f"it is larger than {most // 1_000_000} MB")
    return bytes(content)


def flat(text: str) -> str:
    """The same text; ValueError if TOML is nested so deeply that the library would read it for hours, or recurse too far."""
    depth = 0
    for line in STRINGS.sub("", text).split("\n"):
        for bracket in re.findall(r"[\[\]{}]", line):
            depth += 1 if bracket in "[{" else -1
            if depth > DEEPEST:
                raise ValueError("it is nested too deeply")
        if line.count(".") > DEEPEST:
            raise ValueError("it is nested too deeply")
    return text


@contextmanager
def naming(path: str | os.PathLike[str]) -> Iterator[None]:
    """An error of the disk names the file: that of a full disk does not by itself."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror or str(error), os.fspath(path)) from error


@contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A file beside the goal that is moved there in the end: an interrupted run leaves the old file or none."""
    goal = Path(path)
    check_folder(goal)
    draft = goal.with_name(f".{goal.name}.{os.getpid()}")
    with naming(goal):
        try:
            yield draft
            os.replace(draft, goal)
        finally:
            draft.unlink(missing_ok=True)


def write_whole(path: str | os.PathLike[str], text: str) -> None:
    """Write a text file so."""
    with atomic_write(path) as draft:
        draft.write_text(text, encoding="utf-8")
