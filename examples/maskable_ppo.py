"""MaskablePPO of sb3-contrib on an end-game with one border left to secure. Takes less than a minute.

Train longer with `python examples/maskable_ppo.py 2000000`. Train on full games, which needs many more steps, with `--level 5300`.
"""

import argparse
from typing import Any

import numpy as np
import torch
from sb3_contrib import MaskablePPO

from tetrarchia_env import Game, outcome_name, sb3_vec_env
from tetrarchia_env.observation import OBSERVATION
from tetrarchia_eval.statistics import wilson

GAMMA = 1.0  # no discount, so that long games count as much as short ones; the shaped reward must use the same value

parser = argparse.ArgumentParser(description="Train a small network and measure it before and after.")
parser.add_argument("steps", nargs="?", type=int, default=60_000, help="decisions to learn from")
parser.add_argument("--level", help="learn whole games of this level instead of the end-game")
options = parser.parse_args()


def end_game() -> dict[str, Any]:
    """Return the start of an easy game without Revolts in which all borders except SARMATIA are secured."""
    held = {
        "GAETVLIA": "maximian",
        "BRITANNIA": "constantius",
        "GERMANIA MAGNA": "galerius",
        "PERSIA": "diocletian",
        "LIBYA": "diocletian",
    }
    supply = {"diocletian": 3, "galerius": 4, "constantius": 4, "maximian": 4}
    return Game(level="5000", seed=0).snapshot() | {"tokens": held, "supply": supply}


def measure(model: MaskablePPO, games: int = 500) -> str:
    """Return the win rate in the first game of every environment; counting all games would favor short ones."""
    env = sb3_vec_env(games, seed=1_000_000, **rules)
    obs, ends = env.reset(), {}
    while len(ends) < games:
        actions, _ = model.predict(obs, action_masks=env.action_masks())
        obs, _, over, infos = env.step(actions)
        ends = {env_id: infos[env_id] for env_id in np.flatnonzero(over)} | ends
    rate = wilson(sum(outcome_name(end["outcome"]) == "won" for end in ends.values()), games)
    borders = np.mean([6 * end["terminal_observation"].view(OBSERVATION)["secured"] for end in ends.values()])
    return f"wins {rate.value:.1%} ({rate.low:.1%} to {rate.high:.1%}) of {games} games, {borders:.2f} of 6 borders at the end"


torch.set_num_threads(1)  # the network is too small to benefit from more threads
rules: dict[str, Any] = {"actions": "base", **({"level": options.level} if options.level else {"initial_states": [end_game()]})}
env = sb3_vec_env(64, seed=0, reward="shaped", gamma=GAMMA, **rules)
model = MaskablePPO("MlpPolicy", env, learning_rate=1e-3, n_steps=32, batch_size=512, n_epochs=8, gamma=GAMMA, ent_coef=0.01, seed=0)
print(f"before: {measure(model)}", flush=True)
model.learn(options.steps)
print(f"after {model.num_timesteps:,} steps: {measure(model)}")
