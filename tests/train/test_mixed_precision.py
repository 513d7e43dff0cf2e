"""Tests of PPO with bfloat16 matrix products: policy and updates stay close to float32, and weights stay in float32."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from tetrarchia_agents.checkpoints import load_checkpoint  # noqa: E402
from tetrarchia_agents.network import log_probabilities  # noqa: E402
from tetrarchia_env import batch  # noqa: E402
from tetrarchia_env.options import Options  # noqa: E402
from tetrarchia_train.config import read_preset  # noqa: E402
from tetrarchia_train.ppo import Learner, find_precision, mixed_precision  # noqa: E402


def trained(precision: str) -> Learner:
    torch.manual_seed(1)
    run = Learner(read_preset("tiny").with_overrides({"precision": precision}))
    run.train_iteration()
    return run


def weights(run: Learner) -> np.ndarray:
    return torch.cat([parameter.detach().flatten() for parameter in run.network.parameters()]).numpy()


def test_the_shipped_policy_changes_only_by_rounding() -> None:
    network = load_checkpoint("ppo").network
    games, masks = batch.new_games(Options(level="4222"), range(256))
    batch.playout(games, masks, batch.rng_states(np.arange(256, dtype=np.uint64)), 40)
    running = ~batch.is_over(games)
    obs, legal = torch.from_numpy(batch.observe(games[running])), torch.from_numpy(masks[running, :109] != 0)

    with torch.no_grad():
        logits, values = network(obs)
        with mixed_precision("bfloat16"):
            rounded_logits, rounded_values = network(obs)

    exact, rounded = log_probabilities(logits, legal), log_probabilities(rounded_logits, legal)
    divergence = (exact.exp() * (exact - rounded).masked_fill(~legal, 0.0)).sum(dim=1)
    assert rounded_logits.dtype == rounded_values.dtype == torch.float32
    assert not torch.equal(logits, rounded_logits)
    assert divergence.mean() < 1e-3
    assert (values - rounded_values).abs().mean() < 0.02


def test_an_iteration_gives_similar_weights_in_float32() -> None:
    exact, rounded = trained("float32"), trained("bfloat16")

    assert all(parameter.dtype == torch.float32 for parameter in rounded.network.parameters())
    assert not np.array_equal(weights(exact), weights(rounded))
    assert np.abs(weights(exact) - weights(rounded)).mean() < 1e-2


def test_changed_weights_take_effect_immediately() -> None:
    network = load_checkpoint("ppo").network
    obs = torch.zeros(4, 1344)

    with mixed_precision("bfloat16"):
        before = network(obs)[1]
        for parameter in network.parameters():
            parameter.data.mul_(0.5)
        after = network(obs)[1]

    assert not torch.equal(before, after)


@pytest.mark.parametrize(("is_supported", "precision"), [(True, "bfloat16"), (False, "float32")])
def test_auto_is_bfloat16_on_processors_that_support_it(is_supported: bool, precision: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cpu, "_is_avx512_bf16_supported", lambda: is_supported, raising=False)

    with mixed_precision("auto"):
        product = torch.ones(2, 2) @ torch.ones(2, 2)

    assert find_precision("auto") == precision
    assert product.dtype == getattr(torch, precision)
