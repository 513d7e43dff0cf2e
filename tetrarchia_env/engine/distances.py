"""Distances: the IP cost from space to space over links and by sea, ignoring figures, armies and tokens."""

import numpy as np
from numpy.typing import NDArray

from tetrarchia_env.board import BOARD, SPACES
from tetrarchia_env.engine.state import PLACES
from tetrarchia_env.engine.tables import CAPITAL, ROMA, SEA, ZONES, frozen

FAR = 12  # upper limit of all distances, in IP; also the distance from or to a place off the board


def _distances(reach: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the costs of the cheapest paths if these spaces (bits, for each space) can be reached by sea for 1 IP (R4.1)."""
    costs = np.full((PLACES, PLACES), FAR, dtype=np.int64)
    land = costs[:SPACES, :SPACES]
    land[BOARD.links == 2] = 2
    land[BOARD.links == 1] = 1
    for space in range(SPACES):
        land[space, [goal for goal in range(SPACES) if int(reach[space]) >> goal & 1]] = 1
    np.fill_diagonal(land, 0)
    for middle in range(SPACES):
        np.minimum(land, land[:, middle : middle + 1] + land[middle], out=land)
    return costs


DISTANCES = frozen([[_distances(SEA[joined, fleets]) for fleets in range(1 << ZONES)] for joined in (0, 1)])  # [R10.2][fleets][from][to]
# R3.2: an Emperor off the board arrives in ROMA or in his capital; [R10.2][fleets][Emperor][to]
ARRIVAL_DISTANCES = frozen(np.minimum(DISTANCES[:, :, ROMA : ROMA + 1], DISTANCES[:, :, CAPITAL]).tolist())
