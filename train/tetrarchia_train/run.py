"""A training run from one end to the other: demonstrations, behaviour cloning, PPO; each stage is kept in the run's folder.

With `rounds` it is several such runs, a folder each (`expert_iteration.py`).
"""

import shlex
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import torch
import yaml
from rich.progress import Progress
from stable_baselines3.common.logger import Logger

from tetrarchia_agents.checkpoints import save_checkpoint
from tetrarchia_agents.network import Network
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.files import atomic_dir, latest_dir, write_text_atomic
from tetrarchia_train.config import CHANGEABLE, TrainConfig, data_of
from tetrarchia_train.distributed import ALONE, ProcessGroup, follow, launched_group, process_group
from tetrarchia_train.expert_iteration import iterate, round_name
from tetrarchia_train.folders import FINAL, LATEST, run_lock
from tetrarchia_train.launcher import was_restarted
from tetrarchia_train.learner import Run, evaluate_run, new_run, pretrain_critic, train_iteration
from tetrarchia_train.logs import append_progress, eval_scalars, last_measured, new_logger, progress_bar, progress_text, truncate_progress
from tetrarchia_train.resume import RESUME, find_kept, load_run, save_run
from tetrarchia_train.warm_start import BC, DEMONSTRATIONS, warm_start, warm_start_card

RUNS = Path("runs")
Learn = Callable[[TrainConfig, Path, str, str], Path]  # options, folder, last stage, command: to the last checkpoint
STAGES = ("demonstrations", "bc", "ppo")
OPTIONS = "options.yaml"


def train(config: TrainConfig, name: str, until: str = "ppo", command: str = "", learn: Learn | None = None) -> Path:
    """Train from the beginning, or from the stages found in the run's folder; where its last checkpoint is.

    learn: what does the work, if not the processes of the launcher or of this machine
    """
    if until not in STAGES:
        raise TetrarchiaError(f"until is one of {', '.join(STAGES)}, not {until!r}")
    if config.rounds and until != "ppo":
        raise TetrarchiaError(f"until is for a run without rounds, not for {config.rounds}: each of them has all stages")
    with launched_group() as group:
        if not group.is_rank_0:
            return follow(group) or RUNS / name
        return _train(config, RUNS / name, until, command, learn or partial(learn_here, group))


def resume(name: str, changes: dict[str, Any], learn: Learn | None = None) -> Path:
    """Go on where a run was stopped, or further than it was meant to go; nothing is written if it cannot."""
    with launched_group() as group:
        if not group.is_rank_0:
            return follow(group) or RUNS / name
        return _resume(RUNS / name, changes, learn or partial(learn_here, group))


def _train(config: TrainConfig, folder: Path, until: str, command: str, learn: Learn) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    with run_lock(folder):
        begun = latest_dir(folder / RESUME) or (folder / round_name(1)).is_dir()
        if begun and not was_restarted():
            raise TetrarchiaError(f"run {folder.name!r} has begun: go on with --resume, or choose another name")
        _write_options(folder, config, command)
        return _rounds(config, folder, command, {}, learn) if config.rounds else learn(config, folder, until, command)


def _resume(folder: Path, changes: dict[str, Any], learn: Learn) -> Path:
    if not (folder / OPTIONS).is_file():
        raise TetrarchiaError(f"there is no run to resume in {folder}")
    with run_lock(folder):
        began, command = _read_options(folder / OPTIONS)
        config, command = began.resumed(changes), _continued(command, folder.name, changes)
        if config.rounds:
            _write_options(folder, config, command)
            return _rounds(config, folder, command, changes, learn)
        return _go_on_with(config, folder, command, changes, learn)


def _rounds(config: TrainConfig, folder: Path, command: str, changes: dict[str, Any], learn: Learn) -> Path:
    """Expert iteration from its beginning, or from the round that was under way."""
    torch.set_num_threads(config.threads)
    return iterate(config, folder, lambda one, goal: _go_on_with(one, goal, command, changes, learn))


def _go_on_with(config: TrainConfig, folder: Path, command: str, changes: dict[str, Any], learn: Learn) -> Path:
    """All stages that are not done yet."""
    folder.mkdir(exist_ok=True)
    if latest_dir(folder / RESUME):  # else PPO has nothing kept yet
        _check_kept(folder, config, changes)
    _write_options(folder, config, command)
    return learn(config, folder, "ppo", command)


def learn_here(leader: ProcessGroup, config: TrainConfig, folder: Path, until: str, command: str) -> Path:
    """All stages that are not done yet, by this process and those that follow it."""
    with progress_bar() as bar:
        if latest_dir(folder / RESUME):
            with process_group(config.processes, _go_on, config, folder, command, leader=leader) as group:
                return _go_on(group, config, folder, command, bar)
        prepare(config)
        network = warm_start(config, folder, until, bar)
        if until != "ppo":
            return folder / (DEMONSTRATIONS if until == "demonstrations" else BC)
        with process_group(config.processes, _begin, config, network, folder, command, leader=leader) as group:
            return _begin(group, config, network, folder, command, bar)


def _write_options(folder: Path, config: TrainConfig, command: str) -> None:
    write_text_atomic(folder / OPTIONS, yaml.safe_dump({**config.as_data(), "command": command}, sort_keys=False))


def _read_options(path: Path) -> tuple[TrainConfig, str]:
    """The options that a run was begun with, and its command."""
    try:
        data = data_of(path.read_text(encoding="utf-8"), "it")
        command = data.pop("command", "")
        if not isinstance(command, str):
            raise TetrarchiaError(f"command is a text, not {command!r}")
        return TrainConfig().changed(data), command
    except ValueError as error:
        raise TetrarchiaError(f"{path}: {error}") from None


def _check_kept(folder: Path, config: TrainConfig, changes: dict[str, Any]) -> None:
    """That the run as it was kept can go on by these options."""
    _, counters = find_kept(folder, config.processes)
    if "total_timesteps" in changes and config.total_timesteps < counters.timesteps:
        raise TetrarchiaError(
            f"total_timesteps is at least {counters.timesteps}, which the run has played already, not {config.total_timesteps}"
        )


def _begin(
    group: ProcessGroup, config: TrainConfig, network: Network | None, folder: Path, command: str, bar: Progress | None = None
) -> Path:
    """PPO from its beginning, in each process; rank 0 has a bar."""
    prepare(config, group)
    bar = bar or progress_bar(disable=True)
    if group.is_rank_0:
        truncate_progress(folder, -1)  # of a beginning that nothing was kept of
    run = new_run(config, network, _logger(folder, group), group)
    if network is not None:
        task = bar.add_task("critic")
        pretrain_critic(run, lambda progress: bar.update(task, completed=100 * progress))
    return _learn(run, folder, command, bar)


def _go_on(group: ProcessGroup, config: TrainConfig, folder: Path, command: str, bar: Progress | None = None) -> Path:
    """PPO from where it was kept, in each process."""
    prepare(config, group)
    run = load_run(config, folder, _logger(folder, group), group)
    if group.is_rank_0:
        truncate_progress(folder, run.timesteps)
    return _learn(run, folder, command, bar or progress_bar(disable=True))


def _logger(folder: Path, group: ProcessGroup) -> Logger:
    """For TensorBoard; of several processes only rank 0 logs."""
    return new_logger(folder) if group.is_rank_0 else Logger(None, [])


def _continued(command: str, name: str, changes: dict[str, Any]) -> str:
    """The commands that made a run, if it goes on otherwise than it began."""
    changed = [word for option, value in changes.items() if option in CHANGEABLE for word in (f"--{option.replace('_', '-')}", str(value))]
    return f"{command}; {shlex.join(['tetrarchia', 'train', '--resume', '--name', name, *changed])}" if changed else command


def prepare(config: TrainConfig, group: ProcessGroup = ALONE) -> None:
    """Threads and seeds."""
    torch.set_num_threads(config.threads)
    torch.manual_seed(config.part(group.rank).seed)


def _learn(run: Run, folder: Path, command: str, bar: Progress) -> Path:
    """PPO to the end of its steps or minutes, or until Ctrl-C or SIGTERM."""
    task = bar.add_task("PPO", total=1.0)
    if run.timesteps == 0:
        _evaluate(run, folder)  # what PPO adds is what comes after this
    with _stop_requested(run.group) as stop:
        while run.group.broadcast(run.progress < 1) and not run.group.any(stop()):
            before = run.timesteps
            train_iteration(run)
            bar.update(task, completed=run.progress, description=f"PPO {run.timesteps / 1e6:.1f} M")
            if _passes(before, run.timesteps, run.config.eval_freq):
                _evaluate(run, folder)
            if _passes(before, run.timesteps, run.config.save_freq):
                _save(run, folder, command, LATEST)
        stopped = run.group.any(stop())
    if stopped:
        _save(run, folder, command, LATEST)
        if run.group.is_rank_0:
            print(f"stopped after {run.timesteps} steps; to go on: tetrarchia train --resume --name {_run_name(folder)}")
        return folder / LATEST
    _evaluate(run, folder)
    _save(run, folder, command, FINAL)
    return folder / FINAL


def _run_name(folder: Path) -> str:
    """A round lies in the folder of its run."""
    return folder.name if folder.parent.name == RUNS.name else folder.parent.name


def _passes(before: int, after: int, every: int) -> bool:
    return before // every != after // every


def _evaluate(run: Run, folder: Path) -> None:
    """Win rates, once at each point; the other processes wait for them at the next iteration."""
    if not run.group.is_rank_0 or last_measured(folder) == run.timesteps:
        return
    results, seconds = evaluate_run(run), run.watch.seconds
    measured = eval_scalars(results)
    print(progress_text(run.timesteps, seconds, measured["win_rates"]), flush=True)
    append_progress(folder, timesteps=run.timesteps, seconds=round(seconds), **measured)


def _save(run: Run, folder: Path, command: str, goal: str) -> None:
    """The run to resume, and its network as a checkpoint."""
    save_run(run, folder)
    run.group.on_save(folder / RESUME)
    if not run.group.is_rank_0:
        return
    made = {
        "command": command,
        "timesteps": run.timesteps,
        "seconds": round(run.watch.seconds),
        "warm_start": warm_start_card(run.config, folder),
        "options": run.config.as_data(),
    }
    with atomic_dir(folder / goal) as draft:
        save_checkpoint(draft, run.network, run.config.network_config, {"training": made})


@contextmanager
def _stop_requested(group: ProcessGroup) -> Iterator[Callable[[], bool]]:
    """Whether Ctrl-C was pressed, or SIGTERM sent, as clusters do: the iteration under way is finished first.

    A second one stops at once. A launcher tells all its processes.
    """
    asked: list[int] = []
    if threading.current_thread() is not threading.main_thread():  # no other hears signals
        yield lambda: False
        return

    def note(number: int, _: Any) -> None:
        if group.is_rank_0:
            print("stopping after this iteration; Ctrl-C again stops at once, without saving", file=sys.stderr)
        asked.append(number)
        restore()

    def restore() -> None:
        for number, handler in before.items():
            signal.signal(number, handler)

    before = {number: signal.signal(number, note) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield lambda: bool(asked)
    finally:
        restore()
