"""Matches of seeded games between named agents, on several cores, kept in files that the same match goes on with."""

import os
import platform
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from math import inf
from types import TracebackType
from typing import Any

import numba
import numpy as np

from tetrarchia_agents import GameResult, assign_players
from tetrarchia_agents.registry import split_names
from tetrarchia_agents.rollouts import Agents, make_team, play_games
from tetrarchia_env import __version__
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.notation.replays import ENVIRONMENT
from tetrarchia_env.options import Options
from tetrarchia_eval.analysis import Summary, summarize
from tetrarchia_eval.match import FORMAT, Match, MatchSpec
from tetrarchia_eval.result_files import ResultFile
from tetrarchia_eval.workers import PlayedChunk, Roster, ThisProcess, Workers, process_pool

GOAL = 3.0  # seconds that a chunk should take: often enough to be told of, and longer than what it costs to hand it out
GROWTH = 8  # how much larger the next chunk may be: games played together are cheaper, so small chunks say little of large ones
MOST = 4096  # games in a chunk: wider ones are no faster (measured: 0.2 ms a game with random agents, from 1,000 games on)
ALONE = 1.0  # seconds a chunk, up to which this process goes on alone
PAYS = 4.0  # seconds of work that are worth the start of other processes, about two seconds each
# Told of games: those the file held before, then none when all is ready, then as they end.
Progress = Callable[[Sequence[GameResult]], None]


def match_spec(
    agents: str,
    games: int,
    *,
    players: int | None = None,
    levels: Sequence[str] = (),
    first_seed: int = 0,
    seed: int = 0,
    roster: Roster | None = None,
    **arguments: Any,
) -> MatchSpec:
    """So many games at each level by the agents of these names (R13.1: of one to four players).

    `arguments` are those of `Options` but for the level; without levels it is the normal one or the scenario's.
    """
    names = assign_players(split_names(agents, players))
    roster = roster or Roster()
    fingerprints = {name: roster.fingerprint(name) for name in dict.fromkeys(names)}
    rules = Options.of(level=levels[0] if levels else None, **arguments)
    return MatchSpec.of(
        format=FORMAT,
        environment=ENVIRONMENT,
        arguments={name: value for name, value in rules.arguments().items() if name != "level"},
        levels=tuple(levels) or rules.level_names,
        agents=names,
        fingerprints=fingerprints,
        games=games,
        first_seed=first_seed,
        seed=seed,
        versions={"tetrarchia": __version__, "python": platform.python_version(), "numpy": np.__version__, "numba": numba.__version__},
        machine={"cores": os.cpu_count() or 1, "system": platform.system(), "architecture": platform.machine()},
    )


def play_match(
    spec: MatchSpec,
    path: str | os.PathLike[str],
    workers: int = 2,
    chunk: int | None = None,
    progress: Progress = lambda games: None,
    roster: Roster | None = None,
) -> Match:
    """Play what the file lacks of this match: an arena for it alone."""
    with Arena(workers, chunk, roster) as arena:
        return arena.play(ResultFile.planned(spec, path), progress)


def win_rates(agents: Agents, tasks: Mapping[str, Options], seeds: Sequence[int], agents_seed: int = 0) -> dict[str, Summary]:
    """Play one game per task and seed in this process, keeping no file, and summarize the games of each task.

    This is how training measures win rates on held-out seeds.

    Args:
        agents: Names as on the command line, one agent for all Emperors, or one to four agents (R13.1).
        tasks: Rules by label, e.g. ``{"4211": Options(level="4211")}``.
        seeds: Seeds of the games, the same for each task.
        agents_seed: Seed of the agents' own random choices.

    Returns:
        A summary by label: ``summary.win_rate.value``, ``summary.wins``, ``summary.games``, ``summary.borders``, ``summary.turns``.
    """
    team = make_team(agents)
    return {label: summarize(play_games(options, team, seeds, agents_seed)) for label, options in tasks.items()}


class Arena:
    """Plays matches; agents and worker processes are made once for all of them, when the first one needs them.

    The games depend neither on the number of processes nor on chunks or interruptions.

    chunk: the most games that are played side by side; if not given, as many as take about three seconds
    pool: what makes workers, if others than this process are worth it
    """

    def __init__(
        self,
        workers: int = 2,
        chunk: int | None = None,
        roster: Roster | None = None,
        pool: Callable[[int], AbstractContextManager[Workers]] = process_pool,
    ) -> None:
        _check_number("workers", workers)
        _check_number("chunk", MOST if chunk is None else chunk)
        self.roster = roster or Roster()
        self._size, self._chunk, self._pool = workers, chunk, pool
        self._here = ThisProcess(self.roster)
        self._others: Workers | None = None
        self._stack = ExitStack()

    def __enter__(self) -> "Arena":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._stack.__exit__(kind, error, trace)

    def play(self, file: ResultFile, progress: Progress = lambda games: None) -> Match:
        """Play what the file lacks; a finished one is only read: others may hold it, and nobody need be able to write it."""
        if file.is_finished:
            progress(file.games)
            return file.match
        with file.appending():
            progress(file.games[:])
            if not file.is_finished:
                self._play(file, progress)
        return file.match

    def _play(self, file: ResultFile, progress: Progress) -> None:
        """This process begins alone, and so learns whether others would be any help; they find everything compiled."""
        self._here.prepare(file.spec)
        progress(())
        chunks = Chunks(file.spec, len(file.games), self._chunk or MOST, inf if self._chunk else GOAL)
        take = InOrder(file, progress).take
        hand_out(chunks, self._here, take, ALONE if self._size > 1 else inf)
        hand_out(chunks, self._workers() if chunks.seconds_left > PAYS else self._here, take)

    def _workers(self) -> Workers:
        if self._others is None:
            self._others = self._stack.enter_context(self._pool(self._size))
        return self._others


def _check_number(name: str, value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise TetrarchiaError(f"{name} is a whole number from 1 on, not {value!r}")


@dataclass
class Chunks:
    """Cuts a match, from a game on, into chunks that take about `goal` seconds and hold at most so many games."""

    spec: MatchSpec
    start: int
    most: int = MOST
    goal: float = GOAL
    size: int = 1
    pace: float = 0.0  # seconds a game in the last chunk

    def cut(self) -> range | None:
        """The indexes of the next games, all of one level, or None if there are none."""
        if self.start == self.spec.total:
            return None
        level_end = (self.start // self.spec.games + 1) * self.spec.games
        chunk = range(self.start, min(self.start + self.size, level_end))
        self.start = chunk.stop
        return chunk

    def learn(self, games: int, seconds: float) -> None:
        """A chunk of so many games took so long: the next one's size follows from it."""
        self.pace = max(seconds, 1e-9) / games
        self.size = int(max(1, min(self.goal / self.pace, GROWTH * games, self.most)))

    @property
    def seconds_left(self) -> float:
        """For all that has not been cut yet, in one process."""
        return self.pace * (self.spec.total - self.start)


def hand_out(chunks: Chunks, workers: Workers, take: Callable[[PlayedChunk], None], longest: float = inf) -> None:
    """All chunks to these workers, or until one takes longer than so many seconds; `take` gets their games as they come."""
    waiting, seconds = 0, 0.0
    while True:
        while waiting < workers.size and seconds <= longest and (chunk := chunks.cut()):
            workers.submit(chunks.spec, chunk)
            waiting += 1
        if not waiting:
            return
        played = workers.next_played()
        waiting, seconds = waiting - 1, played.seconds
        chunks.learn(len(played.games), seconds)
        take(played)


class InOrder:
    """Appends games to the file in the order of their index; those that come early wait."""

    def __init__(self, file: ResultFile, progress: Progress) -> None:
        self._file, self._progress = file, progress
        self._early: dict[int, list[GameResult]] = {}  # chunks by their first index

    def take(self, played: PlayedChunk) -> None:
        """A chunk is finished."""
        self._early[played.indexes.start] = played.games
        while games := self._early.pop(len(self._file.games), None):
            self._file.append(games)
        self._progress(played.games)
