"""Play-throughs as text: each decision and the changes it caused.

`PYTHONPATH=tests python -m helpers.play_through` writes the golden files.
"""

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from helpers.configurations import ONE_BY_ONE
from tetrarchia_env import batch
from tetrarchia_env.board import EMPERORS
from tetrarchia_env.engine.turn import agent_to_act
from tetrarchia_env.notation import action_text, snapshot
from tetrarchia_env.options import Options

GOLDEN = Path(__file__).parents[1] / "engine" / "golden"
LONGEST = 120
SEEDS = {  # found by search, so that the events of the configuration occur in the game (0 where not listed)
    "imperivm": 20,
    "the_great": 7,
    "diarchia": 7,
    "dux": 4,
    "pirates": 4,
    "everything": 147,
    "carausian_revolt": 132,
    "danube_wars": 1,
    "mauretanian_war": 1,
}
DULL = ("end", "move", "sail", "order", "dux move")


def play_through(options: Options, seed: int) -> Iterator[str]:
    """Yield the arguments and the set-up, then each decision and its changes."""
    games, masks = batch.new_games(options, seed)
    chooser = random.Random(seed)
    yield f"{options.arguments()} seed {seed}"
    yield from _changes({}, _flat(snapshot(games)))
    for _ in range(LONGEST):
        if not masks.any():
            return
        before = _flat(snapshot(games))
        action = _choose(chooser, np.flatnonzero(masks[0]).tolist())
        yield f"{EMPERORS[agent_to_act(games[0])]}, one of {masks.sum()}: {action_text(action)}"
        batch.step(games, np.array([action]), masks)
        yield from _changes(before, _flat(snapshot(games)))


def _choose(chooser: random.Random, legal: list[int]) -> int:
    """Return a random action, preferring those that change the board over moves."""
    preferred = [action for action in legal if not action_text(action).startswith(DULL)]
    return chooser.choice(preferred if preferred and chooser.random() < 0.6 else legal)


def _flat(data: Any, name: str = "") -> dict[str, Any]:
    """Return each value of a snapshot under its path."""
    if not isinstance(data, dict):
        return {name: data}
    return {path: leaf for key, value in data.items() for path, leaf in _flat(value, f"{name}.{key}".strip(".")).items()}


def _changes(before: dict[str, Any], after: dict[str, Any]) -> Iterator[str]:
    for path in sorted(before.keys() | after.keys()):
        if before.get(path) != after.get(path):
            yield f"    {path}: {before.get(path)} -> {after.get(path)}"


def golden_text(name: str) -> str:
    """Return the golden play-through of one configuration."""
    return "\n".join(play_through(ONE_BY_ONE[name], SEEDS.get(name, 0))) + "\n"


if __name__ == "__main__":
    GOLDEN.mkdir(exist_ok=True)
    for name in ONE_BY_ONE:
        (GOLDEN / f"{name}.txt").write_text(golden_text(name), encoding="utf-8")
