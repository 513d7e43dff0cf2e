"""How names that somebody typed, or that stand in a stranger's file, are told to a person."""

from collections.abc import Iterable
from difflib import get_close_matches

NEAR = 0.6  # of 1, how much alike two names must be
MOST = 2  # names to choose from


def printable(text: object) -> str:
    """As a terminal may be given it: what would move its cursor or change its colours is shown as Python writes it, `\\x1b`."""
    return "".join(sign if sign.isprintable() else repr(sign)[1:-1] for sign in str(text))


def did_you_mean(name: object, known: Iterable[str]) -> str:
    """` (did you mean planner?)`, to stand behind a name that is not known; nothing if none is like it."""
    names = {one.casefold(): one for one in known}
    close = [names[one] for one in get_close_matches(str(name).casefold(), names, MOST, NEAR)]
    return f" (did you mean {' or '.join(close)}?)" if close else ""
