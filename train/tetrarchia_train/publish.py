"""Keep what a run has learned: `python -m tetrarchia_train.publish RUN NAME` as the project's own checkpoint NAME, with its learning curve;
`python -m tetrarchia_train.publish RUN` as a trial, of which docs/training.md tells.
"""

import shutil
import sys
from pathlib import Path

from tetrarchia_agents.cards import CHECKPOINTS, read_card
from tetrarchia_agents.checkpoints import load_checkpoint, save_checkpoint
from tetrarchia_train.folders import FINAL, LATEST
from tetrarchia_train.logs import PROGRESS
from tetrarchia_train.run import OPTIONS, RUNS

CURVE = "curve.jsonl"
TRIALS = Path(__file__).parents[2] / "docs" / "trials"


def publish(run: str, name: str, own: Path = CHECKPOINTS) -> Path:
    """Keep the run's last checkpoint, 16 bits a weight, and the win rates that were measured on its way; where they are."""
    found = [RUNS / run / goal for goal in (FINAL, LATEST) if (RUNS / run / goal).is_dir()]
    if not found:
        raise ValueError(f"run {run!r} has no checkpoint yet")
    kept, folder = load_checkpoint(found[0]), own / name
    save_checkpoint(folder, kept.network, kept.config, {"made": read_card(found[0])["made"]}, half=True)
    if (RUNS / run / PROGRESS).is_file():
        shutil.copyfile(RUNS / run / PROGRESS, folder / CURVE)
    return folder


def keep_trial(run: str, trials: Path = TRIALS) -> Path:
    """Keep the run's options and the win rates that were measured on its way; where they are."""
    files = [RUNS / run / name for name in (OPTIONS, PROGRESS)]
    if not all(file.is_file() for file in files):
        raise ValueError(f"run {run!r} has nothing measured yet")
    folder = trials / run
    folder.mkdir(parents=True, exist_ok=True)
    for file in files:
        shutil.copyfile(file, folder / file.name)
    return folder


def main() -> None:
    """The command."""
    try:
        match sys.argv[1:]:
            case [run, name]:
                print(f"written: {publish(run, name)}")
            case [run]:
                print(f"written: {keep_trial(run)}")
            case _:
                raise ValueError("give a run, and the checkpoint's name: python -m tetrarchia_train.publish ppo ppo")
    except ValueError as error:
        print(f"publish: {error}", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
