"""Rooms on disk: a file for each, a line for what it began with and one for each event, so that a server that was killed goes on with them.

A line is written before anybody is told of the event. The last line may be torn if the server was killed while it wrote; it is left out.
"""

import logging
import os
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from tetrarchia_app.web.room import Deed, Player, Room
from tetrarchia_env.files import file_lock, read_bounded, write_text_atomic
from tetrarchia_env.game import Game
from tetrarchia_env.notation import Snapshot, action_text, snapshot
from tetrarchia_env.options import Options
from tetrarchia_env.schema import sanitize_line

LARGEST = 16_000_000  # bytes of a room's file
SUFFIX = ".room"
log = logging.getLogger(__name__)


class Beginning(Struct):
    """The first line of a room's file."""

    options: dict[str, Any]
    seed: int | None
    start: Snapshot | None  # where a game without a seed began
    actions: list[str]
    players: list[Player]
    seats: tuple[int, int, int, int]
    watch: str
    deeds: list[Deed] | None = None


class Event(Struct, omit_defaults=True):
    """Another line: an action, an action taken back, or a player as he is now."""

    play: str | None = None
    deed: Deed | None = None
    undo: bool = False
    player: int | None = None
    now: Player | None = None


class Journal:
    """The files of all rooms, in a folder that only this user may read: links are in them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._lock = ExitStack()
        busy = f"another server keeps its rooms in {folder}: give this one another folder with --state"
        self._lock.enter_context(file_lock(folder / "lock", busy))

    def begin(self, room: Room) -> None:
        """Write what it is made of, with all that was played so far."""
        game = room.game
        start = None if game.seed is not None else snapshot(game.positions[0])
        actions = [action_text(move.action) for move in game.moves]
        seats: Any = room.seats
        beginning = Beginning(game.options.arguments(), game.seed, start, actions, room.players, seats, room.watch, room.deeds)
        write_text_atomic(self._file(room), msgspec.json.encode(beginning).decode() + "\n")
        os.chmod(self._file(room), 0o600)

    def note(self, room: Room, event: Event) -> None:
        """One event more."""
        with open(self._file(room), "ab", buffering=0) as file:
            file.write(msgspec.json.encode(event) + b"\n")

    def forget(self, room: Room) -> None:
        """The room is gone."""
        self._file(room).unlink(missing_ok=True)

    def close(self) -> None:
        """Another server may go on with the rooms."""
        self._lock.close()

    def rooms(self) -> Iterator[Room]:
        """Those of a former server; a file that holds no room is left where it is, and told in the log."""
        for path in sorted(self.folder.glob(f"*{SUFFIX}")):
            try:
                room = _room(path)
            except (ValueError, OSError) as error:
                log.warning("room file %s cannot be used: %s", path.name, sanitize_line(str(error)))
                continue
            self.begin(room)  # the torn line is gone, and what is appended begins on a line of its own
            yield room

    def _file(self, room: Room) -> Path:
        return self.folder / f"{room.name}{SUFFIX}"


def _room(path: Path) -> Room:
    first, *others = read_bounded(path, LARGEST).split(b"\n")
    beginning = msgspec.json.decode(first, type=Beginning)
    room = Room(_game(beginning), beginning.players, beginning.seats, beginning.watch, path.stem)
    room.deeds = beginning.deeds
    for line in others[:-1]:  # what stands after the last end of a line is torn, or nothing
        _repeat(room, msgspec.json.decode(line, type=Event))
    room.touched = path.stat().st_mtime
    return room


def _game(beginning: Beginning) -> Game:
    if beginning.start is not None:
        game = Game.restore(beginning.start)
    else:
        game = Game.from_options(Options.of(**beginning.options), beginning.seed or 0)
    for text in beginning.actions:
        game.play(text)
    return game


def _repeat(room: Room, event: Event) -> None:
    if event.play is not None:
        room.game.play(event.play)
        if room.deeds is not None and event.deed is not None:
            room.deeds.append(event.deed)
    elif event.undo:
        room.game.undo()
        del (room.deeds or [])[-1:]
    elif event.player is not None and event.now is not None:
        room.players[event.player] = event.now
