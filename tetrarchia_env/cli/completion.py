"""What the Tab key offers for values that are names; only checkpoints wait for the agents to load."""

from collections.abc import Callable, Mapping
from itertools import product
from pathlib import Path

from tetrarchia_env.cli import names

Offer = tuple[str, str]  # a value and what it means
Completion = Callable[[str], list[Offer]]

ROOT = Path(__file__).parents[2]  # where agents, train and checkpoints are


def one_of(known: Callable[[], Mapping[str, str]]) -> Completion:
    """Offers the names that begin as typed."""

    def complete(incomplete: str) -> list[Offer]:
        return [(name, about) for name, about in known().items() if name.startswith(incomplete)]

    return complete


def some_of(known: Callable[[], Mapping[str, str]]) -> Completion:
    """The same for the last of several names with commas."""

    def complete(incomplete: str) -> list[Offer]:
        before, comma, last = incomplete.rpartition(",")
        return [(before + comma + name, about) for name, about in one_of(known)(last)]

    return complete


def level_names() -> dict[str, str]:
    """The levels that have names first, then all others."""
    digits = ("5432", "3210", "0123", "0123")
    return names.LEVELS | {level: "" for level in map("".join, product(*digits)) if level not in names.LEVELS}


def level_words() -> dict[str, str]:
    """The same for `eval`, which has words for many of them."""
    return {"rulebook": "the 81 levels of the rulebook", "every": "all 256 levels"} | level_names()


def agent_names(incomplete: str) -> list[Offer]:
    """Agents with commas; after `ppo`, also the checkpoints that come with the project."""
    last = incomplete.rpartition(",")[2]
    trained = {f"ppo:{name}": "a checkpoint" for name in _checkpoints()} if last.startswith("ppo") else {}
    return some_of(lambda: names.AGENTS | trained)(incomplete)


def _checkpoints() -> list[str]:
    from tetrarchia_agents.cards import own_checkpoints

    return own_checkpoints()


def preset_names() -> dict[str, str]:
    """Presets of training with the first line of each."""
    return {
        file.stem: _first_comment(file)
        for file in sorted((ROOT / "train" / "tetrarchia_train" / "presets").glob("*.yaml"), key=lambda file: file.stem)
    }


def _first_comment(file: Path) -> str:
    first = file.read_text(encoding="utf-8").partition("\n")[0]
    return first.removeprefix("# ") if first.startswith("#") else ""
