"""Trained networks as files: weights in the safetensors format and a JSON card; loading them cannot run code."""

import hashlib
import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load, save

from tetrarchia_agents.cards import CARD, FORMAT, WEIGHTS, find_checkpoint, read_card
from tetrarchia_agents.network import Network, make_network
from tetrarchia_agents.network_config import MAX_WEIGHTS, NetworkConfig
from tetrarchia_env import __version__
from tetrarchia_env.digest import environment_digest, layout_digest
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.files import atomic_write, read_bounded, write_text_atomic
from tetrarchia_env.schema import sanitize_line, truncate_repr

MAX_WEIGHTS_BYTES = 4 * MAX_WEIGHTS + 1_000_000
HEADER_LENGTH_BYTES = 8  # safetensors: the length of a JSON header, the header (name: dtype, shape, data_offsets), the data
MAX_HEADER_BYTES = 1_000_000
DTYPES = ("F32", "F16", "BF16")


@dataclass(frozen=True)
class Checkpoint:
    """A network, its configuration, and the card that describes its training and results."""

    network: Network
    config: NetworkConfig
    card: dict[str, Any]


def save_checkpoint(folder: Path, network: Network, config: NetworkConfig, about: dict[str, Any], *, half: bool = False) -> None:
    """Write the weights and the card of a network.

    Args:
        folder: The checkpoint's folder; created if necessary.
        network: The network.
        config: Its configuration.
        about: Further entries of the card, such as `training`.
        half: Store 16 bits per weight instead of 32.
    """
    folder.mkdir(parents=True, exist_ok=True)
    weights = {name: (tensor.half() if half else tensor).contiguous() for name, tensor in network.state_dict().items()}
    content = save(weights)
    with atomic_write(folder / WEIGHTS) as draft:
        draft.write_bytes(content)  # not safetensors' save_file: a full disk must be an OSError
    card = {
        "format": FORMAT,
        "environment": __version__,
        "layout": layout_digest(),
        "environment_digest": environment_digest(),
        "network": asdict(config),
        "weights_sha256": hashlib.sha256(content).hexdigest(),
    }
    write_text_atomic(folder / CARD, json.dumps(card | about, indent=1) + "\n")


def load_checkpoint(name: str | Path) -> Checkpoint:
    """Return a checkpoint by its name or folder.

    Raises:
        TetrarchiaError: It does not exist, is damaged, or was made for another observation layout.
    """
    folder = find_checkpoint(name)
    card = read_card(folder)
    if card.get("layout") != layout_digest():
        raise TetrarchiaError(f"checkpoint {folder} was made for another observation layout (environment {card.get('environment')})")
    try:
        content = read_bounded(folder / WEIGHTS, MAX_WEIGHTS_BYTES)
    except (OSError, TetrarchiaError) as error:
        raise TetrarchiaError(f"checkpoint {folder}: {WEIGHTS} cannot be read ({error})") from None
    if hashlib.sha256(content).hexdigest() != card.get("weights_sha256"):
        raise TetrarchiaError(f"checkpoint {folder} is damaged: {WEIGHTS} does not have the digest in the card")
    try:
        config = NetworkConfig(**card["network"])
        with torch.device("meta"):  # without allocating memory
            shapes = {name: list(tensor.shape) for name, tensor in make_network(config).state_dict().items()}
        _check_header(content, shapes)
        network = make_network(config)
        weights = {name: tensor.float() for name, tensor in load(content).items()}
        network.load_state_dict(weights)
    except (KeyError, TypeError, RuntimeError, SafetensorError, TetrarchiaError) as error:
        raise TetrarchiaError(f"checkpoint {folder} is damaged: card and weights do not fit ({sanitize_line(str(error), 300)})") from None
    for name, tensor in weights.items():
        if not bool(torch.isfinite(tensor).all()):
            raise TetrarchiaError(f"checkpoint {folder} is damaged: {truncate_repr(name)} contains NaN or infinity")
    return Checkpoint(network.eval(), config, card)


def _check_header(content: bytes, shapes: dict[str, list[int]]) -> None:
    """Raise TetrarchiaError unless a safetensors file declares exactly these shapes, before anything of that size is allocated."""
    length = int.from_bytes(content[:HEADER_LENGTH_BYTES], "little")
    if len(content) < HEADER_LENGTH_BYTES or not 0 < length <= min(MAX_HEADER_BYTES, len(content) - HEADER_LENGTH_BYTES):
        raise TetrarchiaError("the weights have no header")
    try:
        header = json.loads(content[HEADER_LENGTH_BYTES : HEADER_LENGTH_BYTES + length].decode("utf-8"))
    except (ValueError, RecursionError):
        raise TetrarchiaError("the header of the weights is not JSON") from None
    if not isinstance(header, dict):
        raise TetrarchiaError("the header of the weights is not an object")
    header.pop("__metadata__", None)
    for name in sorted(shapes.keys() ^ header.keys()):
        raise TetrarchiaError(f"{truncate_repr(name)} is {'missing' if name in shapes else 'unknown'}")
    for name, shape in shapes.items():
        entry = header[name]
        if not isinstance(entry, dict) or entry.get("shape") != shape or entry.get("dtype") not in DTYPES:
            raise TetrarchiaError(f"{name} must have shape {shape} and dtype {' or '.join(DTYPES)}; got {truncate_repr(entry)}")
