"""How fast training is: for `tetrarchia bench`."""

import time
from statistics import median

from stable_baselines3.common.logger import Logger

from train.options import TrainOptions
from train.ppo import new_run, one_round
from train.run import prepare


def steps_a_second(options: TrainOptions, rounds: int = 3) -> float:
    """Decisions a second of PPO from end to end, rollouts and updates; the median round after a first."""
    prepare(options)
    run = new_run(options, None, Logger(None, []))
    one_round(run)
    seconds = []
    for _ in range(rounds):
        begun = time.perf_counter()
        one_round(run)
        seconds.append(time.perf_counter() - begun)
    return options.games * options.rollout / median(seconds)
