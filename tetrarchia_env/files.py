"""Bounded reads, atomic writes and file locks, for every package.

Whether an output can be written is checked before the work begins; an interrupted write leaves the old file or none.
"""

import os
import re
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from itertools import combinations
from pathlib import Path
from typing import IO, Any

import msgspec

from tetrarchia_env.errors import TetrarchiaError

try:
    import fcntl
except ImportError:  # Windows: no advisory locks, so that concurrent writers are not detected
    fcntl = None  # type: ignore[assignment]

READ_CHUNK_BYTES = 1 << 20
MAX_NESTING = 16  # brackets or dots; our own files need at most 3
MAX_NAME_BYTES = 100
_STRINGS_AND_COMMENTS = re.compile(r'"[^"\n]*"|\'[^\'\n]*\'|#[^\n]*')


def read_bounded(path: str | os.PathLike[str], max_bytes: int, start: int = 0) -> bytes:
    """Return the content of a file from byte `start` on.

    Raises:
        TetrarchiaError: It has more than `max_bytes`; the rest is not read.
        OSError: It cannot be read.
    """
    content = bytearray()
    with open(path, "rb") as file:
        file.seek(start)
        while chunk := file.read(READ_CHUNK_BYTES):  # read(max_bytes) would allocate that much for the smallest file
            content += chunk
            if len(content) > max_bytes:
                raise TetrarchiaError(f"it is larger than {max_bytes // 1_000_000} MB")
    return bytes(content)


def check_nesting(text: str) -> str:
    """Return a TOML text unchanged.

    Raises:
        TetrarchiaError: It is nested so deeply that the parser would take hours or exceed the recursion limit.
    """
    depth = 0
    for line in _STRINGS_AND_COMMENTS.sub("", text).split("\n"):
        for bracket in re.findall(r"[\[\]{}]", line):
            depth += 1 if bracket in "[{" else -1
            if depth > MAX_NESTING:
                raise TetrarchiaError("it is nested too deeply")
        if line.count(".") > MAX_NESTING:
            raise TetrarchiaError("it is nested too deeply")
    return text


def check_name(name: str, what: str) -> None:
    """Check that a name, of a run for example, is a plain folder name and not a path.

    Raises:
        TetrarchiaError: It contains a separator or a control character, or is too long.
    """
    plain = name.isprintable() and not set(name) & set('/\\:*?"<>|') and name not in ("", ".", "..") and not name.startswith("-")
    if not plain or len(name.encode()) > MAX_NAME_BYTES:
        raise TetrarchiaError(
            f"{what} must be a plain name of at most {MAX_NAME_BYTES} bytes without slashes or control characters; got {name!r}"
        )


def check_parent_dir(path: Path) -> None:
    """Check that the folder of an output file exists.

    Raises:
        TetrarchiaError: It does not.
    """
    if not path.parent.is_dir():
        raise TetrarchiaError(f"cannot write {path}: there is no folder {path.parent}")


def check_writable(path: Path) -> None:
    """Check that `atomic_write` can write this file, by creating and removing its draft.

    Raises:
        TetrarchiaError: It cannot.
    """
    check_parent_dir(path)
    if path.exists() and not path.is_file():
        raise TetrarchiaError(f"cannot write {path}: it is {'a folder' if path.is_dir() else 'a device or a pipe'}")
    draft = _draft(path)
    try:
        os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
        draft.unlink()
    except (OSError, ValueError) as error:  # ValueError: the name contains a null character
        raise TetrarchiaError(f"cannot write {path}: {getattr(error, 'strerror', error)}") from None


def check_output_paths(*outputs: Path | None, sources: tuple[Path, ...] = ()) -> None:
    """Check, before any work, that all outputs can be written and that none replaces another or a source.

    Args:
        outputs: The files to be written; `None` is ignored.
        sources: The files to be read.

    Raises:
        TetrarchiaError: One cannot be written, or two are the same file.
    """
    paths = [path for path in outputs if path is not None]
    for path in paths:
        check_writable(path)
        for source in sources:
            if is_same_file(path, source):
                raise TetrarchiaError(f"cannot write {path}: it is the input file {source}; choose another name")
    for path, other in combinations(paths, 2):
        if is_same_file(path, other):
            raise TetrarchiaError(f"cannot write {path} twice: choose a different name for each file")


def is_same_file(path: Path, other: Path) -> bool:
    """Return whether two paths lead to the same file, through links too."""
    with suppress(OSError):
        if os.path.samefile(path, other):
            return True
    return os.path.realpath(path) == os.path.realpath(other)


@contextmanager
def with_filename(path: Path, draft: Path | None = None) -> Iterator[None]:
    """Make an OSError that names no file, or only the draft, name this file."""
    try:
        yield
    except OSError as error:
        if error.filename is None or error.filename in (str(draft), draft):
            raise OSError(error.errno, error.strerror or str(error), str(path)) from error
        raise


@contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield the path of a draft that replaces the file when the block succeeds."""
    path = Path(path)
    check_parent_dir(path)
    draft = _draft(path)
    try:
        with with_filename(path, draft):
            yield draft
            os.replace(draft, path)
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)


def write_text_atomic(path: str | os.PathLike[str], text: str) -> None:
    """Write a text file as UTF-8, completely or not at all."""
    with atomic_write(path) as draft:
        draft.write_text(text, encoding="utf-8")


def create_text_atomic(path: Path, text: str) -> bool:
    """Write a text file unless it exists; return whether it was written.

    Of several processes that do this at once, one succeeds.
    """
    draft = _draft(path)
    try:
        with with_filename(path, draft):
            draft.write_text(text, encoding="utf-8")
            try:
                os.link(draft, path)  # unlike os.replace it never replaces a file
            except FileExistsError:
                return False
            except OSError:  # a file system without hard links
                os.replace(draft, path)
            return True
    finally:
        draft.unlink(missing_ok=True)


def remove_drafts(folder: Path) -> None:
    """Delete the drafts of killed writers. Call it while holding the folder's lock."""
    for draft in folder.glob(".*.[0-9]*"):
        if draft.is_file():
            draft.unlink(missing_ok=True)


@contextmanager
def atomic_dir(path: Path) -> Iterator[Path]:
    """Yield a new folder that takes the place of `path` when the block succeeds; `latest_dir` always finds a complete one."""
    draft, old = path.with_name(f".{path.name}.draft"), _replaced(path)
    shutil.rmtree(draft, ignore_errors=True)
    draft.mkdir()
    try:
        yield draft
    except BaseException:
        shutil.rmtree(draft, ignore_errors=True)
        raise
    if path.exists():
        shutil.rmtree(old, ignore_errors=True)
        path.rename(old)
    draft.rename(path)
    shutil.rmtree(old, ignore_errors=True)


def latest_dir(path: Path) -> Path | None:
    """Return the folder that `atomic_dir` last completed, or None."""
    return next((folder for folder in (path, _replaced(path)) if folder.is_dir()), None)


def parts_folder(folder: Path, settings: Mapping[str, Any]) -> Path:
    """Prepare the folder for the parts of jobs with these settings, and return it; parts of other settings are deleted."""
    settings_file = folder / "jobs.json"
    if not (settings_file.is_file() and settings_file.read_bytes() == msgspec.json.encode(settings)):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        write_text_atomic(settings_file, msgspec.json.encode(settings).decode())
    return folder


@contextmanager
def file_lock(file: Path | IO[Any], busy: str = "", *, wait: bool = False) -> Iterator[None]:
    """Hold an exclusive lock on a file; it ends with the block, or with the process, however that ends.

    Args:
        file: An open file, or the path of a lock file, which is created if needed.
        busy: The message of the error if another process holds the lock.
        wait: Wait for the other process instead.

    Raises:
        TetrarchiaError: Another process holds the lock, unless `wait`.
    """
    if isinstance(file, Path):
        with open(file, "ab") as opened, file_lock(opened, busy, wait=wait):
            yield
        return
    if fcntl is None:
        yield
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise TetrarchiaError(busy) from None
    try:
        yield
    finally:
        fcntl.flock(file, fcntl.LOCK_UN)


def _draft(path: Path) -> Path:
    return path.with_name(f".{path.name}.{os.getpid()}")  # in the same folder, so that moving it is atomic


def _replaced(path: Path) -> Path:
    return path.with_name(f".{path.name}.old")
