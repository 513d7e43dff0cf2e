"""The board as plain text: a line a province, region by region, and what each Emperor has."""

from typing import Any

from tetrarchia_env.board import BOARD, NUMERALS
from tetrarchia_env.notation import Snapshot

WIDTH = 34


def draw_text(snapshot: Snapshot) -> str:
    """Two regions side by side, each with its border last; only what lies or stands there is named."""
    blocks = [_region(snapshot, region) for region in range(len(BOARD.regions))]
    pairs = [(blocks[1], blocks[4]), (blocks[2], blocks[5]), (blocks[3], blocks[6]), (blocks[0], _panel(snapshot))]
    return "\n".join(line for left, right in pairs for line in _side_by_side(left, right))


def _side_by_side(left: list[str], right: list[str]) -> list[str]:
    height = max(len(left), len(right))
    rows = zip(left + [""] * (height - len(left)), right + [""] * (height - len(right)), strict=True)
    return [f"{one:{WIDTH + 10}}{other}".rstrip() for one, other in rows] + [""]


def _region(snapshot: Snapshot, region: int) -> list[str]:
    numeral = f"{NUMERALS[region - 1]} " if region else ""
    spaces = [space for space in range(len(BOARD.names)) if BOARD.region[space] == region]
    return [f"{numeral}{BOARD.regions[region]}", *(_space(snapshot, space) for space in spaces)]


def _space(snapshot: Snapshot, space: int) -> str:
    name = BOARD.names[space]
    standing = [emperor for emperor, place in snapshot["emperors"].items() if place == name]
    standing += ["Dux"] if snapshot["dux"] == name else []
    standing += [f"{kind} from {origin}" for place, origin, kind in snapshot["armies"] if place == name]
    token = snapshot["tokens"].get(name)
    content = ([f"[{token}]"] if token else []) + standing
    number = "*" if BOARD.number[space] == 7 else str(BOARD.number[space])
    return f" {number} {name:18}{' '.join(content)}"


def _panel(snapshot: Snapshot) -> list[str]:
    reserve: dict[str, Any] = snapshot["reserve"]
    supplies = [f" {name:12}{supply} tokens" for name, supply in snapshot["supply"].items()]
    sea = f" fleets: {', '.join(snapshot['fleets']) or 'none'}"
    pirates = [f" pirates: {snapshot['pirates']}"] if snapshot["pirates"] else []
    ending = [] if snapshot["outcome"] == "running" else [f" {snapshot['outcome']}"]
    return [
        f"turn {snapshot['turn'] + 1}: {snapshot['emperor']}, {snapshot['phase']}, {snapshot['ip']} IP, score {snapshot['score']}",
        *supplies,
        f" reserve: {reserve['unrest']} Unrest, {reserve['revolt']} Revolts, {reserve['armies']} armies",
        sea,
        *pirates,
        *ending,
    ]
