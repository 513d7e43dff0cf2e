"""Decisions of a teacher to copy: he plays whole games, and every position is kept with what he would do in it."""

import multiprocessing
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tetrarchia_agents import TeamPolicy, make_agents
from tetrarchia_env import batch
from tetrarchia_env.engine.state import GAME, OVER, WON
from tetrarchia_env.files import atomic_write
from tetrarchia_env.options import Options
from tetrarchia_train.rules import rules_at

GAMES_A_JOB = 32  # few: all sets of rules have their turn soon
FIRST_SEED = 1 << 40  # far from the seeds that agents are measured on


@dataclass(frozen=True)
class Lessons:
    """Positions, a record each, and the teacher's actions; of how many games, and how many he won."""

    games: batch.Games
    actions: NDArray[np.int64]
    played: int
    won: int

    def __len__(self) -> int:
        return len(self.actions)


@dataclass(frozen=True)
class Job:
    """Some games of one teacher by one set of rules."""

    teacher: str
    first: int  # seed
    levels: Sequence[str]
    rules: dict[str, Any] = field(default_factory=dict)
    noise: float = 0.0
    games: int = GAMES_A_JOB


def play_lessons(job: Job) -> Lessons:
    """Play the games to their ends. In each, a share of actions is random, from none to twice `noise`: he shows how to recover."""
    seeds = np.arange(job.first, job.first + job.games, dtype=np.uint64)
    games, masks = batch.new_games(Options.of(**rules_at(job.rules, job.levels)), seeds)
    team, chance = TeamPolicy(make_agents(job.teacher), len(games), job.first), np.random.default_rng(job.first)
    team.begin(np.arange(len(games)), seeds)
    rates = chance.random(len(games)) * 2 * job.noise
    kept, labels, played = [], [], np.zeros(len(games), dtype=np.int64)
    while len(running := np.flatnonzero(games["phase"] != OVER)):
        labels.append(team.act(games[running], masks[running], running))
        kept.append(games[running])
        strays = chance.random(len(running)) < rates[running]
        random = batch.random_actions(masks[running], chance.integers(1, 2**63, len(running)).astype(np.uint64))
        played[running] = np.where(strays, random, labels[-1])
        batch.step(games, played, masks)
    return Lessons(np.concatenate(kept), np.concatenate(labels), len(games), int((games["outcome"] == WON).sum()))


def collect(jobs: Iterator[Job], decisions: int, workers: int, tell: Callable[[int], None]) -> Lessons:
    """At least so many decisions, in the order of the jobs whoever is done first; `tell` hears how many there are."""
    parts: list[Lessons] = []
    with ProcessPoolExecutor(workers, multiprocessing.get_context("spawn")) as pool:
        waiting: list[Future[Lessons]] = []
        while sum(map(len, parts)) < decisions:
            waiting += [pool.submit(play_lessons, next(jobs)) for _ in range(2 * workers - len(waiting))]
            wait(waiting[:1], return_when=FIRST_COMPLETED)
            parts.append(waiting.pop(0).result())
            tell(min(sum(map(len, parts)), decisions))
        for future in waiting:
            future.cancel()
    return Lessons(
        np.concatenate([part.num_envs for part in parts])[:decisions],
        np.concatenate([part.actions for part in parts])[:decisions],
        sum(part.played for part in parts),
        sum(part.won for part in parts),
    )


def jobs_of(teacher: str, levels: Sequence[str], rules: Sequence[dict[str, Any]], noise: float, seed: int) -> Iterator[Job]:
    """One job after the other, each set of rules in its turn."""
    number = 0
    while True:
        first = FIRST_SEED + (seed << 32) + number * GAMES_A_JOB
        yield Job(teacher, first, levels, rules[number % len(rules)], noise)
        number += 1


def save_lessons(lessons: Lessons, path: Path) -> None:
    """Keep them for another time."""
    with atomic_write(path) as draft, open(draft, "wb") as file:
        np.savez(file, games=lessons.games.view(np.uint8), actions=lessons.actions, counts=np.array([lessons.played, lessons.won]))


def load_lessons(path: Path) -> Lessons:
    """What `save_lessons` kept."""
    try:
        with np.load(path, allow_pickle=False) as file:
            games = file["games"].reshape(-1).view(GAME)
            return Lessons(games, file["actions"], *map(int, file["counts"]))
    except (OSError, KeyError, ValueError) as error:
        raise ValueError(f"lessons {path} cannot be read: {error}") from None
