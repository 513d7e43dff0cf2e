"""Write the results table of README.md from docs/results.md: `python docs/make_readme.py`, after `make results`.

Only rows of 1,000 games or more a level: small samples have misled us before.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path

from tetrarchia_eval.marked_page import filled
from tetrarchia_eval.match import team_label

HERE = Path(__file__).parent
README, RESULTS = HERE.parent / "README.md", HERE / "results.md"
LEAST = 1_000  # games a level


def page() -> str:
    """The README with the table as the results page has it now."""
    return filled(README, __file__, {"results": table()})


def table() -> str:
    """The first table of the results page: win rates at the standard levels."""
    found = re.search(r"^(?:\|.*\n)+", RESULTS.read_text(encoding="utf-8"), re.MULTILINE)
    assert found is not None
    few = set(_teams_of_few_games())
    return "\n".join(row for row in found[0].splitlines() if row.split("|")[1].strip() not in few)


def _teams_of_few_games() -> Iterator[str]:
    for file in (HERE.parent / "results" / "main").glob("*.jsonl"):
        with file.open(encoding="utf-8") as lines:
            spec = json.loads(next(lines))
        if spec["games"] < LEAST:
            yield team_label(spec["agents"])


if __name__ == "__main__":
    README.write_text(page(), encoding="utf-8")
