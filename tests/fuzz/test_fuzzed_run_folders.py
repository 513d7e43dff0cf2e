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
SECONDS = 10.0  # per case, on a busy machine
FUZZER = Path(__file__).parents[1] / "helpers" / "fuzz_run_folders.py"


@pytest.mark.thorough
def test_damaged_run_folders_resume_or_are_refused(tmp_path: Path) -> None:
    """Run the fuzzer in a separate process, which must not crash."""
    command = [sys.executable, str(FUZZER), str(tmp_path), str(SEED), str(CASES)]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=120 + SECONDS * CASES, env={**os.environ, "OMP_NUM_THREADS": "1"}
    )

    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    refused, resumed = map(int, done.stdout.split()[-2:])
    assert refused + resumed == CASES
    assert min(refused, resumed) > CASES // 20  # both results occur
