"""Expert iteration: a search plays better than the network it searches with, the network learns from it, and so on.

Anthony, Tian and Barber, Thinking fast and slow with deep learning and tree search (NIPS 2017). A round is a run of its own in the
run's folder: games of the search by the last round's network, cloning of its turns and values (`search_targets.py`), then PPO.
"""

import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec

from tetrarchia_agents.checkpoints import checkpoint_folder, load_checkpoint
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.files import atomic_dir, write_text_atomic
from tetrarchia_train.config import SEARCH, TrainConfig
from tetrarchia_train.folders import FINAL
from tetrarchia_train.held_out import eval_tasks, evaluate, win_rates
from tetrarchia_train.logs import PROGRESS, eval_scalars

TrainRound = Callable[[TrainConfig, Path], Path]  # to its end, or until it is stopped: where the last checkpoint is


def iterate(config: TrainConfig, folder: Path, train_round: TrainRound) -> Path:
    """Rounds as long as they gain, those found in the folder included; the best checkpoint becomes the run's own."""
    curve, best = [_measured_start(config, folder)], config.init_checkpoint
    for number in range(1, config.rounds + 1):
        goal = folder / round_name(number)
        last = goal / FINAL if (goal / FINAL).is_dir() else train_round(round_config(config, best, number), goal)
        if last.name != FINAL:
            return last
        gained, before = _mean_win_rate(_lines(goal)[-1]), _mean_win_rate(curve[-1])
        curve += _continued(curve[-1], _lines(goal), number)
        write_text_atomic(folder / PROGRESS, "".join(json.dumps(line) + "\n" for line in curve))
        print(f"round {number}: mean held-out win rate {gained:.1%}, before {before:.1%}", flush=True)
        if gained <= before:
            break
        best = str(last)
    return _keep(checkpoint_folder(best), folder / FINAL)


def round_name(number: int) -> str:
    """Of its folder."""
    return f"round-{number}"


def round_config(config: TrainConfig, checkpoint: str, number: int) -> TrainConfig:
    """The options of one round's run: it begins with this checkpoint, and with the search by it as its expert."""
    expert = f"{SEARCH}checkpoint={checkpoint}:{config.expert.removeprefix(SEARCH)}"
    return replace(config, rounds=0, init_checkpoint=checkpoint, expert=expert, seed=config.seed + number - 1)


def _measured_start(config: TrainConfig, folder: Path) -> dict[str, Any]:
    """The first line of the curve, measured once: what the rounds begin with."""
    if (folder / PROGRESS).is_file():
        return _lines(folder)[0]
    results = evaluate(
        load_checkpoint(config.init_checkpoint).network, eval_tasks(config.eval_levels, config.rules), config.n_eval_episodes
    )
    print(f"held-out win rates of {config.init_checkpoint}: {win_rates(results)}", flush=True)
    line = {"round": 0, "timesteps": 0, "seconds": 0} | eval_scalars(results)
    write_text_atomic(folder / PROGRESS, json.dumps(line) + "\n")
    return line


def _lines(folder: Path) -> list[dict[str, Any]]:
    try:
        return [msgspec.json.decode(line) for line in (folder / PROGRESS).read_bytes().splitlines()]
    except (OSError, msgspec.DecodeError) as error:
        raise TetrarchiaError(f"{folder / PROGRESS} cannot be read: {error}") from None


def _continued(last: dict[str, Any], lines: list[dict[str, Any]], number: int) -> Iterator[dict[str, Any]]:
    """A round's lines with the steps and seconds of the rounds before."""
    for line in lines:
        yield line | {"round": number} | {name: last[name] + line[name] for name in ("timesteps", "seconds")}


def _mean_win_rate(line: dict[str, Any]) -> float:
    rates = line["win_rates"].values()
    return float(sum(rates) / len(rates))


def _keep(best: Path, goal: Path) -> Path:
    """The best round's checkpoint in the place where a run has its own."""
    with atomic_dir(goal) as draft:
        shutil.copytree(best, draft, dirs_exist_ok=True)
    return goal
