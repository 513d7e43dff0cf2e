"""Tests of the control variate, which reduces the variance of rewards without changing their mean."""

import numpy as np
import pytest

from tetrarchia_env import batch
from tetrarchia_env.engine.actions import END
from tetrarchia_env.engine.state import OVER, ROME_FELL, WON
from tetrarchia_env.options import Options

pytest.importorskip("torch")

from tetrarchia_env.envs.batched_games import BatchedGames
from tetrarchia_env.envs.rewards import BordersReward, ShapedReward
from tetrarchia_train.variance_reduction import ControlVariate, resample_chance


def shaped() -> ShapedReward:
    return ShapedReward(win=2.0, loss=0.0, turn_discount=0.99)


def test_a_step_is_repeated_with_different_dice():
    games, _ = batch.new_games(Options(level="4200"), [1, 2])
    games = advance_to_end_decision(games)

    copies = resample_chance(games, np.array([END, END]), 16)

    assert len({game.tobytes() for game in copies[:16]}) > 8
    assert {int(game["emperor"]) for game in copies[:16]} == {int(copies[0]["emperor"])}


def test_only_wins_are_rewarded_and_earlier_wins_more():
    games, _ = batch.new_games(Options(level="4200"), [1, 2, 3])
    games["outcome"], games["turn"], games["phase"] = [WON, WON, ROME_FELL], [10, 30, 10], OVER

    rewards = shaped().terminal(games)

    assert rewards[0] > rewards[1] > rewards[2] == 0


def test_corrected_rewards_have_the_same_mean_and_less_variance():
    plain, without = collect_rewards(shaped(), samples=0), collect_rewards(shaped(), samples=8)

    assert abs(plain.mean() - without.mean()) < 4 * (plain - without).std() / np.sqrt(plain.size)
    assert without.std() < plain.std()


def test_borders_reward_of_copies_counts_from_the_most_borders_before_the_step():
    games, _ = batch.new_games(Options(level="4200", secured=[0, 3]), range(8))
    reward, had = BordersReward(), batch.borders(games)
    reward.begin(games)
    reward.most[:] = 2
    reward(games)

    np.testing.assert_allclose(reward.last_step(games, np.arange(8)), np.maximum(had - 2, 0))
    np.testing.assert_array_equal(reward.most, np.maximum(had, 2))


def advance_to_end_decision(games: batch.Games) -> batch.Games:
    """Advance the games to decisions at which the turn may be ended."""
    masks = batch.legal_masks(games)
    while not masks[:, END].all():
        batch.step(games, np.where(masks[:, END], END, masks.argmax(axis=1)), masks)
    return games


def collect_rewards(reward: ShapedReward, samples: int) -> np.ndarray:
    """Return the rewards of the same random games, corrected with a value function of zero."""
    rng = np.random.default_rng(2)
    batched = BatchedGames(64, [Options(level="4200")], actions="base", reward=reward)

    variate = ControlVariate(batched, reward, samples, lambda games, obs: np.zeros(len(games), dtype=np.float32))
    batched.begin(range(5, 69))
    rewards = []
    for _ in range(300):
        before, actions = batched.games.copy(), batch.random_actions(batched.masks, rng.integers(1, 2**63, 64).astype(np.uint64))
        batched.advance(actions)
        after = batched.games.copy()
        batched.begin_next(np.flatnonzero(batched.episodes["ended"]))
        batched.observe()
        rewards.append(batched.episodes["reward"] + variate.corrections(before, actions, after))
    return np.array(rewards)
