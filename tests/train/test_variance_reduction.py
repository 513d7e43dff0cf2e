"""Luck is taken out of rewards without changing what they are in the mean."""

import numpy as np
import pytest

from tetrarchia_env import batch
from tetrarchia_env.engine.actions import END
from tetrarchia_env.engine.state import ROME_FELL, WON
from tetrarchia_env.options import Options

pytest.importorskip("torch")

from tetrarchia_train.games import TrainingGames
from tetrarchia_train.potential import pay, potentials
from tetrarchia_train.variance_reduction import replayed, values


def test_a_step_is_played_again_by_other_dice():
    games, _ = batch.new_games(Options(level="4200"), [1, 2])
    games = in_the_turn(games)

    copies = replayed(games, np.array([END, END]), 16)

    assert len({game.tobytes() for game in copies[:16]}) > 8
    assert {int(game["emperor"]) for game in copies[:16]} == {int(copies[0]["emperor"])}


def test_an_end_is_worth_what_it_pays_and_a_running_game_what_it_is_judged():
    seen = batch.observe(batch.new_games(Options(level="4200"), [1, 2, 3])[0])
    over = np.array([True, True, False])

    found = values(seen, np.full(3, 0.2), np.array([1.5, 0, 0]), over, lambda rows: np.full(len(rows), 0.8, dtype=np.float32))

    np.testing.assert_allclose(found, [1.5, 0, 1.0])


def test_only_a_win_pays_and_the_sooner_the_more():
    paid = pay(np.array([WON, WON, ROME_FELL]), np.array([10, 30, 10]), 0.99)

    assert paid[0] > paid[1] > paid[2] == 0


def test_in_the_mean_rewards_stay_the_same_and_vary_less():
    plain, without = rewards_of(rerolls=0), rewards_of(rerolls=8)

    assert abs(plain.mean() - without.mean()) < 4 * (plain - without).std() / np.sqrt(plain.size)
    assert without.std() < plain.std()


def in_the_turn(games: batch.Games) -> batch.Games:
    """The same games at a decision in which the turn may be ended."""
    masks = batch.legal_masks(games)
    while not masks[:, END].all():
        batch.step(games, np.where(masks[:, END], END, masks.argmax(axis=1)), masks)
    return games


def rewards_of(rerolls: int) -> np.ndarray:
    """All rewards of the same random games, judged by nothing but the potential."""
    env, chance = TrainingGames(64, "base", [{}], ["4200"], 5), np.random.default_rng(2)
    env.rerolls, env.judge = rerolls, (lambda seen: np.zeros(len(seen), dtype=np.float32)) if rerolls else None
    env.reset()
    rewards = []
    for _ in range(300):
        env.step_async(batch.random_actions(env.parts[0].masks, chance.integers(1, 2**63, 64).astype(np.uint64)))
        rewards.append(env.step_wait()[1])
    return np.array(rewards)


def test_the_potential_of_a_game_is_its_end_when_it_is_over():
    games, masks = batch.new_games(Options(level="4200"), [1, 2])
    batch.playout(games, masks, np.array([3, 4], dtype=np.uint64), 10_000)

    assert potentials(games, 0.99).tolist() == pay(games["outcome"], games["turn"], 0.99).tolist()
