"""Training speed: `python -m tetrarchia_train.speed ppo ppo:mlp` prints two lines of JSON per preset.

A preset may be followed by a colon and another network. The first line has the steps per second of all processes, the second the
microseconds per step of each part in one process on one thread.
"""

import json
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from statistics import median
from typing import Any
from unittest.mock import patch

import torch

from tetrarchia_env.envs.batched_games import BatchedGames
from tetrarchia_train.config import TrainConfig, read_preset
from tetrarchia_train.distributed import is_launched, is_rank_zero, process_group, torchrun
from tetrarchia_train.ppo import Learner
from tetrarchia_train.variance_reduction import ControlVariate


def measure_fps(config: TrainConfig, iterations: int = 3) -> float:
    """Measure the training speed; all processes call this.

    Args:
        config: The configuration of the run.
        iterations: Number of timed iterations, after a first one that is not timed.

    Returns:
        Steps per second of all processes, by the median iteration.
    """
    with process_group():
        torch.set_num_threads(config.threads)
        learner = Learner(config)
        learner.train_iteration()
        return config.num_envs * config.n_steps / median(_iteration_seconds(learner) for _ in range(iterations))


def profile(config: TrainConfig, iterations: int = 3) -> dict[str, float]:
    """Measure the parts of PPO in one process on one thread.

    Args:
        config: The configuration of the run.
        iterations: Number of timed iterations, after a first one that is not timed.

    Returns:
        Microseconds per step by part.
    """
    torch.set_num_threads(1)
    learner = Learner(config.with_overrides({"processes": 1, "threads": 1}))
    learner.train_iteration()
    parts: dict[str, list[tuple[type, str]]] = {
        "policy in rollouts": [(Learner, "act")],
        "environment": [(BatchedGames, "advance"), (BatchedGames, "begin_next"), (BatchedGames, "observe")],
        "control variate": [(ControlVariate, "corrections")],
        "updates": [(Learner, "update")],
    }
    seconds = dict.fromkeys(parts, 0.0)
    with ExitStack() as timers:
        for part, methods in parts.items():
            for owner, name in methods:
                timers.enter_context(_timed(owner, name, seconds, part))
        total = sum(_iteration_seconds(learner) for _ in range(iterations))
    seconds["other"] = total - sum(seconds.values())
    return {part: 1e6 * spent / (iterations * config.num_envs * config.n_steps) for part, spent in seconds.items()}


def _iteration_seconds(learner: Learner) -> float:
    start = time.perf_counter()
    learner.train_iteration()
    return time.perf_counter() - start


@contextmanager
def _timed(owner: type, name: str, seconds: dict[str, float], part: str) -> Iterator[None]:
    """Add the time of a method to a part, without the time of other timed methods that it calls."""
    method = getattr(owner, name)

    def timed(*arguments: Any, **options: Any) -> Any:
        start, inner = time.perf_counter(), sum(seconds.values())
        result = method(*arguments, **options)
        seconds[part] += time.perf_counter() - start - (sum(seconds.values()) - inner)
        return result

    with patch.object(owner, name, timed):
        yield


def main() -> None:
    """Run the command."""
    for word in sys.argv[1:]:
        preset, _, network = word.partition(":")
        config = read_preset(preset).with_overrides({"network": network} if network else {})
        if config.processes > 1 and not is_launched():
            if code := torchrun(config.processes, "tetrarchia_train.speed", [word]):
                sys.exit(code)
        else:
            fps = measure_fps(config)
            if is_rank_zero():
                print(json.dumps({"preset": word, "processes": config.processes, "fps": fps}), flush=True)
        if not is_launched():  # the parts are measured in one process
            print(json.dumps({"preset": word, "microseconds": profile(config)}), flush=True)


if __name__ == "__main__":
    main()
