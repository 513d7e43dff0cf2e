"""How fast training is: `python -m tetrarchia_train.speed ppo ppo:mlp`, presets or presets with another network, for `tetrarchia bench`."""

import sys
import time
from statistics import median

from stable_baselines3.common.logger import Logger

from tetrarchia_train.config import TrainOptions, read_preset
from tetrarchia_train.distributed import Team, team_of
from tetrarchia_train.learner import new_run, one_round
from tetrarchia_train.run import prepare


def steps_a_second(options: TrainOptions, rounds: int = 3) -> float:
    """Decisions a second of PPO from end to end, rollouts and updates; the median round after a first."""
    with team_of(options.processes, _seconds, options, rounds) as team:
        return options.num_envs * options.n_steps / median(_seconds(team, options, rounds))


def _seconds(team: Team, options: TrainOptions, rounds: int) -> list[float]:
    prepare(options, team)
    run = new_run(options, None, Logger(None, []), team)
    one_round(run)
    seconds = []
    for _ in range(rounds):
        begun = time.perf_counter()
        one_round(run)
        seconds.append(time.perf_counter() - begun)
    return seconds


if __name__ == "__main__":
    for word in sys.argv[1:]:
        preset, _, network = word.partition(":")
        print(steps_a_second(read_preset(preset).changed({"network": network} if network else {})))
