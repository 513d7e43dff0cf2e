"""A room: one game, its players and the pages connected to it.

A click arrives as a message in `Room.handle`. Its handler checks it, appends it to the journal, applies it to the game and sends the
change to every page. Actions of agents arrive in `Room._on_agent_answer`, several at a time, and then follow the same path.
"""

import asyncio
import logging
import secrets
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import msgspec

from tetrarchia_app.web import connection as messages
from tetrarchia_app.web import views
from tetrarchia_app.web.analysis_queue import Question, Slices
from tetrarchia_app.web.connection import REPLACED, Connection
from tetrarchia_app.web.journal import FORMAT, ActionRecord, Event, Header, NotSavedError, Player, StoredRoom, new_link
from tetrarchia_app.web.workers import Answer, Request
from tetrarchia_env.board import EMPERORS
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.game import Game
from tetrarchia_env.local_view import parse_arguments
from tetrarchia_env.notation import action_id, action_text, snapshot
from tetrarchia_env.schema import sanitize_line

if TYPE_CHECKING:
    from tetrarchia_app.web.coach import Coach
    from tetrarchia_app.web.room_manager import RoomManager

UNLIMITED_ACTIONS = 1_000_000  # until another player decides
SAVE_RETRY_S = 5.0  # an agent's action that could not be saved is requested again after this time
log = logging.getLogger(__name__)


class Room:
    """A game with its players and connections; used only in the server's thread.

    Attributes:
        seats: Index of the player of each Emperor, in turn order.
        records: Who chose each action; None if the game was started elsewhere.
        creator_link: Link of a creator who only watches; None if the creator is the first player.
        is_joined: Whether a page was ever connected.
        env_id: Number that identifies the room to agents.
        last_used: Time of the last change or disconnection, in seconds since the epoch.
        last_analysis: Number of the last slice of analysis that this room received; the queue serves the lowest first.
    """

    def __init__(self, manager: "RoomManager", env_id: int, game: Game, players: Sequence[Player], seats: Sequence[int]) -> None:
        self.game = game
        self.players = list(players)
        self.seats = tuple(seats)
        self.spectator_link = new_link()
        self.name = secrets.token_hex(8)
        self.records: list[ActionRecord] | None = None if game.moves else []
        self.creator_link: str | None = None
        self.is_joined = False
        self.env_id = env_id
        self.last_used = time.time()
        self.last_analysis = 0
        self.connections: set[Connection] = set()
        self._manager = manager
        self._request: Request | None = None  # the pending request to an agent
        self._wanted_position = 0  # in a room of agents only: play up to this position
        self.next_room: Room | None = None  # the room in which the players play again
        self._agreed: dict[tuple[int, str], set[int]] = {}  # (absent player, agent) -> players who want this substitute
        self._decision_start = time.monotonic()
        self._revision = 0  # increases with every action and undo

    @classmethod
    def restore(cls, manager: "RoomManager", env_id: int, stored: StoredRoom) -> "Room":
        """Rebuild a room from the journal.

        Raises:
            TetrarchiaError: If the stored game cannot be replayed, or a number of a player is wrong.
        """
        header, count = stored.header, len(stored.header.players)
        records = [*(header.records or ()), *(event.record for event in stored.events if event.record)]
        numbers = [
            *header.seats,
            *(record.player for record in records),
            *(event.player for event in stored.events if event.player is not None),
        ]
        if wrong := [number for number in numbers if not 0 <= number < count]:
            raise TetrarchiaError(f"the number of a player must be from 0 to {count - 1}; got {wrong[0]}")
        options, local = parse_arguments(header.options)
        game = Game.restore(header.start) if header.start else Game.from_options(options, header.seed, local=local)
        for action in header.actions:
            game.play(action)
        room = cls(manager, env_id, game, header.players, header.seats)
        room.name, room.spectator_link, room.records = stored.name, header.spectator_link, header.records
        room.creator_link, room.is_joined = header.creator_link, header.is_joined
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
            room.is_joined |= event.joined
        room.last_used = stored.modified
        return room

    def header(self) -> Header:
        """Return the room in its current state, as the first line of its file."""
        game = self.game
        start = None if game.seed is not None else snapshot(game.positions[0])
        actions = [action_text(move.action) for move in game.moves]
        seats: Any = self.seats
        arguments = game.options.arguments() | game.local.arguments()
        return Header(
            FORMAT, arguments, game.seed, start, actions, self.players, seats, self.spectator_link, self.records,
            self.creator_link, self.is_joined,
        )  # fmt: skip

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
        decider = self.decider
        return None if decider is None else self.players[decider].acting_agent

    @property
    def has_humans(self) -> bool:
        """Whether a human plays; otherwise agents play only as far as a spectator wants to see."""
        return any(player.is_human for player in self.players)

    @property
    def has_secrets(self) -> bool:
        """Whether a page shows only what its player knows: while humans play a game with a view radius (R14)."""
        return self.game.local.view_radius is not None and self.has_humans and not self.game.is_over

    @property
    def connected_players(self) -> set[int]:
        return {connection.player for connection in self.connections if connection.player is not None}

    def can_invite(self, link: str) -> bool:
        """Return whether this link is the creator's, whose page shows the links of all players."""
        return link == (self.creator_link or self.players[0].link)

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
        is_new_decider = False
        with suppress(NotSavedError):  # both are only less exact after a restart
            if not self.is_joined:
                self.is_joined = True
                self._append(Event(joined=True))
            if player is not None and self.players[player].substitute:
                is_new_decider = player == self.decider
                self.players[player].substitute = None
                self._cancel_request()
                self._append(Event(player=player, state=self.players[player]))
        if player is not None and player == self.decider:
            self._decision_start = time.monotonic()
        connection.send(views.game_log(self, player))
        connection.send(views.position(self, self.position, connection))
        self._send_players()
        for other in list(self.connections):  # a decision closes the open card of a page, so it is sent only where it is new
            if other is connection or is_new_decider:
                other.send(views.decision(self, other.player))
        self.request_agent()

    def leave(self, connection: Connection) -> None:
        """Remove a page that was closed."""
        self._manager.analysis.cancel(connection)
        if connection in self.connections:
            self.connections.discard(connection)
            self.last_used = time.time()
            self._manager.journal.touch(self.name)
            self._send_players()
            self._manager.remove_if_expired(self)

    def close(self, code: int, reason: str) -> None:
        """Close all connections."""
        for connection in list(self.connections):
            connection.close(code, reason)
        self._cancel_request()

    # Messages from pages

    def handle(self, connection: Connection, message: messages.Message) -> None:
        """Do what a page requests, or send it the reason why not."""
        self._manager.workers.postpone_deliveries()
        try:
            HANDLERS[type(message)](self, connection, message)
        except TetrarchiaError as error:
            connection.refuse(error)
            if isinstance(message, messages.Play | messages.Undo) and message.position == self.position:
                connection.send(views.decision(self, connection.player))  # the page removed its choices with the click

    def _play(self, connection: Connection, message: messages.Play) -> None:
        self._check_current(message.position)
        player = connection.player
        if player is None or player != self.decider or self.players[player].acting_agent:
            raise TetrarchiaError(f"it is not your decision: {self.game.agent} decides")
        self._apply([action_id(message.action)])
        self.request_agent()

    def _undo(self, connection: Connection, message: messages.Undo) -> None:
        self._check_current(message.position)
        if not self.can_undo(connection.player):
            raise TetrarchiaError("there is no action to undo: dice were rolled, or the turn has just begun")
        self._append(Event(undo=True))
        self.game.undo()
        self._revision += 1
        self._cancel_request()
        del (self.records or [])[-1:]
        self._send_all(lambda other: views.position(self, self.position, other) | {"type": "undone"})
        self._send_decision()

    def _get_position(self, connection: Connection, message: messages.GetPosition) -> None:
        self._check_played(message.position)
        connection.send(views.position(self, message.position, connection))

    def _advance(self, connection: Connection, message: messages.Advance) -> None:
        self._wanted_position = min(max(self._wanted_position, message.position + 1), self.position + 1)
        self.request_agent()

    def _coach(self, connection: Connection, message: messages.Coach) -> None:
        if message.position != self.position or self.game.is_over:
            raise TetrarchiaError("there is nothing to decide in this position")
        self._ask(connection, "coach", lambda coach: coach.advise(self.game.options, self.game.position))

    def _analyze(self, connection: Connection, message: messages.Analyze) -> None:
        positions, moves = list(self.game.positions), list(self.game.moves)
        players: list[tuple[int | None, str | None]] = [(None, None)] * len(moves)
        if self.records is not None:
            players = [(record.player, record.agent) for record in self.records]
        self._ask(connection, "analysis", lambda coach: coach.analyze(self.game.options, positions, moves, players))

    def _ask(self, connection: Connection, type_: str, start: Callable[["Coach"], Slices]) -> None:
        coach = self._manager.services.coach
        self._check_no_secrets()
        if coach is None:
            raise TetrarchiaError("this server has no trained network")
        question = Question(self, type_, self._revision, start(coach), {"position": self.position})
        self._manager.analysis.ask(connection, question)

    def _rename(self, connection: Connection, message: messages.Rename) -> None:
        self._change_player(self._player_of(connection), name=printable_name(message.name))
        self._send_players()

    def _set_consent(self, connection: Connection, message: messages.SetConsent) -> None:
        self._change_player(self._player_of(connection), consent=message.consent)
        self._send_players()

    def _change_player(self, player: int, **changes: Any) -> None:
        state = msgspec.structs.replace(self.players[player], **changes)
        if state != self.players[player]:
            self._append(Event(player=player, state=state))
            self.players[player] = state

    def _substitute(self, connection: Connection, message: messages.Substitute) -> None:
        """Let an agent play for an absent player when all connected players agree (R13.1); the player gets the seat back on return."""
        sender, absent = self._player_of(connection), message.player
        if absent >= len(self.players) or not self.players[absent].is_human:
            raise TetrarchiaError(f"player must be the number of a human player; got {absent}")
        if absent in self.connected_players:
            raise TetrarchiaError("this player is connected and needs no substitute")
        self._manager.check_agent(message.agent, self.game)
        agreed = self._agreed.setdefault((absent, message.agent), set())
        agreed.add(sender)
        if agreed >= self.connected_players:
            self._change_player(absent, substitute=message.agent)
            self._agreed.clear()
            if absent == self.decider:
                self._send_decision()
            self.request_agent()
        self._send_players()

    def _take_over(self, connection: Connection, message: messages.TakeOver) -> None:
        self._check_played(message.position)
        self._check_no_secrets()
        self._manager.limit_take_over(connection)
        default = self._manager.substitute_agent(self.game)
        agents = [message.agent or player.acting_agent or default for player in self.players]
        emperors = ["player 1" if name in message.emperors else agents[seat] for name, seat in zip(EMPERORS, self.seats, strict=True)]
        room = self._manager.create_room(self.game.copy(message.position), emperors)
        connection.send({"type": "redirect", "url": f"/seat/{room.players[0].link}"})

    def _play_again(self, connection: Connection, message: messages.PlayAgain) -> None:
        """Create a room with the same players; the pages of the other players get its links."""
        if not self.game.is_over:
            raise TetrarchiaError("the game is not over yet")
        if self.next_room is None or self.next_room.name not in self._manager.rooms:
            self._manager.limit_take_over(connection)
            is_copy = message.same_dice or self.game.seed is None
            game = self.game.copy(0) if is_copy else Game.from_options(self.game.options, local=self.game.local)
            emperors = [self.players[seat].agent or f"player {seat + 1}" for seat in self.seats]  # humans come first
            self.next_room = self._manager.create_room(game, emperors, self.players[0].name)
        for other in list(self.connections):
            link = self.next_room.spectator_link if other.player is None else self.next_room.players[other.player].link
            other.send({"type": "redirect" if other is connection else "next_room", "url": f"/seat/{link}"})

    def _player_of(self, connection: Connection) -> int:
        if connection.player is None:
            raise TetrarchiaError("a spectator cannot do this")
        return connection.player

    def _check_current(self, position: int) -> None:
        if self.game.is_over:
            raise TetrarchiaError("the game is over")
        if position != self.position:
            raise TetrarchiaError(f"position must be {self.position}, the number of actions played; got {position}")

    def _check_no_secrets(self) -> None:
        if self.has_secrets:
            raise TetrarchiaError("this shows the whole board, which a game with a view radius hides until its end")

    def _check_played(self, position: int) -> None:
        if position > self.position:
            raise TetrarchiaError(f"position must be at most {self.position}, the number of actions played; got {position}")

    # Agents

    def request_agent(self) -> None:
        """Request an action if an agent decides and no request is pending."""
        agent = self.acting_agent
        if self.name not in self._manager.rooms:
            return  # it has expired
        if self._request is None and agent is not None and (self.has_humans or self.position < self._wanted_position):
            emperors = frozenset(emperor for emperor, seat in enumerate(self.seats) if self.players[seat].acting_agent == agent)
            max_actions = UNLIMITED_ACTIONS if self.has_humans else self._wanted_position - self.position
            self._request = Request(self.game.position, self.env_id, emperors, max_actions, self._on_agent_answer, self.game.views())
            self._manager.workers.submit(agent, self._request)

    def _on_agent_answer(self, answer: Answer) -> None:
        if not answer.continues:
            self._request = None
        try:
            if answer.actions:
                self._apply(answer.actions, continues=answer.continues)
            if answer.error is not None:
                raise answer.error
            self.request_agent()
        except NotSavedError as error:
            self._cancel_request()
            for connection in list(self.connections):
                connection.send_error(str(error), "not_saved")
            asyncio.get_running_loop().call_later(SAVE_RETRY_S, self.request_agent)
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

    # Journal, then game, then pages

    def _apply(self, actions: Sequence[int], *, continues: bool = False) -> None:
        """Append actions of one Emperor to the journal in one write, play them and send them to the pages.

        Args:
            actions: The actions. Only the first is checked: an agent chose the others, and its worker played them before.
            continues: Whether an agent chose them and will also choose the next; they may then be sent together with that.

        Raises:
            TetrarchiaError: If the first action is not legal.
            NotSavedError: If they cannot be saved; none is played.
        """
        self.game.check_legal(actions[0])
        emperor = self.game.agent
        seat = self.seats[EMPERORS.index(emperor)]
        seconds = round((time.monotonic() - self._decision_start) / len(actions), 3)
        record = ActionRecord(seat, self.players[seat].acting_agent, seconds)
        self._append(*(Event(action=action_text(action), record=record) for action in actions))
        for action in actions:
            pieces = self.game.play_pieces(action)
            self._revision += 1
            if self.records is not None:
                self.records.append(record)
            if self.connections and self.has_secrets:
                self._send_all(lambda connection: views.known_action(self, connection), can_wait=continues)
            elif self.connections:
                shown = views.ActionView(self, pieces)
                self._send_all(lambda connection, shown=shown: shown.data(connection.known_drawings), can_wait=continues)  # type: ignore[misc]
        self._decision_start = time.monotonic()
        if not continues or self.game.agent != emperor:
            self._send_decision(can_wait=continues)
        if self.game.is_over:
            if self.game.local.view_radius is not None:
                self._send_players()  # the replay is now available
            self._manager.on_game_over(self)

    def _append(self, *events: Event) -> None:
        journal = self._manager.journal
        if journal.is_oversized(self.name):
            with suppress(NotSavedError):
                journal.create(self.name, self.header())
        journal.append(self.name, *events)
        self.last_used = time.time()

    def _send_all(self, message: Callable[[Connection], views.Data], *, can_wait: bool = False) -> None:
        for connection in list(self.connections):
            connection.send(message(connection), can_wait=can_wait)

    def _send_decision(self, *, can_wait: bool = False) -> None:
        self._send_all(lambda connection: views.decision(self, connection.player), can_wait=can_wait)

    def _send_players(self) -> None:
        proposals = {str(player): [agent, sorted(agreed)] for (player, agent), agreed in self._agreed.items()}
        self._send_all(lambda connection: views.players(self, connection.player, connection.can_invite, self.connected_players, proposals))


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
    messages.PlayAgain: Room._play_again,
}


def printable_name(name: str) -> str:
    """Return a name without control characters and surrounding blanks."""
    return "".join(letter if letter.isprintable() else " " for letter in name).strip()
