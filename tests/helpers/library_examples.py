"""Functions that run the scripts of examples/libraries as a user would and check their output."""

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples" / "libraries"


def run_example(name: str, folder: Path, *arguments: str) -> str:
    """Return the output of an example, which must succeed and leave no file in its working directory."""
    paths = os.pathsep.join(str(ROOT / part) for part in ("", "agents", "train", "eval", "app"))
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": paths}
    environment.pop("PYTHONSAFEPATH", None)  # may be set by a command tested in this process
    command = [sys.executable, EXAMPLES / f"{name}.py", *arguments]
    run = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert list(folder.iterdir()) == []
    return run.stdout


def check_counts(printed: str) -> None:
    """Assert that the example played no illegal action, learned from no fake transition and lost no reward."""
    counts = re.findall(r"^illegal actions: (\S+), fake transitions: (\S+), lost rewards: (\S+)$", printed, re.MULTILINE)
    assert counts[-1] == ("0", "0", "0")


def check_training(printed: str) -> None:
    """Assert the counts, and that the example measured its policy before and after training; how well it learned depends on the seed."""
    check_counts(printed)
    assert re.search(r"^random: wins [\d.]+%", printed, re.MULTILINE)
    assert re.search(r"^after [1-9][\d,]* steps: wins [\d.]+%", printed, re.MULTILINE)
