"""MaskablePPO of sb3-contrib on the task `last-border`: one border is left to secure. Takes less than two minutes.

Train on another task with `python examples/maskable_ppo.py 2000000 --task last-two`; `tetrarchia levels` lists the tasks.
"""

import argparse

import numpy as np
import torch
from sb3_contrib import MaskablePPO

from tetrarchia_env import outcome_name, sb3_vec_env
from tetrarchia_env.constants import TASKS
from tetrarchia_env.observation import OBSERVATION
from tetrarchia_eval.statistics import wilson

parser = argparse.ArgumentParser(description="Train a small network and measure it before and after.")
parser.add_argument("steps", nargs="?", type=int, default=600_000, help="decisions to learn from")
parser.add_argument("--task", default="last-border", choices=TASKS, help="named set-up")
parser.add_argument("--seed", type=int, default=0, help="random seed")
options = parser.parse_args()


def measure(model: MaskablePPO, games: int = 500) -> str:
    """Return the win rate of greedy play in the first game of every environment; counting all games would favor short ones."""
    env = sb3_vec_env(games, seed=1_000_000, task=options.task, actions="base")
    obs, ends = env.reset(), {}
    while len(ends) < games:
        actions, _ = model.predict(obs, action_masks=env.action_masks(), deterministic=True)
        obs, _, over, infos = env.step(actions)
        ends = {env_id: infos[env_id] for env_id in np.flatnonzero(over)} | ends
    rate = wilson(sum(outcome_name(end["outcome"]) == "won" for end in ends.values()), games)
    borders = np.mean([6 * end["terminal_observation"].view(OBSERVATION)["secured"] for end in ends.values()])
    return f"wins {rate.value:.1%} ({rate.low:.1%} to {rate.high:.1%}) of {games} games, {borders:.2f} of 6 borders at the end"


torch.set_num_threads(1)  # the network is too small to benefit from more threads
env = sb3_vec_env(256, seed=options.seed, task=options.task, reward="borders", actions="base")
model = MaskablePPO(
    "MlpPolicy",
    env,
    learning_rate=lambda remaining: 2e-3 * max(remaining, 0.05),  # remaining falls from 1 to 0
    n_steps=32,
    batch_size=2048,
    n_epochs=4,
    gamma=1.0,  # no discount per step: the reward is discounted per turn
    gae_lambda=0.98,
    ent_coef=0.01,
    seed=options.seed,
)
print(f"before: {measure(model)}", flush=True)
model.learn(options.steps)
print(f"after {model.num_timesteps:,} steps: {measure(model)}")
