"""Formatting of names and texts from users and files in messages."""

from collections.abc import Iterable
from difflib import get_close_matches

MIN_SIMILARITY = 0.6  # of 1
MAX_SUGGESTIONS = 2


def printable(text: object) -> str:
    """Return a text with control characters escaped, so that it cannot move a terminal's cursor or change its colors."""
    return "".join(char if char.isprintable() else repr(char)[1:-1] for char in str(text))


def did_you_mean(name: object, known: Iterable[str]) -> str:
    """Return ` (did you mean planner?)` to append to an unknown name, or an empty string if no known name is similar."""
    names, given = {one.casefold(): one for one in known}, str(name).casefold()
    close = [given] if given in names else get_close_matches(given, names, MAX_SUGGESTIONS, MIN_SIMILARITY)
    return f" (did you mean {' or '.join(names[one] for one in close)}?)" if close else ""
