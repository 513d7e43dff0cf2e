"""Matches of seeded games between named agents, played on several cores and kept in files that can be resumed."""

import os
import platform
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from math import inf
from types import TracebackType
from typing import Protocol

import numba
import numpy as np

from tetrarchia_agents import GameResult, assign_players
from tetrarchia_agents.registry import split_names
from tetrarchia_agents.rollouts import Agents, make_team, play_games
from tetrarchia_env import __version__
from tetrarchia_env.agent import check_information, needs_games
from tetrarchia_env.digest import environment_digest
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.local_view import FULL_INFORMATION, LocalOptions
from tetrarchia_env.notation.replays import ENVIRONMENT
from tetrarchia_env.options import Options
from tetrarchia_env.schema import validate
from tetrarchia_eval.analysis import Summary, summarize
from tetrarchia_eval.match import FORMAT, Match, MatchSpec
from tetrarchia_eval.result_files import ResultFile
from tetrarchia_eval.workers import AgentCache, PlayedChunk, ThisProcess, Workers, process_pool

CHUNK_S = 3.0  # target duration of a chunk: frequent progress, and long compared with the cost of dispatching it
MAX_CHUNK_GROWTH = 8  # games played together are cheaper, so a small chunk predicts the speed of a large one badly
MAX_CHUNK_GAMES = 4096  # larger chunks are not faster (measured with random agents: 0.2 ms per game from 1,000 games on)
MAX_ALONE_CHUNK_S = 1.0  # this process plays alone while a chunk takes no longer
MIN_POOL_WORK_S = 4.0  # remaining work that is worth starting other processes, about two seconds each


class FinishedGame(Protocol):
    """A finished game, as progress counts it."""

    @property
    def won(self) -> bool:
        """Whether the game was won."""


# Called with the games that the file contained before, with none when everything is compiled, then with games as they finish.
Progress = Callable[[Sequence[FinishedGame]], None]


def match_spec(
    agents: str,
    games: int,
    *,
    players: int | None = None,
    levels: Sequence[str] = (),
    first_seed: int = 0,
    seed: int = 0,
    variants: Sequence[str] = (),
    modules: Sequence[str] = (),
    scenario: str | None = None,
    task: str | None = None,
    revolts: int | Sequence[int] = Options.revolts,
    secured: int | Sequence[int] = Options.secured,
    fixed_setup: bool = False,
    max_turns: int = Options.max_turns,
    view_radius: int | None = None,
    last_seen: bool = False,
    message_tokens: int = 0,
    allow_full_information: bool = False,
    cache: AgentCache | None = None,
) -> MatchSpec:
    """Describe a match.

    Args:
        agents: One name for all Emperors or one per player, separated by commas (R13.1).
        games: Number of games at each level.
        players: Number of players; by default the number of names.
        levels: Levels; by default 4211, or that of the scenario or task.
        first_seed: Seed of the first game at each level.
        seed: Seed of the agents' own random choices.
        variants: Rule variants (R10).
        modules: Modules (R11).
        scenario: Scenario (R12).
        task: Name of a task, instead of levels.
        revolts: Number of initial Revolts, or a list to draw from (R2.8).
        secured: Number of borders secured from the beginning, or a list to draw from (R2.8).
        fixed_setup: Whether the first Revolts are in province 3 (R2.7).
        max_turns: Turns after which a game is truncated.
        view_radius: None, or 0 to 12: each Emperor observes only his surroundings (R14).
        last_seen: With `view_radius`: spaces out of view show what was seen there last.
        message_tokens: With `view_radius`: the number of tokens that an Emperor can say, 0 to 16.
        allow_full_information: With `view_radius`: allow agents that need whole games, as privileged baselines.
        cache: Agents created before; by default a new cache.

    Raises:
        TetrarchiaError: If an argument is wrong or an agent cannot be created.
    """
    names = assign_players(split_names(agents, players))
    cache = cache or AgentCache()
    rules = Options(
        level=levels[0] if levels else None,
        variants=variants,
        modules=modules,
        scenario=scenario,
        task=task,
        revolts=revolts,
        secured=secured,
        fixed_setup=fixed_setup,
        max_turns=max_turns,
    )
    local = LocalOptions(view_radius, last_seen, message_tokens)
    different = list(dict.fromkeys(names))
    check_information(map(cache.agent, different), local, allow_full_information)
    entries = {
        "format": FORMAT,
        "environment": ENVIRONMENT,
        "arguments": {name: value for name, value in rules.arguments().items() if name != "level"} | local.arguments(),
        "levels": tuple(levels) or rules.level_names,
        "agents": names,
        "fingerprints": {name: cache.fingerprint(name) for name in different},
        "games": games,
        "first_seed": first_seed,
        "seed": seed,
        "versions": {
            "tetrarchia": __version__,
            "python": platform.python_version(),
            "numpy": np.__version__,
            "numba": numba.__version__,
        },
        "machine": {"cores": os.cpu_count() or 1, "system": platform.system(), "architecture": platform.machine()},
        "environment_digest": environment_digest(),
        "full_information": () if view_radius is None else tuple(name for name in different if needs_games(cache.agent(name))),
    }
    return validate(entries, MatchSpec, "")


def play_match(
    spec: MatchSpec,
    path: str | os.PathLike[str],
    workers: int = 2,
    chunk: int | None = None,
    progress: Progress = lambda games: None,
    cache: AgentCache | None = None,
) -> Match:
    """Play the games that the file does not contain yet, in an arena for this match alone.

    Args:
        spec: The match.
        path: Its result file.
        workers: Number of processes.
        chunk: Maximum number of games played together; by default as many as take about three seconds.
        progress: Called with games as they finish.
        cache: Agents created before.
    """
    with Arena(workers, chunk, cache) as arena:
        return arena.play(ResultFile.open(spec, path), progress)


def win_rates(
    agents: Agents,
    tasks: Mapping[str, Options],
    seeds: Sequence[int],
    agents_seed: int = 0,
    local: LocalOptions = FULL_INFORMATION,
) -> dict[str, Summary]:
    """Play one game per task and seed in this process, keeping no file, and summarize the games of each task.

    This is how training measures win rates on held-out seeds.

    Args:
        agents: Names as on the command line, one agent for all Emperors, or one to four agents (R13.1).
        tasks: Rules by label, e.g. ``{"4211": Options(level="4211")}``.
        seeds: Seeds of the games, the same for each task.
        agents_seed: Seed of the agents' own random choices.
        local: The information of agents that need observations; others may play, too.

    Returns:
        A summary by label: ``summary.win_rate.value``, ``summary.wins``, ``summary.games``, ``summary.borders``, ``summary.turns``.
    """
    team = make_team(agents)
    found = {label: play_games(options, team, seeds, agents_seed, local, allow_full_information=True) for label, options in tasks.items()}
    return {label: summarize(games) for label, games in found.items()}


class Arena:
    """Plays matches; agents and worker processes are created once, when they are first needed.

    The games do not depend on the number of workers, on chunks or on interruptions.
    """

    def __init__(
        self,
        workers: int = 2,
        chunk: int | None = None,
        cache: AgentCache | None = None,
        pool: Callable[[int], AbstractContextManager[Workers]] = process_pool,
    ) -> None:
        """Prepare an arena.

        Args:
            workers: Number of processes.
            chunk: Maximum number of games played together; by default as many as take about three seconds.
            cache: Agents created before.
            pool: Function that starts this many workers, called if they are worth it.
        """
        for name, value in {"workers": workers, "chunk": 1 if chunk is None else chunk}.items():
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise TetrarchiaError(f"{name} must be an integer of at least 1; got {value!r}")
        self._size, self._chunk, self._pool = workers, chunk, pool
        self._local = ThisProcess(cache or AgentCache())
        self._others: Workers | None = None
        self._stack = ExitStack()

    def __enter__(self) -> "Arena":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._stack.__exit__(kind, error, trace)

    def play(self, file: ResultFile, progress: Progress = lambda games: None) -> Match:
        """Play the games that the file does not contain yet and return the match.

        A finished file is only read: it may be locked by another process or read-only.
        """
        if file.is_finished:
            progress(file.games)
            return file.match
        with file.appending():
            progress(file.games[:])
            if not file.is_finished:
                self._play(file, progress)
        return file.match

    def _play(self, file: ResultFile, progress: Progress) -> None:
        """Start in this process alone, to measure whether others are worth it; they find everything compiled."""
        self._local.prepare(file.spec)
        progress(())
        chunks = Chunks(file.spec, len(file.games), self._chunk or MAX_CHUNK_GAMES, inf if self._chunk else CHUNK_S)
        take = OrderedWriter(file, progress).take
        dispatch(chunks, self._local, take, MAX_ALONE_CHUNK_S if self._size > 1 else inf)
        if chunks.seconds_left <= MIN_POOL_WORK_S:
            dispatch(chunks, self._local, take)
            return
        if self._others is None:
            self._others = self._stack.enter_context(self._pool(self._size))
        dispatch(chunks, self._others, take)


@dataclass
class Chunks:
    """The games of a match from an index on, cut into chunks of one level that take about `target_s` seconds each."""

    spec: MatchSpec
    start: int
    max_games: int = MAX_CHUNK_GAMES
    target_s: float = CHUNK_S
    size: int = 1
    seconds_per_game: float = 0.0  # in the last chunk

    def cut(self) -> range | None:
        """Return the indexes of the next chunk, or None after the last one."""
        if self.start == self.spec.total:
            return None
        level_end = (self.start // self.spec.games + 1) * self.spec.games
        chunk = range(self.start, min(self.start + self.size, level_end))
        self.start = chunk.stop
        return chunk

    def learn(self, games: int, seconds: float) -> None:
        """Adjust the size of the next chunks to the duration of one that was played."""
        self.seconds_per_game = max(seconds, 1e-9) / games
        self.size = int(max(1, min(self.target_s / self.seconds_per_game, MAX_CHUNK_GROWTH * games, self.max_games)))

    @property
    def seconds_left(self) -> float:
        """Estimated time of the games not cut yet, in one process."""
        return self.seconds_per_game * (self.spec.total - self.start)


def dispatch(chunks: Chunks, workers: Workers, take: Callable[[PlayedChunk], None], max_chunk_s: float = inf) -> None:
    """Have workers play all chunks, or until a chunk takes longer than `max_chunk_s`; `take` receives the games as they finish."""
    waiting, seconds = 0, 0.0
    while True:
        while waiting < workers.size and seconds <= max_chunk_s and (chunk := chunks.cut()):
            workers.submit(chunks.spec, chunk)
            waiting += 1
        if not waiting:
            return
        played = workers.next_played()
        waiting, seconds = waiting - 1, played.seconds
        chunks.learn(len(played.games), seconds)
        take(played)


class OrderedWriter:
    """Appends games to the file in the order of their index; chunks that finish early wait."""

    def __init__(self, file: ResultFile, progress: Progress) -> None:
        self._file, self._progress = file, progress
        self._early: dict[int, list[GameResult]] = {}  # by first index

    def take(self, played: PlayedChunk) -> None:
        """Accept a finished chunk."""
        self._early[played.indexes.start] = played.games
        while games := self._early.pop(len(self._file.games), None):
            self._file.append(games)
        self._progress(played.games)
