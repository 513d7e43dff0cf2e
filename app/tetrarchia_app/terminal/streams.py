"""Properties of the standard streams: a terminal, a pipe or a file."""

import os
import shutil
import sys
from importlib.util import find_spec


def is_interactive() -> bool:
    """Return whether input and output are a terminal whose single keys can be read (not on Windows)."""
    return sys.stdin.isatty() and sys.stdout.isatty() and not _is_dumb() and find_spec("termios") is not None


def is_terminal() -> bool:
    """Return whether the output is a terminal, which has a size."""
    return sys.stdout.isatty()


def has_color() -> bool:
    """Return whether the output is a terminal and the user did not set NO_COLOR."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and not _is_dumb()


def window_size() -> tuple[int, int]:
    """Return the columns and rows of the terminal."""
    columns, rows = shutil.get_terminal_size((100, 40))
    return columns, rows


def _is_dumb() -> bool:
    return os.environ.get("TERM", "dumb") == "dumb"
