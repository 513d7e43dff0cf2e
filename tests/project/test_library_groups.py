"""The groups of `.ci/libraries`: exact versions, and one group for every library test."""

import re
import runpy
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples" / "libraries"
GROUPS = sorted((EXAMPLES / "requirements").glob("*.txt"))
SHARED = {"end_game", "four_borders"}  # modules imported by the examples
PIN = re.compile(r"[\w.-]+(\[[\w,]+\])?==[\w.]+")


def named_by(group: Path) -> list[str]:
    return re.findall(r"tests/\S+", "".join(re.findall(r"^# tests: (.+)$", group.read_text(encoding="utf-8"), re.MULTILINE)))


@pytest.mark.parametrize("group", GROUPS, ids=lambda group: group.stem)
def test_group_has_a_comment_and_exact_versions(group: Path) -> None:
    lines = group.read_text(encoding="utf-8").splitlines()

    assert lines[0].startswith("# ")
    assert [line for line in lines if line and not line.startswith("#") and not PIN.fullmatch(line)] == []
    assert "torch==2.13.0" in lines


def test_every_library_test_is_in_one_group() -> None:
    named = [name for group in GROUPS for name in named_by(group)]
    wanted = {str(path.relative_to(ROOT)) for where in ("libraries/test_*.py", "*/test_ray_*.py") for path in ROOT.glob(f"tests/{where}")}

    assert sorted(named) == sorted(wanted)


def test_every_example_has_a_test_and_a_page() -> None:
    tests, pages = (
        "".join(path.read_text(encoding="utf-8") for path in ROOT.glob(where)) for where in ("tests/libraries/*.py", "docs/libraries/*.md")
    )
    examples = {path.stem for path in EXAMPLES.glob("*.py")} - SHARED

    assert [name for name in sorted(examples) if f'"{name}"' not in tests or f"{name}.py" not in pages] == []


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.stem)
def test_example_does_not_import_the_engine(path: Path) -> None:
    assert "tetrarchia_env.engine" not in path.read_text(encoding="utf-8")


def test_lowest_versions_match_pyproject() -> None:
    found = runpy.run_path(str(ROOT / ".ci" / "lowest.py"))["lowest"]()

    assert {"gymnasium==1.1", "numpy==2.0", "stable-baselines3==2.6"} <= set(found)
    assert not any(one.startswith("torch") for one in found)


def test_unknown_group_gives_a_one_line_error() -> None:
    done = subprocess.run(["bash", ROOT / ".ci" / "libraries", "keras"], capture_output=True, text=True, check=False)

    assert done.returncode == 2
    assert re.fullmatch(r"unknown group 'keras': choose from .*current.* lowest\n", done.stderr)
