"""Keep what a run has learned: `python -m tetrarchia_train.publish RUN NAME` as the project's own checkpoint NAME, with its learning curve;
`python -m tetrarchia_train.publish RUN` as a trial, of which docs/training.md tells. If the run began with the very checkpoint that it
replaces, both are told as one training: commands, timesteps, seconds and curve.
"""

import json
import shutil
import sys
from pathlib import Path
from typing import Any

from tetrarchia_agents.cards import CHECKPOINTS, read_card
from tetrarchia_agents.checkpoints import load_checkpoint, save_checkpoint
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.files import write_text_atomic
from tetrarchia_train.folders import FINAL, LATEST
from tetrarchia_train.logs import PROGRESS
from tetrarchia_train.run import OPTIONS, RUNS

CURVE = "curve.jsonl"
Made = dict[str, Any]  # of a card, or a point of a curve
TRIALS = Path(__file__).parents[2] / "docs" / "trials"


def publish(run: str, name: str, own: Path = CHECKPOINTS) -> Path:
    """Keep the run's last checkpoint, 16 bits a weight, and the win rates that were measured on its way; where they are."""
    found = [RUNS / run / goal for goal in (FINAL, LATEST) if (RUNS / run / goal).is_dir()]
    if not found:
        raise TetrarchiaError(f"run {run!r} has no checkpoint yet")
    kept, folder = load_checkpoint(found[0]), own / name
    made, curve = read_card(found[0])["training"], read_curve(RUNS / run / PROGRESS)
    if made.get("options", {}).get("init_checkpoint") == name:
        before = read_card(folder)["training"]
        if made["command"].split("; ")[0] in before["command"].split("; "):
            raise TetrarchiaError(f"run {run!r} is part of checkpoint {name!r} already: give back first what it began with")
        made, curve = _one_training(before, made), _one_curve(before, read_curve(folder / CURVE), curve)
    save_checkpoint(folder, kept.network, kept.config, {"training": made}, half=True)
    if curve:
        write_text_atomic(folder / CURVE, "".join(f"{json.dumps(point)}\n" for point in curve))
    return folder


def _one_training(before: Made, after: Made) -> Made:
    """As if the second run had been the first one, resumed."""
    sums = {name: before[name] + after[name] for name in ("timesteps", "seconds")}
    begun = {
        "init_checkpoint": before["options"]["init_checkpoint"],
        "total_timesteps": before["timesteps"] + after["options"]["total_timesteps"],
    }
    return {
        "command": f"{before['command']}; {after['command']}",
        **sums,
        "warm_start": before["warm_start"],
        "options": after["options"] | begun,
    }


def _one_curve(before: Made, first: list[Made], second: list[Made]) -> list[Made]:
    """The second begins where the first ended; that point was measured twice, and the second time alone is kept."""
    added = {name: before[name] for name in ("timesteps", "seconds")}
    moved = [point | {name: point[name] + more for name, more in added.items()} for point in second]
    return [point for point in first if point["timesteps"] < before["timesteps"]] + moved


def read_curve(path: Path) -> list[Made]:
    """Its points, none if there is no such file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.is_file() else []


def keep_trial(run: str, trials: Path = TRIALS) -> Path:
    """Keep the run's options and the win rates that were measured on its way; where they are."""
    files = [RUNS / run / name for name in (OPTIONS, PROGRESS)]
    if not all(file.is_file() for file in files):
        raise TetrarchiaError(f"run {run!r} has nothing measured yet")
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
                raise TetrarchiaError("give a run, and the checkpoint's name: python -m tetrarchia_train.publish ppo ppo")
    except ValueError as error:
        print(f"publish: {error}", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
