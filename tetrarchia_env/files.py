"""Files are read up to a bound, and written whole or not at all; whether that is possible is found out before the work."""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import combinations
from pathlib import Path

from tetrarchia_env.errors import TetrarchiaError

STRINGS = re.compile(r'"[^"\n]*"|\'[^\'\n]*\'|#[^\n]*')
PIECE = 1 << 20  # bytes
DEEPEST = 16  # brackets or dots: no file of ours comes to 4
LONGEST = 100  # bytes of a name that is to be a folder's


def check_folder(goal: Path) -> None:
    """ValueError if there is none to write this file into."""
    if not goal.parent.is_dir():
        raise TetrarchiaError(f"cannot write {goal}: there is no folder {goal.parent}")


def read_bounded(path: str | os.PathLike[str], most: int, start: int = 0) -> bytes:
    """What a file holds from a byte on; ValueError if that is more than any honest one has, before more of it is read."""
    content = bytearray()
    with open(path, "rb") as file:
        file.seek(start)
        while piece := file.read(PIECE):  # asked for all at once, all that memory would be taken, however small the file
            content += piece
            if len(content) > most:
                raise TetrarchiaError(f"it is larger than {most // 1_000_000} MB")
    return bytes(content)


def check_nesting(text: str) -> str:
    """The same text; ValueError if TOML is nested so deeply that the library would read it for hours, or recurse too far."""
    depth = 0
    for line in STRINGS.sub("", text).split("\n"):
        for bracket in re.findall(r"[\[\]{}]", line):
            depth += 1 if bracket in "[{" else -1
            if depth > DEEPEST:
                raise TetrarchiaError("it is nested too deeply")
        if line.count(".") > DEEPEST:
            raise TetrarchiaError("it is nested too deeply")
    return text


def check_goals(*goals: Path | None, sources: tuple[Path, ...] = ()) -> None:
    """ValueError, before any work, if one of these files could not be written, or would replace another of them or a source."""
    wanted = [goal for goal in goals if goal is not None]
    for goal in wanted:
        check_writable(goal)
    for goal, source in ((goal, source) for goal in wanted for source in sources):
        if is_same_file(goal, source):
            raise TetrarchiaError(f"cannot write {goal}: it is the file that is read, {source}; choose another name")
    for goal, other in combinations(wanted, 2):
        if is_same_file(goal, other):
            raise TetrarchiaError(f"cannot write {goal} twice: give each file a name of its own")


def is_same_file(one: Path, other: Path) -> bool:
    """Also by another way, or by a link."""
    with suppress(OSError):
        if os.path.samefile(one, other):
            return True
    return os.path.realpath(one) == os.path.realpath(other)


def check_writable(goal: Path) -> None:
    """ValueError if this file could not be written: the draft that `atomic_write` begins with is tried."""
    check_folder(goal)
    if goal.exists() and not goal.is_file():
        raise TetrarchiaError(f"cannot write {goal}: it is {'a folder' if goal.is_dir() else 'no file but a device or a pipe'}")
    draft = _draft(goal)
    try:
        os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
        draft.unlink()
    except (OSError, ValueError) as error:  # ValueError: a name with a null in it
        raise TetrarchiaError(f"cannot write {goal}: {getattr(error, 'strerror', error)}") from None


@contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A file beside the goal that is moved there in the end: an interrupted run leaves the old file or none."""
    goal = Path(path)
    check_folder(goal)
    draft = _draft(goal)
    try:
        with with_filename(goal, draft):
            yield draft
            os.replace(draft, goal)
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)


@contextmanager
def with_filename(goal: Path, draft: Path | None = None) -> Iterator[None]:
    """An error of the disk names this file: it names none by itself, or only the draft."""
    try:
        yield
    except OSError as error:
        if error.filename is None or error.filename in (str(draft), draft):
            raise OSError(error.errno, error.strerror or str(error), str(goal)) from error
        raise


def _draft(goal: Path) -> Path:
    """Beside the goal, so that moving it there is one deed."""
    return goal.with_name(f".{goal.name}.{os.getpid()}")


def write_text_atomic(path: str | os.PathLike[str], text: str) -> None:
    """Write a text file so."""
    with atomic_write(path) as draft:
        draft.write_text(text, encoding="utf-8")


def check_name(name: str, what: str) -> None:
    """ValueError if this, the name of a run for example, is not the plain name of a folder: it must not lead elsewhere."""
    plain = name.isprintable() and not set(name) & set('/\\:*?"<>|') and name not in ("", ".", "..") and not name.startswith("-")
    if not plain or len(name.encode()) > LONGEST:
        raise TetrarchiaError(
            f"{what} is a plain name of at most {LONGEST} letters, with no slash and no sign of control in it, not {name!r}"
        )
