"""Fingerprints: short digests that identify an agent by what it does."""

import json
from dataclasses import fields, is_dataclass
from functools import cache, partial
from hashlib import sha256

import numpy as np

from tetrarchia_env.agent import Agent, Observer, ask, begin_games
from tetrarchia_env.batch import Games, is_over, legal_masks, new_games, playout, rng_states
from tetrarchia_env.constants import MODULES, VARIANTS
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.local_view import FULL_INFORMATION
from tetrarchia_env.options import Options

PROBES = (Options(), Options(variants=VARIANTS, modules=MODULES))  # the base game, and all variants and modules
RANDOM_STEPS = (0, 8, 20, 45)  # played before the positions
GAMES_PER_STEP = 4
NUM_DIGITS = 12


def fingerprint(agent: Agent) -> str:
    """Return the first digits of a SHA-256 over an agent's weights, options and actions in fixed positions.

    Args:
        agent: The agent. Weights are what its method `weights_digest()` returns, if it has one. Options are the fields of a
            dataclass with which it was made (numbers, texts and None), except fields with the metadata `{"fingerprint": False}`.

    Returns:
        Twelve hexadecimal digits. Refactoring an agent does not change them; other weights, options or actions do.

    Raises:
        TetrarchiaError: `weights_digest()` does not return bytes.
    """
    weights = getattr(agent, "weights_digest", bytes)()
    if not isinstance(weights, bytes):
        raise TetrarchiaError(f"{type(agent).__name__}.weights_digest() must return bytes; got {type(weights).__name__}")
    digest = sha256(weights)
    digest.update(json.dumps(_options(agent), sort_keys=True).encode())
    local = getattr(agent, "local", None) or FULL_INFORMATION
    for options in PROBES:
        games = _positions(options)
        masks = legal_masks(games, local.message_tokens)
        env_ids, observer = np.arange(len(games)), Observer(local, len(games))
        begin_games(agent, env_ids)
        observer.update(games, env_ids, np.ones(len(games), dtype=np.bool_))
        try:
            digest.update(ask(agent, games, masks, env_ids, games["dice"], partial(observer.observe, games, env_ids)).tobytes())
        except TetrarchiaError:  # a network that does not know the actions of these rules
            digest.update(b"refused")
    return digest.hexdigest()[:NUM_DIGITS]


def _options(agent: Agent) -> dict[str, int | float | str | None]:
    if not is_dataclass(agent):
        return {}
    options = {field.name: getattr(agent, field.name) for field in fields(agent) if field.init and field.metadata.get("fingerprint", True)}
    return {name: value for name, value in options.items() if value is None or isinstance(value, int | float | str)}


@cache
def _positions(options: Options) -> Games:
    """Return positions of random games, with RNG states that do not occur in games."""
    found = []
    for number, steps in enumerate(RANDOM_STEPS):
        seeds = np.arange(number * GAMES_PER_STEP, (number + 1) * GAMES_PER_STEP, dtype=np.uint64)
        games, masks = new_games(options, seeds)
        playout(games, masks, rng_states(seeds), steps)
        found.append(games[~is_over(games)])
    games = np.concatenate(found)
    games["dice"] = rng_states(np.arange(len(games), dtype=np.uint64))
    return games
