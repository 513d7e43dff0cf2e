"""Tests of the networks: shapes, masks, pointer logits and separate networks for each Emperor."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from tetrarchia_agents.network import (  # noqa: E402
    SPACES,
    IndependentPolicies,
    NetworkConfig,
    board_adjacency,
    expand_network,
    log_probabilities,
    make_network,
)
from tetrarchia_env import batch  # noqa: E402
from tetrarchia_env.board import BOARD  # noqa: E402
from tetrarchia_env.engine.actions import ACTIONS, BASE_ACTIONS, MOVE  # noqa: E402
from tetrarchia_env.engine.dice import rng_states  # noqa: E402
from tetrarchia_env.errors import TetrarchiaError  # noqa: E402
from tetrarchia_env.local_view import LocalOptions, LocalViews  # noqa: E402
from tetrarchia_env.observation import SIZE  # noqa: E402
from tetrarchia_env.options import Options  # noqa: E402

SMALL = {"node_dim": 8, "encoder_layers": 1, "readout_dim": 4, "hidden_dim": 32}
CONFIGS = [
    NetworkConfig(**SMALL),
    NetworkConfig(kind="gnn-decoder", **SMALL),
    NetworkConfig(kind="gnn-decoder", actions=ACTIONS, **SMALL),
    NetworkConfig(kind="mlp", **SMALL),
    NetworkConfig(actions=ACTIONS, **SMALL),
    NetworkConfig(policies=4, **SMALL),
    NetworkConfig(policies=4, critic="central", **SMALL),
    NetworkConfig(kind="gnn-decoder", critic="central", **SMALL),
    NetworkConfig(view_radius=2, **SMALL),
    NetworkConfig(kind="gnn-decoder", actions=ACTIONS + 3, view_radius=1, last_seen=True, message_tokens=3, **SMALL),
    NetworkConfig(kind="mlp", view_radius=0, last_seen=True, **SMALL),
    NetworkConfig(actions=ACTIONS + 1, policies=4, critic="central", view_radius=2, last_seen=True, message_tokens=1, **SMALL),
]


def midgame(number: int = 64) -> tuple[np.ndarray, np.ndarray]:
    games, masks = batch.new_games(Options(), np.arange(number))
    batch.playout(games, masks, rng_states(np.arange(number, dtype=np.uint64)), steps=9)
    return games, masks


def observed(games: np.ndarray, local: LocalOptions) -> np.ndarray | None:
    """Return local observations; None for full information."""
    if local.view_radius is None:
        return None
    views = LocalViews(local, len(games))
    views.begin(games, np.arange(len(games)))
    return views.observe(games, batch.agents_to_act(games))


@pytest.mark.parametrize("config", CONFIGS, ids=str)
def test_illegal_actions_have_probability_0(config: NetworkConfig) -> None:
    games, _ = midgame()
    masks = batch.legal_masks(games, config.message_tokens)
    legal = torch.from_numpy(masks[:, : config.actions] != 0)
    network = make_network(config)
    with torch.no_grad():
        for parameter in network.parameters():
            parameter *= 50  # extreme logits

        inputs = torch.from_numpy(network.inputs(games, observed(games, config.local)))
        logits, values = network(inputs)
        assert torch.equal(values, network.values(inputs))
        assert torch.equal(logits, network.logits(inputs))
        probabilities = log_probabilities(logits, legal).exp()

    assert values.shape == (len(games),)
    assert (probabilities[~legal] == 0).all()
    assert torch.allclose(probabilities.sum(dim=1), torch.ones(len(games)))


def test_sampled_actions_are_legal() -> None:
    pytest.importorskip("sb3_contrib")
    from tetrarchia_train.ppo import sample_actions

    _, masks = midgame()
    legal = torch.from_numpy(masks[:, :BASE_ACTIONS] != 0)
    log_probs = log_probabilities(torch.randn(legal.shape) * 20, legal)

    for _ in range(50):
        assert legal.gather(1, sample_actions(log_probs).unsqueeze(1)).all()


def test_sample_frequencies_match_the_probabilities() -> None:
    pytest.importorskip("sb3_contrib")
    from tetrarchia_train.ppo import sample_actions

    torch.manual_seed(0)
    log_probs = torch.tensor([0.5, 0.0, 0.2, 0.3]).log().expand(20_000, 4)

    shares = torch.bincount(sample_actions(log_probs), minlength=4) / 20_000

    assert torch.allclose(shares, torch.tensor([0.5, 0.0, 0.2, 0.3]), atol=0.02)


def test_a_new_network_is_almost_uniform() -> None:
    games, masks = midgame()
    legal = torch.from_numpy(masks[:, :BASE_ACTIONS] != 0)

    with torch.no_grad():
        probabilities = log_probabilities(make_network(NetworkConfig())(torch.from_numpy(batch.observe(games)))[0], legal).exp()

    uniform = legal / legal.sum(dim=1, keepdim=True)
    assert torch.allclose(probabilities, uniform, atol=0.05)


def test_pointer_logits_are_scattered_to_actions_with_a_space() -> None:
    network = make_network(NetworkConfig(actions=ACTIONS, **SMALL))
    pointed = torch.arange(1.0, 9 * SPACES + 1).unsqueeze(0)

    spread = network._scatter(pointed)[0]

    assert len(spread) == ACTIONS
    assert spread[MOVE] == 1
    assert spread[ACTIONS - 1] == 9 * SPACES
    assert (spread == 0).sum() == 13 + 7 + 3  # without a space: 13 base actions, 7 of variants and modules, 3 of the Dux


def test_independent_policies_use_the_network_of_the_emperor() -> None:
    games, _ = midgame()
    seen = torch.from_numpy(batch.observe(games))
    four = make_network(NetworkConfig(policies=4, **SMALL))
    assert isinstance(four, IndependentPolicies)

    with torch.no_grad():
        logits, values = four(seen)
        each = [network(seen) for network in four.networks]

    for row, emperor in enumerate(batch.agents_to_act(games)):
        assert torch.allclose(logits[row], each[emperor][0][row], atol=1e-6)
        assert torch.allclose(values[row], each[emperor][1][row], atol=1e-6)


def test_adjacency_weights_neighbors_and_excludes_the_space_itself() -> None:
    adjacency = board_adjacency().numpy()

    assert np.allclose(adjacency.sum(axis=1), 1)
    assert (np.diag(adjacency) == 0).all()
    assert (adjacency[BOARD.links > 0] > 0).all()


def test_train_value_only_freezes_all_other_parameters() -> None:
    network = make_network(NetworkConfig(**SMALL))

    network.train_value_only(True)

    trained = [name for name, parameter in network.named_parameters() if parameter.requires_grad]
    assert trained == [name for name, _ in network.named_parameters() if name.startswith("value_head")]


LOCAL = {"view_radius": 1, "last_seen": True, "message_tokens": 2, "actions": ACTIONS + 2}


def test_visible_and_age_are_node_features_and_messages_global_ones() -> None:
    full, local = make_network(NetworkConfig(actions=ACTIONS, **SMALL)), make_network(NetworkConfig(**LOCAL, **SMALL))

    assert local.node_features.in_features == full.node_features.in_features + 2
    assert local.global_features.in_features == full.global_features.in_features + 4 * (2 + 1)
    assert local.policy_head.out_features == ACTIONS + 2
    given = torch.zeros(3, local.observation_size)
    given[1, SIZE + 5] = given[2, SIZE + SPACES + 5] = 1
    nodes, readout, _ = local._encode(given)
    assert nodes.shape[0] == readout.shape[1] == SPACES
    for row in (1, 2):
        near = board_adjacency()[:, 5] > 0
        near |= (board_adjacency() @ near.float()) > 0
        near[5] = True
        assert not torch.equal(nodes[5, row], nodes[5, 0])
        assert torch.allclose(nodes[~near, row], nodes[~near, 0])


def test_a_network_with_local_observations_refuses_whole_games() -> None:
    with pytest.raises(TetrarchiaError):
        make_network(NetworkConfig(view_radius=2, **SMALL)).inputs(midgame()[0])


@pytest.mark.parametrize("wrong", [{"last_seen": True}, {"message_tokens": 2}, LOCAL | {"actions": ACTIONS}, {"actions": ACTIONS + 1}])
def test_inconsistent_local_information_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(TetrarchiaError):
        NetworkConfig(**wrong)


@pytest.mark.parametrize(
    "wrong", [{"kind": "deep"}, {"actions": 7}, {"policies": 2}, {"node_dim": 0}, {"encoder_layers": True}, {"hidden_dim": "wide"}]
)
def test_an_invalid_configuration_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(TetrarchiaError, match=f"^network: .*got {next(iter(wrong.values()))!r}$"):
        NetworkConfig(**wrong)


@pytest.mark.parametrize("kind", ["gnn", "gnn-decoder"])
def test_expand_network_keeps_the_policy(kind: str) -> None:
    torch.manual_seed(1)
    small = make_network(NetworkConfig(kind, **SMALL))
    seen = torch.from_numpy(batch.observe(batch.new_games(Options(), np.arange(8))[0]))

    large = expand_network(small, NetworkConfig(kind, actions=ACTIONS, **SMALL))

    logits, values = large(seen)
    assert logits.shape == (8, ACTIONS)
    assert torch.allclose(logits[:, :BASE_ACTIONS], small(seen)[0], atol=1e-6)
    assert torch.allclose(values, small(seen)[1])


@pytest.mark.parametrize("kind", ["gnn", "gnn-decoder", "mlp"])
def test_expand_network_to_local_information_keeps_the_policy(kind: str) -> None:
    small = make_network(NetworkConfig(kind, **SMALL))
    seen = torch.from_numpy(batch.observe(midgame()[0]))

    large = expand_network(small, NetworkConfig(kind, **LOCAL, **SMALL))

    logits, values = large(torch.cat([seen, torch.rand(len(seen), large.observation_size - SIZE)], dim=1))
    assert torch.allclose(logits[:, :BASE_ACTIONS], small(seen)[0], atol=1e-6)
    assert torch.allclose(values, small(seen)[1], atol=1e-6)


def test_the_decoder_propagates_changes_along_links_only() -> None:
    torch.manual_seed(1)
    network = make_network(NetworkConfig(kind="gnn-decoder", decoder_layers=2, **SMALL))
    given = torch.rand(SPACES, 1, 8), torch.zeros(1, SPACES, 4), torch.zeros(1, 32)
    rome = BOARD.names.index("ROMA")
    before = network._pointer_logits(*given)
    with torch.no_grad():
        network.context.bias.view(SPACES, -1)[rome] += 5

    changed = (network._pointer_logits(*given) != before)[0].any(dim=0)

    one_link = board_adjacency()[:, rome] > 0
    two_links = (board_adjacency() @ one_link.float()) > 0
    assert changed[one_link].any()
    assert not changed[~(one_link | two_links) & (torch.arange(SPACES) != rome)].any()


def test_central_critic_depends_on_the_state_and_the_policy_only_on_the_observation() -> None:
    games, _ = midgame()
    network = make_network(NetworkConfig(policies=4, critic="central", **SMALL))
    own, state = batch.observe(games), batch.observe(games, np.zeros(len(games), dtype=np.int64))

    with torch.no_grad():
        logits, values = network(torch.from_numpy(np.concatenate([own, state], axis=1)))
        other_logits, other_values = network(torch.from_numpy(np.concatenate([own, state[::-1]], axis=1)))

    np.testing.assert_array_equal(network.inputs(games), np.concatenate([own, state], axis=1))
    assert torch.equal(logits, other_logits)
    assert torch.allclose(values, other_values.flip(0), atol=1e-6)
    assert len(values.unique()) > 1
