"""Write the figures of docs/analysis.md: `python docs/make_thinking.py`, after `python -m tetrarchia_train.calibrate ppo`."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tetrarchia_agents.cards import CHECKPOINTS
from tetrarchia_eval.marked_page import filled

PAGE = Path(__file__).parent / "analysis.md"


def page() -> str:
    """The page with the figures as they are kept beside the weights."""
    return filled(PAGE, __file__, {"calibration": figures()})


def figures() -> str:
    """How often what was given a chance was won, and Brier's scores."""
    kept = json.loads((CHECKPOINTS / "ppo" / "calibration.json").read_text(encoding="utf-8"))
    levels = ", ".join(f"{score:.3f} at {level if level != 'others' else 'all others'}" for level, score in kept["brier_by_level"].items())
    return "\n".join(
        (
            f"Of `ppo`, on the {kept['positions']:,} positions of {kept['games']:,} held-out games, up to turn 100:\n",
            *_rows(kept),
            f"\nThe Brier score is {kept['brier']:.3f}, uncalibrated {kept['uncalibrated_brier']:.3f}; by level {levels}.",
            f"Positions of one game end alike, so these figures are as sure as {kept['games']:,} games, not as {kept['positions']:,}.",
        )
    )


def _rows(kept: dict[str, Any]) -> Iterator[str]:
    yield "| chance given | games won | positions |"
    yield "|---:|---:|---:|"
    for one in kept["reliability"]:
        yield f"| {one['given']:.1%} | {one['won']:.1%} | {one['positions']:,} |".replace("%", " %")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
