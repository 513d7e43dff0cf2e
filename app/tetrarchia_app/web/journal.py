"""Rooms on disk: one file per room with a header line and one line per event, so that a restarted server continues every game.

An event is written before it takes effect. If it cannot be written, for example because the disk is full, the file is truncated to its last
complete line and the event is refused. If the server was killed during a write, the last line is incomplete and is ignored.
The modification time of a file is the time of the room's last use; a restart does not change it.
"""

import errno
import logging
import os
import secrets
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec import Struct, field

from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.files import file_lock, read_bounded, write_text_atomic
from tetrarchia_env.notation import Snapshot
from tetrarchia_env.schema import sanitize_line

FORMAT: Literal[2] = 2  # files of other formats are refused: a journal is private to one version of the server
MAX_FILE_BYTES = 16_000_000
COMPACT_BYTES = 1_000_000  # a larger file that has doubled since its header was written is rewritten as a header
LINK_BYTES = 24
SUFFIX = ".room"
log = logging.getLogger(__name__)


class NotSavedError(TetrarchiaError):
    """An event or a new room could not be written; nothing was changed."""

    def __init__(self, error: OSError) -> None:
        super().__init__(f"the server could not save this ({error.strerror or error}): nothing was changed, try again later")


def new_link() -> str:
    """Return an unguessable URL component."""
    return secrets.token_urlsafe(LINK_BYTES)


class Player(Struct):
    """A player of one or more Emperors: a human with a link, or an agent."""

    link: str = field(default_factory=new_link)
    name: str = ""
    agent: str | None = None  # None for a human
    substitute: str | None = None  # the agent that plays while the human is away
    consent: bool = False  # of a human, to keep the game for research

    @property
    def is_human(self) -> bool:
        return self.agent is None

    @property
    def acting_agent(self) -> str | None:
        """The agent that currently decides, or None if the human does."""
        return self.agent or self.substitute


class ActionRecord(Struct):
    """Who chose an action (a player, or the agent that acted for it) and the seconds it took, if known."""

    player: int
    agent: str | None
    seconds: float | None = None


class Header(Struct):
    """First line of a room's file."""

    format: Literal[2]
    options: dict[str, Any]
    seed: int | None
    start: Snapshot | None  # first position of a game without a seed
    actions: list[str]
    players: list[Player]
    seats: tuple[int, int, int, int]  # player of each Emperor, in turn order
    spectator_link: str
    records: list[ActionRecord] | None = None  # None if the game was started elsewhere
    creator_link: str | None = None  # of a creator who only watches; otherwise the first player is the creator
    is_joined: bool = True  # whether a page was ever connected


class Event(Struct, omit_defaults=True):
    """Any other line: an action, an undone action, the new state of a player, or the first connection of a page."""

    action: str | None = None
    record: ActionRecord | None = None
    undo: bool = False
    player: int | None = None
    state: Player | None = None
    joined: bool = False


@dataclass(frozen=True)
class StoredRoom:
    """Contents of one room file."""

    name: str
    header: Header
    events: list[Event]
    modified: float  # seconds since the epoch


class Journal:
    """The files of all rooms. Only this user may read the folder, because the files contain the players' links.

    Raises:
        TetrarchiaError: If another server uses the folder.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._sizes: dict[str, int] = {}  # bytes of the complete lines of each file
        self._header_sizes: dict[str, int] = {}
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._lock = ExitStack()
        busy = f"another server uses the room folder {folder}: choose another folder with --state"
        self._lock.enter_context(file_lock(folder / "lock", busy))

    def create(self, name: str, header: Header) -> None:
        """Write the file of a room, replacing an earlier one.

        Raises:
            NotSavedError: If it cannot be written; an earlier file is unchanged.
        """
        text = msgspec.json.encode(header).decode() + "\n"
        try:
            write_text_atomic(self._path(name), text)
            os.chmod(self._path(name), 0o600)
        except OSError as error:
            raise NotSavedError(error) from error
        self._sizes[name] = self._header_sizes[name] = len(text.encode())

    def append(self, name: str, *events: Event) -> None:
        """Append events in one write, each as one line.

        Raises:
            NotSavedError: If not all can be written; the file then still ends with the line before them.
        """
        lines, size = msgspec.json.Encoder().encode_lines(events), self._sizes[name]
        try:
            descriptor = os.open(self._path(name), os.O_WRONLY)
        except OSError as error:
            raise NotSavedError(error) from error
        try:
            if os.fstat(descriptor).st_size != size:
                os.ftruncate(descriptor, size)  # an incomplete line of a killed server, or of a write that could not be truncated
            if os.pwrite(descriptor, lines, size) < len(lines):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        except OSError as error:
            with suppress(OSError):
                os.ftruncate(descriptor, size)
            raise NotSavedError(error) from error
        finally:
            os.close(descriptor)
        self._sizes[name] = size + len(lines)

    def is_oversized(self, name: str) -> bool:
        """Return whether the file should be rewritten by `create`, because most of its lines are outdated."""
        return self._sizes[name] > max(COMPACT_BYTES, 2 * self._header_sizes[name])

    def touch(self, name: str) -> None:
        """Record that the room was used just now."""
        with suppress(OSError):
            os.utime(self._path(name))

    def remove(self, name: str) -> None:
        self._path(name).unlink(missing_ok=True)
        del self._sizes[name], self._header_sizes[name]

    def close(self) -> None:
        """Release the folder for another server."""
        self._lock.close()

    def load(self) -> Iterator[StoredRoom]:
        """Yield the rooms of the previous server; an unreadable file is logged and left unchanged."""
        for path in sorted(self.folder.glob(f"*{SUFFIX}")):
            try:
                stored, self._sizes[path.stem], self._header_sizes[path.stem] = _read(path)
                yield stored
            except (TetrarchiaError, msgspec.MsgspecError, UnicodeError, OSError) as error:
                log_unusable(path.stem, error)

    def _path(self, name: str) -> Path:
        return self.folder / f"{name}{SUFFIX}"


def log_unusable(name: str, error: Exception) -> None:
    """Log that a room file cannot be used."""
    log.warning("room file %s%s cannot be used: %s", name, SUFFIX, sanitize_line(str(error)))


class _Format(Struct):
    format: int = 1


def _read(path: Path) -> tuple[StoredRoom, int, int]:
    """Return a room, the bytes of its complete lines, and those of its header."""
    content = read_bounded(path, MAX_FILE_BYTES)
    first, *lines = content.split(b"\n")
    if (found := msgspec.json.decode(first, type=_Format).format) != FORMAT:
        raise TetrarchiaError(f"format must be {FORMAT}, the format of this version of the server; got {found}")
    header = msgspec.json.decode(first, type=Header)
    events = [msgspec.json.decode(line, type=Event) for line in lines[:-1]]  # the last piece is empty or an incomplete line
    return StoredRoom(path.stem, header, events, path.stat().st_mtime), content.rfind(b"\n") + 1, len(first) + 1
