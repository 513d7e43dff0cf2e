"""Write on each checkpoint's card what it reaches, from the kept games in results/: `python docs/make_cards.py`."""

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

from tetrarchia_agents.cards import CARD, CHECKPOINTS, own_checkpoints, read_card
from tetrarchia_env.files import write_whole
from tetrarchia_eval.report.kept import Kept, load_kept
from tetrarchia_eval.statistics import wilson

RESULTS = Path(__file__).parents[1] / "results"
AGENT = "ppo"


def cards() -> dict[Path, str]:
    """The text of each card."""
    measured = results()
    told = {name: read_card(CHECKPOINTS / name) | {"results": measured[name]} for name in own_checkpoints()}
    return {CHECKPOINTS / name / CARD: json.dumps(card, indent=1) + "\n" for name, card in told.items()}


def results() -> dict[str, dict[str, Any]]:
    """By checkpoint, and level or scenario: games, games won, the share and its 95 % interval."""
    found: dict[str, dict[str, Any]] = defaultdict(dict)
    for kept in [*load_kept(RESULTS, "main"), *load_kept(RESULTS, "scenarios")]:
        if (name := checkpoint_of(kept.team)) is not None:
            header = kept.run.header
            found[name] |= {header.arguments.get("scenario") or level: rate_of(kept, level) for level in header.levels}
    return found


def checkpoint_of(team: str) -> str | None:
    """The checkpoint that four alike are, if they are one."""
    agent, *options = team.split(":")
    return (options or [AGENT])[0].removeprefix("checkpoint=") if agent == AGENT and len(options) < 2 else None


def rate_of(kept: Kept, level: str) -> dict[str, Any]:
    """Of the games at this level."""
    games = [game for game in kept.run.games if game.level == level]
    won = sum(game.won for game in games)
    rate = wilson(won, len(games))
    return {"games": len(games), "won": won, "low": round(rate.low, 4), "high": round(rate.high, 4)}


if __name__ == "__main__":
    for path, text in cards().items():
        write_whole(path, text)
