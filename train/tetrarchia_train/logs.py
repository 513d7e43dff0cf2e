"""What a run tells while it goes on: TensorBoard, a file of measured results, and a line with the time left."""

import json
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from stable_baselines3.common.logger import Logger, TensorBoardOutputFormat

from tetrarchia_env.engine.state import OUTCOMES
from tetrarchia_train.games import EndsOfTurn, Finished
from tetrarchia_train.held_out import Result
from tetrarchia_train.levels import difficulty

PROGRESS = "progress.jsonl"


def progress_bar(disable: bool = False) -> Progress:
    """A bar with the time gone and left; plain lines are left to whoever writes them."""
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:3.0f} %"))
    return Progress(*columns, TimeElapsedColumn(), TimeRemainingColumn(), disable=disable)


def new_logger(folder: Path) -> Logger:
    """SB3's logger, for TensorBoard alone."""
    return Logger(str(folder), [TensorBoardOutputFormat(str(folder / "tensorboard"))])


def record_games(logger: Logger, finished: Sequence[Finished], ends: EndsOfTurn, rules: Sequence[str]) -> None:
    """What the games that ended in this rollout were like."""
    for name, values in game_figures(finished, rules).items():
        logger.record_mean(name, float(np.mean(values)))
    if ends.turns:
        logger.record("play/unused IP a turn", ends.unused / ends.turns)
        logger.record("play/turns ended early", ends.early / ends.turns)


def game_figures(finished: Sequence[Finished], rules: Sequence[str]) -> dict[str, list[float]]:
    """By name: one number for each game."""
    figures: dict[str, list[float]] = {}
    for game in finished:
        won = float(game.outcome == "won")
        figures.setdefault("games/win rate", []).append(won)
        figures.setdefault(f"win rate by difficulty/{difficulty(game.level)}", []).append(won)
        figures.setdefault(f"win rate by rules/{rules[game.rules]}", []).append(won)
        figures.setdefault("games/borders secured", []).append(game.borders)
        figures.setdefault("games/turns", []).append(game.turns)
        figures.setdefault("games/decisions", []).append(game.decisions)
    outcomes = Counter(game.outcome for game in finished)
    for outcome in OUTCOMES[2:] if outcomes else ():
        figures[f"causes of loss/{outcome}"] = [outcomes[outcome] / outcomes.total()]
    return figures


def keep(folder: Path, **figures: Any) -> None:
    """One more line in the file that plots are made from."""
    with open(folder / PROGRESS, "a", encoding="utf-8") as file:
        file.write(json.dumps(figures) + "\n")


def forget_after(folder: Path, steps: int) -> None:
    """Drop the lines that a run wrote after the point it is resumed from."""
    path = folder / PROGRESS
    if path.is_file():
        lines = [line for line in path.read_text(encoding="utf-8").splitlines() if json.loads(line).get("steps", 0) <= steps]
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def told(results: Sequence[Result]) -> str:
    """Win rates in one line."""
    return ", ".join(f"{result.label} {result.win_rate:.1%}" for result in results)


class Stopwatch:
    """Seconds since the run began, those before a resume included."""

    def __init__(self, before: float = 0.0) -> None:
        self._began = time.monotonic() - before

    @property
    def seconds(self) -> float:
        """So far."""
        return time.monotonic() - self._began
