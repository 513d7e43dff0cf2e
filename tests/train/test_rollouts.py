"""Rollouts: the same as SB3's own without the control variate; rewards add up; rules are played side by side; what is logged."""

from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("sb3_contrib")
pytest.importorskip("tensorboard")

from stable_baselines3.common.logger import Logger  # noqa: E402
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator  # noqa: E402

from tetrarchia_env import batch, tetrarchia_v0  # noqa: E402
from tetrarchia_env.engine.state import WON  # noqa: E402
from tetrarchia_train.config import TrainConfig, read_preset  # noqa: E402
from tetrarchia_train.learner import collect_rollouts, evaluate_run, make_env, new_run, train_iteration, training_reward  # noqa: E402
from tetrarchia_train.logs import new_logger  # noqa: E402

BUFFER = ("observations", "actions", "rewards", "episode_starts", "values", "log_probs", "action_masks", "advantages", "returns")


@pytest.fixture(autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


def tiny(**changes: object) -> TrainConfig:
    return read_preset("tiny").changed(changes)


def test_without_the_control_variate_a_rollout_is_that_of_sb3() -> None:
    config = tiny(chance_samples=0, n_steps=256)
    ours, theirs = (new_run(config, None, Logger(None, [])) for _ in range(2))
    for run in (ours, theirs):
        run.env.seed(5)
    ours.env.reset()
    _, callback = theirs.model._setup_learn(config.total_timesteps)

    for _ in range(2):
        torch.manual_seed(3)
        collect_rollouts(ours)
        torch.manual_seed(3)
        theirs.model.collect_rollouts(theirs.env, callback, theirs.model.rollout_buffer, config.n_steps)

        for name in BUFFER:
            np.testing.assert_array_equal(getattr(ours.model.rollout_buffer, name), getattr(theirs.model.rollout_buffer, name), name)
    assert ours.model.rollout_buffer.episode_starts[1:].any()
    assert ours.model.num_timesteps == theirs.model.num_timesteps


@pytest.mark.parametrize("shaping_coef", [0.0, 0.5, 1.0])
def test_a_game_pays_for_a_win_and_what_the_potential_grew_by(shaping_coef: float) -> None:
    config = tiny(num_envs=4, n_steps=16, shaping_coef=shaping_coef)
    reward = training_reward(config)
    env = make_env(config, reward)
    env.seed(3)
    env.reset()
    first, paid, over = reward.potential(env.batched.games), np.zeros(4), np.zeros(4, dtype=bool)

    while not over.all():
        _, rewards, ended, infos = env.step(env.action_masks().argmax(axis=1))
        assert all(info["outcome"] != WON for info in infos)
        paid += rewards * ~over
        over |= ended

    np.testing.assert_allclose(paid, -shaping_coef * first, atol=1e-6)


def test_the_games_learned_from_are_those_of_the_environment() -> None:
    config = tiny(num_envs=8)
    ours = make_env(config, training_reward(config))
    theirs = tetrarchia_v0.sb3_vec_env(8, level=list(config.levels), actions="base")
    ours.seed(3), theirs.seed(3)

    assert (ours.reset() == theirs.reset()).all()
    for _ in range(100):
        actions = ours.action_masks().argmax(axis=1)
        assert (ours.step(actions)[0] == theirs.step(actions)[0]).all()


def test_rules_are_played_side_by_side() -> None:
    rules = [{}, {"modules": ["pirates"]}, {"scenario": "danube_wars"}]
    config = tiny(num_envs=6, n_steps=32, actions="all", rules=rules, levels=["4200", "4311"])
    env = make_env(config, training_reward(config))
    env.seed(3)
    env.reset()
    finished = set()

    for _ in range(300):
        _, _, ended, _ = env.step(batch.random_actions(env.batched.masks, np.arange(1, 7, dtype=np.uint64)))
        finished |= set(env.batched.rule_index[ended].tolist())

    assert finished == {0, 1, 2}
    assert (env.batched.games["scenario"] > 0).tolist() == [False] * 4 + [True] * 2


def test_scalars_have_the_names_of_sb3(tmp_path: Path) -> None:
    run = new_run(tiny(n_steps=256), None, new_logger(tmp_path))

    train_iteration(run)
    evaluate_run(run)
    run.model.logger.close()

    events = EventAccumulator(str(tmp_path / "tensorboard"))
    events.Reload()
    tags = set(events.Tags()["scalars"])
    assert tags >= {"rollout/win_rate", "rollout/ep_rew_mean", "rollout/ep_len_mean", "rollout/turns", "rollout/borders", "time/fps"}
    assert tags >= {"rollout/win_rate_by_rules/base", "rollout/win_rate_by_difficulty/2", "rollout/outcome/rome fell"}
    assert tags >= {"train/approx_kl", "train/value_loss", "train/explained_variance", "eval/win_rate/4200", "eval/borders/4200"}
