"""Learn one Emperor's decisions with trained or scripted partners: only the learner's decisions are steps. Takes seconds.

The "learner" here plays at random, which shows what one random Emperor among good partners costs. Replace its actions by those of your
policy. The same arguments work in `env`, `parallel_env`, `gymnasium.make("Tetrarchia-v0")` and `sb3_vec_env`.
"""

import numpy as np

from tetrarchia_agents import make_agent
from tetrarchia_env import vector_env

GAMES = 64


class EndTurnAgent:
    """A partner of your own: plays the first legal action, which ends its turn as soon as that is legal."""

    def act(self, games, masks, env_ids):
        """Return an action for each game."""
        return masks.argmax(axis=1)


def win_rate(seat, partners):
    """Play the first game of each environment with a random learner; return the share of wins and the learner's decisions per game."""
    envs = vector_env(GAMES, level="4200", seat=seat, partners=partners)
    rng = np.random.default_rng(0)
    running, won, decisions = np.ones(GAMES, dtype=bool), np.zeros(GAMES, dtype=bool), 0
    obs, _ = envs.reset(seed=0)
    while running.any():
        decisions += running.sum()
        actions = (rng.random(obs["action_mask"].shape) * obs["action_mask"]).argmax(axis=1)
        obs, rewards, terminated, truncated, _ = envs.step(actions)
        won |= running & (rewards == 1)
        running &= ~(terminated | truncated)
    return won.mean(), decisions / GAMES


greedy, idle = make_agent("greedy"), EndTurnAgent()  # or the names of agents, e.g. partners="ppo"
line_ups = {
    "greedy partners": greedy,
    "two greedy partners": {"diocletian": greedy, "constantius": greedy, "maximian": idle},
    "either, drawn per game": [greedy, {"diocletian": greedy, "constantius": greedy, "maximian": idle}],
    "idle partners": idle,
}
for name, partners in line_ups.items():
    wins, decisions = win_rate("galerius", partners)
    print(f"galerius at random with {name}: wins {wins:.0%} of {GAMES} games, {decisions:.0f} decisions per game")
