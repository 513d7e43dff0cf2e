"""A training run from one end to the other: lessons, copying, PPO; each stage is kept in the run's folder."""

import shlex
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
import yaml
from rich.progress import Progress
from stable_baselines3.common.logger import Logger

from tetrarchia_agents.checkpoints import checkpoint_folder, load_checkpoint, read_card, save_checkpoint
from tetrarchia_agents.network import Network, NetworkConfig, expand_action_head, make_network
from tetrarchia_env.files import write_whole
from tetrarchia_train.behavior_cloning import Copying, copy
from tetrarchia_train.config import TrainOptions, options_of
from tetrarchia_train.demonstrations import Lessons, collect, jobs_of, load_lessons, save_lessons
from tetrarchia_train.distributed import Team, team_of
from tetrarchia_train.held_out import evaluate, kinds_of
from tetrarchia_train.learner import Run, learn_value, measure, new_run, one_round
from tetrarchia_train.logs import Stopwatch, forget_after, keep, new_logger, progress_bar, told
from tetrarchia_train.resume import find_kept, load_run, save_run

RUNS = Path("runs")
STAGES = ("lessons", "copy", "ppo")
OPTIONS, LESSONS, COPY, LATEST, FINAL = "options.yaml", "lessons.npz", "copy", "latest", "final"


def train(options: TrainOptions, name: str, until: str = "ppo", command: str = "") -> Path:
    """Train from the beginning, or from the stages found in the run's folder; where its last checkpoint is."""
    if until not in STAGES:
        raise ValueError(f"until is one of {', '.join(STAGES)}, not {until!r}")
    folder = RUNS / name
    if (folder / "resume").exists():
        raise ValueError(f"run {name!r} has begun: go on with --resume, or choose another name")
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(folder / OPTIONS, yaml.safe_dump({**options.as_data(), "command": command}, sort_keys=False))
    prepare(options)
    with progress_bar() as bar:
        network = _warm_start(options, folder, until, bar)
        if until != "ppo":
            return folder / (LESSONS if until == "lessons" else COPY)
        with team_of(options.processes, _begin, options, network, folder, command) as team:
            return _begin(team, options, network, folder, command, bar)


def resume(name: str, changes: dict[str, Any]) -> Path:
    """Go on where a run was stopped, or further than it was meant to go."""
    folder = RUNS / name
    if not (folder / OPTIONS).is_file():
        raise ValueError(f"there is no run to resume in {folder}")
    data = yaml.safe_load((folder / OPTIONS).read_text(encoding="utf-8"))
    command = _continued(data.pop("command"), name, changes)
    options = options_of(yaml.safe_dump(data), str(folder / OPTIONS)).changed(changes)
    find_kept(folder, options.processes)
    write_whole(folder / OPTIONS, yaml.safe_dump({**options.as_data(), "command": command}, sort_keys=False))
    with progress_bar() as bar, team_of(options.processes, _go_on, options, folder, command) as team:
        return _go_on(team, options, folder, command, bar)


def _begin(team: Team, options: TrainOptions, network: Network | None, folder: Path, command: str, bar: Progress | None = None) -> Path:
    """PPO from its beginning, in each process; the leader has a bar."""
    prepare(options, team)
    bar = bar or progress_bar(disable=True)
    run = new_run(options, network, _logger(folder, team), team)
    if network is not None:
        task = bar.add_task("value")
        learn_value(run, lambda progress: bar.update(task, completed=100 * progress))
    return _learn(run, folder, command, bar)


def _go_on(team: Team, options: TrainOptions, folder: Path, command: str, bar: Progress | None = None) -> Path:
    """PPO from where it was kept, in each process."""
    prepare(options, team)
    run = load_run(options, folder, _logger(folder, team), team)
    if team.leads:
        forget_after(folder, run.steps)
    return _learn(run, folder, command, bar or progress_bar(disable=True))


def _logger(folder: Path, team: Team) -> Logger:
    """For TensorBoard; of several processes only the first tells."""
    return new_logger(folder) if team.leads else Logger(None, [])


def _continued(command: str, name: str, changes: dict[str, Any]) -> str:
    """The commands that made a run, if it goes on otherwise than it began."""
    changed = [word for option, value in changes.items() for word in (f"--{option.replace('_', '-')}", str(value))]
    return f"{command}; {shlex.join(['tetrarchia', 'train', '--resume', '--name', name, *changed])}" if changed else command


def prepare(options: TrainOptions, team: Team = Team()) -> None:  # noqa: B008 - it is frozen
    """Threads and seeds."""
    torch.set_num_threads(options.threads)
    torch.manual_seed(options.part(team.rank).seed)


def _warm_start(options: TrainOptions, folder: Path, until: str, bar: Progress) -> Network | None:
    """The network to begin PPO with: a copy of the teacher, made now or before; without a teacher the checkpoint to start with, or none."""
    if (folder / COPY).is_dir():
        return _begin_with(folder / COPY, options.network_config)
    network = _begin_with(options.init_checkpoint, options.network_config) if options.init_checkpoint else None
    if options.expert == "none":
        return network
    lessons = _lessons(options, folder, bar)
    return _copy(options, network or make_network(options.network_config), lessons, folder, bar) if until != "lessons" else None


def _begin_with(checkpoint: str | Path, network_config: NetworkConfig) -> Network:
    """The network of a checkpoint, made larger if the run has more actions."""
    loaded = load_checkpoint(checkpoint)
    if replace(loaded.config, actions=network_config.actions) != network_config or loaded.config.actions > network_config.actions:
        raise ValueError(f"checkpoint {checkpoint} has {loaded.config}, the options say {network_config}")
    return expand_action_head(loaded.network, network_config)


def _lessons(options: TrainOptions, folder: Path, bar: Progress) -> Lessons:
    """Those of a file, or new ones."""
    path = Path(options.demonstrations) if options.demonstrations else folder / LESSONS
    if options.demonstrations or path.is_file():
        return load_lessons(path)
    task = bar.add_task(f"lessons of {options.expert}", total=options.num_demonstrations)
    jobs = jobs_of(options.expert, options.drawn_levels, options.rules, options.expert_noise, options.seed)
    lessons = collect(jobs, options.num_demonstrations, options.demo_workers, lambda count: bar.update(task, completed=count))
    save_lessons(lessons, path)
    print(
        f"{options.expert} won {lessons.won} of {lessons.played} games ({lessons.won / lessons.played:.1%}), {len(lessons)} decisions kept"
    )
    return lessons


def _copy(options: TrainOptions, network: Network, lessons: Lessons, folder: Path, bar: Progress) -> Network:
    """The network after copying them, kept as a checkpoint."""
    watch, task = Stopwatch(), bar.add_task("copying")
    how = Copying(options.bc_epochs, options.bc_batch_size, options.bc_learning_rate, options.network_config.actions)
    copied = copy(
        network, lessons, how, lambda progress, loss: bar.update(task, completed=100 * progress, description=f"copying {loss:.3f}")
    )
    seconds = watch.seconds
    results = evaluate(network, kinds_of(options.eval_levels, options.rules), options.n_eval_episodes, options.network_config.actions)
    print(f"copied {copied:.1%} of held back decisions in {seconds:.0f} s; held-out win rates: {told(results)}")
    made = {
        "start": options.init_checkpoint,
        "teacher": options.expert,
        "decisions": len(lessons),
        "copied": copied,
        "seconds": round(seconds),
    }
    made |= {"won": {one.label: one.win_rate for one in results}, "games": options.n_eval_episodes}
    save_checkpoint(folder / COPY, network, options.network_config, {"made": made | {"options": options.as_data()}})
    return network


def _learn(run: Run, folder: Path, command: str, bar: Progress) -> Path:
    """PPO to the end of its steps or minutes, or until Ctrl-C."""
    task = bar.add_task("PPO", total=1.0)
    if run.steps == 0:
        _evaluate(run, folder)  # what PPO adds is what comes after this
    with _told_to_stop(run.team) as stop:
        while run.team.same(run.progress < 1 and not stop()):
            before = run.steps
            one_round(run)
            bar.update(task, completed=run.progress, description=f"PPO {run.steps / 1e6:.1f} M")
            if _passes(before, run.steps, run.options.eval_freq):
                _evaluate(run, folder)
            if _passes(before, run.steps, run.options.save_freq):
                _save(run, folder, command, LATEST)
        stopped = run.team.same(stop())
    if stopped:
        _save(run, folder, command, LATEST)
        if not run.team.leads:
            return folder
        print(f"stopped after {run.steps} steps; to go on: tetrarchia train --resume --name {folder.name}")
        return folder / LATEST
    _evaluate(run, folder)
    _save(run, folder, command, FINAL)
    return folder / FINAL


def _passes(before: int, after: int, every: int) -> bool:
    return before // every != after // every


def _evaluate(run: Run, folder: Path) -> None:
    """Win rates; the other processes wait for them at the next round."""
    if not run.team.leads:
        return
    results = measure(run)
    print(f"{run.steps / 1e6:7.2f} M steps, {run.watch.seconds / 60:5.1f} min: held-out win rates {told(results)}", flush=True)
    won, borders = {one.label: one.win_rate for one in results}, {one.label: round(one.borders, 3) for one in results}
    keep(folder, steps=run.steps, seconds=round(run.watch.seconds), won=won, borders=borders)


def _save(run: Run, folder: Path, command: str, goal: str) -> None:
    """The run to resume, and its network as a checkpoint."""
    save_run(run, folder)
    if not run.team.leads:
        return
    made = {
        "command": command,
        "steps": run.steps,
        "seconds": round(run.watch.seconds),
        "warm_start": _warm_start_told(run.options, folder),
    }
    save_checkpoint(folder / goal, run.network, run.options.network_config, {"made": made | {"options": run.options.as_data()}})


def _warm_start_told(options: TrainOptions, folder: Path) -> dict[str, Any] | None:
    """What the card of the checkpoint that PPO began with says, but for its options."""
    start: str | Path = folder / COPY if (folder / COPY).is_dir() else options.init_checkpoint
    if not start:
        return None
    made = read_card(checkpoint_folder(start)).get("made", {})
    return {name: value for name, value in made.items() if name != "options"}


@contextmanager
def _told_to_stop(team: Team) -> Iterator[Callable[[], bool]]:
    """Whether Ctrl-C was pressed: the round under way is finished first. A second one stops at once. Only the leader hears it."""
    pressed: list[int] = []
    if not team.leads:
        yield lambda: False
        return

    def note(number: int, _: Any) -> None:
        print("stopping after this round; Ctrl-C again stops at once, without saving", file=sys.stderr)
        pressed.append(number)
        signal.signal(signal.SIGINT, before)

    before = signal.signal(signal.SIGINT, note)
    try:
        yield lambda: bool(pressed)
    finally:
        signal.signal(signal.SIGINT, before)
