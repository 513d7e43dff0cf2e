"""Where checkpoints are, and what their cards say: all that can be told without torch."""

import hashlib
import json
from pathlib import Path
from typing import Any

from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.files import read_bounded
from tetrarchia_env.messages import did_you_mean
from tetrarchia_env.observation import FIELDS
from tetrarchia_env.schema import sanitize_line

HERE = Path(__file__).parent
# The project's own: in an installed package, or in the repository.
CHECKPOINTS = HERE / "shipped" if (HERE / "shipped").is_dir() else HERE.parents[1] / "checkpoints"
WEIGHTS, CARD = "weights.safetensors", "card.json"
FORMAT = 1
LARGEST_CARD = 1_000_000  # bytes


def find_checkpoint(name: str | Path, own: Path = CHECKPOINTS) -> Path:
    """Its folder: a path, or a text with a slash, is the folder; a bare name is one of the project's own, else a folder here."""
    is_path = isinstance(name, Path) or Path(name).name != name
    for folder in (Path(name),) if is_path else (own / name, Path(name)):
        if (folder / CARD).is_file():
            return folder
    known = own_checkpoints(own)
    choices = f"give a folder with {CARD}, or one of {', '.join(known) or 'none yet'}"
    raise TetrarchiaError(f"no checkpoint {str(name)!r}{did_you_mean(name, known)}: {choices}")


def own_checkpoints(own: Path = CHECKPOINTS) -> list[str]:
    """The names of the project's own."""
    return sorted(path.parent.name for path in own.glob(f"*/{CARD}"))


def read_card(folder: Path) -> dict[str, Any]:
    """What the card says, checked for its format."""
    try:
        card = json.loads(read_bounded(folder / CARD, LARGEST_CARD).decode("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise TetrarchiaError(f"checkpoint {folder}: the card cannot be read ({sanitize_line(str(error))})") from None
    if not isinstance(card, dict) or card.get("format") != FORMAT:
        raise TetrarchiaError(f"checkpoint {folder}: the card is not of format {FORMAT}")
    return card


def layout_digest() -> str:
    """A short name of the observation's layout: parts, order and sizes."""
    layout = [[name, list(shape)] for name, _, shape in FIELDS]
    return hashlib.sha256(json.dumps(layout).encode()).hexdigest()[:16]
