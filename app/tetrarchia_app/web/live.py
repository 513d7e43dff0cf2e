"""A room while the server runs: the pages that look at it, and the agents that are asked when it is their turn."""

import logging
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from tetrarchia_app.web import protocol, views
from tetrarchia_app.web.connection import REPLACED, Connection
from tetrarchia_app.web.journal import Event
from tetrarchia_app.web.room import Deed, Room
from tetrarchia_app.web.workers import Answer, Request
from tetrarchia_env.board import EMPERORS
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.events import Piece
from tetrarchia_env.notation import action_text
from tetrarchia_env.schema import sanitize_line

if TYPE_CHECKING:
    from tetrarchia_app.web.house import House

MANY = 1_000_000  # actions: until somebody else decides
log = logging.getLogger(__name__)


class LiveRoom:
    """Whatever changes is written down first, then told to every page."""

    def __init__(self, room: Room, house: "House", env_id: int) -> None:
        self.room = room
        self.connections: set[Connection] = set()
        self.env_id = env_id
        self._house = house
        self._asked: Request | None = None
        self._wanted = 0  # where agents play alone: the position that somebody wants to see
        self._agreed: dict[tuple[int, str], set[int]] = {}  # who agrees that an agent plays for a person who is away
        self._since = time.monotonic()  # the last action, or the coming of him who decides

    @property
    def present(self) -> set[int]:
        """The players who are here."""
        return {connection.player for connection in self.connections if connection.player is not None}

    def join(self, connection: Connection) -> None:
        """A page has come; an older one with the same link is let go, so that nobody plays a seat twice."""
        for other in list(self.connections):
            if other.player is not None and other.player == connection.player:
                other.end(REPLACED, "this link was opened in another window")
                self.connections.discard(other)
        self.connections.add(connection)
        self._take_seat_back(connection.player)
        self._since = max(self._since, time.monotonic()) if connection.player == self.room.decider else self._since
        connection.send(views.log_entries(self.room))
        connection.send(views.position(self.room, self.room.number, connection.known))
        self._tell_people()
        self._tell_decision()
        self.go_on()

    def leave(self, connection: Connection) -> None:
        """A page has gone."""
        if connection in self.connections:
            self.connections.discard(connection)
            self.room.touched = time.time()
            self._tell_people()
            self._house.left(self)

    def obey(self, connection: Connection, message: protocol.Message) -> None:
        """Do what a page asks; ValueError, in one sentence, if it may not."""
        DEEDS[type(message)](self, connection, message)

    def go_on(self) -> None:
        """Ask the agent whose decision it is, if it is one's."""
        room, agent = self.room, self.room.agent_asked
        if self._asked is None and agent is not None and (room.has_persons or room.number < self._wanted):
            most = MANY if room.has_persons else self._wanted - room.number
            self._asked = Request(room.game.position, self.env_id, room.decided_by(agent), most, self._hear)
            self._house.workers.ask(agent, self._asked)

    def _hear(self, answer: Answer) -> None:
        if not answer.goes_on:
            self._asked = None
        try:
            if isinstance(answer.action, Exception):
                raise answer.action
            self._played(self.room.game.play_pieces(answer.action))
            self.go_on()
        except Exception as error:  # an agent's mistake must not end the room
            self._let_go()
            log.warning("an agent could not decide: %s", sanitize_line(f"{type(error).__name__}: {error}"))
            sentence = f"the agent could not decide: {sanitize_line(str(error), 200)}"
            self._tell_all(lambda _: {"type": "refused", "sentence": sentence})

    def _let_go(self) -> None:
        """Whatever an agent still says does not count."""
        if self._asked is not None:
            self._asked.is_off = True
            self._asked = None

    def _played(self, pieces: tuple[Piece, ...]) -> None:
        room = self.room
        self._note(Event(play=action_text(room.game.moves[-1].action), deed=self._deed()))
        steps = views.steps(room, pieces) if self.connections else []
        self._tell_all(lambda page: views.move(room, steps, page.known))
        self._tell_decision()
        if room.game.is_over:
            self._house.finished(room)

    def _deed(self) -> Deed:
        """Who took the last action, and how long."""
        seat = self.room.seats[EMPERORS.index(self.room.game.moves[-1].agent)]
        seconds, self._since = round(time.monotonic() - self._since, 3), time.monotonic()
        deed = Deed(seat, self.room.players[seat].asked, seconds)
        if self.room.deeds is not None:
            self.room.deeds.append(deed)
        return deed

    def _play(self, page: Connection, message: protocol.Play) -> None:
        self._played(self.room.play(page.player, message.number, message.action))
        self.go_on()

    def _undo(self, page: Connection, message: protocol.Undo) -> None:
        self.room.undo(page.player, message.number)
        self._let_go()
        self._note(Event(undo=True))
        del (self.room.deeds or [])[-1:]
        self._tell_all(lambda other: views.position(self.room, self.room.number, other.known) | {"type": "undone"})
        self._tell_decision()

    def _look(self, page: Connection, message: protocol.Look) -> None:
        if message.number > self.room.number:
            raise TetrarchiaError(f"only {self.room.number} actions have been played, not {message.number}")
        page.send(views.position(self.room, message.number, page.known))

    def _on(self, page: Connection, message: protocol.On) -> None:
        self._wanted = min(max(self._wanted, message.number + 1), self.room.number + 1)
        self.go_on()

    def _rename(self, page: Connection, message: protocol.Rename) -> None:
        if page.player is None:
            raise TetrarchiaError("who only looks has no name")
        self.room.players[page.player].name = "".join(sign if sign.isprintable() else " " for sign in message.name).strip()
        self._note_player(page.player)
        self._tell_people()

    def _consent(self, page: Connection, message: protocol.Consent) -> None:
        if page.player is None:
            raise TetrarchiaError("only a person who plays may agree")
        self.room.players[page.player].consent = message.given
        self._note_player(page.player)
        self._tell_people()

    def _stand_in(self, page: Connection, message: protocol.StandIn) -> None:
        """R13.1: who is here decides together; he who is away has his seat back when he comes."""
        self._check_stand_in(page, message)
        agreed = self._agreed.setdefault((message.player, message.agent), set())
        agreed.add(page.player or 0)
        if agreed >= self.present:
            self.room.players[message.player].stand_in = message.agent
            self._note_player(message.player)
            self._agreed.clear()
            self._tell_decision()
            self.go_on()
        self._tell_people()

    def _check_stand_in(self, page: Connection, message: protocol.StandIn) -> None:
        players = self.room.players
        if page.player is None or message.player >= len(players) or not players[message.player].is_person:
            raise TetrarchiaError("only a person who plays may propose who stands in for another")
        if message.player in self.present:
            raise TetrarchiaError("this person is here and plays himself")
        self._house.check_agent(message.agent, self.room.game.options)

    def _take_seat_back(self, player: int | None) -> None:
        if player is not None and self.room.players[player].stand_in:
            self.room.players[player].stand_in = None
            self._let_go()
            self._note_player(player)

    def _take_over(self, page: Connection, message: protocol.TakeOver) -> None:
        if message.number > self.room.number:
            raise TetrarchiaError(f"only {self.room.number} actions have been played, not {message.number}")
        stand_in = self._house.stand_in(self.room.game.options)
        played = [message.agent or player.asked or stand_in for player in self.room.players]
        seats = [played[seat] for seat in self.room.seats]
        emperors: Any = tuple("person 1" if name in message.emperors else seat for name, seat in zip(EMPERORS, seats, strict=True))
        fork = self._house.fork(self.room.game, message.number, emperors)
        page.send({"type": "go", "address": f"/seat/{fork.players[0].link}"})

    def _coach(self, page: Connection, message: protocol.Coach) -> None:
        if message.number != self.room.number or self.room.game.is_over:
            raise TetrarchiaError("there is nothing to decide in this position")
        game = self.room.game.position.copy()
        self._house.think(page, "coach", self._house.services.coach, game, number=message.number)

    def _analyse(self, page: Connection, message: protocol.Analyse) -> None:
        game = self.room.game
        self._house.think(
            page,
            "analysis",
            self._house.analysis,
            np.concatenate(game.positions),
            np.array([move.action for move in game.moves], dtype=np.int64),
        )

    def _note(self, event: Event) -> None:
        self.room.touched = time.time()
        self._house.journal.note(self.room, event)

    def _note_player(self, player: int) -> None:
        self._note(Event(player=player, now=self.room.players[player]))

    def _tell_all(self, message: Callable[[Connection], views.Data]) -> None:
        for connection in list(self.connections):
            connection.send(message(connection))

    def _tell_decision(self) -> None:
        self._tell_all(lambda page: views.decision(self.room, page.player))

    def _tell_people(self) -> None:
        wanted = {str(player): [agent, sorted(agreed)] for (player, agent), agreed in self._agreed.items()}
        self._tell_all(lambda page: views.people(self.room, page.player, self.present, wanted))

    def close(self, code: int, reason: str) -> None:
        """The room is gone, or the server ends."""
        for connection in list(self.connections):
            connection.end(code, reason)
        self._let_go()


DEEDS: dict[type, Callable[[LiveRoom, Connection, Any], None]] = {
    protocol.Play: LiveRoom._play,
    protocol.Undo: LiveRoom._undo,
    protocol.Look: LiveRoom._look,
    protocol.On: LiveRoom._on,
    protocol.Coach: LiveRoom._coach,
    protocol.Analyse: LiveRoom._analyse,
    protocol.Rename: LiveRoom._rename,
    protocol.Consent: LiveRoom._consent,
    protocol.StandIn: LiveRoom._stand_in,
    protocol.TakeOver: LiveRoom._take_over,
}
