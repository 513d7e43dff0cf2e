"""Rooms on disk: one file per room with a header line and one line per event, so that a restarted server continues every game.

An event is written before it is sent to the pages. If the server was killed during a write, the last line is incomplete and is ignored.
"""

import logging
import os
import secrets
from collections.abc import Iterator
from contextlib import ExitStack
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
LINK_BYTES = 24
SUFFIX = ".room"
log = logging.getLogger(__name__)


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


class Event(Struct, omit_defaults=True):
    """Any other line: an action, an undone action, or the new state of a player."""

    action: str | None = None
    record: ActionRecord | None = None
    undo: bool = False
    player: int | None = None
    state: Player | None = None


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
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._lock = ExitStack()
        busy = f"another server uses the room folder {folder}: choose another folder with --state"
        self._lock.enter_context(file_lock(folder / "lock", busy))

    def create(self, name: str, header: Header) -> None:
        """Write the file of a room, replacing an earlier one."""
        write_text_atomic(self._path(name), msgspec.json.encode(header).decode() + "\n")
        os.chmod(self._path(name), 0o600)

    def append(self, name: str, event: Event) -> None:
        with open(self._path(name), "ab", buffering=0) as file:
            file.write(msgspec.json.encode(event) + b"\n")

    def remove(self, name: str) -> None:
        self._path(name).unlink(missing_ok=True)

    def close(self) -> None:
        """Release the folder for another server."""
        self._lock.close()

    def load(self) -> Iterator[StoredRoom]:
        """Yield the rooms of the previous server; an unreadable file is logged and left unchanged."""
        for path in sorted(self.folder.glob(f"*{SUFFIX}")):
            try:
                yield _read(path)
            except (TetrarchiaError, msgspec.MsgspecError, UnicodeError, OSError) as error:
                log_unusable(path.stem, error)

    def _path(self, name: str) -> Path:
        return self.folder / f"{name}{SUFFIX}"


def log_unusable(name: str, error: Exception) -> None:
    """Log that a room file cannot be used."""
    log.warning("room file %s%s cannot be used: %s", name, SUFFIX, sanitize_line(str(error)))


class _Format(Struct):
    format: int = 1


def _read(path: Path) -> StoredRoom:
    first, *lines = read_bounded(path, MAX_FILE_BYTES).split(b"\n")
    if (found := msgspec.json.decode(first, type=_Format).format) != FORMAT:
        raise TetrarchiaError(f"format must be {FORMAT}, the format of this version of the server; got {found}")
    header = msgspec.json.decode(first, type=Header)
    events = [msgspec.json.decode(line, type=Event) for line in lines[:-1]]  # the last piece is empty or an incomplete line
    return StoredRoom(path.stem, header, events, path.stat().st_mtime)
