"""All of a run under way in one folder, so that resuming equals not having stopped."""

import json
import shutil
from pathlib import Path

import numpy as np
import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.logger import Logger

from tetrarchia_train.config import TrainOptions
from tetrarchia_train.distributed import Team
from tetrarchia_train.games import TrainingGames
from tetrarchia_train.learner import Run, ready
from tetrarchia_train.logs import Stopwatch

KEPT = "resume"
ARRAYS, REST, MODEL = "arrays-{}.npz", "rest-{}.json", "model.zip"  # of each process; of the first


def save_run(run: Run, folder: Path) -> None:
    """Keep the run: whole, in the place of what was kept before. All processes call it."""
    draft, goal, old = folder / f".{KEPT}.draft", folder / KEPT, folder / f".{KEPT}.old"
    if run.team.leads:
        shutil.rmtree(draft, ignore_errors=True)
        draft.mkdir()
        run.model.save(draft / MODEL, exclude=["lr_schedule", "rollout_buffer", "_last_obs"])
    run.team.wait()
    arrays = {"torch": torch.get_rng_state().numpy(), "starts": run.model._last_episode_starts, **run.env.state()}
    np.savez(draft / ARRAYS.format(run.team.rank), allow_pickle=False, **arrays)
    (draft / REST.format(run.team.rank)).write_text(json.dumps({"seconds": run.watch.seconds}), encoding="utf-8")
    run.team.wait()
    if run.team.leads:
        if goal.exists():
            shutil.rmtree(old, ignore_errors=True)
            goal.rename(old)
        draft.rename(goal)
        shutil.rmtree(old, ignore_errors=True)


def load_run(options: TrainOptions, folder: Path, logger: Logger, team: Team = Team()) -> Run:  # noqa: B008 - it is frozen
    """The run as it was kept; `options` may only want more steps or minutes of it."""
    kept, part = find_kept(folder, options.processes), options.part(team.rank)
    rest = json.loads((kept / REST.format(team.rank)).read_text(encoding="utf-8"))
    env = TrainingGames(part.num_envs, part.actions, part.rules, part.drawn_levels, part.seed)
    model = MaskablePPO.load(kept / MODEL, env=env, device="cpu", force_reset=False)
    run = Run(options, env, model, Stopwatch(rest["seconds"]), team)
    _restore_games(run, kept)
    ready(run, logger)
    _restore_chance(run, kept)
    return run


def find_kept(folder: Path, processes: int) -> Path:
    """Where the run is kept; ValueError if it is not, or not by so many processes."""
    for kept in (folder / KEPT, folder / f".{KEPT}.old"):  # the latter: stopped between the two renames
        if parts := len(list(kept.glob(REST.format("*")))):
            if parts != processes:
                raise ValueError(f"the run in {folder} has {parts} processes: it cannot go on with {processes}")
            return kept
    raise ValueError(f"there is no run to resume in {folder}")


def _restore_games(run: Run, kept: Path) -> None:
    with np.load(kept / ARRAYS.format(run.team.rank), allow_pickle=False) as arrays:
        run.env.set_state({name: arrays[name] for name in ("games", "lanes", "masks")})
        run.model._last_episode_starts = arrays["starts"]
    run.model._last_obs = run.env.seen


def _restore_chance(run: Run, kept: Path) -> None:
    """Last of all: making a model draws from torch's generator. Nothing is drawn from numpy's or Python's own."""
    with np.load(kept / ARRAYS.format(run.team.rank), allow_pickle=False) as arrays:
        torch.set_rng_state(torch.from_numpy(arrays["torch"]))
