"""Who plays the chunks of a match: this process, or a pool of processes. Each makes its agents once."""

import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

from msgspec.structs import replace

from tetrarchia_agents import Agent, GameResult, make_agent
from tetrarchia_agents.compiling import compile_ahead
from tetrarchia_agents.fingerprint import fingerprint
from tetrarchia_agents.pools import defer_sigint, worker_pool
from tetrarchia_agents.rollouts import play_games
from tetrarchia_env.board import EMPERORS
from tetrarchia_eval.match import MatchSpec

KILLED = "a worker process was killed (out of memory?): what was played is kept, the same command goes on, with fewer --workers if need be"


@dataclass(frozen=True)
class PlayedChunk:
    """Games of a match, by their indexes, and the seconds they took."""

    indexes: range
    games: list[GameResult]
    seconds: float


class Workers(Protocol):
    """Take chunks and give back their games, in any order."""

    @property
    def size(self) -> int:
        """Chunks that they play at once."""

    def submit(self, spec: MatchSpec, chunk: range) -> None:
        """Play the games of these indexes, all of one level."""

    def next_played(self) -> PlayedChunk:
        """Wait for one of the chunks submitted."""


class Roster:
    """Agents by name, each made once, when it is first asked for."""

    def __init__(self, agents: Mapping[str, Agent] | None = None) -> None:
        self._agents = dict(agents or {})
        self._fingerprints: dict[str, str] = {}

    def agent(self, name: str) -> Agent:
        """Of this name."""
        if name not in self._agents:
            self._agents[name] = make_agent(name)
        return self._agents[name]

    def team(self, names: Sequence[str]) -> tuple[Agent, ...]:
        """The agent of each Emperor; those of one name share it, and it then decides for more games at once."""
        return tuple(map(self.agent, names))

    def fingerprint(self, name: str) -> str:
        """Of this agent."""
        if name not in self._fingerprints:
            agent = self.agent(name)
            compile_ahead()
            self._fingerprints[name] = fingerprint(agent)
        return self._fingerprints[name]


class ThisProcess:
    """Plays a chunk when it is submitted."""

    size = 1

    def __init__(self, roster: Roster) -> None:
        self._roster = roster
        self._warm: set[str] = set()
        self._played: list[PlayedChunk] = []

    def submit(self, spec: MatchSpec, chunk: range) -> None:
        """Play it now."""
        self.prepare(spec)
        begun = time.perf_counter()
        games = play_chunk(spec, self._roster.team(spec.agents), chunk)
        self._played.append(PlayedChunk(chunk, games, time.perf_counter() - begun))

    def next_played(self) -> PlayedChunk:
        """The one played first."""
        return self._played.pop(0)

    def prepare(self, spec: MatchSpec) -> None:
        """Play one round and forget it: to compile or to load is no part of the time that an agent takes to decide."""
        kind = f"{spec.agents} {spec.arguments}"
        if kind not in self._warm:
            self._warm.add(kind)
            short = replace(spec, arguments={**spec.arguments, "max_turns": len(EMPERORS)})
            play_chunk(short, self._roster.team(spec.agents), range(1))


def play_chunk(spec: MatchSpec, team: Sequence[Agent], chunk: range) -> list[GameResult]:
    """The games of these indexes."""
    level, first_seed = spec.job(chunk.start)
    return play_games(spec.options(level), team, range(first_seed, first_seed + len(chunk)), spec.seed)


class ProcessPool:
    """Processes of this machine."""

    def __init__(self, pool: ProcessPoolExecutor, size: int) -> None:
        self.size = size
        self._pool = pool
        self._waiting: set[Future[PlayedChunk]] = set()

    def submit(self, spec: MatchSpec, chunk: range) -> None:
        """To whichever process is free."""
        with defer_sigint():
            self._waiting.add(self._pool.submit(_work, spec, chunk))

    def next_played(self) -> PlayedChunk:
        """The one that is finished first."""
        done, _ = wait(self._waiting, return_when=FIRST_COMPLETED)
        first = done.pop()
        self._waiting.remove(first)
        return first.result()


@contextmanager
def process_pool(size: int) -> Iterator[Workers]:
    """So many processes, as long as they are needed."""
    with worker_pool(size, KILLED) as pool:
        yield ProcessPool(pool, size)


_here = ThisProcess(Roster())  # in a worker


def _work(spec: MatchSpec, chunk: range) -> PlayedChunk:
    _here.submit(spec, chunk)
    return _here.next_played()
