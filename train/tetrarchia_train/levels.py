"""The levels that games begin at."""

from collections.abc import Sequence
from math import ceil


def difficulty(level: str) -> int:
    """0 to 8 for the rulebook's levels: a digit harder counts 1 (4200 is 2, 4211 is 4, 4222 is 6)."""
    tokens, fleets, revolts, armies = (int(digit) for digit in level)
    return 5 - tokens + 3 - fleets + revolts + armies


def drawn_levels(levels: Sequence[str], focus: Sequence[str], share: float) -> list[str]:
    """What to draw from: those in focus are in it as often as makes this share of games."""
    if not focus or share == 0:
        return list(levels)
    if share == 1:
        return list(focus)
    return [*levels, *list(focus) * ceil(share / (1 - share) * len(levels) / len(focus))]
