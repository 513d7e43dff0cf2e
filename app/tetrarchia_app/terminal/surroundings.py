"""What we are running in: a person's terminal, a pipe or a file."""

import os
import shutil
import sys
from importlib.util import find_spec


def is_interactive() -> bool:
    """Whether a person sits there, at a terminal that can do more than print (and whose keys we can read: not on Windows)."""
    return sys.stdin.isatty() and sys.stdout.isatty() and not _is_dumb() and find_spec("termios") is not None


def is_terminal() -> bool:
    """Whether what we print goes to a person's window, which has a size."""
    return sys.stdout.isatty()


def wants_colour() -> bool:
    """Whether stdout is a terminal whose user did not ask for NO_COLOR."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and not _is_dumb()


def window() -> tuple[int, int]:
    """Columns and rows."""
    columns, rows = shutil.get_terminal_size((100, 40))
    return columns, rows


def _is_dumb() -> bool:
    return os.environ.get("TERM", "dumb") == "dumb"
