"""Demonstrations of an expert: it plays whole games, and every position is kept with what the expert would do in it.

A share of the actions played, not of those kept, is random: noise injection, which shows how to recover from mistakes
(Laskey et al., DART: Noise injection for robust imitation learning, CoRL 2017).
"""

import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from tetrarchia_agents import TeamPolicy, make_agents
from tetrarchia_agents.pools import defer_sigint, worker_pool
from tetrarchia_env import batch
from tetrarchia_env.checks import check_records, records_from_bytes
from tetrarchia_env.constants import ACTIONS
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.files import atomic_write, write_text_atomic
from tetrarchia_env.options import Options
from tetrarchia_train.arrays import Kind, read_arrays
from tetrarchia_train.rule_sets import with_levels
from tetrarchia_train.search_targets import NO_TARGETS, TARGET, JudgedExpert, Targets, check_targets, is_searching

GAMES_PER_JOB = 32  # few: all sets of rules have their turn soon
CHUNK = 1 << 16  # positions whose legal actions are looked at together
KINDS = {  # of the file
    "games": Kind(np.uint8, (None,)),
    "actions": Kind(np.int64, (None,)),
    "targets": Kind(TARGET, (None,)),
    "counts": Kind(np.int64, (2,)),
}
KILLED = "a worker process was killed (out of memory?): what was played is kept, the same command goes on, maybe with fewer --demo-workers"
FIRST_SEED = 1 << 40  # far from the seeds that agents are measured on


@dataclass(frozen=True)
class Demonstrations:
    """Positions, a record each, and the expert's actions; of how many games, and how many it won."""

    games: batch.Games
    actions: NDArray[np.int64]
    targets: Targets  # what an expert that searches found in each position; others have none
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
    target_temperature: float = 1.0  # of what is learned from a search


class NoisyExpert:
    """The policy of a job's games; it keeps what it was asked and what the expert answered."""

    def __init__(self, job: Job) -> None:
        agents = make_agents(job.expert)
        self.judged = JudgedExpert(agents[0], job.games, job.target_temperature) if is_searching(agents) else None
        self.expert = TeamPolicy([self.judged] * 4 if self.judged else agents, job.games, job.first_seed)
        self.rng = np.random.default_rng(job.first_seed)
        self.expert.begin(np.arange(job.games), _seeds(job))
        self.noise = self.rng.random(job.games) * 2 * job.noise  # of each game
        self.positions: list[batch.Games] = []
        self.actions: list[NDArray[np.int64]] = []
        self.targets: list[Targets] = []

    def act(self, games: batch.Games, masks: batch.Masks, rows: batch.Rows) -> NDArray[np.int64]:
        """The expert's action, or sometimes a random one."""
        self.positions.append(games.copy())
        self.actions.append(self.expert.act(games, masks, rows))
        self.targets.append(self.judged.targets[rows] if self.judged else NO_TARGETS)
        is_random = self.rng.random(len(rows)) < self.noise[rows]
        random = batch.random_actions(masks, self.rng.integers(1, 2**63, len(rows)).astype(np.uint64))
        return np.where(is_random, random, self.actions[-1])


def play_expert(job: Job) -> Demonstrations:
    """Play the games of a job to their ends."""
    games, masks = batch.new_games(Options.of(**with_levels(job.rules, job.levels)), _seeds(job))
    policy = NoisyExpert(job)
    batch.play_to_end(games, masks, policy.act)
    won = int(batch.is_won(games).sum())
    positions, actions, targets = (np.concatenate(part) for part in (policy.positions, policy.actions, policy.targets))
    return Demonstrations(positions, actions, targets, len(games), won)


def collect_demonstrations(
    jobs: Iterator[Job], number: int, workers: int, tell: Callable[[int], None], parts: Path | None = None
) -> Demonstrations:
    """So many, in the order of the jobs whoever is done first; `tell` hears how many there are.

    parts: a folder in which each job's are kept as they come, and found when this was stopped
    """
    found = _kept_parts(parts) if parts else []
    todo = islice(jobs, len(found), None)
    with worker_pool(workers, KILLED) as pool:
        waiting: list[Future[Demonstrations]] = []
        while sum(map(len, found)) < number:
            with defer_sigint():
                waiting += [pool.submit(play_expert, next(todo)) for _ in range(2 * workers - len(waiting))]
            part = waiting.pop(0).result()
            if parts:
                save_demonstrations(part, _part(parts, len(found)))
            found.append(part)
            tell(min(sum(map(len, found)), number))
        for future in waiting:
            future.cancel()
    return _joined(found, number)


def _joined(found: Sequence[Demonstrations], number: int) -> Demonstrations:
    games, actions, targets = (np.concatenate([getattr(part, name) for part in found])[:number] for name in ("games", "actions", "targets"))
    return Demonstrations(games, actions, targets, sum(part.played for part in found), sum(part.won for part in found))


def parts_folder(folder: Path, whose: Mapping[str, Any]) -> Path:
    """A folder for the parts of these jobs; parts of others are no use and go."""
    mark = folder / "jobs.json"
    if not (mark.is_file() and mark.read_bytes() == msgspec.json.encode(whose)):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        write_text_atomic(mark, msgspec.json.encode(whose).decode())
    return folder


def _kept_parts(folder: Path) -> list[Demonstrations]:
    """Those of the first jobs; a damaged one is played again, and all after it."""
    found: list[Demonstrations] = []
    while (path := _part(folder, len(found))).is_file():
        try:
            found.append(load_demonstrations(path))
        except ValueError:
            break
    return found


def _part(folder: Path, number: int) -> Path:
    return folder / f"{number:06}.npz"


def make_jobs(
    expert: str, levels: Sequence[str], rules: Sequence[dict[str, Any]], noise: float, seed: int, target_temperature: float = 1.0
) -> Iterator[Job]:
    """One job after the other, each set of rules in its turn."""
    number = 0
    while True:
        first_seed = FIRST_SEED + (seed << 32) + number * GAMES_PER_JOB
        yield Job(expert, first_seed, levels, rules[number % len(rules)], noise, target_temperature=target_temperature)
        number += 1


def save_demonstrations(kept: Demonstrations, path: Path) -> None:
    """Keep them for another time."""
    with atomic_write(path) as draft, open(draft, "wb") as file:
        counts = np.array([kept.played, kept.won])
        np.savez(file, games=kept.games.view(np.uint8), actions=kept.actions, targets=kept.targets, counts=counts)


def load_demonstrations(path: Path, num_actions: int = ACTIONS) -> Demonstrations:
    """What `save_demonstrations` kept; ValueError in one sentence if the file is none, or not by legal actions below this number."""
    try:
        arrays = read_arrays(path, KINDS)
        rows, actions, targets, (played, won) = arrays["games"], arrays["actions"], arrays["targets"], map(int, arrays["counts"])
        games = records_from_bytes(rows.reshape(len(actions), -1), batch.GAME, len(actions), "games")
        check_records(games, "games")
        _check_actions(games, actions, num_actions)
        check_targets(targets, len(actions), num_actions)
        taught, column = targets["probabilities"].nonzero()
        if len(taught):
            _check_actions(games[taught], targets["actions"][taught, column], num_actions)
        if not 0 <= won <= played:
            raise TetrarchiaError(f"{won} games of {played} are won")
    except ValueError as error:
        raise TetrarchiaError(f"demonstrations {path} cannot be read: {str(error).removeprefix(f'{path} cannot be read: ')}") from None
    return Demonstrations(games, actions, targets, played, won)


def _check_actions(games: batch.Games, actions: NDArray[np.int64], num_actions: int) -> None:
    """Each legal where it was chosen."""
    if not len(actions):
        raise TetrarchiaError("there are none")
    if actions.min() < 0 or actions.max() >= num_actions:
        raise TetrarchiaError(f"actions are from 0 to {num_actions - 1} here, not {actions[(actions < 0) | (actions >= num_actions)][0]}")
    for first in range(0, len(games), CHUNK):
        some = actions[first : first + CHUNK]
        legal = batch.legal_masks(games[first : first + CHUNK])[np.arange(len(some)), some]
        if not legal.all():
            raise TetrarchiaError(f"action {some[legal == 0][0]} is not legal in position {first + int(legal.argmin())}")


def _seeds(job: Job) -> NDArray[np.uint64]:
    return np.arange(job.first_seed, job.first_seed + job.games, dtype=np.uint64)
