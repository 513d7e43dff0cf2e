"""Your own agent in the arena, compared with `greedy` and `random` on the same seeds. Takes seconds.

An agent has one method, `act`. It decides for many games at once, so it is written for arrays.
"""

import numpy as np

from tetrarchia_agents import Actions, Agent, EnvIds, make_agent, rollout
from tetrarchia_env.batch import Games, Masks, observe
from tetrarchia_env.board import BOARD, ROMAN_PROVINCES, SPACES
from tetrarchia_env.engine.actions import ATTACK, END, MOVE, SECURE, SUBDUE
from tetrarchia_env.observation import OBSERVATION
from tetrarchia_env.options import Options
from tetrarchia_eval.analysis import compare_games, corrected, summarize

STEPS = np.where(np.eye(SPACES), 0, np.where(BOARD.links, 1, SPACES))
for middle in range(SPACES):  # from links to ways between any two spaces
    STEPS = np.minimum(STEPS, STEPS[:, [middle]] + STEPS[middle])


class Firefighter(Agent):
    """Goes to the nearest Revolt, or border that can be secured, and does there what is to be done."""

    def act(self, games: Games, masks: Masks, env_ids: EnvIds) -> Actions:
        """Every action gets a number, and the highest of the legal ones is done."""
        obs = observe(games).view(OBSERVATION)[:, 0]
        here, goals = obs["figure"][:, 0], obs["revolt"][:, 0] > 0
        no_revolt, no_token = obs["region_revolts"][:, 1:] == 0, obs["token"][..., ROMAN_PROVINCES:].sum(axis=1) == 0
        goals[:, ROMAN_PROVINCES:] = no_revolt & no_token  # borders that can be secured (R4.5)
        away = np.where(goals[:, None], STEPS, SPACES).min(axis=2)  # steps from each space to the nearest goal
        values = np.zeros(masks.shape)
        values[:, SECURE] = 300 * here[:, ROMAN_PROVINCES:].any(axis=1)  # tokens are few: only for borders
        values[:, ATTACK : ATTACK + SPACES] = 200 * (obs["attack"][:, 0] > 0.6)  # only a likely victory
        values[:, SUBDUE] = 100
        values[:, MOVE : MOVE + SPACES] = 90 - away
        values[:, END] = 90.5 - (here * away).sum(axis=1)  # better than a move that leads no nearer
        return np.where(masks, values, -1).argmax(axis=1)


options, seeds = Options(level="5300"), range(1_000_000, 1_000_300)
agents = {"firefighter": Firefighter(), "greedy": make_agent("greedy"), "random": make_agent("random")}
games = {name: rollout(agent, seeds, options=options) for name, agent in agents.items()}

print(f"{len(seeds)} games each at level {options.level}, with intervals of 95 %")
for name, played in games.items():
    rate, borders = summarize(played).win_rate, 6 - summarize(played).unsecured
    print(f"{name:12} wins {rate.value:6.1%} ({rate.low:.1%} to {rate.high:.1%}), {borders:.1f} borders secured in the mean")
for one in corrected([compare_games(("firefighter", games["firefighter"]), (other, games[other])) for other in ("greedy", "random")]):
    more = one.wins.difference
    print(f"{one.first} - {one.second}: {more.value:+.1%} ({more.low:+.1%} to {more.high:+.1%}), p = {one.wins.p:.2g}")
