"""Checkpoint folders and their cards; needs no torch, and nothing heavy to list the shipped checkpoints."""

import json
import re
from pathlib import Path
from typing import Any

from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.files import read_bounded
from tetrarchia_env.messages import did_you_mean

PACKAGE = Path(__file__).parent
# The shipped checkpoints: in an installed package, or in the repository.
CHECKPOINTS = PACKAGE / "shipped" if (PACKAGE / "shipped").is_dir() else PACKAGE.parents[1] / "checkpoints"
WEIGHTS, CARD = "weights.safetensors", "card.json"
GROUP_RUN = re.compile(r"[^/]+/seed-\d+")  # the checkpoint of one run of a group
IN_COLLECTION = re.compile(r"[\w-]+/[\w-]+")  # a run of a group, or another checkpoint in a folder of shipped ones
FORMAT = 1
MAX_CARD_BYTES = 1_000_000


def find_checkpoint(name: str | Path, shipped: Path | None = None) -> Path:
    """Return the folder of a checkpoint.

    Args:
        name: A `Path` is the folder itself. A text with a slash is a folder if it exists, else a shipped checkpoint, e.g.
            "scratch-shared/seed-1". A name without a slash is a shipped checkpoint if there is one, else a folder in the current one.
        shipped: The folder of the shipped checkpoints; by default `CHECKPOINTS`.

    Raises:
        TetrarchiaError: There is no such checkpoint.
    """
    shipped = CHECKPOINTS if shipped is None else shipped
    if isinstance(name, Path):
        folders = [name]
    elif Path(name).name == name:
        folders = [shipped / name, Path(name)]
    else:
        folders = [Path(name), *([shipped / name] if IN_COLLECTION.fullmatch(name) else [])]
    for folder in folders:
        if (folder / CARD).is_file():
            return folder
    known = shipped_checkpoints(shipped)
    allowed = f"give a folder with {CARD}, or one of {', '.join(known) or 'none yet'}"
    raise TetrarchiaError(f"no checkpoint {str(name)!r}{did_you_mean(name, known)}: {allowed}")


def shipped_checkpoints(shipped: Path = CHECKPOINTS) -> list[str]:
    """Return the names of the shipped checkpoints."""
    return sorted(path.parent.name for path in shipped.glob(f"*/{CARD}"))


def shipped_group_runs(shipped: Path = CHECKPOINTS) -> list[str]:
    """Return the runs of the shipped groups as names of checkpoints, e.g. "scratch-shared/seed-1", in the order of their seeds."""
    found = [path.parent.relative_to(shipped).as_posix() for path in shipped.glob(f"*/*/{CARD}")]
    return sorted((name for name in found if GROUP_RUN.fullmatch(name)), key=lambda name: (name.split("/")[0], int(name.split("-")[-1])))


def read_card(folder: Path) -> dict[str, Any]:
    """Return the card of a checkpoint: format, environment version and digest, observation layout, network, weights and training."""
    from tetrarchia_env.schema import sanitize_line

    try:
        card = json.loads(read_bounded(folder / CARD, MAX_CARD_BYTES).decode("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise TetrarchiaError(f"checkpoint {folder}: the card cannot be read ({sanitize_line(str(error))})") from None
    if not isinstance(card, dict) or card.get("format") != FORMAT:
        raise TetrarchiaError(f"checkpoint {folder}: the card must have format {FORMAT}")
    return card
