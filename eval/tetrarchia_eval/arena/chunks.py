"""A run is played in chunks: some games of one level, played together by the agents of one process."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tetrarchia_agents import Agent, make_agent
from tetrarchia_env.board import EMPERORS
from tetrarchia_eval.results import Header, Played

GOAL = 3.0  # seconds that a chunk should take: often enough to be told of, and longer than what it costs to hand it out
GROWTH = 8  # how much larger the next chunk may be: games played together are cheaper, so small chunks say little of large ones
MOST = 4096  # games in a chunk: wider ones are no faster (measured: 0.2 ms a game with random agents, from 1,000 games on)


def seated(names: Sequence[str]) -> tuple[Agent, ...]:
    """The agent of each Emperor by name; Emperors of the same name share one, which then decides for more games at once."""
    made = {name: make_agent(name) for name in names}
    return tuple(made[name] for name in names)


def warm_up(plan: Header, agents: Sequence[Agent]) -> None:
    """Play one round and forget it: to compile or to load is no part of the time that an agent takes to decide."""
    level, seed = plan.job(0)
    short = replace(plan, arguments={**plan.arguments, "max_turns": len(EMPERORS)})
    play_games(short.options(level), agents, seed, plan.seed)


@dataclass
class Chunks:
    """Cuts a run, from a game on, into chunks that take about `goal` seconds and hold at most so many games."""

    plan: Header
    start: int
    most: int = MOST
    goal: float = GOAL
    size: int = 1
    pace: float = 0.0  # seconds a game in the last chunk

    def cut(self) -> range | None:
        """The indexes of the next games, all of one level, or None if there are none."""
        if self.start == self.plan.total:
            return None
        level_end = (self.start // self.plan.games + 1) * self.plan.games
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
        return self.pace * (self.plan.total - self.start)


def play_chunk(plan: Header, agents: Sequence[Agent], chunk: range) -> list[Played]:
    """The games of these indexes."""
    level, first_seed = plan.job(chunk.start)
    return play_games(plan.options(level), agents, range(first_seed, first_seed + len(chunk)), plan.seed, chunk.start)
