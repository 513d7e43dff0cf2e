"""A custom agent, compared with `greedy` and `random` on the same seeds. Takes seconds.

An agent implements one method, `act`, which chooses actions for a batch of games.
"""

import numpy as np

from tetrarchia_agents import Agent, rollout
from tetrarchia_env import BOARD
from tetrarchia_env.batch import observe
from tetrarchia_env.constants import ATTACK, END, MOVE, SECURE, SPACES, SUBDUE
from tetrarchia_env.observation import OBSERVATION
from tetrarchia_eval.analysis import compare_games, corrected, summarize

BORDERS = slice(BOARD.borders.min(), SPACES)  # borders have the last ids
DISTANCES = np.where(np.eye(SPACES), 0, np.where(BOARD.links, 1, SPACES))
for middle in range(SPACES):  # shortest distances between all spaces (Floyd-Warshall algorithm)
    DISTANCES = np.minimum(DISTANCES, DISTANCES[:, [middle]] + DISTANCES[middle])


class Firefighter(Agent):
    """Agent that goes to the nearest Revolt or securable border, subdues or secures there, and attacks if victory is likely."""

    def act(self, games, masks, env_ids):
        """Return the legal action with the highest value in each game."""
        obs = observe(games).view(OBSERVATION)[:, 0]
        here, goals = obs["figure"][:, 0], obs["revolt"][:, 0] > 0
        no_revolt, no_token = obs["region_revolts"][:, 1:] == 0, obs["token"][..., BORDERS].sum(axis=1) == 0
        goals[:, BORDERS] = no_revolt & no_token  # borders that can be secured (R4.5)
        away = np.where(goals[:, None], DISTANCES, SPACES).min(axis=2)  # steps from each space to the nearest goal
        values = np.zeros(masks.shape)
        values[:, SECURE] = 300 * here[:, BORDERS].any(axis=1)  # tokens are scarce: use them only for borders
        values[:, ATTACK : ATTACK + SPACES] = 200 * (obs["attack"][:, 0] > 0.6)  # only if victory is likely
        values[:, SUBDUE] = 100
        values[:, MOVE : MOVE + SPACES] = 90 - away
        values[:, END] = 90.5 - (here * away).sum(axis=1)  # better than a move that does not approach a goal
        return np.where(masks, values, -1).argmax(axis=1)


LEVEL, SEED, GAMES = "5300", 1_000_000, 300
agents = {"firefighter": Firefighter(), "greedy": "greedy", "random": "random"}
results = {name: rollout(agent, GAMES, seed=SEED, level=LEVEL) for name, agent in agents.items()}

print(f"{GAMES} games each at level {LEVEL}, with intervals of 95 %")
for name, games in results.items():
    rate, borders = summarize(games).win_rate, np.mean([game.borders for game in games])
    print(f"{name:12} wins {rate.value:6.1%} ({rate.low:.1%} to {rate.high:.1%}), {borders:.1f} borders secured in the mean")
for one in corrected([compare_games(("firefighter", results["firefighter"]), (other, results[other])) for other in ("greedy", "random")]):
    more = one.wins.difference
    print(f"{one.first} - {one.second}: {more.value:+.1%} ({more.low:+.1%} to {more.high:+.1%}), p = {one.wins.p:.2g}")
