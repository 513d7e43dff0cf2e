"""What is trained on: sets of rules beside the base game, and the levels that their games begin at."""

from collections.abc import Iterable, Sequence
from math import ceil
from typing import Any


def with_levels(rules: dict[str, Any], levels: Sequence[str]) -> dict[str, Any]:
    """The arguments of games by these rules at one of these levels; a scenario has its own."""
    return rules if "scenario" in rules else {"level": fitting_levels(rules.get("modules", ()), levels), **rules}


def fitting_levels(modules: Iterable[str], levels: Sequence[str]) -> list[str]:
    """R11.2: the Pirates need a level with fewer than 3 fleets."""
    return [level for level in levels if level[1] != "3" or "pirates" not in modules]


def label(rules: dict[str, Any]) -> str:
    """The names in it."""
    names = [*rules.get("variants", ()), *rules.get("modules", ()), *([rules["scenario"]] if "scenario" in rules else [])]
    return "+".join(names) or "base"


def drawn_levels(levels: Sequence[str], focus: Sequence[str], share: float) -> list[str]:
    """What to draw from: those in focus are in it as often as makes this share of games."""
    if not focus or share == 0:
        return list(levels)
    if share == 1:
        return list(focus)
    return [*levels, *list(focus) * ceil(share / (1 - share) * len(levels) / len(focus))]


def difficulty(level: Sequence[int | str]) -> int:
    """0 to 8 for the rulebook's levels: a digit harder counts 1 (4200 is 2, 4211 is 4, 4222 is 6)."""
    tokens, fleets, revolts, armies = (int(digit) for digit in level)
    return 5 - tokens + 3 - fleets + revolts + armies
