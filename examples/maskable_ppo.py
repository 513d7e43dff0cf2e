"""MaskablePPO of sb3-contrib learns an end-game: two borders are left to secure. Takes less than a minute.

More steps: `python examples/maskable_ppo.py 2000000`. Whole games, which need many more: `--level 5300` beside it.
"""

import argparse
from typing import Any

import numpy as np
import torch
from sb3_contrib import MaskablePPO

from tetrarchia_env import tetrarchia_v0
from tetrarchia_env.observation import OBSERVATION
from tetrarchia_eval.statistics import wilson

parser = argparse.ArgumentParser(description="Train a small network and measure it before and after.")
parser.add_argument("steps", nargs="?", type=int, default=60_000, help="decisions to learn from")
parser.add_argument("--level", help="learn whole games of this level instead of the end-game")
wishes = parser.parse_args()


def end_game() -> dict[str, Any]:
    """The start of an easy game, made easier: no Revolts yet, and four borders are held."""
    env = tetrarchia_v0.raw_env(level="5000")
    env.reset(seed=0)
    held = {"GAETVLIA": "maximian", "BRITANNIA": "constantius", "GERMANIA MAGNA": "galerius", "LIBYA": "diocletian"}
    return env.snapshot() | {"tokens": held, "supply": dict.fromkeys(env.possible_agents, 4)}


def measure(model: MaskablePPO, games: int = 500) -> str:
    """How it plays: the first game of every environment, since short games would be over-counted among all."""
    env = tetrarchia_v0.sb3_vec_env(games, seed=1_000_000, **rules)
    seen, ends = env.reset(), {}
    while len(ends) < games:
        actions, _ = model.predict(seen, action_masks=env.action_masks())
        seen, _, over, infos = env.step(actions)
        ends = {env_id: infos[env_id] for env_id in np.flatnonzero(over)} | ends
    rate = wilson(sum(end["outcome"] == "won" for end in ends.values()), games)
    borders = np.mean([6 * end["terminal_observation"].view(OBSERVATION)["secured"] for end in ends.values()])
    return f"wins {rate.value:.1%} ({rate.low:.1%} to {rate.high:.1%}) of {games} games, {borders:.2f} of 6 borders at the end"


torch.set_num_threads(1)  # the network is small: more threads only wait for each other
rules: dict[str, Any] = {"actions": "base", **({"level": wishes.level} if wishes.level else {"starts": [end_game()]})}
env = tetrarchia_v0.sb3_vec_env(64, seed=0, reward="shaped", **rules)
model = MaskablePPO("MlpPolicy", env, learning_rate=1e-3, n_steps=32, batch_size=512, n_epochs=8, gamma=0.999, ent_coef=0.01, seed=0)
print(f"before: {measure(model)}", flush=True)
model.learn(wishes.steps)
print(f"after {model.num_timesteps:,} steps: {measure(model)}")
