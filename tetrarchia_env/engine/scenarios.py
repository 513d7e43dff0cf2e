"""R12: scenarios.toml as tables; row 0 is the ordinary game and empty."""

import tomllib
from pathlib import Path
from typing import Any

from tetrarchia_env.board import BOARD, EMPERORS
from tetrarchia_env.engine.state import FIGURES, KINDS, OFF
from tetrarchia_env.engine.tables import frozen

_DATA = Path(__file__).parents[1] / "data" / "scenarios.toml"
_ROWS: list[dict[str, Any]] = [{}, *tomllib.loads(_DATA.read_text(encoding="utf8"))["scenario"]]

SCENARIOS: tuple[str, ...] = tuple(row["name"] for row in _ROWS[1:])


def scenario_row(name: str) -> dict[str, Any]:
    """Return the entry of a scenario in scenarios.toml.

    Args:
        name: One of SCENARIOS.
    """
    return _ROWS[1 + SCENARIOS.index(name)]


def _zone(row: dict[str, Any], key: str) -> int:
    """Return a zone's bit, 0 if the scenario has none."""
    return 1 << BOARD.zones.index(row[key]) if key in row else 0


def _revolts(row: dict[str, Any]) -> int:
    """Return the provinces with a fixed Revolt (R12)."""
    return sum(1 << 6 * (region - 1) + number - 1 for region, number in row.get("revolts", []))


def _placed(row: dict[str, Any]) -> list[int]:
    """Return the initial space of each figure, or OFF."""
    return [BOARD.space_id(row["placed"][name]) if name in row.get("placed", {}) else OFF for name in FIGURES]


def _armies(row: dict[str, Any]) -> list[list[int]]:
    """Return [space, kind] of each army, padded with OFF."""
    standing = [[BOARD.space_id(space), KINDS.index(kind)] for space, kind in row.get("armies", [])]
    return standing + [[OFF, 0]] * (3 - len(standing))


FIXED_REVOLTS = frozen([_revolts(row) for row in _ROWS])
FIXED_ARMIES = frozen([_armies(row) for row in _ROWS])
PLACED = frozen([_placed(row) for row in _ROWS])
PIRATE_ZONE = frozen([_zone(row, "pirates") for row in _ROWS])
REBEL_FLEET = frozen([_zone(row, "rebel_fleet") for row in _ROWS])
STARTS = frozen([EMPERORS.index(row.get("starts", "diocletian")) for row in _ROWS])
