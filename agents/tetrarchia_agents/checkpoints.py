"""Trained networks as files: weights as safetensors and a JSON card beside them; nothing in them can run code."""

import hashlib
import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save

from tetrarchia_agents.cards import CARD, CHECKPOINTS, FORMAT, WEIGHTS, find_checkpoint, layout_digest, read_card
from tetrarchia_agents.network import Network, make_network
from tetrarchia_agents.network_config import NetworkConfig
from tetrarchia_env import __version__
from tetrarchia_env.files import atomic_write, write_whole

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
    write_whole(folder / CARD, json.dumps(card, indent=1) + "\n")


def load_checkpoint(name: str | Path) -> Checkpoint:
    """The checkpoint of a name, or in a folder; ValueError in one sentence if it does not fit or is damaged."""
    folder = checkpoint_folder(name)
    card = read_card(folder)
    if card.get("layout") != layout_digest():
        raise ValueError(f"checkpoint {folder} was made for another observation layout (environment {card.get('environment')})")
    try:
        config = NetworkConfig(**card["network"])
        network = make_network(config)
        network.load_state_dict(_weights(folder, card))
    except (KeyError, TypeError, RuntimeError) as error:
        raise ValueError(f"checkpoint {folder} is damaged: card and weights do not fit ({str(error).splitlines()[0]})") from None
    return Checkpoint(network.eval(), config, card)


def checkpoint_folder(name: str | Path) -> Path:
    """Where the checkpoint of this name is, or the folder itself."""
    return find_checkpoint(name, CHECKPOINTS)


def _weights(folder: Path, card: dict[str, Any]) -> dict[str, torch.Tensor]:
    try:
        content = (folder / WEIGHTS).read_bytes()
        if hashlib.sha256(content).hexdigest() != card.get("weights"):
            raise ValueError(f"checkpoint {folder} is damaged: {WEIGHTS} is not the file that the card was written for")
        return {name: tensor.float() for name, tensor in load_file(folder / WEIGHTS).items()}
    except (OSError, SafetensorError) as error:
        raise ValueError(f"checkpoint {folder}: {WEIGHTS} cannot be read ({error})") from None
