"""Reproducibility: the same seed and actions give the same bytes compiled or not, in another process, alone or in a batch."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from helpers.configurations import random_options
from helpers.fingerprint import all_fingerprints
from tetrarchia_env import batch
from tetrarchia_env.engine.dice import rng_states

TESTS = Path(__file__).parents[1]


def in_new_process(**environment: str) -> list[str]:
    command, surroundings = [sys.executable, "-m", "helpers.fingerprint"], {**os.environ, **environment}
    run = subprocess.run(command, cwd=TESTS, env=surroundings, capture_output=True, text=True, check=True)
    return run.stdout.split()


@pytest.mark.slow
def test_compiled_equals_uncompiled() -> None:
    assert in_new_process(NUMBA_DISABLE_JIT="1") == all_fingerprints()


@pytest.mark.slow
def test_new_process_plays_the_same_games() -> None:
    assert in_new_process(PYTHONHASHSEED="1") == all_fingerprints()


@pytest.mark.parametrize("first", range(0, 60, 20))
def test_mixed_batch_equals_single_games(first: int) -> None:
    """R2 to R12: step several configurations in one array."""
    singles = [batch.new_games(random_options(seed), seed) for seed in range(first, first + 20)]
    games = np.concatenate([game for game, _ in singles])
    masks = np.concatenate([mask for _, mask in singles])
    while masks.any():
        actions = masks.argmax(axis=1) if games["turn"].max() % 3 else masks.shape[1] - 1 - masks[:, ::-1].argmax(axis=1)
        for i, (game, mask) in enumerate(singles):
            batch.step(game, actions[i : i + 1], mask)
        batch.step(games, actions, masks)
        assert games.tobytes() == b"".join(game.tobytes() for game, _ in singles)
        assert masks.tobytes() == b"".join(mask.tobytes() for _, mask in singles)


def test_playout_in_parts_equals_one_playout() -> None:
    options = random_options(3)
    at_once, at_once_masks = batch.new_games(options, range(50))
    in_parts, in_parts_masks = batch.new_games(options, range(50))
    batch.playout(at_once, at_once_masks, rng_states(batch.seed_array(range(50))), steps=10_000)
    rngs = rng_states(batch.seed_array(range(50)))
    while batch.playout(in_parts, in_parts_masks, rngs, steps=7):
        pass
    assert in_parts.tobytes() == at_once.tobytes()


def test_illegal_action_leaves_all_games_unchanged() -> None:
    games, masks = batch.new_games(random_options(1), range(3))
    before = games.tobytes(), masks.tobytes()
    actions = masks.argmax(axis=1)
    actions[2] = np.flatnonzero(masks[2] == 0)[0]
    with pytest.raises(ValueError, match=f"action {actions[2]} is not legal in game 2"):
        batch.step(games, actions, masks)
    assert (games.tobytes(), masks.tobytes()) == before


@pytest.mark.parametrize("action", [-1, 455, 10**9])
def test_action_out_of_range_is_refused(action: int) -> None:
    games, masks = batch.new_games(random_options(1), 5)
    with pytest.raises(ValueError, match=f"action {action} is not legal in game 0"):
        batch.step(games, np.array([action]), masks)


def test_step_does_not_change_a_finished_game() -> None:
    games, masks = batch.new_games(random_options(2), 5)
    batch.playout(games, masks, rng_states(batch.seed_array(1)), steps=10_000)
    before = games.tobytes()
    batch.step(games, np.array([0]), masks)
    assert games.tobytes() == before
    assert not masks.any()
