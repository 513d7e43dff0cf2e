"""Simulated matches: a better agent wins every game that a worse one wins, and more."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tetrarchia_agents import GameResult
from tetrarchia_env.notation.replays import ENVIRONMENT
from tetrarchia_env.options import Options
from tetrarchia_eval.match import FORMAT, Match, MatchSpec, game_line, spec_line

SKILL = {"strong": 0.8, "middling": 0.5, "weak": 0.1}


def spec(agents: str | Sequence[str], levels: Sequence[str] = ("4200",), games: int = 20, **arguments: Any) -> MatchSpec:
    options = Options.of(level=None if arguments.get("scenario") else levels[0], **arguments)
    known = {name: value for name, value in options.arguments().items() if name != "level"}
    team: Any = (agents,) * 4 if isinstance(agents, str) else tuple(agents)
    played = options.level_names if options.scenario else tuple(levels)
    return MatchSpec(
        FORMAT,
        ENVIRONMENT,
        known,
        played,
        team,
        dict.fromkeys(team, "0123456789ab"),
        games,
        0,
        0,
        {"tetrarchia": "9.9"},
        {"cores": 2, "system": "Any"},
    )


def match(*arguments: Any, **options: Any) -> Match:
    """Return a match in which the seed decides the luck: a better agent wins every game that a worse one wins, and more."""
    planned = spec(*arguments, **options)
    skill = float(np.mean([SKILL[name] for name in planned.agents]))
    return Match(planned, tuple(game(*planned.job(index), skill) for index in range(planned.total)))


def game(level: str, seed: int, skill: float) -> GameResult:
    luck = np.random.default_rng([seed, int(level)]).random()
    won = luck < skill
    outcome = "won" if won else ("rome fell", "reserve empty", "truncated")[seed % 3]
    decisions = (10, 11, 12, 13 + seed % 5)
    score, turns, borders = (10, 30, 6) if won else (-seed % 7, 40 + seed % 9, seed % 6)
    return GameResult(level, seed, outcome, score, turns, borders, decisions, (0.01, 0.02, 0.03, 0.04))


def save(path: Path, played: Match) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join([spec_line(played.spec), *map(game_line, played.games)]), encoding="utf-8")
    return path
