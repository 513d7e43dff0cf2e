"""The kept result files, sorted by who played and where."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tetrarchia_eval.comparison import Field
from tetrarchia_eval.results import Header, Run, load_run
from tetrarchia_eval.wording import command, rules, team


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
        return command(self.run.header, self.path)


def load_kept(folder: Path, chapter: str) -> list[Kept]:
    """All files of a chapter (a folder below that of the results), in the order of their names; none if there are none."""
    paths = sorted((folder / chapter).glob("*.jsonl"))
    return [Kept(f"{folder.name}/{chapter}/{path.name}", load_run(path)) for path in paths]


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
