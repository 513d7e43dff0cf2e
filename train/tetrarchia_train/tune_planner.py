"""Tunes the planner's evaluation: `python -m tetrarchia_train.tune_planner`, about five minutes on two cores.

The planner plays games by weights set by hand, a few actions at random for breadth; then a logistic regression is fitted that
predicts from the features of any position on the way whether the game was won, as Logistello's evaluation was (Buro, Statistical
feature combination for the evaluation of game positions, JAIR 1995).

The fit cannot see why to get on with it: whoever dawdles in a safe position wins later. So the weight of the way to the
borders, which the fit makes positive (the planner then won 60 % at 4200 in 119 turns), is chosen by the games it wins.
"""

import sys
from collections.abc import Iterable
from concurrent.futures import Executor, ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from numpy.typing import NDArray

from tetrarchia_agents import TeamPolicy, assign_players
from tetrarchia_agents.planner import PlannerAgent
from tetrarchia_env import batch
from tetrarchia_env.constants import PHASES
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.files import check_parent_dir, write_text_atomic
from tetrarchia_env.heuristic import FEATURES, WEIGHTS_FILE, features_of, load_weights
from tetrarchia_env.options import Options

HAND_SET = Path(__file__).with_name("default_heuristic.toml")
LEVELS = ("4200", "4211", "4222", "5300", "4100", "3200", "4201", "4210")  # to learn from
PLANNED = (PHASES.index("roman"), PHASES.index("arrival"))  # phases in which a turn is planned
MEASURED = ("4200", "4211", "4222")
URGENCY = "border_unmet"
URGENCIES = (-0.02, -0.04, -0.06, -0.08, -0.12, -0.2)
CHUNK = 50  # games that a process plays side by side
CHOOSING = 2**40  # seeds from here on are for choosing the urgency

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Dataset:
    """Positions by their features, and whether the game of each was won."""

    features: Floats
    won: Floats

    @classmethod
    def joined(cls, parts: Iterable["Dataset"]) -> "Dataset":
        """All of them as one."""
        features, won = zip(*((part.features, part.won) for part in parts), strict=True)
        return cls(np.concatenate(features), np.concatenate(won))


class NoisyPlanner:
    """The policy of a chunk of games; it keeps the positions at which the planner evaluates."""

    def __init__(self, weights: Floats, first_seed: int, noise: float) -> None:
        self.planner, self.rng = TeamPolicy(assign_players([PlannerAgent.with_weights(weights)]), CHUNK), np.random.default_rng(first_seed)
        self.planner.begin(np.arange(CHUNK), range(first_seed, first_seed + CHUNK))
        self.noise = noise  # the share of random actions
        self.positions, self.rows = [np.zeros(0, batch.GAME)], [np.zeros(0, np.int64)]

    def act(self, games: batch.Games, masks: batch.Masks, rows: batch.Rows) -> batch.Rows:
        """The planner's action, or sometimes a random one."""
        evaluated = np.isin(games["phase"], PLANNED)
        self.positions.append(games[evaluated])
        self.rows.append(rows[evaluated])
        actions = self.planner.act(games, masks, rows)
        random = np.flatnonzero(self.rng.random(len(rows)) < self.noise)
        actions[random] = batch.random_actions(masks[random], self.rng.integers(1, 2**63, len(random), dtype=np.uint64))
        return actions


def play_chunk(first_seed: int, *, weights: Floats, levels: tuple[str, ...], noise: float) -> tuple[Dataset, int]:
    """A chunk of games by a planner with these weights, the share `noise` of its actions at random; also the games won."""
    games, masks = batch.new_games(Options(level=list(levels)), range(first_seed, first_seed + CHUNK))
    policy = NoisyPlanner(weights, first_seed, noise)
    batch.play_to_end(games, masks, policy.act)
    won = batch.is_won(games)
    labels = won[np.concatenate(policy.rows)].astype(np.float64)
    return Dataset(features_of(np.concatenate(policy.positions)), labels), int(won.sum())


def fit(data: Dataset, prior: Floats, l2: float = 1e-3, iterations: int = 40) -> Floats:
    """Logistic regression by Newton's method; the penalty `l2` ties weights, in units of each feature's spread, to the prior."""
    spread = data.features.std(axis=0) + 1e-3
    spread[0] = 1.0
    features, weights = data.features / spread, prior * spread
    center = weights

    def loss(weights: Floats) -> float:
        logits = features @ weights
        return float((np.logaddexp(0, logits) - data.won * logits).mean() + l2 / 2 * ((weights - center) ** 2).sum())

    for _ in range(iterations):
        probabilities = 1 / (1 + np.exp(-np.clip(features @ weights, -30, 30)))
        gradient = features.T @ (data.won - probabilities) / len(probabilities) - l2 * (weights - center)
        hessian = (features.T * (probabilities * (1 - probabilities))) @ features / len(probabilities) + (l2 + 1e-5) * np.eye(len(weights))
        step = np.linalg.solve(hessian, gradient)
        while (step**2).sum() > 1e-10 and loss(weights + step) > loss(weights):
            step = step / 2
        if (step**2).sum() <= 1e-10:
            break
        weights = weights + step
    return np.asarray(weights / spread)


def with_urgency(weights: Floats, urgency: float) -> Floats:
    """The same but for the weight of the way to the borders."""
    return np.where(np.array(list(FEATURES)) == URGENCY, urgency, weights)


def wins(pool: Executor, weights: Floats, games: int) -> list[int]:
    """Of so many games at each of the measured levels."""
    jobs = [partial(play_chunk, weights=weights, levels=(level,), noise=0.0) for level in MEASURED]
    seeds = range(CHOOSING, CHOOSING + games, CHUNK)
    return [sum(won for _, won in pool.map(job, seeds)) for job in jobs]


def text_of(weights: Floats, command: str) -> str:
    """The weights as data/heuristic_weights.toml of tetrarchia_env keeps them."""
    lines = [
        "# Weights of the features of the planner's evaluation; tetrarchia_env/heuristic.py says what each means.",
        f"# Made by: {command}",
    ]
    return "\n".join(lines + [f"{name} = {weight:.4f}" for name, weight in zip(FEATURES, weights, strict=True)]) + "\n"


def tune(
    games: Annotated[int, typer.Option(help="Games to learn from")] = 600,
    noise: Annotated[float, typer.Option(help="Share of their actions done at random")] = 0.02,
    measured: Annotated[int, typer.Option(help="Games at each of 4200, 4211 and 4222 to choose the urgency by")] = 400,
    workers: Annotated[int, typer.Option(help="Processes")] = 2,
    out: Annotated[Path, typer.Option(help="Where the weights go")] = WEIGHTS_FILE,
) -> None:
    """Tune the planner's weights, from those set by hand."""
    _check(games, measured, workers, noise)
    check_parent_dir(out)
    by_hand = np.array(load_weights(HAND_SET)[0].tolist())
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        played = pool.map(partial(play_chunk, weights=by_hand, levels=LEVELS, noise=noise), range(0, games, CHUNK))
        fitted = fit(Dataset.joined(data for data, _ in played), by_hand)
        best, kept = -1, fitted
        for urgency in URGENCIES:
            won = wins(pool, with_urgency(fitted, urgency), measured)
            print(f"{URGENCY} {urgency}: won {won} of {measured} games each at {', '.join(MEASURED)}", flush=True)
            if sum(won) > best:
                best, kept = sum(won), with_urgency(fitted, urgency)
    write_text_atomic(out, text_of(kept, f"python -m tetrarchia_train.tune_planner --games {games} --noise {noise} --measured {measured}"))
    print(f"written: {out}")


def _check(games: int, measured: int, workers: int, noise: float) -> None:
    for name, value in {"games": games, "measured": measured}.items():
        if value < CHUNK or value % CHUNK:
            raise TetrarchiaError(f"{name} are {CHUNK}, {2 * CHUNK}, {3 * CHUNK}, ..., not {value}")
    if workers < 1:
        raise TetrarchiaError(f"workers are a whole number from 1 on, not {workers}")
    if not 0 <= noise <= 1:
        raise TetrarchiaError(f"the noise is a share from 0 to 1, not {noise}")


if __name__ == "__main__":
    try:
        typer.run(tune)
    except ValueError as error:
        print(f"tune_planner: {error}", file=sys.stderr)
        sys.exit(2)
