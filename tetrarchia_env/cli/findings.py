"""What `tetrarchia doctor` finds, and how it is printed: with coloured signs in a terminal, plain in a pipe."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from importlib.util import find_spec

from rich.console import Console
from rich.text import Text


class Health(Enum):
    """How a thing is; its sign, the same for a terminal that knows only ASCII, and its colour."""

    FINE = ("✓", "ok", "green")
    MISSING = ("-", "--", "yellow")
    BROKEN = ("✗", "!!", "red")


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at, and what to do about it."""

    health: Health
    what: str
    told: str
    remedy: str = ""


def tried(what: str, deed: Callable[[], str], needs: Sequence[str] = (), remedy: str = "") -> Finding:
    """What the deed tells; missing if a module that it needs is not installed, broken if it fails."""
    lacking = [name for name in needs if find_spec(name) is None]
    if lacking:
        return Finding(Health.MISSING, what, "not installed" if len(needs) == 1 else f"needs {' and '.join(lacking)}", remedy)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return Finding(Health.FINE, what, deed())
    except Exception as error:
        sentence = " ".join(str(error).split()) or "it fails"
        return Finding(Health.BROKEN, what, f"{type(error).__name__}: {sentence}", remedy)


def show(finding: Finding, console: Console) -> None:
    """Print a line of it."""
    sign, plain, colour = finding.health.value
    speaks = (console.encoding or "ascii").lower().startswith("utf")
    console.print(Text.assemble("  ", (sign if speaks else plain, colour), f" {finding.what:20} {finding.told}"))


def show_remedies(findings: Sequence[Finding], console: Console) -> None:
    """Print each once."""
    for remedy in dict.fromkeys(one.remedy for one in findings if one.remedy and one.health is not Health.FINE):
        console.print(f"    to get it: {remedy}")
