"""Digests that identify the environment: the layout of the observation, and the rules, dice and observations of fixed games."""

import hashlib
import json
from functools import cache

import numpy as np

from tetrarchia_env.agent import Actions, EnvIds, Observer
from tetrarchia_env.batch import Games, Masks, new_games, play_to_end, random_actions, rng_states, scores
from tetrarchia_env.constants import MODULES, SCENARIOS, VARIANTS
from tetrarchia_env.local_view import FULL_INFORMATION, LocalOptions
from tetrarchia_env.observation import FIELDS
from tetrarchia_env.options import Options

NUM_DIGITS = 16
GAMES_PER_CONFIGURATION = 2
CONFIGURATIONS = (
    *((Options(level=level), FULL_INFORMATION) for level in ("4200", "4211", "4222", "5300")),
    (Options(level="4222", revolts=[0, 6], secured=[0, 2], fixed_setup=True), FULL_INFORMATION),
    *((Options(variants=[name]), FULL_INFORMATION) for name in VARIANTS),
    *((Options(modules=[name]), FULL_INFORMATION) for name in MODULES),
    *((Options(scenario=name), FULL_INFORMATION) for name in SCENARIOS),
    (Options(variants=VARIANTS, modules=MODULES), FULL_INFORMATION),
    (Options(), LocalOptions(2, last_seen=True)),
    (Options(variants=VARIANTS, modules=MODULES), LocalOptions(1, last_seen=True, message_tokens=3)),
)


def layout_digest() -> str:
    """Return a digest of the observation's layout: names, order and shapes of its parts."""
    layout = [[name, list(shape)] for name, _, shape in FIELDS]
    return hashlib.sha256(json.dumps(layout).encode()).hexdigest()[:NUM_DIGITS]


@cache
def environment_digest() -> str:
    """Return a digest that identifies rules, dice, action ids and observations.

    It covers the layout of the observation and, in random games with fixed seeds, the legal actions and the acting Emperor's observation
    at each decision, turns, outcome and score: the base game, each variant, module and scenario, a head start and local information.
    Refactoring the engine does not change it.

    Returns:
        Sixteen hexadecimal digits.
    """
    digest = hashlib.sha256(layout_digest().encode())
    for options, local in CONFIGURATIONS:
        for part in _random_games(options, local):
            digest.update(part)
    return digest.hexdigest()[:NUM_DIGITS]


def _random_games(options: Options, local: LocalOptions) -> list[bytes]:
    """Return legal actions and observations at each decision of random games, and how the games ended."""
    seeds = np.arange(GAMES_PER_CONFIGURATION, dtype=np.uint64)
    games, masks = new_games(options, seeds, local.message_tokens)
    rngs, observer, are_new = rng_states(rng_states(seeds)), Observer(local, len(games)), np.ones(len(games), dtype=np.bool_)
    parts: list[bytes] = []

    def policy(running: Games, legal: Masks, rows: EnvIds) -> Actions:
        observer.update(running, rows, are_new[rows])
        are_new[rows] = False
        parts.extend((legal.tobytes(), observer.observe(running, rows).tobytes()))
        states = rngs[rows]
        actions = random_actions(legal, states)
        rngs[rows] = states
        observer.say(running, rows, actions)
        return actions

    play_to_end(games, masks, policy)
    return [*parts, json.dumps([games["outcome"].tolist(), games["turn"].tolist(), scores(games).tolist()]).encode()]
