"""Tune the weights of the planner's heuristic: `python -m tetrarchia_train.tune_planner`, about five minutes on two cores.

The planner plays games with hand-set weights and some random actions; then a logistic regression is fitted that predicts from the
features of each position whether the game was won, as for Logistello (Buro, Statistical feature combination for the evaluation of game
positions, JAIR 1995).

The fit does not reward progress: a planner that waits in a safe position wins later. The weight of the distance to the borders, which the
fit makes positive (the planner then won 60 % at 4200, in 119 turns), is therefore chosen by the games that the planner wins with it.
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

DEFAULT_WEIGHTS = Path(__file__).with_name("default_heuristic.toml")
TRAINING_LEVELS = ("4200", "4211", "4222", "5300", "4100", "3200", "4201", "4210")
PLANNED_PHASES = (PHASES.index("roman"), PHASES.index("arrival"))  # phases in which the planner evaluates positions
EVAL_LEVELS = ("4200", "4211", "4222")
URGENCY = "border_unmet"  # the feature whose weight is chosen by games
URGENCIES = (-0.02, -0.04, -0.06, -0.08, -0.12, -0.2)
GAMES_PER_CHUNK = 50  # games that one process plays at once
FIRST_EVAL_SEED = 2**40  # of the games by which this weight is chosen

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Dataset:
    """Features of positions, and whether each position's game was won."""

    features: Floats
    won: Floats

    @classmethod
    def concatenate(cls, parts: Iterable["Dataset"]) -> "Dataset":
        features, won = zip(*((part.features, part.won) for part in parts), strict=True)
        return cls(np.concatenate(features), np.concatenate(won))


class NoisyPlanner:
    """The policy of a chunk of games: it records the positions that the planner evaluates, and sometimes plays a random action."""

    def __init__(self, weights: Floats, first_seed: int, noise: float) -> None:
        self.planner = TeamPolicy(assign_players([PlannerAgent.with_weights(weights)]), GAMES_PER_CHUNK)
        self.rng = np.random.default_rng(first_seed)
        self.planner.begin(np.arange(GAMES_PER_CHUNK), range(first_seed, first_seed + GAMES_PER_CHUNK))
        self.noise = noise  # fraction of random actions
        self.positions, self.rows = [np.zeros(0, batch.GAME)], [np.zeros(0, np.int64)]

    def act(self, games: batch.Games, masks: batch.Masks, rows: batch.Rows) -> batch.Rows:
        """Return the planner's action for each game, or a random one."""
        evaluated = np.isin(games["phase"], PLANNED_PHASES)
        self.positions.append(games[evaluated])
        self.rows.append(rows[evaluated])
        actions = self.planner.act(games, masks, rows)
        random = np.flatnonzero(self.rng.random(len(rows)) < self.noise)
        actions[random] = batch.random_actions(masks[random], self.rng.integers(1, 2**63, len(random), dtype=np.uint64))
        return actions


def play_chunk(first_seed: int, *, weights: Floats, levels: tuple[str, ...], noise: float) -> tuple[Dataset, int]:
    """Play a chunk of games.

    Args:
        first_seed: Seed of the first game.
        weights: The planner's weights.
        levels: Levels, drawn at random.
        noise: Fraction of random actions.

    Returns:
        The positions, and the number of games won.
    """
    games, masks = batch.new_games(Options(level=list(levels)), range(first_seed, first_seed + GAMES_PER_CHUNK))
    policy = NoisyPlanner(weights, first_seed, noise)
    batch.play_to_end(games, masks, policy.act)
    won = batch.is_won(games)
    labels = won[np.concatenate(policy.rows)].astype(np.float64)
    return Dataset(features_of(np.concatenate(policy.positions)), labels), int(won.sum())


def fit(data: Dataset, prior: Floats, l2: float = 1e-3, iterations: int = 40) -> Floats:
    """Fit a logistic regression by Newton's method.

    Args:
        data: Features and outcomes.
        prior: Weights toward which the penalty pulls.
        l2: Penalty on the distance to the prior, in units of each feature's standard deviation.
        iterations: Maximum number of Newton steps.

    Returns:
        The fitted weights.
    """
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
    """Return the weights with the weight of the distance to the borders replaced."""
    return np.where(np.array(list(FEATURES)) == URGENCY, urgency, weights)


def count_wins(pool: Executor, weights: Floats, games: int) -> list[int]:
    """Play games at each of `EVAL_LEVELS` and return the numbers of wins."""
    jobs = [partial(play_chunk, weights=weights, levels=(level,), noise=0.0) for level in EVAL_LEVELS]
    seeds = range(FIRST_EVAL_SEED, FIRST_EVAL_SEED + games, GAMES_PER_CHUNK)
    return [sum(won for _, won in pool.map(job, seeds)) for job in jobs]


def weights_to_toml(weights: Floats, command: str) -> str:
    """Return the weights as text for data/heuristic_weights.toml of tetrarchia_env."""
    lines = [
        "# Weights of the planner's heuristic; tetrarchia_env/heuristic.py describes the features.",
        f"# Made by: {command}",
    ]
    return "\n".join(lines + [f"{name} = {weight:.4f}" for name, weight in zip(FEATURES, weights, strict=True)]) + "\n"


def tune(
    games: Annotated[int, typer.Option(help="Games to learn from.")] = 600,
    noise: Annotated[float, typer.Option(help="Fraction of random actions in these games.")] = 0.02,
    eval_games: Annotated[int, typer.Option(help="Games at each of 4200, 4211 and 4222 to choose the weight of border_unmet.")] = 400,
    workers: Annotated[int, typer.Option(help="Worker processes.")] = 2,
    out: Annotated[Path, typer.Option(help="Output file.")] = WEIGHTS_FILE,
) -> None:
    """Tune the weights of the planner's heuristic, starting from the hand-set ones."""
    for name, value in {"games": games, "eval_games": eval_games}.items():
        if value < GAMES_PER_CHUNK or value % GAMES_PER_CHUNK:
            raise TetrarchiaError(f"{name} must be a positive multiple of {GAMES_PER_CHUNK}; got {value}")
    if workers < 1:
        raise TetrarchiaError(f"workers must be at least 1; got {workers}")
    if not 0 <= noise <= 1:
        raise TetrarchiaError(f"noise must be from 0 to 1; got {noise}")
    check_parent_dir(out)
    initial = np.array(load_weights(DEFAULT_WEIGHTS)[0].tolist())
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        played = pool.map(partial(play_chunk, weights=initial, levels=TRAINING_LEVELS, noise=noise), range(0, games, GAMES_PER_CHUNK))
        fitted = fit(Dataset.concatenate(data for data, _ in played), initial)
        most_wins, best = -1, fitted
        for urgency in URGENCIES:
            won = count_wins(pool, with_urgency(fitted, urgency), eval_games)
            print(f"{URGENCY} {urgency}: won {won} of {eval_games} games each at {', '.join(EVAL_LEVELS)}", flush=True)
            if sum(won) > most_wins:
                most_wins, best = sum(won), with_urgency(fitted, urgency)
    command = f"python -m tetrarchia_train.tune_planner --games {games} --noise {noise} --eval-games {eval_games}"
    write_text_atomic(out, weights_to_toml(best, command))
    print(f"written: {out}")


if __name__ == "__main__":
    try:
        typer.run(tune)
    except TetrarchiaError as error:
        print(f"tune_planner: {error}", file=sys.stderr)
        sys.exit(2)
