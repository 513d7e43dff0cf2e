"""A training run from one end to the other: demonstrations, behaviour cloning, PPO; each stage is kept in the run's folder."""

import shlex
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

import torch
import yaml
from rich.progress import Progress
from stable_baselines3.common.logger import Logger

from tetrarchia_agents.checkpoints import checkpoint_folder, load_checkpoint, read_card, save_checkpoint
from tetrarchia_agents.network import Network, expand_action_head, make_network
from tetrarchia_agents.network_config import NetworkConfig
from tetrarchia_env.files import write_whole
from tetrarchia_train.behavior_cloning import CloningConfig, clone
from tetrarchia_train.config import TrainConfig, config_of
from tetrarchia_train.demonstrations import (
    Demonstrations,
    collect_demonstrations,
    load_demonstrations,
    make_jobs,
    save_demonstrations,
)
from tetrarchia_train.distributed import ProcessGroup, process_group
from tetrarchia_train.held_out import eval_tasks, evaluate, win_rates
from tetrarchia_train.learner import ALONE, Run, evaluate_run, new_run, pretrain_critic, train_iteration
from tetrarchia_train.logs import Stopwatch, append_progress, new_logger, progress_bar, truncate_progress
from tetrarchia_train.resume import find_kept, load_run, save_run

RUNS = Path("runs")
STAGES = ("demonstrations", "bc", "ppo")
OPTIONS, DEMONSTRATIONS, BC, LATEST, FINAL = "options.yaml", "demonstrations.npz", "bc", "latest", "final"


def train(config: TrainConfig, name: str, until: str = "ppo", command: str = "") -> Path:
    """Train from the beginning, or from the stages found in the run's folder; where its last checkpoint is."""
    if until not in STAGES:
        raise ValueError(f"until is one of {', '.join(STAGES)}, not {until!r}")
    folder = RUNS / name
    if (folder / "resume").exists():
        raise ValueError(f"run {name!r} has begun: go on with --resume, or choose another name")
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(folder / OPTIONS, yaml.safe_dump({**config.as_data(), "command": command}, sort_keys=False))
    prepare(config)
    with progress_bar() as bar:
        network = _warm_start(config, folder, until, bar)
        if until != "ppo":
            return folder / (DEMONSTRATIONS if until == "demonstrations" else BC)
        with process_group(config.processes, _begin, config, network, folder, command) as group:
            return _begin(group, config, network, folder, command, bar)


def resume(name: str, changes: dict[str, Any]) -> Path:
    """Go on where a run was stopped, or further than it was meant to go."""
    folder = RUNS / name
    if not (folder / OPTIONS).is_file():
        raise ValueError(f"there is no run to resume in {folder}")
    data = yaml.safe_load((folder / OPTIONS).read_text(encoding="utf-8"))
    command = _continued(data.pop("command"), name, changes)
    config = config_of(yaml.safe_dump(data), str(folder / OPTIONS)).changed(changes)
    find_kept(folder, config.processes)
    write_whole(folder / OPTIONS, yaml.safe_dump({**config.as_data(), "command": command}, sort_keys=False))
    with progress_bar() as bar, process_group(config.processes, _go_on, config, folder, command) as group:
        return _go_on(group, config, folder, command, bar)


def _begin(
    group: ProcessGroup, config: TrainConfig, network: Network | None, folder: Path, command: str, bar: Progress | None = None
) -> Path:
    """PPO from its beginning, in each process; rank 0 has a bar."""
    prepare(config, group)
    bar = bar or progress_bar(disable=True)
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
    changed = [word for option, value in changes.items() for word in (f"--{option.replace('_', '-')}", str(value))]
    return f"{command}; {shlex.join(['tetrarchia', 'train', '--resume', '--name', name, *changed])}" if changed else command


def prepare(config: TrainConfig, group: ProcessGroup = ALONE) -> None:
    """Threads and seeds."""
    torch.set_num_threads(config.threads)
    torch.manual_seed(config.part(group.rank).seed)


def _warm_start(config: TrainConfig, folder: Path, until: str, bar: Progress) -> Network | None:
    """The network to begin PPO with: cloned from the expert, now or before; without one the initial checkpoint, or none."""
    if (folder / BC).is_dir():
        return _initial_network(folder / BC, config.network_config)
    network = _initial_network(config.init_checkpoint, config.network_config) if config.init_checkpoint else None
    if config.expert == "none":
        return network
    demonstrations = _demonstrations(config, folder, bar)
    return _clone(config, network or make_network(config.network_config), demonstrations, folder, bar) if until != STAGES[0] else None


def _initial_network(checkpoint: str | Path, network_config: NetworkConfig) -> Network:
    """The network of a checkpoint, made larger if the run has more actions."""
    loaded = load_checkpoint(checkpoint)
    if replace(loaded.config, actions=network_config.actions) != network_config or loaded.config.actions > network_config.actions:
        raise ValueError(f"checkpoint {checkpoint} has {loaded.config}, the options say {network_config}")
    return expand_action_head(loaded.network, network_config)


def _demonstrations(config: TrainConfig, folder: Path, bar: Progress) -> Demonstrations:
    """Those of a file, or new ones."""
    path = Path(config.demonstrations) if config.demonstrations else folder / DEMONSTRATIONS
    if config.demonstrations or path.is_file():
        return load_demonstrations(path)
    task = bar.add_task(f"demonstrations of {config.expert}", total=config.num_demonstrations)
    jobs = make_jobs(config.expert, config.drawn_levels, config.rules, config.expert_noise, config.seed)
    found = collect_demonstrations(jobs, config.num_demonstrations, config.demo_workers, lambda number: bar.update(task, completed=number))
    save_demonstrations(found, path)
    print(f"{config.expert} won {found.won} of {found.played} games ({found.won / found.played:.1%}), {len(found)} demonstrations kept")
    return found


def _clone(config: TrainConfig, network: Network, demonstrations: Demonstrations, folder: Path, bar: Progress) -> Network:
    """The network after behaviour cloning, kept as a checkpoint."""
    watch, task = Stopwatch(), bar.add_task("behaviour cloning")

    def tell(progress: float, loss: float) -> None:
        bar.update(task, completed=100 * progress, description=f"behaviour cloning {loss:.3f}")

    cloning = CloningConfig(config.bc_epochs, config.bc_batch_size, config.bc_learning_rate)
    accuracy = clone(network, demonstrations, cloning, tell)
    seconds = watch.seconds
    results = evaluate(network, eval_tasks(config.eval_levels, config.rules), config.n_eval_episodes)
    print(f"accuracy {accuracy:.1%} after {seconds:.0f} s; held-out win rates: {win_rates(results)}")
    made = {
        "init_checkpoint": config.init_checkpoint,
        "expert": config.expert,
        "num_demonstrations": len(demonstrations),
        "bc_accuracy": accuracy,
        "seconds": round(seconds),
        "win_rates": {one.label: one.win_rate for one in results},
        "n_eval_episodes": config.n_eval_episodes,
        "options": config.as_data(),
    }
    save_checkpoint(folder / BC, network, config.network_config, {"made": made})
    return network


def _learn(run: Run, folder: Path, command: str, bar: Progress) -> Path:
    """PPO to the end of its steps or minutes, or until Ctrl-C."""
    task = bar.add_task("PPO", total=1.0)
    if run.timesteps == 0:
        _evaluate(run, folder)  # what PPO adds is what comes after this
    with _stop_requested(run.group) as stop:
        while run.group.broadcast(run.progress < 1 and not stop()):
            before = run.timesteps
            train_iteration(run)
            bar.update(task, completed=run.progress, description=f"PPO {run.timesteps / 1e6:.1f} M")
            if _passes(before, run.timesteps, run.config.eval_freq):
                _evaluate(run, folder)
            if _passes(before, run.timesteps, run.config.save_freq):
                _save(run, folder, command, LATEST)
        stopped = run.group.broadcast(stop())
    if stopped:
        _save(run, folder, command, LATEST)
        if not run.group.is_rank_0:
            return folder
        print(f"stopped after {run.timesteps} steps; to go on: tetrarchia train --resume --name {folder.name}")
        return folder / LATEST
    _evaluate(run, folder)
    _save(run, folder, command, FINAL)
    return folder / FINAL


def _passes(before: int, after: int, every: int) -> bool:
    return before // every != after // every


def _evaluate(run: Run, folder: Path) -> None:
    """Win rates; the other processes wait for them at the next iteration."""
    if not run.group.is_rank_0:
        return
    results, seconds = evaluate_run(run), run.watch.seconds
    print(f"{run.timesteps / 1e6:7.2f} M steps, {seconds / 60:5.1f} min: held-out win rates {win_rates(results)}", flush=True)
    rates, borders = {one.label: one.win_rate for one in results}, {one.label: round(one.borders, 3) for one in results}
    append_progress(folder, timesteps=run.timesteps, seconds=round(seconds), win_rates=rates, borders=borders)


def _save(run: Run, folder: Path, command: str, goal: str) -> None:
    """The run to resume, and its network as a checkpoint."""
    save_run(run, folder)
    if not run.group.is_rank_0:
        return
    made = {
        "command": command,
        "timesteps": run.timesteps,
        "seconds": round(run.watch.seconds),
        "warm_start": _warm_start_card(run.config, folder),
        "options": run.config.as_data(),
    }
    save_checkpoint(folder / goal, run.network, run.config.network_config, {"made": made})


def _warm_start_card(config: TrainConfig, folder: Path) -> dict[str, Any] | None:
    """What the card of the checkpoint that PPO began with says, but for its options."""
    start: str | Path = folder / BC if (folder / BC).is_dir() else config.init_checkpoint
    if not start:
        return None
    made = read_card(checkpoint_folder(start)).get("made", {})
    return {name: value for name, value in made.items() if name != "options"}


@contextmanager
def _stop_requested(group: ProcessGroup) -> Iterator[Callable[[], bool]]:
    """Whether Ctrl-C was pressed: the iteration under way is finished first. A second one stops at once. Only rank 0 hears it."""
    pressed: list[int] = []
    if not group.is_rank_0:
        yield lambda: False
        return

    def note(number: int, _: Any) -> None:
        print("stopping after this iteration; Ctrl-C again stops at once, without saving", file=sys.stderr)
        pressed.append(number)
        signal.signal(signal.SIGINT, before)

    before = signal.signal(signal.SIGINT, note)
    try:
        yield lambda: bool(pressed)
    finally:
        signal.signal(signal.SIGINT, before)


def measure_fps(config: TrainConfig, iterations: int = 3) -> float:
    """Steps a second of PPO from end to end, rollouts and updates, all processes together; the median iteration after a first."""
    with process_group(config.processes, _iteration_seconds, config, iterations) as group:
        return config.num_envs * config.n_steps / median(_iteration_seconds(group, config, iterations))


def _iteration_seconds(group: ProcessGroup, config: TrainConfig, iterations: int) -> list[float]:
    prepare(config, group)
    run = new_run(config, None, Logger(None, []), group)
    train_iteration(run)
    seconds = []
    for _ in range(iterations):
        began = time.perf_counter()
        train_iteration(run)
        seconds.append(time.perf_counter() - began)
    return seconds
