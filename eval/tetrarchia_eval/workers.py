"""Workers that play the chunks of a match: this process or a pool of processes. Each creates its agents once."""

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

KILLED = "a worker process was killed (out of memory?): finished games are kept; run the same command again, perhaps with fewer --workers"


@dataclass(frozen=True)
class PlayedChunk:
    """Games of a match with their indexes, and the seconds that the chunk took."""

    indexes: range
    games: list[GameResult]
    seconds: float


class Workers(Protocol):
    """Workers take chunks and return their games in any order."""

    @property
    def size(self) -> int:
        """The number of chunks played at once."""

    def submit(self, spec: MatchSpec, chunk: range) -> None:
        """Start playing the games with these indexes, all at one level."""

    def next_played(self) -> PlayedChunk:
        """Wait for one of the submitted chunks."""


class AgentCache:
    """Agents and their fingerprints by name, created on first use."""

    def __init__(self, agents: Mapping[str, Agent] | None = None) -> None:
        self._agents = dict(agents or {})
        self._fingerprints: dict[str, str] = {}

    def agent(self, name: str) -> Agent:
        """Return the agent with this name."""
        if name not in self._agents:
            self._agents[name] = make_agent(name)
        return self._agents[name]

    def team(self, names: Sequence[str]) -> tuple[Agent, ...]:
        """Return the agent of each Emperor; Emperors with the same name share one agent, which then decides for more games at once."""
        return tuple(map(self.agent, names))

    def fingerprint(self, name: str) -> str:
        """Return the fingerprint of the agent with this name."""
        if name not in self._fingerprints:
            agent = self.agent(name)
            compile_ahead()
            self._fingerprints[name] = fingerprint(agent)
        return self._fingerprints[name]


class ThisProcess:
    """Plays each chunk when it is submitted."""

    size = 1

    def __init__(self, agents: AgentCache) -> None:
        self._agents = agents
        self._warm: set[str] = set()
        self._played: list[PlayedChunk] = []

    def submit(self, spec: MatchSpec, chunk: range) -> None:
        """Play the chunk now."""
        self.prepare(spec)
        begun = time.perf_counter()
        games = play_chunk(spec, self._agents.team(spec.agents), chunk)
        self._played.append(PlayedChunk(chunk, games, time.perf_counter() - begun))

    def next_played(self) -> PlayedChunk:
        """Return the chunk that was submitted first."""
        return self._played.pop(0)

    def prepare(self, spec: MatchSpec) -> None:
        """Play one round and discard it, so that compiling and loading do not count as thinking time."""
        key = f"{spec.agents} {spec.arguments}"
        if key not in self._warm:
            self._warm.add(key)
            short = replace(spec, arguments={**spec.arguments, "max_turns": len(EMPERORS)})
            play_chunk(short, self._agents.team(spec.agents), range(1))


def play_chunk(spec: MatchSpec, team: Sequence[Agent], chunk: Sequence[int]) -> list[GameResult]:
    """Play the games with these indexes, all at one level."""
    level, _ = spec.job(chunk[0])
    seeds = [spec.job(index)[1] for index in chunk]
    return play_games(spec.options(level), team, seeds, spec.seed, spec.local, allow_full_information=bool(spec.full_information))


class ProcessPool:
    """Worker processes on this machine."""

    def __init__(self, pool: ProcessPoolExecutor, size: int) -> None:
        self.size = size
        self._pool = pool
        self._waiting: set[Future[PlayedChunk]] = set()

    def submit(self, spec: MatchSpec, chunk: range) -> None:
        """Queue the chunk for the next free process."""
        with defer_sigint():
            self._waiting.add(self._pool.submit(_work, spec, chunk))

    def next_played(self) -> PlayedChunk:
        """Wait for the next finished chunk."""
        done, _ = wait(self._waiting, return_when=FIRST_COMPLETED)
        first = done.pop()
        self._waiting.remove(first)
        return first.result()


@contextmanager
def process_pool(size: int) -> Iterator[Workers]:
    """Start this many worker processes and end them afterwards."""
    with worker_pool(size, KILLED) as pool:
        yield ProcessPool(pool, size)


_in_worker = ThisProcess(AgentCache())


def _work(spec: MatchSpec, chunk: range) -> PlayedChunk:
    _in_worker.submit(spec, chunk)
    return _in_worker.next_played()
