"""The kept result files, sorted by who played and where; and the command that makes each of them again."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from agents.seats import PLAYERS, seat
from eval.results import Header, Played, Run, load_run
from tetrarchia_env.options import Options

BASE_GAME = "base game"
Field = dict[str, dict[str, list[Played]]]  # games by team and place: a level, a scenario, ...


@dataclass(frozen=True)
class Kept:
    """A result file and what it holds."""

    path: str  # as a command names it: results/main/planner.jsonl
    run: Run

    @property
    def team(self) -> str:
        """The agents, as few names as say who plays whom."""
        return team(self.run.header.agents)

    @property
    def command(self) -> str:
        """What makes this file, from an empty folder."""
        return " ".join(["tetrarchia eval", *_words(self.run.header), f"--out {self.path}"])


def load_kept(folder: Path, chapter: str) -> list[Kept]:
    """All files of a chapter (a folder below that of the results), in the order of their names; none if there are none."""
    paths = sorted((folder / chapter).glob("*.jsonl"))
    return [Kept(f"{folder.name}/{chapter}/{path.name}", load_run(path)) for path in paths]


def team(agents: Sequence[str]) -> str:
    """R13.1: one name if one agent plays all Emperors, two for the couples, and so on, with commas."""
    for players in PLAYERS.values():
        names = [agents[players.index(player)] for player in sorted(set(players))]
        if seat(names) == tuple(agents):
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


def check_same_rules(kept: Sequence[Kept]) -> None:
    """ValueError if numbers of different games would stand side by side as if they were of one."""
    found = {rules(one.run.header): one.path for one in kept}
    if len(found) > 1:
        (rule, path), (other, other_path) = list(found.items())[:2]
        raise ValueError(f"{path} plays {rule} and {other_path} plays {other}: keep them in different folders")


def sort_games(kept: Iterable[Kept], place_of: Callable[[Header, str], str]) -> Field:
    """The games by team and place, a place being what a header and a level make it; ValueError if one comes twice."""
    field: Field = {}
    seen: dict[tuple[str, str, str, int], str] = {}
    for one in kept:
        name, places = one.team, {level: place_of(one.run.header, level) for level in one.run.header.levels}
        for game in one.run.games:
            place = places[game.level]
            twin = seen.setdefault((name, place, game.level, game.seed), one.path)
            if twin != one.path:
                raise ValueError(f"{twin} and {one.path} both hold the game of {name} at level {game.level} with seed {game.seed}")
            field.setdefault(name, {}).setdefault(place, []).append(game)
    return field


def _words(header: Header) -> Iterable[str]:
    """The options of the command, those left out that stand at their defaults."""
    given = header.arguments
    yield f"--agents {team(header.agents)}"
    yield f"--scenario {given['scenario']}" if given.get("scenario") else f"--level {','.join(header.levels)}"
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
