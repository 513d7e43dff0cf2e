"""The critic's options: a network of its own, lambdas per turn, and the moving average of the weights."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("tensorboard")

from tetrarchia_agents.network import ActorCritic, make_network  # noqa: E402
from tetrarchia_agents.values import WIN  # noqa: E402
from tetrarchia_env.errors import TetrarchiaError  # noqa: E402
from tetrarchia_train.config import TrainConfig, read_preset  # noqa: E402
from tetrarchia_train.ppo import Learner  # noqa: E402

SEPARATE = {"critic": "separate", "shaping_coef": 0}


def tiny(**changes: object) -> TrainConfig:
    return read_preset("tiny").with_overrides({"num_envs": 32, "n_steps": 32, "minibatch_size": 256, "network": "gnn", **changes})


def advantages_of(learner: Learner, gae_lambda: float, per_turn: bool) -> np.ndarray:
    """Return the advantages by their definition: discounted sums of the errors of the values."""
    rollout, config = learner.rollout, learner.config
    last = learner.value_fn(learner.games.games, learner.games.obs)
    values, ends = np.vstack([rollout.values, last]), np.vstack([rollout.episode_starts[1:], learner.episode_starts])
    found = np.zeros_like(rollout.advantages)
    for env in range(config.num_envs):
        for first in range(config.n_steps):
            weight = 1.0
            for step in range(first, config.n_steps):
                found[first, env] += weight * (
                    rollout.rewards[step, env] + (1 - ends[step, env]) * values[step + 1, env] - values[step, env]
                )
                if ends[step, env]:
                    break
                weight *= gae_lambda if rollout.turn_ends[step, env] or not per_turn else 1.0
    return found


@pytest.mark.parametrize("per_turn", [False, True])
def test_lambdas_of_policy_and_critic(per_turn: bool) -> None:
    learner = Learner(tiny(gae_lambda=0.8, value_lambda=0.9, lambda_per="turn" if per_turn else "decision"))

    learner.collect_rollout()
    learner.compute_advantages()

    assert 0 < learner.rollout.turn_ends.mean() < 1
    np.testing.assert_allclose(learner.rollout.advantages, advantages_of(learner, 0.8, per_turn), atol=1e-5)
    np.testing.assert_allclose(learner.rollout.returns - learner.rollout.values, advantages_of(learner, 0.9, per_turn), atol=1e-5)


def test_separate_critic_predicts_the_outcome_and_learns_it_by_cross_entropy() -> None:
    learner = Learner(tiny(**SEPARATE))
    assert isinstance(learner.network, ActorCritic)
    obs = torch.rand(5, learner.network.observation_size)
    values = learner.network.values(obs)
    assert values.shape == (5,)
    assert bool(((values > 0) & (values < WIN)).all())

    loss = learner.value_loss(values, torch.full((5,), WIN))
    loss.backward()

    assert loss.item() == pytest.approx(-torch.log(values / WIN).mean().item(), rel=1e-5)
    assert all(parameter.grad is not None for parameter in learner.network.value_parameters())
    assert all(parameter.grad is None for parameter in learner.network.actor.parameters())


@pytest.mark.parametrize("changes", [{"shaping_coef": 0.5}, {"reward": "borders", "shaping_coef": 0}])
def test_separate_critic_needs_the_outcome_as_reward(changes: dict[str, object]) -> None:
    with pytest.raises(TetrarchiaError, match="critic=separate"):
        tiny(critic="separate", **changes)


@pytest.mark.parametrize("value", [-0.1, 1.1, float("nan")])
def test_value_lambda_is_a_fraction(value: float) -> None:
    with pytest.raises(TetrarchiaError, match="value_lambda"):
        tiny(value_lambda=value)


def test_moving_average_of_the_weights_is_published() -> None:
    torch.manual_seed(1)
    learner = Learner(tiny(ema_decay=0.5, n_epochs=1, n_steps=16))
    first = next(learner.network.parameters()).detach().clone()

    learner.train_iteration()  # 16 x 32 steps: two updates

    last, average = next(learner.network.parameters()), next(learner.policy.parameters())
    assert not torch.equal(average, first)
    assert not torch.equal(average, last)
    assert (average - last).abs().max() < (first - last).abs().max()
    assert Learner(tiny()).average is None


def test_networks_with_a_separate_critic_keep_the_policy_of_the_initial_network() -> None:
    from tetrarchia_agents.network import expand_network

    config = tiny().network_config
    network = make_network(config)
    larger = expand_network(network, tiny(**SEPARATE).network_config)
    obs = torch.rand(5, network.observation_size)

    torch.testing.assert_close(larger.logits(obs), network.logits(obs))
