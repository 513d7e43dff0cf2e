"""Tests of the option `device`: on a machine without a GPU, PyTorch's meta device shows where a tensor is created on a fixed device.

A network on the meta device computes shapes only. Copying its result to NumPy fails, but an operation that mixes it with a tensor of
the CPU fails earlier, with another message.
"""

from collections.abc import Callable

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from tetrarchia_agents import make_agent  # noqa: E402
from tetrarchia_agents.devices import find_device  # noqa: E402
from tetrarchia_agents.fingerprint import fingerprint  # noqa: E402
from tetrarchia_agents.network import NETWORKS, make_network  # noqa: E402
from tetrarchia_agents.network_config import NetworkConfig  # noqa: E402
from tetrarchia_agents.position_analysis import Critic  # noqa: E402
from tetrarchia_agents.ppo import PPOAgent  # noqa: E402
from tetrarchia_env import batch  # noqa: E402
from tetrarchia_env.errors import TetrarchiaError  # noqa: E402
from tetrarchia_env.options import Options  # noqa: E402
from tetrarchia_train import behavior_cloning  # noqa: E402
from tetrarchia_train.config import read_preset  # noqa: E402
from tetrarchia_train.demonstrations import NO_TARGETS, TARGET, Demonstrations  # noqa: E402
from tetrarchia_train.evaluation import GreedyNetwork  # noqa: E402
from tetrarchia_train.ppo import Learner, sample_actions  # noqa: E402

GAMES, MASKS = batch.new_games(Options(level="4200"), range(4))
COPIED_BACK = "Cannot copy out of meta tensor|cannot be called on meta tensors"
without_gpu = pytest.mark.skipif(torch.cuda.is_available(), reason="this machine has a GPU")


def agent_on_meta() -> PPOAgent:
    agent = PPOAgent("ppo-small")
    agent.network.to("meta")
    return agent


def learner_on_meta() -> Learner:
    learner = Learner(read_preset("tiny"))
    learner.network.to("meta")
    learner.optimizer = torch.optim.Adam(learner.network.parameters())
    return learner


def demonstrations(with_targets: bool) -> Demonstrations:
    actions, targets = MASKS.argmax(axis=1), NO_TARGETS
    if with_targets:
        targets = np.zeros(len(GAMES), dtype=TARGET)
        targets["actions"][:, 0], targets["probabilities"][:, 0] = actions, 1
    return Demonstrations(GAMES, actions, targets, 1, 1)


@pytest.mark.parametrize("kind", NETWORKS)
def test_a_network_computes_on_its_device(kind: str) -> None:
    network = make_network(NetworkConfig(kind)).to("meta")
    logits, values = network(network.tensor(batch.observe(GAMES)))
    assert {logits.device.type, values.device.type, sample_actions(logits).device.type} == {"meta"}


@pytest.mark.parametrize(
    "call",
    [
        pytest.param(lambda: agent_on_meta().evaluate(GAMES), id="PPOAgent.evaluate"),
        pytest.param(lambda: agent_on_meta().position_values(GAMES), id="PPOAgent.position_values"),
        pytest.param(lambda: Critic("", agent_on_meta(), None).win_probabilities(GAMES), id="Critic.win_probabilities"),  # type: ignore[arg-type]
        pytest.param(lambda: GreedyNetwork(agent_on_meta().network).act(batch.observe(GAMES), MASKS, np.arange(4)), id="GreedyNetwork.act"),
        pytest.param(lambda: learner_on_meta().collect_rollout(), id="Learner.collect_rollout"),
        pytest.param(lambda: learner_on_meta().compute_advantages(), id="Learner.compute_advantages"),
        pytest.param(lambda: learner_on_meta().update(1e-4, 0.01), id="Learner.update"),
        pytest.param(lambda: learner_on_meta().value_fn(GAMES, batch.observe(GAMES)), id="Learner.value_fn"),
    ],
)
def test_only_results_leave_the_device(call: Callable[[], object]) -> None:
    with pytest.raises((NotImplementedError, RuntimeError), match=COPIED_BACK):
        call()


@pytest.mark.parametrize("with_targets", [False, True])
def test_behavior_cloning_computes_on_the_networks_device(with_targets: bool) -> None:
    network = make_network(NetworkConfig()).to("meta")
    loss = behavior_cloning._loss(network, demonstrations(with_targets), np.arange(4), 0.5)
    loss.backward()
    assert loss.device.type == "meta"


def test_auto_is_cuda_only_if_there_is_a_gpu() -> None:
    assert find_device("cpu").type == "cpu"
    assert find_device("auto").type == ("cuda" if torch.cuda.is_available() else "cpu")


@without_gpu
@pytest.mark.parametrize("device", ["cuda", "tpu"])
def test_a_device_that_is_not_there_is_refused(device: str) -> None:
    with pytest.raises(TetrarchiaError, match=device):
        make_agent(f"ppo:ppo-small:device={device}")
    with pytest.raises(TetrarchiaError, match=device):
        Learner(read_preset("tiny").with_overrides({"device": device}))


def test_several_processes_use_the_cpu() -> None:
    two = read_preset("tiny").with_overrides({"processes": 2, "device": "auto"})
    assert two.network_device == "cpu"
    with pytest.raises(TetrarchiaError, match="processes"):
        two.with_overrides({"device": "cuda"})


def test_the_device_is_not_part_of_a_fingerprint() -> None:
    assert fingerprint(make_agent("ppo:ppo-small:device=auto")) == fingerprint(make_agent("ppo:ppo-small"))
