"""Tests of checkpoints: saving and loading, refusal of damaged or mismatched files, and the PPO agent that uses them."""

import json
import subprocess
import sys
import tracemalloc
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("safetensors")

from tetrarchia_agents import cards, checkpoints  # noqa: E402
from tetrarchia_agents.checkpoints import CARD, WEIGHTS, load_checkpoint, save_checkpoint  # noqa: E402
from tetrarchia_agents.network import NetworkConfig, make_network  # noqa: E402
from tetrarchia_agents.ppo import PPOAgent  # noqa: E402
from tetrarchia_env import batch  # noqa: E402
from tetrarchia_env.digest import environment_digest  # noqa: E402
from tetrarchia_env.engine.dice import rng_states  # noqa: E402
from tetrarchia_env.errors import TetrarchiaError  # noqa: E402
from tetrarchia_env.options import Options  # noqa: E402

SMALL = NetworkConfig(node_dim=8, encoder_layers=1, readout_dim=4, hidden_dim=32)
PLAY = """
import sys
import numpy as np
from tetrarchia_agents.ppo import PPOAgent
from tetrarchia_env import batch
from tetrarchia_env.options import Options
games, masks = batch.new_games(Options(), np.arange(32))
for _ in range(30):
    actions = PPOAgent(sys.argv[1]).act(games, masks, np.arange(32))
    batch.step(games, actions, masks)
print(games.tobytes().hex())
"""


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    torch.manual_seed(1)
    network = make_network(SMALL)
    with torch.no_grad():
        for parameter in network.parameters():
            parameter *= 3  # make the policy clearly non-uniform
    save_checkpoint(tmp_path / "small", network, SMALL, {"training": {"steps": 1}})
    return tmp_path / "small"


def test_a_new_process_plays_the_same_actions(saved: Path) -> None:
    games, masks = batch.new_games(Options(), np.arange(32))
    agent = PPOAgent(str(saved))

    for _ in range(30):
        batch.step(games, agent.act(games, masks, np.arange(32)), masks)
    other = subprocess.run([sys.executable, "-c", PLAY, str(saved)], capture_output=True, text=True, check=True)

    assert other.stdout.strip() == games.tobytes().hex()


def test_the_card_contains_training_layout_environment_and_network(saved: Path) -> None:
    card = load_checkpoint(saved).card

    assert card["training"] == {"steps": 1}
    assert card["layout"] == checkpoints.layout_digest()
    assert card["environment_digest"] == environment_digest()
    assert card["network"]["node_dim"] == 8


def test_an_early_card_without_environment_digest_is_accepted(saved: Path) -> None:
    card = json.loads((saved / CARD).read_text(encoding="utf-8"))
    del card["environment_digest"]
    (saved / CARD).write_text(json.dumps(card), encoding="utf-8")

    assert load_checkpoint(saved).config == SMALL


def test_half_precision_halves_the_file(saved: Path, tmp_path: Path) -> None:
    loaded = load_checkpoint(saved)

    save_checkpoint(tmp_path / "half", loaded.network, SMALL, {}, half=True)

    assert (tmp_path / "half" / WEIGHTS).stat().st_size < 0.6 * (saved / WEIGHTS).stat().st_size
    again = load_checkpoint(tmp_path / "half").network
    assert all(torch.allclose(a, b, atol=1e-2) for a, b in zip(again.parameters(), loaded.network.parameters(), strict=True))


def test_checkpoints_are_loaded_by_name(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cards, "CHECKPOINTS", saved.parent)

    assert load_checkpoint("small").config == SMALL
    with pytest.raises(TetrarchiaError, match=r"no checkpoint 'smaller' \(did you mean small\?\): .* one of small$"):
        load_checkpoint("smaller")


def test_another_observation_layout_is_refused(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoints, "layout_digest", lambda: "another")

    with pytest.raises(TetrarchiaError, match="was made for another observation layout"):
        load_checkpoint(saved)


def test_damaged_weights_are_refused(saved: Path) -> None:
    content = bytearray((saved / WEIGHTS).read_bytes())
    content[-1] ^= 1
    (saved / WEIGHTS).write_bytes(content)

    with pytest.raises(TetrarchiaError, match=r"is damaged: weights.safetensors does not have the digest"):
        load_checkpoint(saved)


def test_missing_weights_are_refused(saved: Path) -> None:
    (saved / WEIGHTS).unlink()

    with pytest.raises(TetrarchiaError, match=r"weights.safetensors cannot be read"):
        load_checkpoint(saved)


@pytest.mark.parametrize("text", ["", "[]", '{"format": 99}', "no JSON"])
def test_a_damaged_card_is_refused(saved: Path, text: str) -> None:
    (saved / CARD).write_text(text)

    with pytest.raises(TetrarchiaError, match="the card"):
        load_checkpoint(saved)


@pytest.mark.parametrize("network", [{"kind": "gnn", "node_dim": 9}, {"depth": 3}, {"kind": "deep"}])
def test_a_card_that_does_not_fit_the_weights_is_refused(saved: Path, network: dict[str, object]) -> None:
    card = json.loads((saved / CARD).read_text())
    (saved / CARD).write_text(json.dumps(card | {"network": network}))

    with pytest.raises(TetrarchiaError, match=r"^(checkpoint|network)") as refusal:
        load_checkpoint(saved)
    assert "\n" not in str(refusal.value)


def rewrite(saved: Path, content: bytes | None = None, **card: object) -> None:
    """Replace the weights or entries of the card, with a matching digest."""
    content = (saved / WEIGHTS).read_bytes() if content is None else content
    content_of_card = json.loads((saved / CARD).read_text()) | {"weights_sha256": sha256(content).hexdigest()} | card
    (saved / WEIGHTS).write_bytes(content)
    (saved / CARD).write_text(json.dumps(content_of_card))


def refusal_message(saved: Path) -> str:
    """Return the error message; check that it has one line and that little memory was allocated."""
    tracemalloc.start()
    try:
        with pytest.raises(TetrarchiaError, match=r"^checkpoint ") as refusal:
            load_checkpoint(saved)
        assert tracemalloc.get_traced_memory()[1] < 50_000_000
    finally:
        tracemalloc.stop()
    assert "\n" not in str(refusal.value)
    assert len(str(refusal.value)) < 1000
    return str(refusal.value)


@pytest.mark.parametrize(
    ("network", "words"),
    [
        ({"node_dim": 4096, "readout_dim": 4096, "hidden_dim": 4096}, "at most 100,000,000 weights"),
        ({"node_dim": 8, "encoder_layers": 4096}, "encoder_layers must be from 1 to 64; got 4096"),
        ({"kind": "gnn-decoder", "hidden_dim": 1024}, "is missing"),
        ({"node_dim": 8, "encoder_layers": 1, "readout_dim": 64, "hidden_dim": 4096}, "must have shape"),
        ({"node_dim": float("nan")}, "node_dim must be an integer"),
        ({"policies": 4}, "is unknown"),
        (None, "card and weights do not fit"),
    ],
)
def test_a_card_that_does_not_match_the_header_is_refused_before_allocation(
    saved: Path, monkeypatch: pytest.MonkeyPatch, network: object, words: str
) -> None:
    made: list[str] = []
    monkeypatch.setattr(checkpoints, "make_network", lambda config: made.append(str(torch.get_default_device())) or make_network(config))
    rewrite(saved, network=network)
    assert words in refusal_message(saved)
    assert set(made) <= {"meta"}


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
def test_nan_and_infinite_weights_are_refused(saved: Path, number: float) -> None:
    network = load_checkpoint(saved).network
    with torch.no_grad():
        next(network.parameters())[0] = number
    save_checkpoint(saved, network, SMALL, {})
    assert "contains NaN or infinity" in refusal_message(saved)


@pytest.mark.parametrize(
    "content", [b"", b"\xff" * 8, b"\x02" + bytes(7) + b"{}", b"\x02" + bytes(7) + b"[]", (200_000).to_bytes(8, "little") + b"[" * 200_000]
)
def test_weights_without_a_header_are_refused(saved: Path, content: bytes) -> None:
    rewrite(saved, content)
    assert "card and weights do not fit" in refusal_message(saved)


def test_weights_of_an_unsupported_dtype_are_refused(saved: Path) -> None:
    rewrite(saved, (saved / WEIGHTS).read_bytes().replace(b'"F32"', b'"I32"'))
    assert "F32 or F16 or BF16" in refusal_message(saved)


def test_a_deeply_nested_card_is_refused(saved: Path) -> None:
    (saved / CARD).write_text("[" * 100_000)
    assert "the card cannot be read" in refusal_message(saved)


def test_a_huge_card_is_refused(saved: Path) -> None:
    (saved / CARD).write_text(json.dumps(" " * 2_000_000))
    assert "the card cannot be read (it is larger than 1 MB)" in refusal_message(saved)


def test_a_game_with_more_actions_than_the_network_is_refused(saved: Path) -> None:
    games, masks = batch.new_games(Options(variants=["imperivm"]), np.arange(64))
    batch.playout(games, masks, rng_states(np.arange(64, dtype=np.uint64)), steps=20)
    running = np.flatnonzero(masks.any(axis=1))

    with pytest.raises(TetrarchiaError, match=r"knows 109 actions; this game.*ppo:ppo-full"):
        PPOAgent(str(saved)).act(games[running], masks[running], running)


def test_evaluate_returns_log_priors_of_legal_actions_and_values(saved: Path) -> None:
    games, masks = batch.new_games(Options(), np.arange(8))

    log_priors, values = PPOAgent(str(saved)).evaluate(games)

    assert np.allclose(np.exp(log_priors).sum(axis=1), 1, atol=1e-5)
    assert (np.isneginf(log_priors) == (masks[:, :109] == 0)).all()
    assert values.shape == (8,)


def test_temperature_sampling_uses_the_rng_state_of_the_game(saved: Path) -> None:
    games, masks = batch.new_games(Options(), np.zeros(2000, dtype=int))
    games["dice"] = rng_states(np.arange(2000, dtype=np.uint64))
    agent = PPOAgent(str(saved), temperature=1.0)

    actions = agent.act(games, masks, np.arange(2000))

    shares = np.bincount(actions, minlength=109) / 2000
    assert (actions == agent.act(games, masks, np.arange(2000))).all()
    assert np.allclose(shares, np.exp(agent.evaluate(games[:1])[0][0]), atol=0.05)
    with pytest.raises(TetrarchiaError, match="ppo:temperature must be"):
        PPOAgent(str(saved), temperature=-1)


def test_evaluation_does_not_depend_on_the_batch_size(saved: Path) -> None:
    games, masks = batch.new_games(Options(), np.arange(100))
    batch.playout(games, masks, rng_states(np.arange(100, dtype=np.uint64)), steps=20)
    agent = PPOAgent(str(saved))

    together = agent.evaluate(games, masks)

    for number in (1, 3, 17):
        for mine, whole in zip(agent.evaluate(games[:number], masks[:number]), together, strict=True):
            assert (mine == whole[:number]).all()


@pytest.mark.parametrize(
    ("checkpoint", "options", "unknown"),
    [
        ("ppo", Options(level="4200"), ""),
        ("ppo", Options(scenario="danube_wars"), "danube_wars"),
        ("ppo", Options(variants=["diarchia"]), "diarchia"),
        ("ppo-full", Options(scenario="danube_wars"), ""),
        ("ppo-full", Options(variants=["diarchia"], modules=["goths"]), ""),
    ],
)
def test_untrained_rules_produce_a_warning(checkpoint: str, options: Options, unknown: str) -> None:
    text = PPOAgent(checkpoint).training_warning(options)

    assert bool(text) == bool(unknown)
    assert unknown in text
    assert not text or "ppo:ppo-full" in text
