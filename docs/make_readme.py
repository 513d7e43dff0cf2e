"""Write the results table of README.md from docs/results.md: `python docs/make_readme.py`, after `make results`."""

import re
from pathlib import Path

HERE = Path(__file__).parent
README, RESULTS = HERE.parent / "README.md", HERE / "results.md"
BEGIN, END = "<!-- results: written by docs/make_readme.py -->", "<!-- end of results -->"


def page() -> str:
    """The README with the table as the results page has it now."""
    before, rest = README.read_text(encoding="utf-8").split(BEGIN)
    _, after = rest.split(END)
    return f"{before}{BEGIN}\n{table()}\n{END}{after}"


def table() -> str:
    """The first table of the results page: win rates at the standard levels."""
    found = re.search(r"^(?:\|.*\n)+", RESULTS.read_text(encoding="utf-8"), re.MULTILINE)
    assert found is not None
    return found[0].rstrip("\n")


if __name__ == "__main__":
    README.write_text(page(), encoding="utf-8")
