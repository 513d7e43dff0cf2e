"""Expert iteration: a search plays better than its network, the network learns from the search, and both improve in turn.

Anthony, Tian and Barber, Thinking fast and slow with deep learning and tree search (NIPS 2017). Each round is a run in a separate folder:
games of the search with the last round's network, cloning of its turns and values (`demonstrations.py`), then PPO.
"""

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import torch

from tetrarchia_agents.cards import find_checkpoint
from tetrarchia_agents.checkpoints import load_checkpoint
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.files import atomic_dir, write_text_atomic
from tetrarchia_train.checkpointing import FINAL_DIR
from tetrarchia_train.config import SEARCH_EXPERT, TrainConfig
from tetrarchia_train.evaluation import evaluate
from tetrarchia_train.metrics import CURVE_FILE, Point, describe_win_rates, read_curve

TrainRound = Callable[[TrainConfig, Path], Path]  # trains a run to its end, or until it is stopped; returns its last checkpoint


def iterate(config: TrainConfig, folder: Path, train_round: TrainRound) -> Path:
    """Run rounds as long as the mean win rate improves; finished rounds in the folder are not repeated.

    Args:
        config: The configuration of the run.
        folder: The run folder.
        train_round: Trains one round.

    Returns:
        The run's final checkpoint, a copy of the best round's; or the last checkpoint of a round that was stopped.
    """
    torch.set_num_threads(config.threads)
    curve, best = [_initial_point(config, folder)], config.init_checkpoint
    for number in range(1, config.rounds + 1):
        goal = folder / round_name(number)
        last = goal / FINAL_DIR if (goal / FINAL_DIR).is_dir() else train_round(round_config(config, best, number), goal)
        if last.name != FINAL_DIR:
            return last
        previous, points = curve[-1], read_curve(goal / CURVE_FILE)
        if not points:
            raise TetrarchiaError(f"{goal / CURVE_FILE} has no points")
        improved, baseline = _mean_win_rate(points[-1]), _mean_win_rate(previous)
        for point in points:
            total = {name: previous[name] + point[name] for name in ("timesteps", "seconds")}
            curve.append(point | {"round": number} | total)
        write_text_atomic(folder / CURVE_FILE, "".join(json.dumps(point) + "\n" for point in curve))
        print(f"round {number}: mean held-out win rate {improved:.1%}, before {baseline:.1%}", flush=True)
        if improved <= baseline:
            break
        best = str(last)
    with atomic_dir(folder / FINAL_DIR) as draft:
        shutil.copytree(find_checkpoint(best), draft, dirs_exist_ok=True)
    return folder / FINAL_DIR


def round_name(number: int) -> str:
    """Return the name of a round's folder."""
    return f"round-{number}"


def round_config(config: TrainConfig, checkpoint: str, number: int) -> TrainConfig:
    """Return the configuration of a round, which starts from a checkpoint and clones the search with it."""
    expert = f"{SEARCH_EXPERT}checkpoint={checkpoint}:{config.expert.removeprefix(SEARCH_EXPERT)}"
    return replace(config, rounds=0, init_checkpoint=checkpoint, expert=expert, seed=config.seed + number - 1)


def _initial_point(config: TrainConfig, folder: Path) -> Point:
    """Return the first point of the curve: the initial checkpoint, evaluated once."""
    if curve := read_curve(folder / CURVE_FILE):
        return curve[0]
    results = evaluate(load_checkpoint(config.init_checkpoint).network, config)
    print(f"{config.init_checkpoint}: {describe_win_rates(results['win_rates'])}", flush=True)
    point = {"round": 0, "timesteps": 0, "seconds": 0, **results}
    write_text_atomic(folder / CURVE_FILE, json.dumps(point) + "\n")
    return point


def _mean_win_rate(point: Point) -> float:
    rates = point["win_rates"].values()
    return float(sum(rates) / len(rates))
