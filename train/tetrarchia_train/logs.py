"""What a run logs: TensorBoard scalars under SB3's names, a file of held-out win rates, and a line with the time left."""

import json
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from msgspec import Struct
from numpy.typing import NDArray
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from stable_baselines3.common.logger import Logger, TensorBoardOutputFormat

from tetrarchia_env.batch import Games
from tetrarchia_env.constants import END, OUTCOMES
from tetrarchia_env.envs.batched_games import BatchedGames
from tetrarchia_env.files import atomic_write
from tetrarchia_env.observation import offset
from tetrarchia_train.held_out import BORDERS, EvalResult
from tetrarchia_train.rule_sets import difficulty

PROGRESS = "progress.jsonl"
SECURED = offset("secured")
WON = OUTCOMES.index("won")


def progress_bar(disable: bool = False) -> Progress:
    """A bar with the time gone and left; plain lines are left to whoever writes them."""
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:3.0f} %"))
    return Progress(*columns, TimeElapsedColumn(), TimeRemainingColumn(), disable=disable)


def new_logger(folder: Path) -> Logger:
    """SB3's logger, for TensorBoard alone."""
    return Logger(str(folder), [TensorBoardOutputFormat(str(folder / "tensorboard"))])


class RolloutStats:
    """Of the episodes that ended and the turns that were played in a rollout."""

    def __init__(self) -> None:
        self.episodes: list[NDArray[np.void]] = []
        self.rules: list[NDArray[np.int64]] = []  # of each, by number
        self.borders: list[NDArray[np.float64]] = []  # secured at the end of each
        self.turns, self.unused_ip, self.ended_early = 0, 0, 0

    def add_step(self, before: Games, actions: NDArray[np.int64], masks: NDArray[np.bool_], after: BatchedGames) -> None:
        """One step in every game, from those before it."""
        unused = before["ip"] * (actions == END)
        self.unused_ip += int(unused.sum())
        self.ended_early += int((masks[unused > 0].sum(axis=1) > 1).sum())
        ended = after.episodes["ended"] != 0
        self.turns += int((ended | (after.games["turn"] != before["turn"])).sum())
        if ended.any():
            self.episodes.append(after.episodes[ended])
            self.rules.append(after.rule_index[ended])
            self.borders.append(np.round(BORDERS * after.final_obs[ended, SECURED].astype(np.float64)))

    def log(self, logger: Logger, rules: Sequence[str]) -> None:
        """All of it; the sets of rules by these names."""
        for name, value in self._scalars(rules) if self.episodes else ():
            logger.record(name, value)
        if self.turns:
            logger.record("rollout/unused_ip_per_turn", self.unused_ip / self.turns)
            logger.record("rollout/turns_ended_early", self.ended_early / self.turns)

    def _scalars(self, rules: Sequence[str]) -> Iterator[tuple[str, float]]:
        episodes, rule_index = np.concatenate(self.episodes), np.concatenate(self.rules)
        won, levels = episodes["outcome"] == WON, np.array([difficulty(level) for level in episodes["level"]])
        yield "rollout/win_rate", float(won.mean())
        yield "rollout/ep_rew_mean", float(episodes["final_total"].mean())
        yield "rollout/ep_len_mean", float(episodes["final_steps"].mean())
        yield "rollout/turns", float(episodes["turn"].mean())
        yield "rollout/borders", float(np.concatenate(self.borders).mean())
        for outcome in range(WON + 1, len(OUTCOMES)):
            yield f"rollout/outcome/{OUTCOMES[outcome]}", float((episodes["outcome"] == outcome).mean())
        for level in np.unique(levels):
            yield f"rollout/win_rate_by_difficulty/{level}", float(won[levels == level].mean())
        for number in np.unique(rule_index):
            yield f"rollout/win_rate_by_rules/{rules[number]}", float(won[rule_index == number].mean())


def log_eval(logger: Logger, results: Sequence[EvalResult]) -> None:
    """Held-out results."""
    for result in results:
        logger.record(f"eval/win_rate/{result.label}", result.win_rate)
        logger.record(f"eval/borders/{result.label}", result.borders)


def eval_scalars(results: Sequence[EvalResult]) -> dict[str, Any]:
    """The same for the file that plots are made from."""
    return {"win_rates": {one.label: one.win_rate for one in results}, "borders": {one.label: round(one.borders, 3) for one in results}}


class ProgressLine(Struct):
    """What a line of the file must have; there is more in it."""

    timesteps: int


def append_progress(folder: Path, **scalars: Any) -> None:
    """One more line in the file that plots are made from."""
    with open(folder / PROGRESS, "a", encoding="utf-8") as file:
        file.write(json.dumps(scalars) + "\n")


def progress_text(timesteps: int, seconds: float, win_rates: Mapping[str, float]) -> str:
    """A line of that file, for a person."""
    rates = ", ".join(f"{label} {rate:.1%}" for label, rate in win_rates.items())
    return f"{timesteps / 1e6:7.2f} M steps, {seconds / 60:5.1f} min: held-out win rates {rates}"


def read_progress(folder: Path) -> list[dict[str, Any]]:
    """The whole lines of that file so far."""
    path = folder / PROGRESS
    lines = path.read_bytes().split(b"\n")[:-1] if path.is_file() else []
    return [json.loads(line) for line in lines if _timesteps(line) < sys.maxsize]


def truncate_progress(folder: Path, timesteps: int) -> None:
    """Drop the lines that a run wrote after the point it goes on from, and those that are none: the last one may be torn."""
    path = folder / PROGRESS
    if path.is_file():
        lines = [line for line in path.read_bytes().split(b"\n") if _timesteps(line) <= timesteps]
        with atomic_write(path) as draft:
            draft.write_bytes(b"".join(line + b"\n" for line in lines))


def last_measured(folder: Path) -> int:
    """The timesteps of the last line, or -1."""
    path = folder / PROGRESS
    lines = path.read_bytes().split(b"\n")[:-1] if path.is_file() else []
    return _timesteps(lines[-1]) if lines else -1


def _timesteps(line: bytes) -> int:
    """Of a line; of what is none, more than any run has."""
    try:
        return msgspec.json.decode(line, type=ProgressLine).timesteps
    except (msgspec.DecodeError, RecursionError):
        return sys.maxsize


class Stopwatch:
    """Seconds since the run began, those before a resume included."""

    def __init__(self, before: float = 0.0) -> None:
        self._began = time.monotonic() - before

    @property
    def seconds(self) -> float:
        """So far."""
        return time.monotonic() - self._began
