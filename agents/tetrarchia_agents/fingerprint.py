"""A short name of what an agent does: its choices in fixed positions, and its weights; renaming a variable does not change it."""

from functools import cache
from hashlib import sha256

import numpy as np

from tetrarchia_env.agent import Agent, begin_games
from tetrarchia_env.batch import Games, Masks, is_over, legal_masks, new_games, playout, rng_states
from tetrarchia_env.constants import MODULES, VARIANTS
from tetrarchia_env.options import Options

PROBES = (Options(), Options(variants=VARIANTS, modules=MODULES))  # an agent that refuses one of them is told from one that plays it
STEPS = (0, 8, 20, 45)  # random ones before the position
GAMES = 4  # for each of STEPS
DIGITS = 12


def fingerprint(agent: Agent) -> str:
    """The first digits of a SHA-256 over choices and weights."""
    digest, probe = sha256(getattr(agent, "weights_digest", bytes)()), getattr(agent, "reference", lambda: agent)()
    for options in PROBES:
        games, masks = _positions(options)
        env_ids = np.arange(len(games))
        begin_games(probe, env_ids)
        try:
            digest.update(np.asarray(probe.act(games.copy(), masks.copy(), env_ids), dtype=np.int64).tobytes())
        except ValueError:  # rules that it was not made for
            digest.update(b"refused")
    return digest.hexdigest()[:DIGITS]


@cache
def _positions(options: Options) -> tuple[Games, Masks]:
    """The same for every agent, with RNG states that no game comes to."""
    found = []
    for number, steps in enumerate(STEPS):
        seeds = np.arange(number * GAMES, (number + 1) * GAMES, dtype=np.uint64)
        games, masks = new_games(options, seeds)
        playout(games, masks, rng_states(seeds), steps)
        found.append(games[~is_over(games)])
    games = np.concatenate(found)
    games["dice"] = rng_states(np.arange(len(games), dtype=np.uint64))
    return games, legal_masks(games)
