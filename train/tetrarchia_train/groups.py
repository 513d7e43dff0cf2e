"""Groups of runs: the same options with several seeds, because single runs differ too much to compare methods.

A group is a folder `runs/GROUP` with an ordinary run folder for each seed, `seed-1`, `seed-2`, ... All are created with their options
before the first is trained, so that the folder alone says which runs the group has. Training a group means resuming each run in its own
process.
"""

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from tetrarchia_agents.pools import available_cores
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.files import atomic_dir
from tetrarchia_eval.run_statistics import MIN_RUNS, bootstrap, mean
from tetrarchia_eval.tables import percent
from tetrarchia_train.checkpointing import FINAL_DIR, find_saved_run, run_lock
from tetrarchia_train.config import EXIT_STOPPED, TrainConfig, option_words
from tetrarchia_train.distributed import EXIT_WITH_LAUNCHER
from tetrarchia_train.metrics import CURVE_FILE, read_curve
from tetrarchia_train.run import OPTIONS_FILE, RUNS, saved_options, write_options

RUN_NAME = re.compile(r"seed-(\d+)")
SEED = "{seed}"  # in init_checkpoint
POLL_S = 0.1


def group_runs(folder: Path) -> list[Path]:
    """Return the run folders of a group in the order of their seeds; empty if the folder is not a group."""
    found = {path: RUN_NAME.fullmatch(path.name) for path in folder.glob("seed-*") if (path / OPTIONS_FILE).is_file()}
    return sorted((path for path, match in found.items() if match), key=lambda path: int(path.name.removeprefix("seed-")))


def create_group(config: TrainConfig, name: str, seeds: Sequence[int], command: str) -> Path:
    """Create the run folders of a group, each with its options; nothing is trained yet.

    Args:
        config: The configuration of all runs, except their seeds; `{seed}` in `init_checkpoint` is replaced by the seed of each run.
        name: The group's folder in `runs/`.
        seeds: The seed of each run.
        command: The command line, for the cards of the checkpoints.

    Returns:
        The group's folder.

    Raises:
        TetrarchiaError: If the folder exists, or a seed is not allowed.
    """
    folder = RUNS / name
    if folder.exists():
        raise TetrarchiaError(f"{folder} already exists: continue a group with --resume, or choose another name")
    configs = {
        f"seed-{seed}": replace(config, seed=seed, init_checkpoint=config.init_checkpoint.replace(SEED, str(seed))) for seed in seeds
    }
    RUNS.mkdir(exist_ok=True)
    with atomic_dir(folder) as draft:
        for run, options in configs.items():
            (draft / run).mkdir()
            write_options(draft / run, options, command)
    return folder


def share_cores(config: TrainConfig, overrides: Mapping[str, Any], jobs: int) -> TrainConfig:
    """Return the configuration with threads limited to a run's share of the cores, if `jobs` runs train at once; given threads are kept."""
    return config if "threads" in overrides else replace(config, threads=min(config.threads, max(1, available_cores() // jobs)))


def train_group(folder: Path, overrides: Mapping[str, Any], jobs: int = 1) -> int:
    """Train the unfinished runs of a group, each in its own process.

    SIGINT and SIGTERM are passed on to the running processes, which save their runs; no further run is started. The same happens, without
    a signal, after a run that failed.

    Args:
        folder: The group's folder.
        overrides: New values of some options in `RESUMABLE_FIELDS`, for all runs.
        jobs: Number of runs trained at once, see `share_cores`.

    Returns:
        0 if all runs are finished, 130 if they were stopped, else the exit code of the first run that failed.

    Raises:
        TetrarchiaError: If the runs cannot continue with these options, or another process trains the group.
    """
    if jobs < 1:
        raise TetrarchiaError(f"jobs must be at least 1; got {jobs}")
    runs, waiting = group_runs(folder), []
    for run in runs:
        saved, _ = saved_options(run)
        config = share_cores(saved.resumed(overrides), overrides, jobs)
        if not is_finished(run, config):
            changed = [name for name in (*overrides, "threads") if getattr(config, name) != getattr(saved, name)]
            waiting.append((run, [word for name in changed for word in option_words(name, getattr(config, name))]))
    print(f"group {folder.name}: {len(runs)} runs, {len(runs) - len(waiting)} finished", flush=True)
    running: dict[Path, RunProcess] = {}
    failed: dict[Path, int] = {}
    with run_lock(folder), _forward_signals(running) as signals:
        while running or (waiting and not signals and not failed):
            while waiting and len(running) < jobs and not signals and not failed:
                run, words = waiting.pop(0)
                print(f"{run.name}: starting, {len(waiting)} more waiting", flush=True)
                running[run] = RunProcess(run, words, has_prefix=jobs > 1)
            time.sleep(POLL_S)
            for run, process in list(running.items()):
                if (code := process.poll()) is not None:
                    running.pop(run).finish_output()
                    if code and code != EXIT_STOPPED and not signals:
                        failed[run] = code if code > 0 else 128 - code
    if signals:
        return EXIT_STOPPED
    for run, code in failed.items():
        print(f"{run.name} failed with exit code {code}; to continue: tetrarchia train --resume --name {folder.name}", file=sys.stderr)
        return code
    unfinished = [run.name for run in runs if not (run / FINAL_DIR).is_dir()]
    if unfinished:  # a run was stopped by a signal of its own
        return EXIT_STOPPED
    print(describe_group(folder))
    return 0


def is_finished(folder: Path, config: TrainConfig) -> bool:
    """Return whether a run has its final checkpoint and has spent the timesteps or minutes of its configuration."""
    if not (folder / FINAL_DIR).is_dir():
        return False
    if config.rounds:
        return True
    _, counters = find_saved_run(folder, config.processes)
    return config.progress(counters.timesteps, counters.seconds) >= 1


def describe_group(folder: Path) -> str:
    """Return the mean of the last held-out win rates of a group's runs, with intervals over runs."""
    points = [curve[-1]["win_rates"] for run in group_runs(folder) if (curve := read_curve(run / CURVE_FILE))]
    text = f"group {folder.name}: {len(points)} runs finished"
    if len(points) < MIN_RUNS:
        return text
    rates = {place: [[point[place]] for point in points] for place in points[0] if all(place in point for point in points)}
    means = {place: bootstrap(mean, some, rng=np.random.default_rng(0)) for place, some in rates.items()}
    return f"{text}; held-out win rates, mean over runs: " + ", ".join(f"{place} {percent(one)}" for place, one in means.items())


class RunProcess(subprocess.Popen[str]):
    """The process that resumes a run."""

    def __init__(self, run: Path, words: Sequence[str], *, has_prefix: bool) -> None:
        """Start the process.

        Args:
            run: The run folder.
            words: Options of the command line.
            has_prefix: Print the output line by line after the name of the run, because several runs share the terminal.
        """
        super().__init__(
            [sys.executable, "-m", "tetrarchia_train", "--resume", "--name", run.relative_to(RUNS).as_posix(), *words],
            env=os.environ | {EXIT_WITH_LAUNCHER: "1"} | ({"PYTHONUNBUFFERED": "1"} if has_prefix else {}),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE if has_prefix else None,
            stderr=subprocess.STDOUT if has_prefix else None,
            encoding="utf-8",
            errors="replace",
            start_new_session=True,  # Ctrl-C in the terminal reaches this process alone, which passes it on once
        )
        self._printer = threading.Thread(target=self._print_output, args=[run.name], daemon=True)
        self._printer.start()

    def _print_output(self, name: str) -> None:
        if self.stdout is not None:
            with self.stdout:
                for line in self.stdout:
                    print(f"{name}: {line.rstrip()}", flush=True)

    def finish_output(self) -> None:
        """Wait until everything that the process has written is printed."""
        self._printer.join()


@contextmanager
def _forward_signals(running: Mapping[Path, RunProcess]) -> Iterator[list[int]]:
    """Pass SIGINT and SIGTERM on to processes; yield the list of signals received so far."""
    received: list[int] = []

    def handle(number: int, _: Any) -> None:
        received.append(number)
        for process in running.values():
            process.send_signal(number)

    before = {number: signal.signal(number, handle) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield received
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
