"""Print the lowest versions that pyproject.toml allows, one requirement per line: `python .ci/lowest.py`.

torch is left out and stays at the version of constraints.txt: its older builds install CUDA libraries.
"""

import re
import tomllib
from pathlib import Path

PROJECT = Path(__file__).parents[1] / "pyproject.toml"
EXTRAS = ("train", "render")
EXCLUDED = ("torch",)
RANGE = re.compile(r"([\w.-]+)>=([\w.]+)")


def lowest() -> list[str]:
    """Return the requirements of the package and of the extras, each with its lowest version."""
    project = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]
    ranges = [*project["dependencies"], *(one for extra in EXTRAS for one in project["optional-dependencies"][extra])]
    found = [RANGE.match(one) for one in ranges]
    if not all(found):
        raise ValueError(f"every requirement must have a lowest version, name>=version; got {ranges}")
    return [f"{match[1]}=={match[2]}" for match in found if match and match[1] not in EXCLUDED]


if __name__ == "__main__":
    print("\n".join(lowest()))
