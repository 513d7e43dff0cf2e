"""An agent that plays from local observations and remembers each game, compared with `random`. Takes seconds.

With `view_radius` (our extension of the game) each Emperor observes only his surroundings. An agent with `needs = "observations"`
receives what the acting Emperor observes instead of whole games.
"""

import numpy as np

from tetrarchia_agents import Agent, rollout
from tetrarchia_env.constants import ATTACK, END, MOVE, SECURE, SPACES, SUBDUE
from tetrarchia_env.observation import OBSERVATION, SIZE

VIEW = {"view_radius": 2, "last_seen": True}


class Scout(Agent):
    """Agent that secures, subdues and attacks near by, and otherwise goes where the team has been least."""

    needs = "observations"

    def __init__(self):
        self.visits = {}  # how often the team was on each space, by game

    def begin(self, env_ids):
        """Forget the old games with these ids: new games begin."""
        for env_id in env_ids.tolist():
            self.visits[env_id] = np.zeros(SPACES)

    def act(self, observations, masks, env_ids):
        """Return the legal action with the highest value in each game."""
        obs = np.ascontiguousarray(observations[:, :SIZE]).view(OBSERVATION)[:, 0]  # the parts of an ordinary observation
        for env_id, here in zip(env_ids.tolist(), obs["figure"][:, 0], strict=True):
            self.visits[env_id] += here
        values = np.zeros(masks.shape)
        values[:, SECURE] = 400
        values[:, ATTACK : ATTACK + SPACES] = 300 * (obs["attack"][:, 0] > 0.6)  # only if victory is likely
        values[:, SUBDUE] = 200
        values[:, MOVE : MOVE + SPACES] = 100 - np.array([self.visits[env_id] for env_id in env_ids.tolist()])
        values[:, END] = 1
        return np.where(masks, values, -1).argmax(axis=1)


LEVEL, SEED, GAMES = "5300", 1_000_000, 100
for name, agent in {"scout": Scout(), "random": "random"}.items():
    games = rollout(agent, GAMES, seed=SEED, level=LEVEL, max_turns=100, **VIEW)
    borders = np.mean([game.borders for game in games])
    print(f"{name:8} wins {sum(game.won for game in games)} of {GAMES} games, {borders:.2f} borders secured in the mean")
