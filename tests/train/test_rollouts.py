"""Tests of PPO: equality with sb3-contrib's MaskablePPO, rewards, rule sets and TensorBoard tags."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("tensorboard")

from tensorboard.backend.event_processing.event_accumulator import EventAccumulator  # noqa: E402

from tetrarchia_agents.network import log_probabilities, make_network  # noqa: E402
from tetrarchia_env import batch, tetrarchia_v0  # noqa: E402
from tetrarchia_env.engine.state import WON  # noqa: E402
from tetrarchia_env.envs.batched_games import BatchedGames  # noqa: E402
from tetrarchia_train import run as training_run  # noqa: E402
from tetrarchia_train.config import TrainConfig, read_preset  # noqa: E402
from tetrarchia_train.ppo import Learner, make_games, sample_actions, training_reward  # noqa: E402

BUFFER = {  # SB3's array names and ours
    "observations": "obs",
    "actions": "actions",
    "rewards": "rewards",
    "episode_starts": "episode_starts",
    "values": "values",
    "log_probs": "log_probs",
    "action_masks": "masks",
    "advantages": "advantages",
    "returns": "returns",
}


def tiny(**changes: object) -> TrainConfig:
    return read_preset("tiny").with_overrides(changes)


def sb3_learner(config: TrainConfig, ours: Learner) -> Any:
    """Return a MaskablePPO with our network, our action sampling and our order of minibatches."""
    ppo_mask = pytest.importorskip("sb3_contrib")
    from sb3_contrib.common.maskable.buffers import MaskableRolloutBuffer, MaskableRolloutBufferSamples
    from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
    from stable_baselines3.common.logger import Logger

    class Policy(MaskableActorCriticPolicy):
        def _build(self, lr_schedule: Any) -> None:
            self.network = make_network(config.network_config)
            self.optimizer = torch.optim.Adam(self.parameters(), lr=lr_schedule(1), eps=1e-5, fused=True)

        def forward(self, obs: Any, deterministic: bool = False, action_masks: Any = None) -> Any:
            logits, values = self.network(obs)
            log_probs = log_probabilities(logits, torch.as_tensor(action_masks, dtype=torch.bool))
            actions = sample_actions(log_probs)
            return actions, values, log_probs.gather(1, actions.unsqueeze(1)).squeeze(1)

        def evaluate_actions(self, obs: Any, actions: Any, action_masks: Any = None) -> Any:
            logits, values = self.network(obs)
            log_probs = log_probabilities(logits, action_masks)
            entropy = -(log_probs.exp() * log_probs.masked_fill(~action_masks, 0.0)).sum(dim=1)
            return values, log_probs.gather(1, actions.unsqueeze(1)).squeeze(1), entropy

        def predict_values(self, obs: Any) -> Any:
            return self.network.values(obs)

    class Buffer(MaskableRolloutBuffer):
        def get(self, batch_size: int | None = None) -> Iterator[Any]:
            for data in ours.rollout.minibatches(config.minibatch_size):
                yield MaskableRolloutBufferSamples(
                    data.obs, data.actions.unsqueeze(1), data.returns, data.log_probs, data.advantages, data.returns, data.masks
                )

    env = tetrarchia_v0.sb3_vec_env(config.num_envs, level=config.level_list("levels"), actions="base", reward=training_reward(config))
    model = ppo_mask.MaskablePPO(
        Policy,
        env,
        learning_rate=config.learning_rate,
        n_steps=config.n_steps,
        batch_size=config.minibatch_size,
        n_epochs=config.n_epochs,
        gamma=1.0,
        gae_lambda=config.gae_lambda,
        clip_range=config.clip_range,
        ent_coef=config.ent_coef,
        vf_coef=config.vf_coef,
        max_grad_norm=config.max_grad_norm,
        rollout_buffer_class=Buffer,
        seed=config.seed,
        device="cpu",
    )
    env.seed(5)
    model.set_logger(Logger(None, []))
    return model


def test_rollouts_advantages_and_updates_equal_those_of_sb3() -> None:
    config = tiny(chance_samples=0, n_steps=256)
    ours = Learner(config)
    ours.games.begin(range(5, 5 + config.num_envs))
    theirs = sb3_learner(config, ours)
    _, callback = theirs._setup_learn(config.total_timesteps)

    for _ in range(2):
        torch.manual_seed(3)
        ours.collect_rollout()
        ours.compute_advantages()
        torch.manual_seed(3)
        theirs.collect_rollouts(theirs.env, callback, theirs.rollout_buffer, config.n_steps)
        for name, own in BUFFER.items():
            found = getattr(theirs.rollout_buffer, name)
            np.testing.assert_array_equal(getattr(ours.rollout, own), found.reshape(getattr(ours.rollout, own).shape), name)

        torch.manual_seed(4)
        ours.update(config.learning_rate, config.ent_coef)
        torch.manual_seed(4)
        theirs.train()
        for mine, other in zip(ours.network.parameters(), theirs.policy.network.parameters(), strict=True):
            assert torch.equal(mine, other)
    assert ours.rollout.episode_starts[1:].any()
    assert ours.num_timesteps == theirs.num_timesteps


def play(games: BatchedGames, actions: np.ndarray) -> np.ndarray:
    """Play one step in every game; return which games ended."""
    games.advance(actions)
    ended = games.episodes["ended"] != 0
    games.begin_next(np.flatnonzero(ended))
    games.observe()
    return ended


@pytest.mark.parametrize("shaping_coef", [0.0, 0.5, 1.0])
def test_rewards_of_a_lost_game_sum_to_minus_the_initial_potential(shaping_coef: float) -> None:
    config = tiny(num_envs=4, n_steps=16, shaping_coef=shaping_coef)
    reward = training_reward(config)
    games = make_games(config, reward)
    games.begin(range(3, 7))
    first, paid, over = reward.potential(games.games), np.zeros(4), np.zeros(4, dtype=bool)

    while not over.all():
        ended = play(games, games.masks.argmax(axis=1))
        assert (games.episodes["outcome"][ended] != WON).all()
        paid += games.episodes["reward"] * ~over
        over |= ended

    np.testing.assert_allclose(paid, -shaping_coef * first, atol=1e-6)


def test_rule_sets_are_played_in_parallel() -> None:
    rules = [{}, {"modules": ["pirates"]}, {"scenario": "danube_wars"}]
    config = tiny(num_envs=6, n_steps=32, actions="all", rules=rules, levels=["4200", "4311"])
    games = make_games(config, training_reward(config))
    games.begin(range(3, 9))
    finished = set()

    for _ in range(300):
        ended = play(games, batch.random_actions(games.masks, np.arange(1, 7, dtype=np.uint64)))
        finished |= set(games.rule_index[ended].tolist())

    assert finished == {0, 1, 2}
    assert (games.games["scenario"] > 0).tolist() == [False] * 4 + [True] * 2


def test_tensorboard_tags_are_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    training_run.train(tiny(n_steps=256, total_timesteps=4096), "first")

    events = EventAccumulator(str(tmp_path / "runs/first/tensorboard"))
    events.Reload()
    tags = set(events.Tags()["scalars"])
    assert tags >= {"rollout/win_rate", "rollout/ep_rew_mean", "rollout/ep_len_mean", "rollout/ep_turns_mean", "rollout/ep_borders_mean"}
    assert tags >= {"rollout/win_rate_by_rules/base", "rollout/win_rate_by_difficulty/2", "rollout/outcome/rome_fell"}
    assert tags >= {"losses/policy_loss", "losses/value_loss", "losses/entropy_loss", "losses/approx_kl", "losses/clip_fraction"}
    assert tags >= {"losses/explained_variance", "charts/learning_rate", "charts/SPS", "eval/win_rate/4200", "eval/borders/4200"}
