"""The board as tables of bits, built once at import; for the compiled rules they are constants.

All are int64, so that nothing wraps when the rules run uncompiled. Rows from OFF on are zero.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tetrarchia_env.board import BOARD, SPACES
from tetrarchia_env.engine.state import OFF, PLACES

Table = Any  # a read-only array of int64; typed Any for the reason given in `state.numbers`

ZONES = 3
ATLANTICVM, INTERNVM, AEGAEVM = 1, 2, 4  # zones as bits


def _bits(spaces: NDArray[np.bool_]) -> int:
    """Return the set of the spaces that are true."""
    return sum(1 << int(s) for s in np.flatnonzero(spaces))


def frozen(values: object) -> Table:
    """Return a read-only table of int64."""
    table = np.array(values, dtype=np.int64)
    table.setflags(write=False)
    return table


def _by_place(rows: list[int]) -> Table:
    """Return a table with one value per space, and zeros for places off the board."""
    return frozen(rows + [0] * (PLACES - SPACES))


def _neighbours() -> Table:
    """Return a table whose row s has the spaces linked to s in ascending order, padded with OFF."""
    rows = [[int(o) for o in np.flatnonzero(BOARD.links[s])] for s in range(SPACES)]
    width = max(len(row) for row in rows)
    return frozen([row + [OFF] * (width - len(row)) for row in rows])


def _joined(fleets: int) -> list[int]:
    """R10.2: return the zones with fleets, adjacent ones merged into one set."""
    if fleets == ATLANTICVM | AEGAEVM:
        return [ATLANTICVM, AEGAEVM]
    return [fleets]


def _sea(fleets: int, joined: bool) -> list[int]:
    """Return for each place the spaces that these fleets reach for 1 IP (R4.1, R10.2)."""
    apart = [zone for zone in (ATLANTICVM, INTERNVM, AEGAEVM) if fleets & zone]
    reach = [0] * PLACES
    for zone in _joined(fleets) if joined else apart:
        coast = int(COAST[zone])
        for space in range(SPACES):
            if coast >> space & 1:
                reach[space] |= coast & ~(1 << space)
    return reach


def _by_origin(paths: NDArray[np.int8]) -> Table:
    """Return a path table with the regions of origin 1 to 6 as rows; row 0 is unused."""
    rows = np.full((7, PLACES), OFF, dtype=np.int64)
    rows[1:, :SPACES] = np.where(paths < 0, OFF, paths)
    return frozen(rows)


BIT = _by_place([1 << s for s in range(SPACES)])
NORMAL = _by_place([_bits(BOARD.links[s] == 1) for s in range(SPACES)])
BROKEN = _by_place([_bits(BOARD.links[s] == 2) for s in range(SPACES)])
LINKED = frozen(NORMAL | BROKEN)
NEIGHBOURS = _neighbours()
DEGREE = _by_place([int((BOARD.links[s] > 0).sum()) for s in range(SPACES)])
REGION = _by_place([int(r) for r in BOARD.region])
PROVINCES = frozen([_bits((BOARD.region == r) & (BOARD.number < 7)) for r in range(7)])  # of each region
ROMAN_PROVINCES = _bits(BOARD.number < 7)
BORDERS = _bits(BOARD.number == 7)
BORDER = frozen([OFF, *BOARD.borders])  # of region r
ROMA: Any = np.int64(BOARD.roma)
CAPITAL = frozen(BOARD.capitals)
PRINTED = frozen([1 << int(s) | 1 << ROMA for s in BOARD.capitals])  # R1.5, ROMA counts for every Emperor
COAST = frozen([_bits((BOARD.coasts & zones) > 0) for zones in range(1 << ZONES)])  # of any set of zones
SEA = frozen([[_sea(fleets, joined) for fleets in range(1 << ZONES)] for joined in (False, True)])  # [R10.2][fleets][from]
NEXT_STEP = _by_origin(BOARD.next_step)  # [origin][space]
STEPS = _by_origin(BOARD.steps_to_roma)
