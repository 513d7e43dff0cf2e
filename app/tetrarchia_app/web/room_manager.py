"""All rooms of a server: created within limits, found by their links, restored from the journal and removed when they expire."""

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
from msgspec import Meta, Struct

from tetrarchia_app.web.analysis_queue import AnalysisQueue
from tetrarchia_app.web.connection import POLICY_VIOLATION, Connection, Name, Position, Text, TokenBucket, decode
from tetrarchia_app.web.journal import Journal, Player, log_unusable, new_link
from tetrarchia_app.web.room import Room, printable_name
from tetrarchia_app.web.workers import AgentSpec, AgentWorkers
from tetrarchia_env.board import EMPERORS
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.game import Game
from tetrarchia_env.local_view import FULL_INFORMATION, LocalOptions
from tetrarchia_env.messages import did_you_mean
from tetrarchia_env.notation import parse_replay, play_replay
from tetrarchia_env.options import Options
from tetrarchia_env.schema import sanitize_line
from tetrarchia_eval.study import Player as StudyPlayer
from tetrarchia_eval.study import StudyGame, new_person

if TYPE_CHECKING:
    from tetrarchia_app.web.coach import Coach

HUMANS = tuple(f"player {number}" for number in range(1, len(EMPERORS) + 1))  # the creator of the room is "player 1"
MAX_ACTIONS, MAX_TURNS = 10_000, 400  # of a game in a room
TAKE_OVERS_PER_LINK, TAKE_OVERS_PER_ADDRESS = 10, 20  # rooms that may be created by `take_over` at once
TAKE_OVERS_PER_S = 1 / 60  # and then
MAX_BUCKETS = 10_000  # links and addresses that are remembered
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Services:
    """What a server offers.

    Attributes:
        agents: The agents that can be chosen, by name, the default agent first.
        coach: Advises players and analyzes games; None if there is no trained network.
        keep_game: Keeps a finished game for research if all players agreed; None on a server without a study.
        version: Version of the package, stored with kept games.
        local: The information of players and agents in new rooms (R14), unless a request has its own.
        allow_full_information: Whether agents that need whole games may play in rooms with a view radius.
    """

    agents: dict[str, AgentSpec]
    coach: "Coach | None" = None
    keep_game: Callable[[StudyGame], None] | None = None
    version: str = "unknown"
    local: LocalOptions = FULL_INFORMATION
    allow_full_information: bool = False


@dataclass(frozen=True)
class Limits:
    """Maximum number of rooms, and how many seconds a room without connections is kept.

    `unjoined_s` is for a room to which no page was ever connected.
    """

    rooms: int = 1_000
    unjoined_s: float = 600.0
    finished_s: float = 3_600.0
    agents_only_s: float = 3_600.0
    unfinished_s: float = 14 * 24 * 3_600.0


class RoomSetup(Struct, forbid_unknown_fields=True):
    """Request to create a room: who plays each Emperor (`player 1` is the sender, others are agents or get links), and what is played.

    The game starts with the given rules, or continues from a position of a replay or from a snapshot.
    """

    emperors: tuple[Text, Text, Text, Text]
    name: Name = ""
    level: Text | None = None
    variants: Annotated[list[Text], Meta(max_length=8)] = []
    modules: Annotated[list[Text], Meta(max_length=8)] = []
    scenario: Text | None = None
    task: Text | None = None  # a named set-up instead of a level or a scenario
    fixed_setup: bool = False
    view_radius: int | None = None
    last_seen: bool = False
    message_tokens: int = 0
    seed: Annotated[int, Meta(ge=0, le=2**63 - 1)] | None = None
    replay: dict[str, Any] | None = None
    position: Position | None = None
    snapshot: dict[str, Any] | None = None
    consent: bool = False  # of `player 1`, to keep the game for research


_SETUP_DECODER = msgspec.json.Decoder(RoomSetup)


def read_setup(data: bytes) -> RoomSetup:
    """Decode a request to create a room.

    Raises:
        TetrarchiaError: If it is not a valid request.
    """
    return decode(_SETUP_DECODER, data)


def start_game(setup: RoomSetup, local: LocalOptions = FULL_INFORMATION) -> Game:
    """Return the game of a new room; takes about a second for a long replay.

    Args:
        setup: The request.
        local: The information of a game that starts with given rules, if the request has no view radius.

    Raises:
        TetrarchiaError: If the rules, the replay or the snapshot are not valid, or the game would be too long.
    """
    if setup.snapshot is not None:
        game = Game.restore(setup.snapshot)
    elif setup.replay is not None:
        replay = parse_replay(setup.replay)
        if len(replay.actions) > MAX_ACTIONS:
            raise TetrarchiaError(f"a replay must have at most {MAX_ACTIONS} actions; got {len(replay.actions)}")
        for _ in play_replay(replay):
            pass  # checks every action
        game = Game.from_replay(replay, setup.position)
    else:
        options = Options(setup.level, setup.variants, setup.modules, setup.scenario, setup.fixed_setup, task=setup.task)
        if setup.view_radius is not None or setup.last_seen or setup.message_tokens:
            local = LocalOptions(setup.view_radius, setup.last_seen, setup.message_tokens)
        game = Game.from_options(options, setup.seed, local=local)
    if game.options.max_turns > MAX_TURNS:
        raise TetrarchiaError(f"max_turns must be at most {MAX_TURNS}; got {game.options.max_turns}")
    return game


class RoomManager:
    """The rooms of a server; used only in the server's thread."""

    def __init__(self, journal: Journal, services: Services, limits: Limits | None = None) -> None:
        self.journal, self.services, self.limits = journal, services, limits or Limits()
        self.workers = AgentWorkers(services.agents)
        self.rooms: dict[str, Room] = {}
        self._links: dict[str, tuple[Room, int | None]] = {}
        self._env_ids = count()
        self.analysis = AnalysisQueue()
        self._take_overs: dict[str, TokenBucket] = {}  # by link and by address
        for stored in journal.load():
            try:
                room = Room.restore(self, next(self._env_ids), stored)
                for player in room.players:
                    if player.acting_agent:
                        self.check_agent(player.acting_agent, room.game)
            except TetrarchiaError as error:
                log_unusable(stored.name, error)
                continue
            self._add(room)

    def _add(self, room: Room) -> None:
        self.rooms[room.name] = room
        for link in filter(None, (room.spectator_link, room.creator_link)):
            self._links[link] = (room, None)
        for number, player in enumerate(room.players):
            if player.is_human:
                self._links[player.link] = (room, number)

    def resolve_link(self, link: str) -> tuple[Room, int | None] | None:
        """Return the room of a link and the index of the link's player (None for a spectator), or None for an unknown link."""
        return self._links.get(link)

    def create_room(self, game: Game, emperors: Sequence[str], name: str = "", consent: bool = False) -> Room:
        """Create a room.

        Args:
            game: The game, which may be in progress.
            emperors: For each Emperor in turn order `player 1` to `player 4`, or the name of an agent.
            name: Name of `player 1`.
            consent: Whether `player 1` agrees that the game is kept for research.

        Raises:
            TetrarchiaError: If there are too many rooms, or an agent is unknown or cannot play these rules.
            NotSavedError: If the room cannot be saved.
        """
        if len(self.rooms) >= self.limits.rooms:
            raise TetrarchiaError(f"the server already has {self.limits.rooms} rooms: try again later")
        for emperor in emperors:
            if emperor not in HUMANS:
                self.check_agent(emperor, game)
        order = [human for human in HUMANS if human in emperors] + sorted({one for one in emperors if one not in HUMANS})
        players = [Player() if one in HUMANS else Player(agent=one) for one in order]
        if HUMANS[0] in emperors:
            players[0].name, players[0].consent = printable_name(name), consent
        room = Room(self, next(self._env_ids), game, players, [order.index(one) for one in emperors])
        if HUMANS[0] not in emperors and room.has_humans:
            room.creator_link = new_link()
        self.journal.create(room.name, room.header())
        self._add(room)
        return room

    def limit_take_over(self, connection: Connection) -> None:
        """Count a room that a page is about to create.

        Raises:
            TetrarchiaError: If too many were created with the page's link or from its address.
        """
        if len(self._take_overs) > MAX_BUCKETS:
            self._take_overs.clear()
        buckets = [
            self._take_overs.setdefault(key, TokenBucket(burst, TAKE_OVERS_PER_S))
            for key, burst in ((connection.link, TAKE_OVERS_PER_LINK), (connection.address, TAKE_OVERS_PER_ADDRESS))
        ]
        if not all(bucket.take() for bucket in buckets):
            raise TetrarchiaError("too many games were continued with this link or from this address: try again in a minute")

    def check_agent(self, name: str, game: Game) -> None:
        """Raise TetrarchiaError if the server does not offer this agent, or the agent cannot play this game."""
        agents = self.services.agents
        if name not in agents:
            raise TetrarchiaError(f"unknown agent {sanitize_line(name, 80)!r}{did_you_mean(name, agents)}: choose from {', '.join(agents)}")
        if agents[name].base_only and game.options.needs_all_actions:
            raise TetrarchiaError(f"agent {name} knows only the base game: choose another for these variants and modules")
        if not self._has_information(agents[name], game):
            raise TetrarchiaError(f"agent {name} cannot play with the information of this game ({game.local.text}): choose another")

    def _has_information(self, spec: AgentSpec, game: Game) -> bool:
        if spec.needs_games:
            return game.local.view_radius is None or self.services.allow_full_information
        return spec.local is None or spec.local == game.local

    def substitute_agent(self, game: Game) -> str:
        """Return the default agent for this game."""
        specs, all_actions = self.services.agents, game.options.needs_all_actions
        suitable = (name for name, spec in specs.items() if not (spec.base_only and all_actions) and self._has_information(spec, game))
        return next(suitable, next(iter(specs)))

    def resume(self) -> None:
        """Continue the games in which an agent decides, after the server has started."""
        for room in self.rooms.values():
            room.request_agent()

    def remove_expired(self) -> None:
        """Remove every expired room."""
        for room in list(self.rooms.values()):
            self.remove_if_expired(room)

    def remove_if_expired(self, room: Room) -> None:
        """Remove a room that has had no connections for as long as `Limits` says."""
        unfinished_s = self.limits.unfinished_s if room.has_humans else self.limits.agents_only_s
        kept_s = self.limits.finished_s if room.game.is_over else unfinished_s
        kept_s = kept_s if room.is_joined else min(kept_s, self.limits.unjoined_s)
        if room.connections or time.time() - room.last_used < kept_s:
            return
        room.close(POLICY_VIOLATION, "this room has expired")
        for link in (room.spectator_link, room.creator_link or "", *(player.link for player in room.players)):
            self._links.pop(link, None)
        del self.rooms[room.name]
        self.journal.remove(room.name)
        self.workers.forget(room.env_id)

    def on_game_over(self, room: Room) -> None:
        """Keep a finished game for research if every human player agreed."""
        game = study_game(room, self.services.version)
        if self.services.keep_game is None or game is None:
            return
        try:
            self.services.keep_game(game)
        except OSError as error:
            log.warning("a game could not be kept for the study: %s", sanitize_line(str(error)))

    def close(self) -> None:
        """Close all connections and release the journal; the rooms stay on disk."""
        for room in self.rooms.values():
            room.close(POLICY_VIOLATION, "the server was stopped")
        self.analysis.close()
        self.journal.close()


def study_game(room: Room, version: str) -> StudyGame | None:
    """Return a finished game with new random ids of its human players; None if one did not agree or it was started elsewhere."""
    if room.records is None or not all(player.consent for player in room.players if player.is_human) or room.game.seed is None:
        return None
    substitutes = sorted({record.agent for record in room.records if record.agent} - {player.agent for player in room.players})
    players = [*room.players, *(Player(agent=agent) for agent in substitutes)]
    index_of = {player.agent: index for index, player in enumerate(players)}
    deciders = tuple(index_of[record.agent] if record.agent else record.player for record in room.records)
    seconds = tuple(record.seconds for record in room.records)
    study_players = tuple(
        StudyPlayer("person", new_person(), consent=True) if player.is_human else StudyPlayer("agent", str(player.agent))
        for player in players
    )
    return StudyGame(room.game.replay(), study_players, room.seats, deciders, seconds, version)
