"""Records of games that come from a file: whether the rules could have written them.

Compiled code trusts its records: a figure on space 9999 would be read far beyond a table, 30 Unrest tokens written beyond
a record's end. `check_ranges` looks at all records at once and makes them safe to observe; `check_records` also
restores each of them from its snapshot, which makes them safe to play on.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tetrarchia_env.batch import Games
from tetrarchia_env.board import EMPERORS, NUMERALS, SPACES
from tetrarchia_env.checks import checked_games
from tetrarchia_env.engine.scenarios import SCENARIOS
from tetrarchia_env.engine.state import DUX, FIELDS, GONE, KINDS, MODULES, NOBODY, OFF, OUTCOMES, OVER, PIRATES, VARIANTS
from tetrarchia_env.engine.tables import ZONES
from tetrarchia_env.notation.restore import restore
from tetrarchia_env.notation.snapshot_schema import MOST_IP, MOST_TURNS
from tetrarchia_env.notation.snapshots import USES, snapshot
from tetrarchia_env.notation.validation import MOST_TOKENS, RESERVE
from tetrarchia_env.schema import shortened

ANY_SPACES = (0, 2**SPACES - 1)
RANGES: dict[str, tuple[int, int]] = {
    "unrest": ANY_SPACES,
    "revolts": ANY_SPACES,
    "tokens": ANY_SPACES,
    "dice": (1, 2**64 - 1),
    "turn": (0, MOST_TURNS),
    "max_turns": (1, MOST_TURNS),
    "level": (0, 9),
    "variants": (0, 2 ** len(VARIANTS) - 1),
    "modules": (0, 2 ** len(MODULES) - 1),
    "scenario": (0, len(SCENARIOS)),
    "fixed_setup": (0, 1),
    "emperor": (0, len(EMPERORS) - 1),
    "phase": (0, int(OVER)),
    "ip": (0, MOST_IP),
    "passing": (int(NOBODY), int(DUX)),
    "outcome": (0, len(OUTCOMES) - 1),
    "used": (0, 2 ** len(USES) - 1),
    "owed": (-1, 1),
    "supply": (0, MOST_TOKENS),
    "glory": (0, RESERVE["unrest"]),
    "reserve": (0, RESERVE["unrest"]),
    "at": (0, int(GONE)),
    "army_at": (0, int(OFF)),
    "army_origin": (0, len(NUMERALS)),
    "army_kind": (0, len(KINDS) - 1),
    "fleets": (0, 2**ZONES - 1),
    "pirates": (0, 2**ZONES - 1),
    "fighter": (int(NOBODY), int(DUX)),
    "foe": (0, int(PIRATES)),
    "roman_die": (0, 6 + MOST_TOKENS),
    "normal_die": (0, 6),
    "march": (0, int(OFF)),
    "risen": (0, 0),
}
assert set(RANGES) == {field[0] for field in FIELDS}


def check_records(games: Games) -> None:
    """ValueError, in one sentence, unless each record is a game that the rules know, to the last bit."""
    check_ranges(games)
    for row, game in enumerate(games):
        try:
            same = restore(snapshot(game))[0].tobytes() == game.tobytes()
        except (ValueError, IndexError, KeyError) as error:
            raise ValueError(f"game {row} is damaged: {error}") from None
        if not same:
            raise ValueError(f"game {row} is damaged: it is not a record that the rules could have written")


def check_ranges(games: Games) -> None:
    """The same of each number alone, of all games at once."""
    checked_games(games)
    check_entries(games, RANGES, "game")


def check_entries(records: NDArray[Any], ranges: dict[str, tuple[float, float]] | dict[str, tuple[int, int]], word: str) -> None:
    """ValueError that names the first record and the first of its entries beyond its range; NaN is beyond any."""
    for name, (least, most) in ranges.items():
        values = records[name].reshape(len(records), -1)
        fits = ((values >= least) & (values <= most)).all(axis=1)
        if not fits.all():
            row = int(np.argmin(fits))
            raise ValueError(f"{word} {row} is damaged: {name} is from {least} to {most}, not {shortened(records[name][row].tolist())}")
