"""Records of a training run: TensorBoard scalars, the learning curve in progress.jsonl, and the progress bar."""

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from msgspec import Struct
from numpy.typing import NDArray
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from tetrarchia_env.batch import Games
from tetrarchia_env.constants import END, OUTCOMES
from tetrarchia_env.envs.batched_games import BatchedGames
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.files import atomic_write
from tetrarchia_env.observation import offset

CURVE_FILE = "progress.jsonl"
PUBLISHED_CURVE_FILE = "curve.jsonl"  # in the folder of a published checkpoint
BORDERS = 6  # the observation has the secured fraction
SECURED = offset("secured")
WON = OUTCOMES.index("won")
MIN_STEPS_IN_MILLIONS = 100_000  # smaller numbers are written in full
Point = dict[str, Any]  # of a learning curve: timesteps, seconds, win rates and secured borders by level


def progress_bar(disable: bool = False) -> Progress:
    """Return a progress bar with elapsed and remaining time."""
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:3.0f} %"))
    return Progress(*columns, TimeElapsedColumn(), TimeRemainingColumn(), disable=disable)


class RolloutStats:
    """Statistics of the episodes that ended and the turns that were played in a rollout."""

    def __init__(self) -> None:
        self.episodes: list[NDArray[np.void]] = []
        self.rules: list[NDArray[np.int64]] = []  # index of each episode's rule set
        self.borders: list[NDArray[np.float64]] = []  # secured at the end of each episode
        self.turns, self.unused_ip, self.ended_early = 0, 0, 0

    def add_step(self, before: Games, actions: NDArray[np.int64], masks: NDArray[np.bool_], after: BatchedGames) -> None:
        """Add one step of every game."""
        unused = before["ip"] * (actions == END)
        self.unused_ip += int(unused.sum())
        self.ended_early += int((masks[unused > 0].sum(axis=1) > 1).sum())
        ended = after.episodes["ended"] != 0
        self.turns += int((ended | (after.games["turn"] != before["turn"])).sum())
        if ended.any():
            self.episodes.append(after.episodes[ended])
            self.rules.append(after.rule_index[ended])
            self.borders.append(np.round(BORDERS * after.final_obs[ended, SECURED].astype(np.float64)))

    def scalars(self, rules: Sequence[str]) -> dict[str, float]:
        """Return the statistics by TensorBoard tag.

        Args:
            rules: Names of the rule sets.
        """
        found: dict[str, float] = {}
        if self.turns:
            found["rollout/unused_ip_per_turn"] = self.unused_ip / self.turns
            found["rollout/turns_ended_early"] = self.ended_early / self.turns
        if not self.episodes:
            return found
        episodes, rule_index = np.concatenate(self.episodes), np.concatenate(self.rules)
        won, difficulties = episodes["outcome"] == WON, np.array([difficulty(level) for level in episodes["level"]])
        found["rollout/win_rate"] = float(won.mean())
        found["rollout/ep_rew_mean"] = float(episodes["final_total"].mean())
        found["rollout/ep_len_mean"] = float(episodes["final_steps"].mean())
        found["rollout/ep_turns_mean"] = float(episodes["turn"].mean())
        found["rollout/ep_borders_mean"] = float(np.concatenate(self.borders).mean())
        for outcome in range(WON + 1, len(OUTCOMES)):
            tag = f"rollout/outcome/{OUTCOMES[outcome].replace(' ', '_')}"
            found[tag] = float((episodes["outcome"] == outcome).mean())
        for level in np.unique(difficulties):
            found[f"rollout/win_rate_by_difficulty/{level}"] = float(won[difficulties == level].mean())
        for number in np.unique(rule_index):
            found[f"rollout/win_rate_by_rules/{rules[number]}"] = float(won[rule_index == number].mean())
        return found


def difficulty(level: Iterable[int | str]) -> int:
    """Return the difficulty of a level, 0 to 8 in the rulebook: the sum over its digits (4200 is 2, 4211 is 4, 4222 is 6)."""
    tokens, fleets, revolts, armies = (int(digit) for digit in level)
    return 5 - tokens + 3 - fleets + revolts + armies


def describe_point(point: Point) -> str:
    """Return a point of a learning curve as a line of text."""
    timesteps = point["timesteps"]
    steps = f"{timesteps / 1e6:7.2f} M" if timesteps >= MIN_STEPS_IN_MILLIONS else f"{timesteps:9,}"
    return f"{steps} steps, {point['seconds'] / 60:5.1f} min: {describe_win_rates(point['win_rates'])}"


def describe_win_rates(win_rates: Mapping[str, float]) -> str:
    """Return win rates as text."""
    return "held-out win rates " + ", ".join(f"{label} {rate:.1%}" for label, rate in win_rates.items())


class _CurveLine(Struct):
    """The validated part of a point; other fields are ignored."""

    timesteps: int


def append_point(folder: Path, point: Point) -> None:
    """Append a point to the learning curve in a run folder."""
    with open(folder / CURVE_FILE, "a", encoding="utf-8") as file:
        file.write(json.dumps(point) + "\n")


def read_curve(path: Path) -> list[Point]:
    """Read a learning curve.

    Args:
        path: The file.

    Returns:
        The points; empty if the file does not exist.

    Raises:
        TetrarchiaError: If a line is not JSON.
    """
    try:
        return [msgspec.json.decode(line) for line in path.read_bytes().splitlines()] if path.is_file() else []
    except (msgspec.DecodeError, UnicodeError) as error:
        raise TetrarchiaError(f"{path} cannot be read: {error}") from None


def truncate_curve(folder: Path, timesteps: int) -> None:
    """Drop the points after the timestep at which the run resumes, and damaged lines: the last one may be incomplete."""
    path = folder / CURVE_FILE
    if path.is_file():
        lines = [line for line in path.read_bytes().split(b"\n") if _timesteps(line) <= timesteps]
        with atomic_write(path) as draft:
            draft.write_bytes(b"".join(line + b"\n" for line in lines))


def last_timesteps(folder: Path) -> int:
    """Return the timesteps of the last complete point, or -1."""
    path = folder / CURVE_FILE
    lines = path.read_bytes().split(b"\n")[:-1] if path.is_file() else []
    return _timesteps(lines[-1]) if lines else -1


def _timesteps(line: bytes) -> int:
    """Return the timesteps of a line, or `sys.maxsize` if it is damaged."""
    try:
        return msgspec.json.decode(line, type=_CurveLine).timesteps
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return sys.maxsize
