"""Positions for tests, written as snapshots, with predetermined dice."""

import copy
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from tetrarchia_env import batch
from tetrarchia_env.board import EMPERORS
from tetrarchia_env.engine.dice import roll
from tetrarchia_env.engine.state import GAME
from tetrarchia_env.notation import action_id, action_text, legal_actions, restore, snapshot

ALL_BUT_PERSIA = {  # tokens on all borders but one
    "BRITANNIA": "constantius",
    "GERMANIA MAGNA": "constantius",
    "GAETVLIA": "maximian",
    "LIBYA": "maximian",
    "SARMATIA": "galerius",
}
EMPTY: dict[str, Any] = {
    "turn": 8,
    "emperor": "diocletian",
    "phase": "roman",
    "ip": 6,
    "passing": None,
    "tokens": {},
    "emperors": {"diocletian": "BITHYNIA", "galerius": "PANNONIA INFERIOR", "constantius": "GERMANIA INFERIOR", "maximian": "CISALPINA"},
    "dux": None,
    "armies": [],
    "fleets": [],
    "pirates": None,
    "supply": dict.fromkeys(EMPERORS, 4),
    "reserve": {"unrest": 21, "revolt": 21, "armies": 3},
    "glory": dict.fromkeys(EMPERORS, 0),
    "outcome": "running",
    "dice": 1,
    "rules": {},
}
"""Each Emperor in his capital, no tokens, armies or fleets, at the start of Diocletian's Roman phase."""


def position(*, dice: Sequence[int | None] = (), owned: bool = True, **changes: Any) -> batch.Games:
    """Return EMPTY with changes; `supply`, `reserve`, `glory` and `emperors` need only contain what differs.

    Pieces on the board are subtracted from the reserve and the supplies unless `changes` contains these or `owned` is false.
    `dice` are the next dice rolled; None allows any value.
    """
    data = copy.deepcopy(EMPTY)
    if owned:
        subtract_from_reserve_and_supplies(data, changes)
    for name, value in changes.items():
        data[name] = data[name] | value if name in ("supply", "reserve", "glory", "emperors") else value
    data["dice"] = rng_for(tuple(dice))
    return restore(data)


def subtract_from_reserve_and_supplies(data: dict[str, Any], changes: dict[str, Any]) -> None:
    for kind in changes.get("tokens", {}).values():
        data["supply" if kind in EMPERORS else "reserve"][kind] -= 1
    data["reserve"]["armies"] -= len(changes.get("armies", []))
    data["reserve"]["unrest"] -= sum(changes.get("glory", {}).values())


@cache
def rng_for(dice: tuple[int | None, ...]) -> int:
    """Return an RNG state that produces these dice next."""
    start = np.arange(1, 20_000_001, dtype=np.uint64) if len(dice) > 5 else np.arange(1, 1_000_001, dtype=np.uint64)
    start, rng = batch.rng_states(start), batch.rng_states(start)
    for die in dice:
        rng ^= rng << np.uint64(13)
        rng ^= rng >> np.uint64(7)
        rng ^= rng << np.uint64(17)
        keep = np.full(len(rng), True) if die is None else (rng >> np.uint64(32)) * np.uint64(6) >> np.uint64(32) == die - 1
        start, rng = start[keep], rng[keep]
    return int(start[0])


def play(game: batch.Games, *texts: str) -> dict[str, Any]:
    """Play these actions and return the resulting snapshot."""
    masks = batch.legal_masks(game)
    for text in texts:
        batch.step(game, np.array([action_id(text)]), masks)
    return snapshot(game)


def legal(game: batch.Games) -> set[str]:
    """Return the texts of the legal actions."""
    return {action_text(action) for action in legal_actions(game)}


def may(game: batch.Games, text: str) -> bool:
    """Return whether this action is legal."""
    return action_id(text) in legal_actions(game)


def dice_used(before: int, after: int) -> list[int]:
    """Return the dice rolled between two RNG states."""
    game = np.zeros(1, dtype=GAME)[0]
    game.dice = np.uint64(before)
    fallen: list[int] = []
    while int(game.dice) != after and len(fallen) < 1000:
        fallen.append(int(roll(game)))
    return fallen
