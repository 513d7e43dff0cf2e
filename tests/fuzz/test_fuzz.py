"""Randomly damaged files and arrays work or are refused in one line: compiled, bounds-checked and uncompiled.

Each family runs in a separate process, so that a crash is detected. `pytest tests/fuzz --fuzz 100000` tries more.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

FAMILIES = Path(__file__).with_name("families.py")
OF_FILES = ("replays", "results", "protocol_results", "boards", "presets", "checkpoints")
OF_RECORDS = ("snapshots", "actions", "states")
NEEDS = {"presets": ("yaml",), "checkpoints": ("torch", "safetensors"), "actions": ("stable_baselines3",)}
A_MINUTE = 60

pytestmark = pytest.mark.thorough


def fuzz(name: str, number: int, first: int = 0, **environment: str) -> str:
    """Return the beginning of the report, or the end of the error output."""
    for module in NEEDS.get(name, ()):
        pytest.importorskip(module)
    limit = 20 * A_MINUTE + number // 10
    done = subprocess.run(
        [sys.executable, str(FAMILIES), name, str(first), str(number)],
        env=os.environ | environment, capture_output=True, text=True, timeout=limit,
    )  # fmt: skip
    return done.stdout[: len(f"{name}: {number} inputs")] if done.returncode == 0 else done.stderr[-3000:]


@pytest.mark.parametrize("name", [*OF_FILES, *OF_RECORDS])
def test_fuzz_compiled(name: str, inputs: int) -> None:
    assert fuzz(name, inputs) == f"{name}: {inputs} inputs"


@pytest.mark.parametrize("name", [*OF_RECORDS, "replays"])
def test_fuzz_uncompiled(name: str, inputs: int) -> None:
    some = max(20, inputs // 50)
    assert fuzz(name, some, NUMBA_DISABLE_JIT="1") == f"{name}: {some} inputs"


def test_fuzz_with_bounds_checks(inputs: int, tmp_path: Path) -> None:
    """Share one separate cache folder between the targets, since compiling takes a minute."""
    some = max(50, inputs // 4)
    for name in OF_RECORDS:
        assert fuzz(name, some, NUMBA_BOUNDSCHECK="1", NUMBA_CACHE_DIR=str(tmp_path)) == f"{name}: {some} inputs"
