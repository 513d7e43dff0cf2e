"""Trained networks as files: weights as safetensors and a JSON card beside them; nothing in them can run code."""

import hashlib
import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load, save

from tetrarchia_agents.cards import CARD, CHECKPOINTS, FORMAT, WEIGHTS, find_checkpoint, layout_digest, read_card
from tetrarchia_agents.network import Network, make_network
from tetrarchia_agents.network_config import MOST_WEIGHTS, NetworkConfig
from tetrarchia_agents.weight_files import check_shapes
from tetrarchia_env import __version__
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.files import atomic_write, read_bounded, write_text_atomic
from tetrarchia_env.schema import sanitize_line, truncate_repr

__all__ = [
    "CARD",
    "WEIGHTS",
    "Checkpoint",
    "checkpoint_folder",
    "layout_digest",
    "load_checkpoint",
    "read_card",
    "save_checkpoint",
    "write_card",
]

LARGEST_WEIGHTS = 4 * MOST_WEIGHTS + 1_000_000  # bytes


@dataclass(frozen=True)
class Checkpoint:
    """A network and what its card tells: how it was made and what it reaches."""

    network: Network
    config: NetworkConfig
    card: dict[str, Any]


def save_checkpoint(folder: Path, network: Network, config: NetworkConfig, made: dict[str, Any], *, half: bool = False) -> None:
    """Write weights and card, each whole; `half` keeps 16 bits of each weight, for half the size."""
    folder.mkdir(parents=True, exist_ok=True)
    weights = {name: (tensor.half() if half else tensor).contiguous() for name, tensor in network.state_dict().items()}
    with atomic_write(folder / WEIGHTS) as draft:
        content = save(weights)
        draft.write_bytes(content)  # a full disk is an OSError so, not one of the library's own
        digest = hashlib.sha256(content).hexdigest()
    about = {"format": FORMAT, "environment": __version__, "layout": layout_digest(), "network": asdict(config), "weights": digest}
    write_card(folder, about | made)


def write_card(folder: Path, card: dict[str, Any]) -> None:
    """Write the card alone, when there is more to tell of the same weights."""
    write_text_atomic(folder / CARD, json.dumps(card, indent=1) + "\n")


def load_checkpoint(name: str | Path) -> Checkpoint:
    """The checkpoint of a name, or in a folder; ValueError in one sentence if it does not fit or is damaged."""
    folder = checkpoint_folder(name)
    card = read_card(folder)
    if card.get("layout") != layout_digest():
        raise TetrarchiaError(f"checkpoint {folder} was made for another observation layout (environment {card.get('environment')})")
    content = _content(folder, card)
    try:
        config = NetworkConfig(**card["network"])
        check_shapes(content, shapes_of(config))
        network = make_network(config)
        network.load_state_dict(_weights(content))
    except (KeyError, TypeError, RuntimeError, SafetensorError, ValueError) as error:
        raise TetrarchiaError(f"checkpoint {folder} is damaged: card and weights do not fit ({sanitize_line(str(error), 300)})") from None
    return Checkpoint(network.eval(), config, card)


def shapes_of(config: NetworkConfig) -> dict[str, list[int]]:
    """Of the network's weights by their names, without making them."""
    with torch.device("meta"):
        return {name: list(tensor.shape) for name, tensor in make_network(config).state_dict().items()}


def checkpoint_folder(name: str | Path) -> Path:
    """Where the checkpoint of this name is, or the folder itself."""
    return find_checkpoint(name, CHECKPOINTS)


def _content(folder: Path, card: dict[str, Any]) -> bytes:
    """The file of weights, if it is the one that the card was written for."""
    try:
        content = read_bounded(folder / WEIGHTS, LARGEST_WEIGHTS)
    except (OSError, ValueError) as error:
        raise TetrarchiaError(f"checkpoint {folder}: {WEIGHTS} cannot be read ({error})") from None
    if hashlib.sha256(content).hexdigest() != card.get("weights"):
        raise TetrarchiaError(f"checkpoint {folder} is damaged: {WEIGHTS} is not the file that the card was written for")
    return content


def _weights(content: bytes) -> dict[str, torch.Tensor]:
    weights = {name: tensor.float() for name, tensor in load(content).items()}
    for name, tensor in weights.items():
        if not bool(torch.isfinite(tensor).all()):
            raise TetrarchiaError(f"{truncate_repr(name)} holds numbers that are none, or infinite")
    return weights
