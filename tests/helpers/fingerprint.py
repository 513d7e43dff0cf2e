"""Digests of random games over every record, mask and observation; run as a script, it prints the digests."""

import hashlib
import sys

from helpers.configurations import ONE_BY_ONE, random_options
from tetrarchia_env import batch
from tetrarchia_env.engine.dice import rng_states
from tetrarchia_env.options import Options

COMBINATIONS = 20


def fingerprint(options: Options, seed: int) -> str:
    """Return a digest of the record, mask and observation after each step of a random game."""
    games, masks = batch.new_games(options, seed)
    rngs = rng_states(batch.seed_array(seed + 1))
    digest = hashlib.sha256()
    while batch.playout(games, masks, rngs, steps=1):
        digest.update(games.tobytes() + masks.tobytes() + batch.observe(games).tobytes())
    return digest.hexdigest()


def all_fingerprints() -> list[str]:
    """Return the digests of each variant, module and scenario alone, then of random combinations."""
    alone = [fingerprint(options, seed) for seed, options in enumerate(ONE_BY_ONE.values())]
    return alone + [fingerprint(random_options(seed), seed) for seed in range(COMBINATIONS)]


if __name__ == "__main__":
    sys.stdout.write("\n".join(all_fingerprints()))
