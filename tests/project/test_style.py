"""Names and wording: no former identifiers, and no discouraged words in docstrings, comments, messages and pages."""

import io
import re
import tokenize
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = ("tetrarchia_env", "agents", "train", "eval", "app", "docs", "examples", "tests")
SOURCES = sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py") if path != Path(__file__))
PAGES = sorted(
    path for pattern in ("*.md", "docs/*.md", "docs/libraries/*.md", "examples/*.ipynb", "Makefile") for path in ROOT.glob(pattern)
)
# Former names of renamed identifiers that have no other use.
OLD_NAMES = re.compile(
    r"\b(OneThread|show_unasked|observe_own|AT_THE_END|MachineCode|told_of_cache|whole_folder|found_folder|play_piece|House|stand_in|Deed"
    r"|Entrance|is_home|Thought|thinkers|hand_out|InOrder|Roster|SideBySide|ctrl_c_waiting|CHANGEABLE|shares_of_a_win|_furnish)\b"
)
MAX_LINE = 5000  # longer lines are pictures in the notebook
TICS = re.compile(
    r"\b(tells?|told|goes on|anew|so many|beside|whoever|that which|colleagues?|friends?|everybody|nobody|somebody|anybody|strangers?"
    r"|people|front door|deeds?|(?:steps|games|decisions|moves|actions|frames|messages|rows|positions) a second)\b",
    re.IGNORECASE,
)


def texts(path: Path) -> list[tuple[int, str]]:
    """Return the comments and strings of a module by line."""
    kinds = {tokenize.COMMENT, tokenize.STRING, getattr(tokenize, "FSTRING_MIDDLE", tokenize.STRING)}
    tokens = tokenize.generate_tokens(io.StringIO(path.read_text(encoding="utf-8")).readline)
    return [(token.start[0] + n, line) for token in tokens if token.type in kinds for n, line in enumerate(token.string.split("\n"))]


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_names_and_wording(path: Path) -> None:
    lines = enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
    old = [(number, match[0]) for number, line in lines if (match := OLD_NAMES.search(line))]
    tics = [(number, match[0]) for number, line in texts(path) if (match := TICS.search(line.replace("NOBODY", "")))]

    assert (old, tics) == ([], [])


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_wording_of_pages(path: Path) -> None:
    lines = enumerate(path.read_text(encoding="utf-8").splitlines(), 1)

    assert [(number, match[0]) for number, line in lines if (match := TICS.search(line[:MAX_LINE]))] == []
