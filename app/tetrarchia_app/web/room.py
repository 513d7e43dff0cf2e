"""A room: one game, its players and the pages connected to it.

A click arrives as a message in `Room.handle`. Its handler checks it, applies it to the game, appends it to the journal and sends the
change to every page. Actions of agents arrive in `Room._on_agent_answer` and then follow the same path.
"""

import logging
import secrets
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tetrarchia_app.web import connection as messages
from tetrarchia_app.web import views
from tetrarchia_app.web.connection import REPLACED, Connection
from tetrarchia_app.web.journal import FORMAT, ActionRecord, Event, Header, Player, StoredRoom, new_link
from tetrarchia_app.web.workers import Answer, Request
from tetrarchia_env.board import EMPERORS
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.game import Game
from tetrarchia_env.notation import action_text, snapshot
from tetrarchia_env.options import Options
from tetrarchia_env.schema import sanitize_line

if TYPE_CHECKING:
    from tetrarchia_app.web.room_manager import RoomManager

UNLIMITED_ACTIONS = 1_000_000  # until another player decides
log = logging.getLogger(__name__)


class Room:
    """A game with its players and connections; used only in the server's thread.

    Attributes:
        seats: Index of the player of each Emperor, in turn order.
        records: Who chose each action; None if the game was started elsewhere.
        env_id: Number that identifies the room to agents.
        last_used: Time of the last change or disconnection, in seconds since the epoch.
    """

    def __init__(self, manager: "RoomManager", env_id: int, game: Game, players: Sequence[Player], seats: Sequence[int]) -> None:
        self.game = game
        self.players = list(players)
        self.seats = tuple(seats)
        self.spectator_link = new_link()
        self.name = secrets.token_hex(8)
        self.records: list[ActionRecord] | None = None if game.moves else []
        self.env_id = env_id
        self.last_used = time.time()
        self.connections: set[Connection] = set()
        self._manager = manager
        self._request: Request | None = None  # the pending request to an agent
        self._wanted_position = 0  # in a room of agents only: play up to this position
        self._agreed: dict[tuple[int, str], set[int]] = {}  # (absent player, agent) -> players who want this substitute
        self._decision_start = time.monotonic()

    @classmethod
    def restore(cls, manager: "RoomManager", env_id: int, stored: StoredRoom) -> "Room":
        """Rebuild a room from the journal.

        Raises:
            TetrarchiaError: If the stored game cannot be replayed.
        """
        header = stored.header
        game = Game.restore(header.start) if header.start else Game.from_options(Options.of(**header.options), header.seed)
        for action in header.actions:
            game.play(action)
        room = cls(manager, env_id, game, header.players, header.seats)
        room.name, room.spectator_link, room.records = stored.name, header.spectator_link, header.records
        for event in stored.events:
            if event.action is not None:
                game.play(event.action)
                if room.records is not None and event.record is not None:
                    room.records.append(event.record)
            elif event.undo:
                game.undo()
                del (room.records or [])[-1:]
            elif event.player is not None and event.state is not None:
                room.players[event.player] = event.state
        room.last_used = stored.modified
        return room

    def header(self) -> Header:
        """Return the room in its current state, as the first line of its file."""
        game = self.game
        start = None if game.seed is not None else snapshot(game.positions[0])
        actions = [action_text(move.action) for move in game.moves]
        seats: Any = self.seats
        return Header(FORMAT, game.options.arguments(), game.seed, start, actions, self.players, seats, self.spectator_link, self.records)

    @property
    def position(self) -> int:
        """Number of actions played."""
        return len(self.game.moves)

    @property
    def decider(self) -> int | None:
        """The player who decides now; None when the game is over."""
        return None if self.game.is_over else self.seats[EMPERORS.index(self.game.agent)]

    @property
    def acting_agent(self) -> str | None:
        """The agent that decides now; None if a human does or the game is over."""
        return None if self.decider is None else self.players[self.decider].acting_agent

    @property
    def has_humans(self) -> bool:
        """Whether a human plays; otherwise agents play only as far as a spectator wants to see."""
        return any(player.is_human for player in self.players)

    @property
    def connected_players(self) -> set[int]:
        return {connection.player for connection in self.connections if connection.player is not None}

    def emperors_of(self, player: int) -> list[str]:
        """Return the names of a player's Emperors."""
        return [name for name, seat in zip(EMPERORS, self.seats, strict=True) if seat == player]

    def can_undo(self, player: int | None) -> bool:
        """Return whether the last action was this human's and can be undone."""
        if player is None or not self.game.can_undo or self.players[player].acting_agent:
            return False
        return self.seats[EMPERORS.index(self.game.moves[-1].agent)] == player

    # Connections

    def join(self, connection: Connection) -> None:
        """Add a page and send it the game; an older page with the same player's link is closed."""
        player = connection.player
        for other in list(self.connections):
            if player is not None and other.player == player:
                other.close(REPLACED, "this link was opened in another window")
                self.connections.discard(other)
        self.connections.add(connection)
        if player is not None and self.players[player].substitute:
            self.players[player].substitute = None
            self._cancel_request()
            self._record_player(player)
        if player is not None and player == self.decider:
            self._decision_start = time.monotonic()
        connection.send(views.game_log(self))
        connection.send(views.position(self, self.position, connection.known_drawings))
        self._send_players()
        self._send_decision()
        self.request_agent()

    def leave(self, connection: Connection) -> None:
        """Remove a page that was closed."""
        if connection in self.connections:
            self.connections.discard(connection)
            self.last_used = time.time()
            self._send_players()
            self._manager.remove_if_expired(self)

    def close(self, code: int, reason: str) -> None:
        """Close all connections."""
        for connection in list(self.connections):
            connection.close(code, reason)
        self._cancel_request()

    # Messages from pages

    def handle(self, connection: Connection, message: messages.Message) -> None:
        """Do what a page requests.

        Raises:
            TetrarchiaError: If the request is not allowed; the message is shown to the player.
        """
        HANDLERS[type(message)](self, connection, message)

    def _play(self, connection: Connection, message: messages.Play) -> None:
        self._check_current(message.position)
        player = connection.player
        if player is None or player != self.decider or self.players[player].acting_agent:
            raise TetrarchiaError(f"it is not your decision: {self.game.agent} decides")
        self._apply(message.action)
        self.request_agent()

    def _undo(self, connection: Connection, message: messages.Undo) -> None:
        self._check_current(message.position)
        if not self.can_undo(connection.player):
            raise TetrarchiaError("there is no action to undo: dice were rolled, or the turn has just begun")
        self.game.undo()
        self._cancel_request()
        self._append(Event(undo=True))
        del (self.records or [])[-1:]
        self._send_all(lambda other: views.position(self, self.position, other.known_drawings) | {"type": "undone"})
        self._send_decision()

    def _get_position(self, connection: Connection, message: messages.GetPosition) -> None:
        self._check_played(message.position)
        connection.send(views.position(self, message.position, connection.known_drawings))

    def _advance(self, connection: Connection, message: messages.Advance) -> None:
        self._wanted_position = min(max(self._wanted_position, message.position + 1), self.position + 1)
        self.request_agent()

    def _coach(self, connection: Connection, message: messages.Coach) -> None:
        if message.position != self.position or self.game.is_over:
            raise TetrarchiaError("there is nothing to decide in this position")
        record = self.game.position.copy()
        self._manager.analyze(connection, "coach", self._manager.services.coach, record, position=message.position)

    def _analyze(self, connection: Connection, message: messages.Analyze) -> None:
        analyze = self._manager.services.analyze
        job = None if analyze is None else lambda positions, actions: views.analysis(analyze(positions, actions))
        actions = np.array([move.action for move in self.game.moves], dtype=np.int64)
        self._manager.analyze(connection, "analysis", job, np.concatenate(self.game.positions), actions)

    def _rename(self, connection: Connection, message: messages.Rename) -> None:
        player = self._player_of(connection)
        self.players[player].name = printable_name(message.name)
        self._record_player(player)
        self._send_players()

    def _set_consent(self, connection: Connection, message: messages.SetConsent) -> None:
        player = self._player_of(connection)
        self.players[player].consent = message.consent
        self._record_player(player)
        self._send_players()

    def _substitute(self, connection: Connection, message: messages.Substitute) -> None:
        """Let an agent play for an absent player when all connected players agree (R13.1); the player gets the seat back on return."""
        sender, absent = self._player_of(connection), message.player
        if absent >= len(self.players) or not self.players[absent].is_human:
            raise TetrarchiaError(f"player must be the number of a human player; got {absent}")
        if absent in self.connected_players:
            raise TetrarchiaError("this player is connected and needs no substitute")
        self._manager.check_agent(message.agent, self.game.options)
        agreed = self._agreed.setdefault((absent, message.agent), set())
        agreed.add(sender)
        if agreed >= self.connected_players:
            self.players[absent].substitute = message.agent
            self._record_player(absent)
            self._agreed.clear()
            self._send_decision()
            self.request_agent()
        self._send_players()

    def _take_over(self, connection: Connection, message: messages.TakeOver) -> None:
        self._check_played(message.position)
        default = self._manager.substitute_agent(self.game.options)
        agents = [message.agent or player.acting_agent or default for player in self.players]
        emperors = ["player 1" if name in message.emperors else agents[seat] for name, seat in zip(EMPERORS, self.seats, strict=True)]
        room = self._manager.create_room(self.game.copy(message.position), emperors)
        connection.send({"type": "redirect", "url": f"/seat/{room.players[0].link}"})

    def _player_of(self, connection: Connection) -> int:
        if connection.player is None:
            raise TetrarchiaError("a spectator cannot do this")
        return connection.player

    def _check_current(self, position: int) -> None:
        if self.game.is_over:
            raise TetrarchiaError("the game is over")
        if position != self.position:
            raise TetrarchiaError(f"position must be {self.position}, the number of actions played; got {position}")

    def _check_played(self, position: int) -> None:
        if position > self.position:
            raise TetrarchiaError(f"position must be at most {self.position}, the number of actions played; got {position}")

    # Agents

    def request_agent(self) -> None:
        """Request an action if an agent decides and no request is pending."""
        agent = self.acting_agent
        if self._request is None and agent is not None and (self.has_humans or self.position < self._wanted_position):
            emperors = frozenset(emperor for emperor, seat in enumerate(self.seats) if self.players[seat].acting_agent == agent)
            max_actions = UNLIMITED_ACTIONS if self.has_humans else self._wanted_position - self.position
            self._request = Request(self.game.position, self.env_id, emperors, max_actions, self._on_agent_answer)
            self._manager.workers.submit(agent, self._request)

    def _on_agent_answer(self, answer: Answer) -> None:
        if not answer.continues:
            self._request = None
        try:
            if isinstance(answer.action, Exception):
                raise answer.action
            self._apply(answer.action)
            self.request_agent()
        except TetrarchiaError as error:
            self._agent_failed(f"the agent failed: {sanitize_line(str(error), 200)}")
        except Exception:  # an agent may raise anything; the room stays open
            self._agent_failed("the agent failed: see the log of the server")

    def _agent_failed(self, message: str) -> None:
        log.exception("an agent failed")
        self._cancel_request()
        for connection in list(self.connections):
            connection.send_error(message)

    def _cancel_request(self) -> None:
        if self._request is not None:
            self._request.is_cancelled = True
            self._request = None

    # Game, then journal, then pages

    def _apply(self, action: str | int) -> None:
        """Play an action, append it to the journal and send it to the pages.

        Raises:
            TetrarchiaError: If the action is not legal.
        """
        pieces = self.game.play_pieces(action)
        move = self.game.moves[-1]
        seat = self.seats[EMPERORS.index(move.agent)]
        seconds, self._decision_start = round(time.monotonic() - self._decision_start, 3), time.monotonic()
        record = ActionRecord(seat, self.players[seat].acting_agent, seconds)
        if self.records is not None:
            self.records.append(record)
        self._append(Event(action=action_text(move.action), record=record))
        steps = views.steps(self, pieces) if self.connections else []
        self._send_all(lambda connection: views.action(self, steps, connection.known_drawings))
        self._send_decision()
        if self.game.is_over:
            self._manager.on_game_over(self)

    def _append(self, event: Event) -> None:
        self.last_used = time.time()
        self._manager.journal.append(self.name, event)

    def _record_player(self, player: int) -> None:
        self._append(Event(player=player, state=self.players[player]))

    def _send_all(self, message: Callable[[Connection], views.Data]) -> None:
        for connection in list(self.connections):
            connection.send(message(connection))

    def _send_decision(self) -> None:
        self._send_all(lambda connection: views.decision(self, connection.player))

    def _send_players(self) -> None:
        proposals = {str(player): [agent, sorted(agreed)] for (player, agent), agreed in self._agreed.items()}
        self._send_all(lambda connection: views.players(self, connection.player, self.connected_players, proposals))


HANDLERS: dict[type, Callable[[Room, Connection, Any], None]] = {
    messages.Play: Room._play,
    messages.Undo: Room._undo,
    messages.GetPosition: Room._get_position,
    messages.Advance: Room._advance,
    messages.Coach: Room._coach,
    messages.Analyze: Room._analyze,
    messages.Rename: Room._rename,
    messages.SetConsent: Room._set_consent,
    messages.Substitute: Room._substitute,
    messages.TakeOver: Room._take_over,
}


def printable_name(name: str) -> str:
    """Return a name without control characters and surrounding blanks."""
    return "".join(letter if letter.isprintable() else " " for letter in name).strip()
