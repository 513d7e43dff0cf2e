"""Damaged run folders: a run resumes or is refused by a TetrarchiaError of one line, without a crash, a hang or execution of code.

TETRARCHIA_FUZZ=5000 sets the number of cases, TETRARCHIA_FUZZ_SEED=7 another seed.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("sb3_contrib")
pytest.importorskip("tensorboard")
pytest.importorskip("resource")

CASES = int(os.environ.get("TETRARCHIA_FUZZ", "150"))
SEED = int(os.environ.get("TETRARCHIA_FUZZ_SEED", "1"))
SECONDS = 10.0  # that one case may take, on a busy machine
FUZZER = Path(__file__).parents[1] / "helpers" / "fuzz_run_folders.py"


@pytest.mark.thorough
def test_run_folders(tmp_path: Path) -> None:
    """In a process of its own, which must survive."""
    command = [sys.executable, str(FUZZER), str(tmp_path), str(SEED), str(CASES)]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=120 + SECONDS * CASES, env={**os.environ, "OMP_NUM_THREADS": "1"}
    )

    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    refused, went_on = map(int, done.stdout.split()[-2:])
    assert refused + went_on == CASES
    assert min(refused, went_on) > CASES // 20  # neither is all that is tried
