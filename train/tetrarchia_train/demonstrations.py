"""Demonstrations: positions of an expert's games, each with the action that the expert chooses.

A fraction of the played actions is random, but the recorded ones are always the expert's: this noise shows how to recover from mistakes
(Laskey et al., DART: Noise injection for robust imitation learning, CoRL 2017).

A searching expert also gives targets for every position: a policy, the softmax over the values of the turns that begin with each
action, and a value, the mean over the dice (Tesauro, Temporal difference learning and TD-Gammon, CACM 1995; Cohen-Solal, Learning to play
two-player perfect-information games without knowledge, 2020). Such a mean has far less variance than the outcome of a game.
"""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import count, islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tetrarchia_agents import TeamPolicy, make_agents
from tetrarchia_agents.pools import defer_sigint, worker_pool
from tetrarchia_env import batch
from tetrarchia_env.agent import Actions, Agent, EnvIds
from tetrarchia_env.checks import check_records, records_from_bytes
from tetrarchia_env.constants import ACTIONS
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.files import atomic_write
from tetrarchia_env.local_view import FULL_INFORMATION, LocalViews
from tetrarchia_env.options import Options
from tetrarchia_eval.dataset import decisions, iter_games
from tetrarchia_train.checkpointing import ArrayKind, read_arrays
from tetrarchia_train.config import with_levels

GAMES_PER_JOB = 32  # small, so that all rule sets are played early
CHECKED_POSITIONS = 1 << 16  # positions whose legal actions are computed at once
FIRST_SEED = 1 << 40  # different from the seeds of evaluations
TARGET_ACTIONS = 8  # most likely actions that are recorded per position
TARGET = np.dtype([("value", np.float32), ("actions", np.int64, (TARGET_ACTIONS,)), ("probabilities", np.float32, (TARGET_ACTIONS,))])
ARRAY_KINDS = {  # of the file
    "games": ArrayKind(np.uint8, (None,)),
    "actions": ArrayKind(np.int64, (None,)),
    "targets": ArrayKind(TARGET, (None,)),
    "counts": ArrayKind(np.int64, (2,)),
}
KILLED = (
    "a worker process was killed (out of memory?): the demonstrations so far are saved; "
    "run the same command again, perhaps with fewer --demo-workers"
)
Targets = NDArray[Any]  # one TARGET per position, or none at all
NO_TARGETS: Targets = np.zeros(0, dtype=TARGET)


@dataclass(frozen=True)
class Demonstrations:
    """Positions with the expert's actions.

    Attributes:
        games: One game record per position.
        actions: The expert's action in each position.
        targets: What a searching expert found in each position; empty for other experts.
        played: Number of games.
        won: Number of games that were won.
        views: The local views of the Emperors in each position; None with full information.
    """

    games: batch.Games
    actions: NDArray[np.int64]
    targets: Targets
    played: int
    won: int
    views: LocalViews | None = None

    def __len__(self) -> int:
        return len(self.actions)


@dataclass(frozen=True)
class Job:
    """Some games of an expert with one rule set."""

    expert: str
    first_seed: int
    levels: Sequence[str]
    rules: dict[str, Any] = field(default_factory=dict)
    noise: float = 0.0  # mean fraction of random actions; that of a game is uniform between 0 and twice this
    games: int = GAMES_PER_JOB
    target_temperature: float = 1.0  # of the softmax over turn values
    search_fraction: float = 1.0  # of turns that a searching expert searches and that are recorded
    precision: str = "float32"  # of the matrix products of a searching expert

    @property
    def seeds(self) -> NDArray[np.uint64]:
        """The seed of each game."""
        return np.arange(self.first_seed, self.first_seed + self.games, dtype=np.uint64)


class SearchingExpert(Agent):
    """An agent that searches a random part of its turns, and records the target of each position that it searches.

    In the other turns it plays its policy without search, so that the searched turns come from more games (playout cap randomization;
    Wu, Accelerating self-play learning in Go, 2019).
    """

    def __init__(self, agent: Agent, num_envs: int, temperature: float, search_fraction: float = 1.0, seed: int = 0) -> None:
        from tetrarchia_agents.ppo import PPOAgent  # loads torch

        assert isinstance(agent, PPOAgent)
        self.agent, self.temperature, self.search_fraction = agent, temperature, search_fraction
        self.targets: Targets = np.zeros(num_envs, dtype=TARGET)  # of the last position in each environment
        self.searches = np.ones(num_envs, dtype=bool)  # whether the turn in each environment is searched
        self._turns = np.full(num_envs, -1)
        self._rng = np.random.default_rng(seed)

    def begin(self, env_ids: EnvIds) -> None:
        """Begin new games in these environments."""
        self.agent.begin(env_ids)

    def act(self, games: batch.Games, masks: batch.Masks, env_ids: EnvIds) -> Actions:
        """Return the next actions, and record the targets of searched turns; value targets exclude the potential (`ShapedReward`)."""
        if self.search_fraction < 1:
            begins = env_ids[games["turn"] != self._turns[env_ids]]
            self.searches[begins] = self._rng.random(len(begins)) < self.search_fraction
            self._turns[env_ids] = games["turn"]
        searched, actions = self.searches[env_ids], np.zeros(len(games), dtype=np.int64)
        if not searched.all():
            actions[~searched] = self.agent.evaluate(games[~searched], masks[~searched])[0].argmax(axis=1)
        if searched.any():
            actions[searched] = self._search(games[searched], masks[searched], env_ids[searched])
        return actions

    def _search(self, games: batch.Games, masks: batch.Masks, env_ids: EnvIds) -> Actions:
        plans, reward = self.agent.choose_plans(games, masks, env_ids), self.agent.reward
        targets = np.zeros(len(games), dtype=TARGET)
        targets["value"] = np.array([plan.value for plan in plans]) - reward.shaping_coef * reward.potential(games)
        for target, plan in zip(targets, plans, strict=True):
            actions, probabilities = plan.improved_policy(self.temperature)
            best = np.argsort(-probabilities, kind="stable")[:TARGET_ACTIONS]
            target["actions"][: len(best)] = np.asarray(actions)[best]
            target["probabilities"][: len(best)] = probabilities[best] / probabilities[best].sum()
        self.targets[env_ids] = targets
        return np.array([plan.actions[0] for plan in plans], dtype=np.int64)


class NoisyExpert:
    """The policy of a job's games: it records positions and the expert's actions, and sometimes plays a random action instead."""

    def __init__(self, job: Job) -> None:
        agents = make_agents(job.expert)
        searches = len({id(agent) for agent in agents}) == 1 and getattr(agents[0], "candidates", 0) > 0
        search = (job.games, job.target_temperature, job.search_fraction, job.first_seed)
        self.searching = SearchingExpert(agents[0], *search) if searches else None
        self.precision: Callable[[], AbstractContextManager[None]] = nullcontext
        if searches:
            from tetrarchia_train.ppo import mixed_precision  # loads torch

            self.precision = partial(mixed_precision, job.precision)
        self.expert = TeamPolicy([self.searching] * 4 if self.searching else agents, job.games, job.first_seed)
        self.expert.begin(np.arange(job.games), job.seeds)
        self.rng = np.random.default_rng(job.first_seed)
        self.noise = self.rng.random(job.games) * 2 * job.noise  # of each game
        self.positions: list[batch.Games] = []
        self.actions: list[NDArray[np.int64]] = []
        self.targets: list[Targets] = []

    def act(self, games: batch.Games, masks: batch.Masks, rows: batch.Rows) -> NDArray[np.int64]:
        """Return the expert's action for each game, or a random one."""
        actions = self.expert.act(games, masks, rows)
        recorded = self.searching.searches[rows] if self.searching else np.ones(len(rows), dtype=bool)
        self.positions.append(games[recorded])
        self.actions.append(actions[recorded])
        self.targets.append(self.searching.targets[rows[recorded]] if self.searching else NO_TARGETS)
        is_random = self.rng.random(len(rows)) < self.noise[rows]
        random = batch.random_actions(masks, self.rng.integers(1, 2**63, len(rows)).astype(np.uint64))
        return np.where(is_random, random, actions)


def play_expert(job: Job) -> Demonstrations:
    """Play the games of a job and return the demonstrations."""
    games, masks = batch.new_games(Options.of(**with_levels(job.rules, job.levels)), job.seeds)
    policy = NoisyExpert(job)
    with policy.precision():
        batch.play_to_end(games, masks, policy.act)
    positions, actions, targets = (np.concatenate(part) for part in (policy.positions, policy.actions, policy.targets))
    return Demonstrations(positions, actions, targets, len(games), int(batch.is_won(games).sum()))


def make_jobs(
    expert: str,
    levels: Sequence[str],
    rules: Sequence[dict[str, Any]],
    noise: float,
    seed: int,
    target_temperature: float = 1.0,
    search_fraction: float = 1.0,
    precision: str = "float32",
) -> Iterator[Job]:
    """Yield jobs endlessly, alternating between the rule sets."""
    for number in count():
        first_seed = FIRST_SEED + (seed << 32) + number * GAMES_PER_JOB
        yield Job(
            *(expert, first_seed, levels, rules[number % len(rules)], noise),
            target_temperature=target_temperature,
            search_fraction=search_fraction,
            precision=precision,
        )


def collect_demonstrations(
    jobs: Iterator[Job], number: int, workers: int, on_progress: Callable[[int], None], parts: Path | None = None
) -> Demonstrations:
    """Play jobs in worker processes until there are enough demonstrations; the result does not depend on the workers.

    Args:
        jobs: The jobs, in the order of the result.
        number: Number of demonstrations.
        workers: Number of processes.
        on_progress: Called with the number of demonstrations so far.
        parts: A folder that keeps the demonstrations of each job, and in which those of an interrupted call are found.

    Raises:
        TetrarchiaError: If a worker was killed.
    """
    found = _load_parts(parts) if parts else []
    todo = islice(jobs, len(found), None)
    with worker_pool(workers, KILLED) as pool:
        pending: list[Future[Demonstrations]] = []
        while sum(map(len, found)) < number:
            with defer_sigint():
                pending += [pool.submit(play_expert, next(todo)) for _ in range(2 * workers - len(pending))]
            part = pending.pop(0).result()
            if parts:
                save_demonstrations(part, _part_path(parts, len(found)))
            found.append(part)
            on_progress(min(sum(map(len, found)), number))
        for future in pending:
            future.cancel()
    joined = join_demonstrations(found)
    return replace(joined, games=joined.games[:number], actions=joined.actions[:number], targets=joined.targets[:number])


def join_demonstrations(parts: Sequence[Demonstrations]) -> Demonstrations:
    """Return the demonstrations of several files with full information as one."""
    games, actions, targets = (np.concatenate([getattr(part, name) for part in parts]) for name in ("games", "actions", "targets"))
    return Demonstrations(games, actions, targets, sum(part.played for part in parts), sum(part.won for part in parts))


def _load_parts(folder: Path) -> list[Demonstrations]:
    """Load the parts of the first jobs, up to a missing or damaged one."""
    found: list[Demonstrations] = []
    while (path := _part_path(folder, len(found))).is_file():
        try:
            found.append(load_demonstrations(path))
        except TetrarchiaError:
            break
    return found


def _part_path(folder: Path, number: int) -> Path:
    return folder / f"{number:06}.npz"


def save_demonstrations(data: Demonstrations, path: Path) -> None:
    """Write demonstrations to a file."""
    with atomic_write(path) as draft, open(draft, "wb") as file:
        counts = np.array([data.played, data.won])
        np.savez(file, games=data.games.view(np.uint8), actions=data.actions, targets=data.targets, counts=counts)


def load_demonstrations(path: Path, num_actions: int = ACTIONS) -> Demonstrations:
    """Read demonstrations from a file, and validate everything that compiled code would trust.

    Args:
        path: A file that `save_demonstrations` wrote.
        num_actions: Size of the action set.

    Raises:
        TetrarchiaError: If the file cannot be read, or has illegal positions or actions.
    """
    try:
        arrays = read_arrays(path, ARRAY_KINDS)
        rows, actions, targets, (played, won) = arrays["games"], arrays["actions"], arrays["targets"], map(int, arrays["counts"])
        games = records_from_bytes(rows.reshape(len(actions), -1), batch.GAME, len(actions), "games")
        check_records(games, "games")
        _check_actions(games, actions, num_actions)
        _check_targets(targets, len(actions), num_actions)
        taught, column = targets["probabilities"].nonzero()
        if len(taught):
            _check_actions(games[taught], targets["actions"][taught, column], num_actions)
        if not 0 <= won <= played:
            raise TetrarchiaError(f"{won} of {played} games are won")
    except ValueError as error:  # TetrarchiaError, or the shape of the games
        raise TetrarchiaError(f"demonstrations {path} cannot be read: {str(error).removeprefix(f'{path} cannot be read: ')}") from None
    return Demonstrations(games, actions, targets, played, won)


def dataset_demonstrations(path: Path, number: int, num_actions: int = ACTIONS) -> Demonstrations:
    """Return decisions of a data set as demonstrations, from whole games in a random but fixed order.

    Args:
        path: A file of `tetrarchia dataset`.
        number: Number of demonstrations; fewer if the data set has fewer.
        num_actions: Size of the action set.

    Raises:
        TetrarchiaError: If the data set cannot be read, or has local information or other actions.
    """
    lengths = np.array([len(game.replay.actions) for game in iter_games(path)], dtype=np.int64)
    order = np.random.default_rng(0).permutation(len(lengths))
    chosen = order[: np.searchsorted(lengths[order].cumsum(), number) + 1].tolist()
    wanted, found, won = set(chosen), dict[int, tuple[batch.Games, NDArray[np.int64]]](), 0
    try:
        for index, game in enumerate(iter_games(path)):
            if index in wanted:
                if game.replay.local != FULL_INFORMATION:
                    raise TetrarchiaError(f"demonstrations need full information; game {index + 1} has {game.replay.local.text}")
                positions, actions = decisions(game.replay)
                found[index] = positions[:-1], actions
                won += game.won
        if not found:
            raise TetrarchiaError("it has no games")
        games, actions = (np.concatenate(parts)[:number] for parts in zip(*(found[index] for index in chosen), strict=True))
        _check_actions(games, actions, num_actions)
    except TetrarchiaError as error:
        raise TetrarchiaError(f"demonstrations {path} cannot be used: {error}") from None
    return Demonstrations(games, actions, NO_TARGETS, len(chosen), won)


def _check_actions(games: batch.Games, actions: NDArray[np.int64], num_actions: int) -> None:
    """Raise an error unless each action is legal in its position."""
    if not len(actions):
        raise TetrarchiaError("it has no demonstrations")
    if actions.min() < 0 or actions.max() >= num_actions:
        wrong = actions[(actions < 0) | (actions >= num_actions)][0]
        raise TetrarchiaError(f"actions must be from 0 to {num_actions - 1}; got {wrong}")
    for first in range(0, len(games), CHECKED_POSITIONS):
        some = actions[first : first + CHECKED_POSITIONS]
        legal = batch.legal_masks(games[first : first + CHECKED_POSITIONS])[np.arange(len(some)), some]
        if not legal.all():
            raise TetrarchiaError(f"action {some[legal == 0][0]} is illegal in position {first + int(legal.argmin())}")


def _check_targets(targets: Targets, positions: int, num_actions: int) -> None:
    """Raise an error unless there is a valid target for each position, or none at all."""
    if len(targets) not in (0, positions) or not np.isfinite(targets["value"]).all():
        raise TetrarchiaError(f"there must be one finite value for each of {positions} positions; got {len(targets)} values")
    probabilities = targets["probabilities"]
    if not ((probabilities >= 0).all() and np.allclose(probabilities.sum(axis=1), 1, atol=1e-4)):
        raise TetrarchiaError("the probabilities of a position must not be negative and must sum to 1")
    unknown = targets["actions"][(targets["actions"] < 0) | (targets["actions"] >= num_actions)]
    if len(unknown):  # actions of probability 0 are looked up, too
        raise TetrarchiaError(f"actions must be from 0 to {num_actions - 1}; got {unknown[0]}")
