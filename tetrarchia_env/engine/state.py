"""The GAME record: the whole game in one table, and the words for its values. Read this first.

Sets of spaces are *bits*: an int64 in which bit s stands for space s of board.toml. Copying a game is copying its
record; two games are the same game exactly when their bytes are.
"""

from typing import Any

import numpy as np

from tetrarchia_env.board import EMPERORS, SPACES

DIOCLETIAN, GALERIUS, CONSTANTIUS, MAXIMIAN, DUX = range(5)  # the figures, in turn order; the Dux last
FIGURES = (*EMPERORS, "dux")
NOBODY = -1

OFF, GONE, PIRATES = SPACES, SPACES + 1, SPACES + 2  # where a figure or army is that is not on the board; PIRATES: a foe at sea
PLACES = SPACES + 3  # tables indexed by place have zeros from OFF on, so nothing need ask first

PHASES = ("fleets", "arrival", "roman", "boost", "block", "over", "barbarian", "advance")
FLEETS, ARRIVAL, ROMAN, BOOST, BLOCK, OVER, BARBARIAN, ADVANCE = range(8)  # the last two never wait for a decision

OUTCOMES = ("running", "won", "rome fell", "reserve empty", "truncated")
RUNNING, WON, ROME_FELL, RESERVE_EMPTY, TRUNCATED = range(5)

VARIANTS = ("imperivm", "mare_nostrvm", "diarchia", "patres_patriae", "the_great")
IMPERIVM, MARE_NOSTRVM, DIARCHIA, PATRES_PATRIAE, THE_GREAT = 1, 2, 4, 8, 16

MODULES = ("dux", "pirates", "goths")
DUX_MODULE, PIRATES_MODULE, GOTHS_MODULE = 1, 2, 4

KINDS = ("army", "goths", "rebel")
ARMY, GOTHS, REBEL = range(3)

UNREST, REVOLT, ARMIES = range(3)  # what the reserve holds

POWER_USED, TAKEN, GIVEN = 1, 2, 4  # what may be done once a turn

GAME = np.dtype(
    (
        np.record,
        [
            # tokens on the board, as bits; at most one of the six has a space's bit (R1.3)
            ("unrest", np.int64),
            ("revolts", np.int64),
            ("tokens", np.int64, 4),  # each Emperor's own
            # dice
            ("dice", np.uint64),  # the word that all dice come from
            # time
            ("turn", np.int32),  # turns finished
            ("max_turns", np.int32),  # truncated when so many are
            # the rules in force
            ("level", np.int8, 4),  # tokens per Emperor, fleets, extra Revolts, initial armies (R2.1)
            ("variants", np.int8),  # IMPERIVM | MARE_NOSTRVM | ...
            ("modules", np.int8),  # DUX_MODULE | ...
            ("scenario", np.int8),  # 0 none, else its row in scenarios.toml
            ("fixed_setup", np.int8),  # R2.7
            # whose decision
            ("emperor", np.int8),  # whose turn it is
            ("phase", np.int8),
            ("ip", np.int8),  # what he has left to spend (R3.4)
            ("passing", np.int8),  # the figure that must move on (R4.3), or NOBODY
            ("outcome", np.int8),
            ("used", np.int8),  # POWER_USED | TAKEN | GIVEN, this turn
            ("owed", np.int8, 4),  # IP more or less in each Emperor's next turn (R10.4)
            # what is not on the board
            ("supply", np.int8, 4),  # each Emperor's tokens
            ("glory", np.int8, 4),  # Unrest tokens won (R10.5)
            ("reserve", np.int8, 3),  # UNREST, REVOLT, ARMIES
            # figures, fleets
            ("at", np.int8, 5),  # each figure's space or OFF; the Dux: OFF before he is deployed, GONE after
            ("army_at", np.int8, 3),  # ascending; OFF for those in the reserve
            ("army_origin", np.int8, 3),  # region it came from, whose path it follows
            ("army_kind", np.int8, 3),
            ("fleets", np.int8),  # zones with a Roman fleet, bit z for zone z
            ("pirates", np.int8),  # their zone's bit; 0 off the board
            # a combat that waits for R10.1's boost, and the armies still to advance
            ("fighter", np.int8),  # the figure that fights, or NOBODY
            ("foe", np.int8),  # the army's space, PIRATES, or OFF
            ("roman_die", np.int8),  # boosts added
            ("normal_die", np.int8),
            ("march", np.int8, 3),  # spaces of the armies to advance, in order (R8.1), the acting one first; OFF: none
            # scratch of R6.1, all zero outside it
            ("risen", np.int8, 21),
            ("padding", np.int8, 2),
        ],
    )
)

Game = Any  # a record of GAME: Numba and NumPy know its fields, the type checker does not
