"""A training run: demonstrations, behavior cloning, then PPO; each stage is saved in the run folder.

With `rounds` a run consists of several such runs, one folder each (`expert_iteration.py`). A group is a folder of runs (`groups.py`).
"""

import shlex
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from os import environ
from pathlib import Path
from typing import Any, get_args

import torch
import yaml
from rich.progress import Progress
from torch.utils.tensorboard import SummaryWriter

from tetrarchia_agents.checkpoints import save_checkpoint
from tetrarchia_agents.network import Network
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.files import atomic_dir, latest_dir, write_text_atomic
from tetrarchia_train.behavior_cloning import BC_DIR, DEMONSTRATIONS_FILE, warm_start, warm_start_card
from tetrarchia_train.checkpointing import FINAL_DIR, LATEST_DIR, RESUME_DIR, find_saved_run, load_run, run_lock, save_run
from tetrarchia_train.config import RESUMABLE_FIELDS, Stage, TrainConfig, option_words, read_options
from tetrarchia_train.distributed import any_rank, broadcast, is_rank_zero, process_group, world_size
from tetrarchia_train.evaluation import evaluate
from tetrarchia_train.expert_iteration import iterate, round_name
from tetrarchia_train.metrics import append_point, describe_point, last_timesteps, progress_bar, truncate_curve
from tetrarchia_train.ppo import Learner, find_precision

RUNS = Path("runs")
OPTIONS_FILE = "options.yaml"


def train(config: TrainConfig, name: str, stop_after: Stage = "ppo", command: str = "") -> Path:
    """Train a new run, or continue after the stages that are finished in its folder.

    Under torchrun all processes call this; rank zero runs all stages, and the others join it for PPO.

    Args:
        config: The configuration; `processes` must be the number of processes started.
        name: The run's folder in `runs/`.
        stop_after: The last stage, "demonstrations", "bc" or "ppo".
        command: The command line that started the run, for the checkpoint's card.

    Returns:
        The folder of the last checkpoint; its name is "latest" if the run was stopped.

    Raises:
        TetrarchiaError: If the run already exists or cannot be trained.
    """
    if stop_after not in get_args(Stage):
        raise TetrarchiaError(f"stop_after must be one of {', '.join(get_args(Stage))}; got {stop_after!r}")
    if config.rounds and stop_after != "ppo":
        raise TetrarchiaError(f"stop_after cannot be combined with rounds, each of which has all stages; got {config.rounds} rounds")
    return _on_rank_zero(partial(_train, config, RUNS / name, stop_after, command))


def resume(name: str, overrides: Mapping[str, Any]) -> Path:
    """Continue a run that was stopped, or extend a finished one.

    Args:
        name: The run's folder in `runs/`.
        overrides: New values of some options in `RESUMABLE_FIELDS`.

    Returns:
        The folder of the last checkpoint, see `train`.

    Raises:
        TetrarchiaError: If the run cannot continue; it is then left unchanged.
    """
    return _on_rank_zero(partial(_resume, RUNS / name, overrides))


def _on_rank_zero(work: Callable[[], Path]) -> Path:
    """Run all stages in rank zero; the other ranks take part in PPO."""
    with process_group():
        if is_rank_zero():
            checkpoint = work()
            broadcast(None)
            return checkpoint
        return worker_loop()


def worker_loop() -> Path:
    """Run each PPO stage that rank zero starts, until rank zero has finished; return the last checkpoint."""
    checkpoint = Path()
    while (task := broadcast(None)) is not None:
        checkpoint = train_ppo(*task)
    return checkpoint


def _train(config: TrainConfig, folder: Path, stop_after: Stage, command: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    with run_lock(folder):
        exists = latest_dir(folder / RESUME_DIR) or (folder / round_name(1)).is_dir()
        if exists and environ.get("TORCHELASTIC_RESTART_COUNT", "0") == "0":  # after a failure torchrun runs the same command again
            raise TetrarchiaError(f"run {folder.name!r} already exists: continue it with --resume, or choose another name")
        write_options(folder, config, command)
        if config.rounds:
            return iterate(config, folder, lambda one, goal: _continue(one, goal, command, {}))
        return _run_stages(config, folder, command, stop_after)


def _resume(folder: Path, overrides: Mapping[str, Any]) -> Path:
    original, command = saved_options(folder)
    config = original.resumed(overrides)
    changed = [word for name, value in overrides.items() if name in RESUMABLE_FIELDS for word in option_words(name, value)]
    if changed:
        command += f"; {shlex.join(['tetrarchia', 'train', '--resume', '--name', folder.relative_to(RUNS).as_posix(), *changed])}"
    with run_lock(folder):
        if config.rounds:
            write_options(folder, config, command)
            return iterate(config, folder, lambda one, goal: _continue(one, goal, command, overrides))
        return _continue(config, folder, command, overrides)


def _continue(config: TrainConfig, folder: Path, command: str, overrides: Mapping[str, Any]) -> Path:
    """Run the stages that are not finished yet."""
    folder.mkdir(exist_ok=True)
    if latest_dir(folder / RESUME_DIR):
        _, counters = find_saved_run(folder, config.processes)
        if "total_timesteps" in overrides and config.total_timesteps < counters.timesteps:
            raise TetrarchiaError(
                f"total_timesteps must be at least {counters.timesteps}, which the run has already played; got {config.total_timesteps}"
            )
    write_options(folder, config, command)
    return _run_stages(config, folder, command, "ppo")


def _run_stages(config: TrainConfig, folder: Path, command: str, stop_after: Stage) -> Path:
    """Run demonstrations, behavior cloning and PPO, except finished stages."""
    if config.processes != world_size():
        raise TetrarchiaError(f"the run has {config.processes} processes, but {world_size()} were started: use torchrun or --processes")
    with progress_bar() as bar:
        network, resumed = None, latest_dir(folder / RESUME_DIR) is not None
        if not resumed:
            torch.set_num_threads(config.threads)
            torch.manual_seed(config.seed)
            network = warm_start(config, folder, stop_after, bar)
            if stop_after != "ppo":
                return folder / (DEMONSTRATIONS_FILE if stop_after == "demonstrations" else BC_DIR)
        broadcast((config, folder, command, resumed, network is not None))
        return train_ppo(config, folder, command, resumed, network is not None, network, bar)


def train_ppo(
    config: TrainConfig,
    folder: Path,
    command: str,
    resumed: bool,
    pretrain_critic: bool,
    network: Network | None = None,
    bar: Progress | None = None,
) -> Path:
    """Train by PPO until the timesteps or minutes are spent, or Ctrl-C or SIGTERM arrives.

    Args:
        config: The configuration of the run over all processes.
        folder: The run folder; used by rank zero only.
        command: The command line, for the checkpoint's card.
        resumed: Whether to continue from the saved state in the folder.
        pretrain_critic: Whether to fit the critic first, because the policy is not random.
        network: Initial weights, in rank zero; default: random ones.
        bar: Progress bar; default: none.

    Returns:
        The folder of the checkpoint.
    """
    bar = bar or progress_bar(disable=True)
    torch.set_num_threads(config.threads)
    learner = load_run(config, folder) if resumed else Learner(config, network)
    if is_rank_zero():
        truncate_curve(folder, learner.timesteps if resumed else -1)
    if pretrain_critic:
        task = bar.add_task("critic")
        learner.pretrain_critic(lambda progress: bar.update(task, completed=100 * progress))

    task = bar.add_task("PPO", total=1.0)
    bar.update(task, completed=learner.progress)
    with _tensorboard(folder) as log, _stop_on_signal() as stop_requested:
        if learner.timesteps == 0:
            _evaluate(learner, folder, log)
        while broadcast(learner.progress < 1) and not any_rank(stop_requested()):
            before = learner.timesteps
            log(learner.train_iteration(), learner.timesteps)
            bar.update(task, completed=learner.progress, description=f"PPO {learner.timesteps / 1e6:.1f} M")
            if before // config.eval_freq != learner.timesteps // config.eval_freq:
                _evaluate(learner, folder, log)
            if before // config.save_freq != learner.timesteps // config.save_freq:
                _save(learner, folder / LATEST_DIR, command)
        stopped = any_rank(stop_requested())
        if not stopped:
            _evaluate(learner, folder, log)
    checkpoint = folder / (LATEST_DIR if stopped else FINAL_DIR)
    _save(learner, checkpoint, command)
    if stopped and is_rank_zero():
        name = folder.relative_to(RUNS).parts[0] if folder.is_relative_to(RUNS) else folder.name  # of the group, or the run of a round
        print(f"stopped after {learner.timesteps} timesteps; to continue: tetrarchia train --resume --name {name}")
    return checkpoint


@contextmanager
def _tensorboard(folder: Path) -> Iterator[Callable[[Mapping[str, float], int], None]]:
    """Yield a function that writes scalars by tag; only rank zero writes."""
    if not is_rank_zero():
        yield lambda scalars, timesteps: None
        return
    with SummaryWriter(str(folder / "tensorboard")) as writer:

        def log(scalars: Mapping[str, float], timesteps: int) -> None:
            for tag, value in scalars.items():
                writer.add_scalar(tag, value, timesteps)
            writer.flush()

        yield log


def _evaluate(learner: Learner, folder: Path, log: Callable[[Mapping[str, float], int], None]) -> None:
    """Evaluate and add a point to the learning curve, unless it already has this timestep; the other ranks wait in the next iteration."""
    if not is_rank_zero() or last_timesteps(folder) == learner.timesteps:
        return
    results = evaluate(learner.policy, learner.config)
    point = {"timesteps": learner.timesteps, "seconds": round(learner.seconds), **results}
    print(describe_point(point), flush=True)
    append_point(folder, point)
    log({f"eval/win_rate/{label}": rate for label, rate in results["win_rates"].items()}, learner.timesteps)
    log({f"eval/borders/{label}": borders for label, borders in results["borders"].items()}, learner.timesteps)


def _save(learner: Learner, checkpoint: Path, command: str) -> None:
    """Save the state of the run, and the network as a checkpoint."""
    folder, config = checkpoint.parent, learner.config
    save_run(learner, folder)
    if not is_rank_zero():
        return
    training = {
        "command": command,
        "timesteps": learner.timesteps,
        "seconds": round(learner.seconds),
        "warm_start": warm_start_card(config, folder),
        "options": {**config.as_data(), "precision": find_precision(config.precision, learner.network.device.type)},
    }
    with atomic_dir(checkpoint) as draft:
        save_checkpoint(draft, learner.policy, config.network_config, {"training": training})


@contextmanager
def _stop_on_signal() -> Iterator[Callable[[], bool]]:
    """Yield a function that returns whether SIGINT or SIGTERM arrived; the current iteration is finished first.

    A second signal has its usual effect. torchrun passes signals on to all ranks.
    """
    received: list[int] = []
    if threading.current_thread() is not threading.main_thread():  # signals are handled in the main thread only
        yield lambda: False
        return

    def handle(number: int, _: Any) -> None:
        if is_rank_zero():
            print("stopping after this iteration; Ctrl-C again stops at once, without saving", file=sys.stderr)
        received.append(number)
        restore()

    def restore() -> None:
        for number, handler in before.items():
            signal.signal(number, handler)

    before = {number: signal.signal(number, handle) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield lambda: bool(received)
    finally:
        restore()


def write_options(folder: Path, config: TrainConfig, command: str) -> None:
    """Write the configuration and the command line of a run into its folder."""
    write_text_atomic(folder / OPTIONS_FILE, yaml.safe_dump({**config.as_data(), "command": command}, sort_keys=False))


def saved_options(folder: Path) -> tuple[TrainConfig, str]:
    """Read the configuration and the command line of a run.

    Args:
        folder: The run folder.

    Raises:
        TetrarchiaError: If there is no run in the folder, or its options are damaged.
    """
    path = folder / OPTIONS_FILE
    if not path.is_file():
        raise TetrarchiaError(f"there is no run to resume in {folder}")
    try:
        data = read_options(path.read_text(encoding="utf-8"), "the file")
        command = data.pop("command", "")
        if not isinstance(command, str):
            raise TetrarchiaError(f"command must be a text; got {command!r}")
        return TrainConfig().with_overrides(data), command
    except (TetrarchiaError, UnicodeDecodeError) as error:
        raise TetrarchiaError(f"{path}: {error}") from None
