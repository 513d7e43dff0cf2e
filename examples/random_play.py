"""Random legal play with the PettingZoo API: four agents, one for each Emperor. Takes seconds.

An agent acts several times in a row during its turn. The action mask marks its legal actions.
"""

from collections import Counter
from itertools import groupby
from operator import itemgetter
from typing import Any

import tetrarchia_env

GAMES, TURNS_SHOWN = 20, 8

env = tetrarchia_env.env(level="4200")
for number, emperor in enumerate(env.possible_agents):
    env.action_space(emperor).seed(number)  # seeds the sampled actions; reset(seed=...) seeds the dice


def play(seed: int) -> tuple[list[tuple[str, str]], dict[str, Any]]:
    """Play one game; return the actions as pairs of agent and text, and the final info."""
    env.reset(seed=seed)
    actions = []
    for agent in env.agent_iter():
        observation, _, terminated, truncated, info = env.last()
        if terminated or truncated:
            break
        action = env.action_space(agent).sample(observation["action_mask"])
        actions.append((agent, env.unwrapped.action_text(action)))
        env.step(action)
    return actions, info


games = [play(seed) for seed in range(GAMES)]

print(f"How the first of {GAMES} games begins:")
turns = [(agent, [text for _, text in done]) for agent, done in groupby(games[0][0], itemgetter(0))]
for agent, texts in turns[:TURNS_SHOWN]:
    print(f"  {agent:12}{', '.join(texts)}")

endings = Counter(tetrarchia_env.outcome_name(info["outcome"]) for _, info in games)
turns_per_game, score = (sum(info[what] for _, info in games) / GAMES for what in ("turn", "score"))
decisions = sum(len(actions) for actions, _ in games) / GAMES
print("\nHow they all end: " + ", ".join(f"{number} x {outcome}" for outcome, number in endings.most_common()))
print(f"A game has {turns_per_game:.0f} turns and {decisions:.0f} decisions; the mean score is {score:.1f}, of 10 at most.")
