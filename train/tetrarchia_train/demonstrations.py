"""Demonstrations of an expert: it plays whole games, and every position is kept with what the expert would do in it.

A share of the actions played, not of those kept, is random: noise injection, which shows how to recover from mistakes
(Laskey et al., DART: Noise injection for robust imitation learning, CoRL 2017).
"""

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
from tetrarchia_env.files import atomic_write
from tetrarchia_env.options import Options
from tetrarchia_train.rule_sets import with_levels

GAMES_PER_JOB = 32  # few: all sets of rules have their turn soon
FIRST_SEED = 1 << 40  # far from the seeds that agents are measured on


@dataclass(frozen=True)
class Demonstrations:
    """Positions, a record each, and the expert's actions; of how many games, and how many it won."""

    games: batch.Games
    actions: NDArray[np.int64]
    played: int
    won: int

    def __len__(self) -> int:
        return len(self.actions)


@dataclass(frozen=True)
class Job:
    """Some games of one expert by one set of rules."""

    expert: str
    first_seed: int
    levels: Sequence[str]
    rules: dict[str, Any] = field(default_factory=dict)
    noise: float = 0.0  # the mean share of random actions; in each game from none to twice as much
    games: int = GAMES_PER_JOB


class NoisyExpert:
    """The policy of a job's games; it keeps what it was asked and what the expert answered."""

    def __init__(self, job: Job) -> None:
        self.expert, self.rng = TeamPolicy(make_agents(job.expert), job.games, job.first_seed), np.random.default_rng(job.first_seed)
        self.expert.begin(np.arange(job.games), _seeds(job))
        self.noise = self.rng.random(job.games) * 2 * job.noise  # of each game
        self.positions: list[batch.Games] = []
        self.actions: list[NDArray[np.int64]] = []

    def act(self, games: batch.Games, masks: batch.Masks, rows: batch.Rows) -> NDArray[np.int64]:
        """The expert's action, or sometimes a random one."""
        self.positions.append(games.copy())
        self.actions.append(self.expert.act(games, masks, rows))
        is_random = self.rng.random(len(rows)) < self.noise[rows]
        random = batch.random_actions(masks, self.rng.integers(1, 2**63, len(rows)).astype(np.uint64))
        return np.where(is_random, random, self.actions[-1])


def play_expert(job: Job) -> Demonstrations:
    """Play the games of a job to their ends."""
    games, masks = batch.new_games(Options.of(**with_levels(job.rules, job.levels)), _seeds(job))
    policy = NoisyExpert(job)
    batch.play_to_end(games, masks, policy.act)
    won = int(batch.is_won(games).sum())
    return Demonstrations(np.concatenate(policy.positions), np.concatenate(policy.actions), len(games), won)


def collect_demonstrations(jobs: Iterator[Job], number: int, workers: int, tell: Callable[[int], None]) -> Demonstrations:
    """So many, in the order of the jobs whoever is done first; `tell` hears how many there are."""
    parts: list[Demonstrations] = []
    with ProcessPoolExecutor(workers, multiprocessing.get_context("spawn")) as pool:
        waiting: list[Future[Demonstrations]] = []
        while sum(map(len, parts)) < number:
            waiting += [pool.submit(play_expert, next(jobs)) for _ in range(2 * workers - len(waiting))]
            wait(waiting[:1], return_when=FIRST_COMPLETED)
            parts.append(waiting.pop(0).result())
            tell(min(sum(map(len, parts)), number))
        for future in waiting:
            future.cancel()
    return Demonstrations(
        np.concatenate([part.games for part in parts])[:number],
        np.concatenate([part.actions for part in parts])[:number],
        sum(part.played for part in parts),
        sum(part.won for part in parts),
    )


def make_jobs(expert: str, levels: Sequence[str], rules: Sequence[dict[str, Any]], noise: float, seed: int) -> Iterator[Job]:
    """One job after the other, each set of rules in its turn."""
    number = 0
    while True:
        first_seed = FIRST_SEED + (seed << 32) + number * GAMES_PER_JOB
        yield Job(expert, first_seed, levels, rules[number % len(rules)], noise)
        number += 1


def save_demonstrations(kept: Demonstrations, path: Path) -> None:
    """Keep them for another time."""
    with atomic_write(path) as draft, open(draft, "wb") as file:
        np.savez(file, games=kept.games.view(np.uint8), actions=kept.actions, counts=np.array([kept.played, kept.won]))


def load_demonstrations(path: Path) -> Demonstrations:
    """What `save_demonstrations` kept."""
    try:
        with np.load(path, allow_pickle=False) as file:
            games = file["games"].reshape(-1).view(batch.GAME)
            return Demonstrations(games, file["actions"], *map(int, file["counts"]))
    except (OSError, KeyError, ValueError) as error:
        raise ValueError(f"demonstrations {path} cannot be read: {error}") from None


def _seeds(job: Job) -> NDArray[np.uint64]:
    return np.arange(job.first_seed, job.first_seed + job.games, dtype=np.uint64)
