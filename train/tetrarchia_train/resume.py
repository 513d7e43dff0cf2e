"""All of a run under way in one folder, so that resuming equals not having stopped."""

import json
import shutil
from pathlib import Path

import numpy as np
import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.logger import Logger

from tetrarchia_train.config import TrainConfig
from tetrarchia_train.distributed import ProcessGroup
from tetrarchia_train.learner import ALONE, Run, connect, make_env, training_reward
from tetrarchia_train.logs import Stopwatch

RESUME = "resume"
ARRAYS, REST, MODEL = "arrays-{}.npz", "rest-{}.json", "model.zip"  # of each process; of rank 0
ENV = "env."  # what begins so in the arrays is the environment's state


def save_run(run: Run, folder: Path) -> None:
    """Keep the run: whole, in the place of what was kept before. All processes call it."""
    draft, goal, old = folder / f".{RESUME}.draft", folder / RESUME, folder / f".{RESUME}.old"
    if run.group.is_rank_0:
        shutil.rmtree(draft, ignore_errors=True)
        draft.mkdir()
        run.model.save(draft / MODEL, exclude=["lr_schedule", "rollout_buffer"])
    run.group.barrier()
    arrays = {"torch": torch.get_rng_state().numpy(), "episode_starts": run.episode_starts}
    arrays |= {ENV + name: array for name, array in run.env.batched.state().items()}
    np.savez(draft / ARRAYS.format(run.group.rank), allow_pickle=False, **arrays)
    (draft / REST.format(run.group.rank)).write_text(json.dumps({"seconds": run.watch.seconds}), encoding="utf-8")
    run.group.barrier()
    if run.group.is_rank_0:
        if goal.exists():
            shutil.rmtree(old, ignore_errors=True)
            goal.rename(old)
        draft.rename(goal)
        shutil.rmtree(old, ignore_errors=True)


def load_run(config: TrainConfig, folder: Path, logger: Logger, group: ProcessGroup = ALONE) -> Run:
    """The run as it was kept; `config` may only want more steps or minutes of it."""
    kept = find_kept(folder, config.processes)
    rest = json.loads((kept / REST.format(group.rank)).read_text(encoding="utf-8"))
    reward = training_reward(config)
    env = make_env(config.part(group.rank), reward)
    model = MaskablePPO.load(kept / MODEL, env=env, device="cpu", force_reset=False)
    run = Run(config, env, reward, model, group, Stopwatch(rest["seconds"]))
    connect(run, logger)
    _restore_arrays(run, kept)
    return run


def find_kept(folder: Path, processes: int) -> Path:
    """Where the run is kept; ValueError if it is not, or not by so many processes."""
    for kept in (folder / RESUME, folder / f".{RESUME}.old"):  # the latter: stopped between the two renames
        if parts := len(list(kept.glob(REST.format("*")))):
            if parts != processes:
                raise ValueError(f"the run in {folder} has {parts} processes: it cannot go on with {processes}")
            return kept
    raise ValueError(f"there is no run to resume in {folder}")


def _restore_arrays(run: Run, kept: Path) -> None:
    """Last of all: making a model draws from torch's generator. Nothing is drawn from numpy's or Python's own."""
    with np.load(kept / ARRAYS.format(run.group.rank), allow_pickle=False) as arrays:
        run.env.batched.set_state({name.removeprefix(ENV): arrays[name] for name in arrays if name.startswith(ENV)})
        run.episode_starts = arrays["episode_starts"]
        torch.set_rng_state(torch.from_numpy(arrays["torch"]))
