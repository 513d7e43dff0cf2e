"""Positions for tests, written as snapshots, and dice that fall as wanted."""

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
"""Each Emperor in his capital, no token, no army, no fleet; Diocletian begins his Roman phase."""


def position(*, dice: Sequence[int | None] = (), owned: bool = True, **changes: Any) -> batch.Games:
    """EMPTY with changes; `supply`, `reserve`, `glory` and `emperors` need only name what differs.

    What lies on the board is taken out of reserve and supplies unless the change names them (or owned=False).
    `dice` are the next ones to fall, None for any.
    """
    data = copy.deepcopy(EMPTY)
    if owned:
        take_out_of_the_box(data, changes)
    for name, value in changes.items():
        data[name] = data[name] | value if name in ("supply", "reserve", "glory", "emperors") else value
    data["dice"] = rng_for(tuple(dice))
    return restore(data)


def take_out_of_the_box(data: dict[str, Any], changes: dict[str, Any]) -> None:
    for kind in changes.get("tokens", {}).values():
        data["supply" if kind in EMPERORS else "reserve"][kind] -= 1
    data["reserve"]["armies"] -= len(changes.get("armies", []))
    data["reserve"]["unrest"] -= sum(changes.get("glory", {}).values())


@cache
def rng_for(dice: tuple[int | None, ...]) -> int:
    """An RNG state whose next dice are these."""
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
    """Play these actions one after the other; the snapshot then."""
    masks = batch.legal_masks(game)
    for text in texts:
        batch.step(game, np.array([action_id(text)]), masks)
    return snapshot(game)


def legal(game: batch.Games) -> set[str]:
    """The texts of the legal actions."""
    return {action_text(action) for action in legal_actions(game)}


def may(game: batch.Games, text: str) -> bool:
    """Whether this action is legal."""
    return action_id(text) in legal_actions(game)


def dice_used(before: int, after: int) -> list[int]:
    """The dice that fell between two RNG states."""
    game = np.zeros(1, dtype=GAME)[0]
    game.dice = np.uint64(before)
    fallen: list[int] = []
    while int(game.dice) != after and len(fallen) < 1000:
        fallen.append(int(roll(game)))
    return fallen
