"""Publication of a run: `python -m tetrarchia_train.publish RUN NAME` saves it as the project's checkpoint NAME, with its learning curve,
and each run of a group as NAME/seed-N; `python -m tetrarchia_train.publish RUN` saves options and curve as a trial for docs/training.md.

If the run started from the checkpoint that it replaces, the card describes both as one training: commands, timesteps, seconds and curve.
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
from tetrarchia_train.checkpointing import FINAL_DIR, LATEST_DIR
from tetrarchia_train.groups import group_runs
from tetrarchia_train.metrics import CURVE_FILE, PUBLISHED_CURVE_FILE, Point, read_curve
from tetrarchia_train.run import OPTIONS_FILE, RUNS

TRIALS = Path(__file__).parents[2] / "docs" / "trials"
Training = dict[str, Any]  # the entry "training" of a card


def publish(run: str, name: str, checkpoints: Path = CHECKPOINTS) -> Path:
    """Save the last checkpoint of a run, with 16-bit weights, and its learning curve.

    Args:
        run: The run's folder in `runs/`.
        name: Name of the checkpoint.
        checkpoints: Folder of the published checkpoints.

    Returns:
        The folder of the published checkpoint.

    Raises:
        TetrarchiaError: If the run has no checkpoint, or is already part of the published one.
    """
    found = [RUNS / run / goal for goal in (FINAL_DIR, LATEST_DIR) if (RUNS / run / goal).is_dir()]
    if not found:
        raise TetrarchiaError(f"run {run!r} has no checkpoint yet")
    loaded, folder = load_checkpoint(found[0]), checkpoints / name
    training, curve = read_card(found[0])["training"], read_curve(RUNS / run / CURVE_FILE)
    if training.get("options", {}).get("init_checkpoint") == name:
        before = read_card(folder)["training"]
        if training["command"].split("; ")[0] in before["command"].split("; "):
            raise TetrarchiaError(f"run {run!r} is already part of checkpoint {name!r}: restore the checkpoint that it started from first")
        training, curve = _join_trainings(before, training), _join_curves(before, read_curve(folder / PUBLISHED_CURVE_FILE), curve)
    trained_in = {name: loaded.card[name] for name in ("environment_digest",) if name in loaded.card}
    save_checkpoint(folder, loaded.network, loaded.config, {**trained_in, "training": training}, half=True)
    if curve:
        write_text_atomic(folder / PUBLISHED_CURVE_FILE, "".join(f"{json.dumps(point)}\n" for point in curve))
    return folder


def publish_group(group: str, name: str, checkpoints: Path = CHECKPOINTS) -> Path:
    """Publish every run of a group, each as `publish` does, in the folder `name` with a checkpoint `seed-N` for each run.

    Args:
        group: The group's folder in `runs/`.
        name: Name of the published group.
        checkpoints: Folder of the published checkpoints.

    Returns:
        The folder of the published group.

    Raises:
        TetrarchiaError: If a run is not finished; nothing is published then.
    """
    runs = group_runs(RUNS / group)
    for run in runs:
        if not (run / FINAL_DIR).is_dir():
            raise TetrarchiaError(f"group {group!r}: {run.name} is not finished")
    for run in runs:
        publish(f"{group}/{run.name}", f"{name}/{run.name}", checkpoints)
    return checkpoints / name


def _join_trainings(before: Training, after: Training) -> Training:
    """Describe two runs as one run that was resumed."""
    return {
        "command": f"{before['command']}; {after['command']}",
        "timesteps": before["timesteps"] + after["timesteps"],
        "seconds": before["seconds"] + after["seconds"],
        "warm_start": before["warm_start"],
        "options": {
            **after["options"],
            "init_checkpoint": before["options"]["init_checkpoint"],
            "total_timesteps": before["timesteps"] + after["options"]["total_timesteps"],
        },
    }


def _join_curves(before: Training, first: list[Point], second: list[Point]) -> list[Point]:
    """Append the second curve to the first; of points at the same timestep, the second curve's is kept."""
    moved = [point | {name: point[name] + before[name] for name in ("timesteps", "seconds")} for point in second]
    return [point for point in first if point["timesteps"] < before["timesteps"]] + moved


def save_trial(run: str, trials: Path = TRIALS) -> Path:
    """Copy the options and the learning curve of a run into the folder of trials.

    Args:
        run: The run's folder in `runs/`.
        trials: Folder of the trials.

    Returns:
        The folder of the trial.

    Raises:
        TetrarchiaError: If the run has no evaluation yet.
    """
    files = [RUNS / run / name for name in (OPTIONS_FILE, CURVE_FILE)]
    if not all(file.is_file() for file in files):
        raise TetrarchiaError(f"run {run!r} has no evaluation yet")
    folder = trials / run
    folder.mkdir(parents=True, exist_ok=True)
    for file in files:
        shutil.copyfile(file, folder / file.name)
    return folder


def main() -> None:
    """Run the command."""
    try:
        match sys.argv[1:]:
            case [run, name]:
                print(f"written: {(publish_group if group_runs(RUNS / run) else publish)(run, name)}")
            case [run]:
                print(f"written: {save_trial(run)}")
            case _:
                raise TetrarchiaError("usage: python -m tetrarchia_train.publish RUN [NAME]")
    except TetrarchiaError as error:
        print(f"publish: {error}", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
