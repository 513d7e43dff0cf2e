"""How fast PPO is, and where its time goes: `python -m tetrarchia_train.speed ppo ppo:mlp` writes a line of JSON for each preset.

A preset may be given another network after a colon.
"""

import json
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from statistics import median
from typing import Any
from unittest.mock import patch

import torch
from stable_baselines3.common.logger import Logger

from tetrarchia_train.config import TrainConfig, read_preset
from tetrarchia_train.distributed import ALONE, ProcessGroup, process_group
from tetrarchia_train.learner import Run, new_run, train_iteration
from tetrarchia_train.run import prepare


def measure_fps(config: TrainConfig, iterations: int = 3) -> float:
    """Steps a second of PPO from end to end, rollouts and updates, all processes together; the median iteration after a first."""
    with process_group(config.processes, _iteration_seconds, config, iterations) as group:
        return config.num_envs * config.n_steps / median(_iteration_seconds(group, config, iterations))


def _iteration_seconds(group: ProcessGroup, config: TrainConfig, iterations: int) -> list[float]:
    run = _warm_run(config, group)
    return [_seconds_of(run) for _ in range(iterations)]


def profile(config: TrainConfig, iterations: int = 3) -> dict[str, float]:
    """Microseconds of each part of PPO for a step, in one process on one thread."""
    torch.set_num_threads(1)
    run = _warm_run(config.changed({"processes": 1, "threads": 1}), ALONE)
    parts = {
        "the policy in rollouts": (run.model.policy, "forward"),
        "the environment": (run.env, "step"),
        "the control variate": (run.control_variate, "corrections"),
        "updates": (run.model, "train"),
    }
    seconds = dict.fromkeys(parts, 0.0)
    with ExitStack() as timers:
        for part, (owner, name) in parts.items():
            timers.enter_context(_timed(type(owner), name, seconds, part))
        seconds["all else"] = sum(_seconds_of(run) for _ in range(iterations))
    seconds["all else"] -= sum(seconds[part] for part in parts)
    return {part: 1e6 * spent / (iterations * config.num_envs * config.n_steps) for part, spent in seconds.items()}


def _warm_run(config: TrainConfig, group: ProcessGroup) -> Run:
    """A run that has had its first iteration, which is slower."""
    prepare(config, group)
    run = new_run(config, None, Logger(None, []), group)
    train_iteration(run)
    return run


def _seconds_of(run: Run) -> float:
    began = time.perf_counter()
    train_iteration(run)
    return time.perf_counter() - began


@contextmanager
def _timed(owner: type, name: str, seconds: dict[str, float], part: str) -> Iterator[None]:
    """What a method takes is added to this part."""
    method = getattr(owner, name)

    def timed(*arguments: Any, **options: Any) -> Any:
        began = time.perf_counter()
        result = method(*arguments, **options)
        seconds[part] += time.perf_counter() - began
        return result

    with patch.object(owner, name, timed):
        yield


def _figures(word: str) -> Mapping[str, Any]:
    """Of a preset, or of one with another network: ppo:mlp."""
    preset, _, network = word.partition(":")
    config = read_preset(preset).changed({"network": network} if network else {})
    return {"preset": word, "fps": measure_fps(config), "microseconds": profile(config)}


if __name__ == "__main__":
    for word in sys.argv[1:]:
        print(json.dumps(_figures(word)), flush=True)
