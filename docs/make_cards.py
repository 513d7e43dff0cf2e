"""Write on each checkpoint's card what it reaches, from the kept games in results/: `python docs/make_cards.py`."""

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

from tetrarchia_agents.cards import CARD, CHECKPOINTS, read_card, shipped_checkpoints
from tetrarchia_env.files import write_text_atomic
from tetrarchia_eval.match import Match, team_label
from tetrarchia_eval.results_page import load_matches
from tetrarchia_eval.statistics import wilson

RESULTS = Path(__file__).parents[1] / "results"
AGENT = "ppo"


def cards() -> dict[Path, str]:
    """The text of each card."""
    measured = results()
    told = {name: read_card(CHECKPOINTS / name) | {"results": measured[name]} for name in shipped_checkpoints()}
    return {CHECKPOINTS / name / CARD: json.dumps(card, indent=1) + "\n" for name, card in told.items()}


def results() -> dict[str, dict[str, Any]]:
    """By checkpoint, and level or scenario: games, games won, the share and its 95 % interval."""
    found: dict[str, dict[str, Any]] = defaultdict(dict)
    for match in (load_matches(RESULTS, "main") | load_matches(RESULTS, "scenarios")).values():
        if (name := checkpoint_of(team_label(match.spec.agents))) is not None:
            found[name] |= {match.spec.arguments.get("scenario") or level: rate_of(match, level) for level in match.spec.levels}
    return found


def checkpoint_of(team: str) -> str | None:
    """The checkpoint that four alike are, if they are one that does not search."""
    agent, *options = team.split(":")
    name = (options or [AGENT])[0].removeprefix("checkpoint=")
    return name if agent == AGENT and len(options) < 2 and "=" not in name else None


def rate_of(match: Match, level: str) -> dict[str, Any]:
    """Of the games at this level."""
    games = [game for game in match.games if game.level == level]
    won = sum(game.won for game in games)
    rate = wilson(won, len(games))
    return {"games": len(games), "won": won, "low": round(rate.low, 4), "high": round(rate.high, 4)}


if __name__ == "__main__":
    for path, text in cards().items():
        write_text_atomic(path, text)
