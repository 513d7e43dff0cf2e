"""Run a script of examples/libraries as a reader would, and read what it counted."""

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples" / "libraries"


def run_example(name: str, folder: Path, *arguments: str) -> str:
    """What it prints; it must end well, and leave nothing behind in the folder it is run from."""
    paths = os.pathsep.join(str(ROOT / part) for part in ("", "agents", "train", "eval"))
    surroundings = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": paths}
    surroundings.pop("PYTHONSAFEPATH", None)  # set by a command that was tested in this process
    command = [sys.executable, EXAMPLES / f"{name}.py", *arguments]
    run = subprocess.run(command, cwd=folder, env=surroundings, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert list(folder.iterdir()) == []
    return run.stdout


def counted(printed: str) -> dict[str, float]:
    """Its counters of illegal actions, fake transitions and lost rewards; a library may have said something after them."""
    last = [line for line in printed.splitlines() if line.startswith("illegal actions: ")][-1]
    return {name: float(number) for name, number in (part.split(": ") for part in last.split(", "))}


def win_rates(printed: str) -> list[float]:
    """Every measured win rate, in the order it was printed."""
    return [float(rate) / 100 for rate in re.findall(r"wins ([\d.]+)%", printed)]


NOTHING_WRONG = {"illegal actions": 0.0, "fake transitions": 0.0, "lost rewards": 0.0}
