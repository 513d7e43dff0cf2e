"""Runs in words: who plays, by which rules, and the command that plays it again."""

from collections.abc import Iterator, Sequence

from tetrarchia_agents.team_policy import PLAYERS, assign_players
from tetrarchia_env.options import Options
from tetrarchia_eval.results import Header
from tetrarchia_eval.sweep import level_words

BASE_GAME = "base game"


def team(agents: Sequence[str]) -> str:
    """R13.1: one name if one agent plays all Emperors, two for the couples, and so on, with commas."""
    for players in PLAYERS.values():
        names = [agents[players.index(player)] for player in sorted(set(players))]
        if assign_players(names) == tuple(agents):
            return ",".join(names)
    raise ValueError(f"four agents, one for each Emperor, not {','.join(agents)}")


def rules(header: Header) -> str:
    """What is played: the base game, a scenario, variants and modules."""
    given = header.arguments
    parts = [*filter(None, [given.get("scenario")]), *given.get("variants", ()), *given.get("modules", ())] or [BASE_GAME]
    if given.get("fixed_setup"):
        parts.append("fixed set-up")
    if given.get("max_turns", Options.max_turns) != Options.max_turns:
        parts.append(f"{given['max_turns']} turns at most")
    return " + ".join(parts)


def command(header: Header, file: str) -> str:
    """What makes this file, from an empty folder."""
    return " ".join(["tetrarchia eval", *_options(header), f"--out {file}"])


def _options(header: Header) -> Iterator[str]:
    """Those left out that stand at their defaults."""
    given = header.arguments
    yield f"--agents {team(header.agents)}"
    yield f"--scenario {given['scenario']}" if given.get("scenario") else f"--level {level_words(header.levels)}"
    for name in ("variants", "modules"):
        if given.get(name):
            yield f"--{name} {','.join(given[name])}"
    if given.get("fixed_setup"):
        yield "--fixed-setup"
    if given.get("max_turns", Options.max_turns) != Options.max_turns:
        yield f"--max-turns {given['max_turns']}"
    yield f"--games {header.games} --seed {header.first_seed}"
    if header.seed:
        yield f"--agents-seed {header.seed}"
