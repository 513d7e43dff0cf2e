"""The GAME record, which holds the complete state of a game, and the names of its values. Read this first.

Sets of spaces are *bits*: an int64 in which bit s is space s of board.toml. Copying a game means copying its record, and
two games are equal exactly when their bytes are.

Every number is an int64, in the record and in the constants: nothing wraps when the rules run uncompiled, and Numba
compiles each rule once instead of once per width and literal (measured: 27 s without a cache instead of 42 s).
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from tetrarchia_env import variants
from tetrarchia_env.board import EMPERORS, SPACES


def numbers(count: int) -> Any:
    """Return 0 to count - 1, each an int64; typed Any, because the rules write `int` where Numba has int64."""
    return np.arange(count, dtype=np.int64)


DIOCLETIAN, GALERIUS, CONSTANTIUS, MAXIMIAN, DUX = numbers(5)  # figures, in turn order; the Dux last
FIGURES = (*EMPERORS, "dux")
NOBODY: Any = np.int64(-1)

OFF, GONE, PIRATES = SPACES + numbers(3)  # places of figures and armies off the board; PIRATES: a foe at sea
PLACES = SPACES + 3  # tables indexed by place have zeros from OFF on, so that callers need no check

PHASES = ("fleets", "arrival", "roman", "boost", "block", "over", "barbarian", "strike", "advance")
FLEETS, ARRIVAL, ROMAN, BOOST, BLOCK, OVER, BARBARIAN, STRIKE, ADVANCE = numbers(9)  # the last three have no decisions

OUTCOMES = ("running", "won", "rome fell", "reserve empty", "truncated")
RUNNING, WON, ROME_FELL, RESERVE_EMPTY, TRUNCATED = numbers(5)

VARIANTS = tuple(variant.name for variant in variants.VARIANTS)
IMPERIVM, MARE_NOSTRVM, DIARCHIA, PATRES_PATRIAE, THE_GREAT = (variant.bit for variant in variants.VARIANTS)

MODULES = tuple(module.name for module in variants.MODULES)
DUX_MODULE, PIRATES_MODULE, GOTHS_MODULE = (module.bit for module in variants.MODULES)

KINDS = ("army", "goths", "rebel")
ARMY, GOTHS, REBEL = numbers(3)

UNREST, REVOLT, ARMIES = numbers(3)  # indexes into the reserve

POWER_USED, TAKEN, GIVEN, SAID = 1, 2, 4, 8  # actions allowed once per turn

FIELDS: list[Any] = [
    # tokens on the board, as bits; at most one of the six has a space's bit (R1.3)
    ("unrest", np.int64),
    ("revolts", np.int64),
    ("tokens", np.int64, 4),  # each Emperor's own
    # dice
    ("dice", np.uint64),  # the RNG state that all dice come from
    # time
    ("turn", np.int64),  # turns finished
    ("max_turns", np.int64),  # the game is truncated after this number of turns
    # the rules in force
    ("level", np.int64, 4),  # tokens per Emperor, fleets, extra Revolts, initial armies (R2.1)
    ("variants", np.int64),  # IMPERIVM | MARE_NOSTRVM | ...
    ("modules", np.int64),  # DUX_MODULE | ...
    ("scenario", np.int64),  # 0 none, else its row in scenarios.toml
    ("fixed_setup", np.int64),  # R2.7
    # current turn and decision
    ("emperor", np.int64),  # whose turn it is
    ("phase", np.int64),
    ("ip", np.int64),  # IP left in this turn (R3.4)
    ("passing", np.int64),  # the figure that must move on (R4.3), or NOBODY
    ("outcome", np.int64),
    ("used", np.int64),  # POWER_USED | TAKEN | GIVEN | SAID, this turn
    ("owed", np.int64, 4),  # IP gained or lost in each Emperor's next turn (R10.4)
    # pieces off the board
    ("supply", np.int64, 4),  # each Emperor's tokens
    ("glory", np.int64, 4),  # Unrest tokens won (R10.5)
    ("reserve", np.int64, 3),  # UNREST, REVOLT, ARMIES
    # figures, fleets
    ("at", np.int64, 5),  # each figure's space or OFF; the Dux: OFF before deployment, GONE after removal
    ("army_at", np.int64, 3),  # ascending; OFF for those in the reserve
    ("army_origin", np.int64, 3),  # region of origin, which determines the path
    ("army_kind", np.int64, 3),
    ("fleets", np.int64),  # zones with a Roman fleet, bit z for zone z
    ("pirates", np.int64),  # their zone's bit; 0 off the board
    # a combat that waits for R10.1's boost, and the armies still to advance
    ("fighter", np.int64),  # the fighting figure, or NOBODY
    ("foe", np.int64),  # the army's space, PIRATES, or OFF; in BARBARIAN and STRIKE the province to strike (R6.3), OFF: to be rolled
    ("roman_die", np.int64),  # including boosts
    ("normal_die", np.int64),
    ("march", np.int64, 3),  # spaces of the armies still to advance, in order (R8.1), the acting one first, padded with OFF
    # scratch memory of R6.1, zero outside it
    ("risen", np.int64, 21),
]

GAME = np.dtype((np.record, np.dtype(FIELDS, align=True)))

if TYPE_CHECKING:

    class Ints(Protocol):
        """An array field of a record."""

        def __getitem__(self, index: int) -> int: ...
        def __setitem__(self, index: int | slice, value: Any) -> None: ...
        def __len__(self) -> int: ...
        def __iter__(self) -> Iterator[int]: ...
        def tolist(self) -> list[int]: ...

    class GameRecord(Protocol):
        """A record of GAME, for the type checker: a misspelt field is an error. A test compares it with FIELDS."""

        unrest: int
        revolts: int
        tokens: Ints
        dice: np.uint64
        turn: int
        max_turns: int
        level: Ints
        variants: int
        modules: int
        scenario: int
        fixed_setup: int
        emperor: int
        phase: int
        ip: int
        passing: int
        outcome: int
        used: int
        owed: Ints
        supply: Ints
        glory: Ints
        reserve: Ints
        at: Ints
        army_at: Ints
        army_origin: Ints
        army_kind: Ints
        fleets: int
        pirates: int
        fighter: int
        foe: int
        roman_die: int
        normal_die: int
        march: Ints
        risen: Ints

        def copy(self) -> "GameRecord": ...
        def item(self) -> tuple[Any, ...]: ...
else:
    GameRecord = Any
