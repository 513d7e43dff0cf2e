"""A digest of local observations and memory along random games; run as a script, it prints the digest."""

import hashlib
import sys

from helpers.configurations import random_options
from tetrarchia_env import batch
from tetrarchia_env.engine.dice import rng_states
from tetrarchia_env.envs.batched_games import BatchedGames
from tetrarchia_env.local_view import LocalOptions


def local_digest() -> str:
    """Return a digest of the observations and the state after each step, for several radii with and without memory and messages."""
    digest = hashlib.sha256()
    for seed in range(8):
        batched = BatchedGames(2, [random_options(seed)], local=LocalOptions(seed % 4, seed % 2 == 0, seed % 3))
        batched.begin([seed, seed + 100])
        rngs = rng_states(batch.seed_array(range(2)))
        for _ in range(40):
            actions = batch.random_actions(batched.masks, rngs)
            batched.advance(actions)
            if batched.episodes["ended"].any():
                break
            digest.update(batched.observe().tobytes() + b"".join(rows.tobytes() for rows in batched.state().values()))
    return digest.hexdigest()


if __name__ == "__main__":
    sys.stdout.write(local_digest())
