"""Memory use of environments."""

import gc
import tracemalloc

import pytest

from helpers.configurations import random_options
from tetrarchia_env import tetrarchia_v0


@pytest.mark.slow
def test_4096_games_need_less_than_200_mb() -> None:
    tracemalloc.start()
    many = tetrarchia_v0.vector_env(4096, copy=False)
    seen, _ = many.reset(seed=1)
    many.step(seen["action_mask"].argmax(axis=1))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 200e6


@pytest.mark.slow
def test_resets_do_not_leak_memory() -> None:
    def resets(number: int) -> None:
        for seed in range(number):
            env = tetrarchia_v0.raw_env(**random_options(seed % 100).arguments())
            env.reset(seed=seed)

    resets(200)
    gc.collect()
    tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()
    resets(1000)
    gc.collect()
    after, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert after - before < 100_000
