"""Print the lowest versions that pyproject.toml allows, one requirement a line: `python .ci/lowest.py`.

torch is not among them: its older builds bring the libraries of graphics cards with them. It stays as constraints.txt has it.
"""

import re
import tomllib
from pathlib import Path

PROJECT = Path(__file__).parents[1] / "pyproject.toml"
EXTRAS = ("train", "render")
LEFT_OUT = ("torch",)
RANGE = re.compile(r"([\w.-]+)>=([\w.]+)")


def lowest() -> list[str]:
    """Of what the package needs, and of what its extras add."""
    project = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]
    ranges = [*project["dependencies"], *(one for extra in EXTRAS for one in project["optional-dependencies"][extra])]
    found = [RANGE.match(one) for one in ranges]
    if not all(found):
        raise ValueError(f"each of these needs a lowest version, name>=version: {ranges}")
    return [f"{match[1]}=={match[2]}" for match in found if match and match[1] not in LEFT_OUT]


if __name__ == "__main__":
    print("\n".join(lowest()))
