"""Sets of rules beside the base game: their levels and their names."""

from collections.abc import Iterable, Sequence
from typing import Any


def rules_at(rule: dict[str, Any], levels: Sequence[str]) -> dict[str, Any]:
    """The arguments of games by these rules at one of these levels; a scenario has its own."""
    return rule if "scenario" in rule else {"level": fitting_levels(rule.get("modules", ()), levels), **rule}


def fitting_levels(modules: Iterable[str], levels: Sequence[str]) -> list[str]:
    """R11.2: the Pirates need a level with fewer than 3 fleets."""
    return [level for level in levels if level[1] != "3" or "pirates" not in modules]


def rules_label(rule: dict[str, Any]) -> str:
    """The names in it."""
    names = [*rule.get("variants", ()), *rule.get("modules", ()), *([rule["scenario"]] if "scenario" in rule else [])]
    return "+".join(names) or "base"
