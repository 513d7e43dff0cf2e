"""All rooms of a server: made within limits, found by their links, kept on disk, and gone when nobody needs them any more."""

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tetrarchia_app.web import views
from tetrarchia_app.web.connection import CLOSED, Connection
from tetrarchia_app.web.journal import Journal
from tetrarchia_app.web.live import LiveRoom
from tetrarchia_app.web.protocol import Setup
from tetrarchia_app.web.room import Player, Room
from tetrarchia_app.web.workers import Offer, Workers
from tetrarchia_env.batch import Games
from tetrarchia_env.board import EMPERORS
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.game import Game
from tetrarchia_env.game_analysis import GameAnalysis
from tetrarchia_env.messages import did_you_mean
from tetrarchia_env.notation import parse_replay, play_replay
from tetrarchia_env.options import Options
from tetrarchia_env.schema import sanitize_line
from tetrarchia_eval.study import Player as StudyPlayer
from tetrarchia_eval.study import StudyGame, new_person

PERSONS = tuple(f"person {number}" for number in range(1, len(EMPERORS) + 1))
MOST_ACTIONS, MOST_TURNS = 10_000, 400  # of a game in a room: longer ones would only take memory
THOUGHTS = 64  # questions to the coach that wait
Thought = Callable[..., Any]
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Services:
    """What the server is given from outside: agents by name, and who thinks aloud about positions and games."""

    offered: dict[str, Offer]
    coach: Thought | None = None  # of a game
    analyse: Callable[[Games, NDArray[np.int64]], GameAnalysis] | None = None  # of a game's positions, and the actions between them
    keep: Callable[[StudyGame], None] | None = None  # a finished game whose players agreed, for research
    version: str = "unknown"  # of the package, for what is kept


@dataclass(frozen=True)
class Limits:
    """How much a server holds; times in seconds without anybody in the room."""

    rooms: int = 1_000
    finished: float = 3_600.0
    watched: float = 3_600.0
    idle: float = 14 * 24 * 3_600.0


@dataclass
class House:
    """The rooms."""

    journal: Journal
    services: Services
    limits: Limits = field(default_factory=Limits)

    def __post_init__(self) -> None:
        self.workers = Workers(self.services.offered)
        self.rooms: dict[str, LiveRoom] = {}
        self._doors: dict[str, tuple[LiveRoom, int | None]] = {}
        self._env_ids = count()
        self._thinker = ThreadPoolExecutor(1, "coach")
        self._thoughts = 0
        for room in self.journal.rooms():
            self._open(room)

    def stand_in(self, options: Options) -> str:
        """Who plays where nobody is named: the best colleague who knows these rules."""
        known = (name for name, one in self.services.offered.items() if not (one.base_only and options.needs_all_actions))
        return next(known, next(iter(self.services.offered)))

    def behind(self, link: str) -> tuple[LiveRoom, int | None] | None:
        """The room that a link leads to, and the player who comes by it; None instead of a player: he looks."""
        return self._doors.get(link)

    def make(self, game: Game, setup: Setup) -> Room:
        """A new room for this game; ValueError in one sentence if there can be none."""
        return self._furnish(game, setup.emperors, setup.name, setup.consent)

    def fork(self, game: Game, number: int, emperors: Sequence[str]) -> Room:
        """A room that goes on from a position of another game."""
        return self._furnish(game.copy(number), emperors)

    def _furnish(self, game: Game, emperors: Sequence[str], name: str = "", consent: bool = False) -> Room:
        if len(self.rooms) >= self.limits.rooms:
            raise TetrarchiaError(f"this server has {self.limits.rooms} rooms already: come back later")
        for emperor in emperors:
            if emperor not in PERSONS:
                self.check_agent(emperor, game.options)
        players, seats = players_of(emperors, name)
        players[0].consent = consent and PERSONS[0] in emperors
        room = Room(game, players, seats)
        self.journal.begin(room)
        self._open(room)
        return room

    def _open(self, room: Room) -> None:
        live = LiveRoom(room, self, next(self._env_ids))
        self.rooms[room.name] = live
        self._doors[room.watch] = (live, None)
        for number, player in enumerate(room.players):
            if player.is_person:
                self._doors[player.link] = (live, number)

    def check_agent(self, name: str, options: Options) -> None:
        """ValueError if there is no such agent here, or it does not know these rules."""
        if name not in self.services.offered:
            offered = ", ".join(self.services.offered)
            raise TetrarchiaError(
                f"unknown agent {sanitize_line(name, 80)!r}{did_you_mean(name, self.services.offered)}: choose from {offered}"
            )
        if self.services.offered[name].base_only and options.needs_all_actions:
            raise TetrarchiaError(f"agent {name} knows only the base game: choose another for these variants and modules")

    def resume(self) -> None:
        """After a start: the agents whose decision it is go on."""
        for live in self.rooms.values():
            live.go_on()

    def sweep(self) -> None:
        """Remove the rooms that nobody needs any more."""
        for live in list(self.rooms.values()):
            self.left(live)

    def left(self, live: LiveRoom) -> None:
        """Remove it if nobody is there, and its time is over."""
        if not live.connections and time.time() - live.room.touched >= self._kept(live.room):
            self._remove(live)

    def _kept(self, room: Room) -> float:
        if room.game.is_over:
            return self.limits.finished
        return self.limits.idle if room.has_persons else self.limits.watched

    def _remove(self, live: LiveRoom) -> None:
        live.close(CLOSED, "this room is gone")
        for link in (live.room.watch, *(player.link for player in live.room.players)):
            self._doors.pop(link, None)
        del self.rooms[live.room.name]
        self.journal.forget(live.room)
        self.workers.forget(live.env_id)

    def finished(self, room: Room) -> None:
        """A game has ended: it is kept for research if every person agreed."""
        found = study_game(room, self.services.version)
        if self.services.keep is None or found is None:
            return
        try:
            self.services.keep(found)
        except OSError as error:
            log.warning("a game could not be kept for the study: %s", sanitize_line(str(error)))

    @property
    def analysis(self) -> Thought | None:
        """From a game's course to what a page shows of its analysis."""
        analyse = self.services.analyse
        return None if analyse is None else lambda positions, actions: views.analysis(analyse(positions, actions))

    def think(self, page: Connection, kind: str, thought: Thought | None, *about: Any, **also: Any) -> None:
        """Answer a page when it has been thought about, one question at a time; ValueError if nobody can, or too many wait."""
        if thought is None:
            raise TetrarchiaError("this server has no trained network to ask: install the extra train")
        if self._thoughts >= THOUGHTS:
            raise TetrarchiaError("too many questions wait already: ask again in a moment")
        self._thoughts += 1
        task = asyncio.get_running_loop().run_in_executor(self._thinker, thought, *about)
        task.add_done_callback(lambda done: self._answer(page, kind, done, also))

    def _answer(self, page: Connection, kind: str, done: "asyncio.Future[Any]", also: dict[str, Any]) -> None:
        self._thoughts -= 1
        if done.cancelled():
            return
        error = done.exception()
        if error is None:
            page.send({"type": kind, "answer": done.result(), **also})
        else:
            log.warning("the coach could not answer: %s", sanitize_line(f"{type(error).__name__}: {error}"))
            page.send({"type": "refused", "sentence": f"the coach could not answer: {sanitize_line(str(error), 200)}"})

    def close(self) -> None:
        """The server ends; rooms stay on disk."""
        for live in self.rooms.values():
            live.close(CLOSED, "the server was stopped")
        self._thinker.shutdown(wait=False, cancel_futures=True)
        self.journal.close()


def study_game(room: Room, version: str) -> StudyGame | None:
    """The game as a study keeps it, with new random ids for persons; None if somebody did not agree, or it began elsewhere."""
    if room.deeds is None or not all(player.consent for player in room.players if player.is_person) or room.game.seed is None:
        return None
    stand_ins = sorted({deed.agent for deed in room.deeds if deed.agent} - {player.agent for player in room.players})
    players = [*room.players, *(Player(agent=agent) for agent in stand_ins)]
    number_of = {player.agent: number for number, player in enumerate(players)}
    deciders = tuple(number_of[deed.agent] if deed.agent else deed.player for deed in room.deeds)
    seconds = tuple(deed.seconds for deed in room.deeds)
    return StudyGame(room.game.replay(), tuple(map(_studied, players)), room.seats, deciders, seconds, version)


def _studied(player: Player) -> StudyPlayer:
    return StudyPlayer("person", new_person(), consent=True) if player.is_person else StudyPlayer("agent", str(player.agent))


def players_of(emperors: Sequence[str], name: str = "") -> tuple[list[Player], list[int]]:
    """R13.1: the players, persons first in their order, and the player of each Emperor."""
    order = [person for person in PERSONS if person in emperors] + sorted({one for one in emperors if one not in PERSONS})
    players = [Player() if one in PERSONS else Player(agent=one) for one in order]
    if PERSONS[0] in emperors:
        players[0].name = "".join(sign if sign.isprintable() else " " for sign in name).strip()
    return players, [order.index(one) for one in emperors]


def game_of(setup: Setup) -> Game:
    """The game that a room is made for; ValueError in one sentence."""
    if setup.snapshot is not None:
        game = Game.restore(setup.snapshot)
    elif setup.replay is not None:
        game = _from_replay(setup.replay, setup.number)
    else:
        options = Options(setup.level, setup.variants, setup.modules, setup.scenario, setup.fixed_setup)
        game = Game.from_options(options, setup.seed)
    if game.options.max_turns > MOST_TURNS:
        raise TetrarchiaError(f"a game in a room has at most {MOST_TURNS} turns, not {game.options.max_turns}")
    return game


def _from_replay(content: dict[str, Any], number: int | None) -> Game:
    replay = parse_replay(content)
    if len(replay.actions) > MOST_ACTIONS:
        raise TetrarchiaError(f"a game in a room has at most {MOST_ACTIONS} actions, not {len(replay.actions)}")
    for _ in play_replay(replay):
        pass  # every step is checked
    return Game.from_replay(replay, number)
