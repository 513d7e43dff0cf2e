"""What a record that comes from a file must be: compiled rules index tables by its numbers, and would read and write beyond them.

`check_records` looks at arrays of records, a column at a time. What it lets through can be played and observed: no number is out of
its range, pieces are where pieces can be, and somebody has something to decide. It does not ask whether play could lead there.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tetrarchia_env.batch import Games
from tetrarchia_env.board import SPACES
from tetrarchia_env.engine.scenarios import SCENARIOS
from tetrarchia_env.engine.state import (
    ARMIES,
    ARRIVAL,
    BLOCK,
    BOOST,
    CONSTANTIUS,
    DIOCLETIAN,
    DUX,
    DUX_MODULE,
    FLEETS,
    GALERIUS,
    GAME,
    GONE,
    GOTHS,
    GOTHS_MODULE,
    IMPERIVM,
    KINDS,
    MODULES,
    NOBODY,
    OFF,
    OUTCOMES,
    OVER,
    PATRES_PATRIAE,
    PIRATES,
    PIRATES_MODULE,
    POWER_USED,
    REVOLT,
    ROMAN,
    RUNNING,
    UNREST,
    VARIANTS,
)
from tetrarchia_env.engine.tables import BIT, NEXT_STEP, ROMA, STEPS, ZONES
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.notation.validation import MOST_TOKENS, RESERVE
from tetrarchia_env.options import MOST_TURNS

MOST_IP = 16
SOME_SPACES = (0, (1 << SPACES) - 1)
TOKENS = (0, MOST_TOKENS)
LIMITS: dict[str, tuple[Any, Any]] = {  # the least and the most of each number
    "unrest": SOME_SPACES,
    "revolts": SOME_SPACES,
    "tokens": SOME_SPACES,
    "dice": (1, 2**64 - 1),  # all dice from 0 would be 1
    "turn": (0, MOST_TURNS),
    "max_turns": (1, MOST_TURNS),
    "level": ((2, 0, 0, 0), (5, 3, 3, 3)),
    "variants": (0, (1 << len(VARIANTS)) - 1),
    "modules": (0, (1 << len(MODULES)) - 1),
    "scenario": (0, len(SCENARIOS)),
    "fixed_setup": (0, 1),
    "emperor": (0, 3),
    "phase": (0, OVER),
    "ip": (0, MOST_IP),
    "passing": (NOBODY, DUX),
    "outcome": (0, len(OUTCOMES) - 1),
    "used": (0, 7),
    "owed": (-1, 1),
    "supply": TOKENS,
    "glory": (0, RESERVE["unrest"]),
    "reserve": ((0, 0, 0), (RESERVE["unrest"], RESERVE["revolt"], RESERVE["armies"])),
    "at": (0, (OFF, OFF, OFF, OFF, GONE)),
    "army_at": (0, OFF),
    "army_origin": (0, 6),
    "army_kind": (0, len(KINDS) - 1),
    "fleets": (0, (1 << ZONES) - 1),
    "pirates": (0, 1 << ZONES - 1),
    "fighter": (NOBODY, DUX),
    "foe": (0, PIRATES),
    "roman_die": (0, 6 + MOST_TOKENS),
    "normal_die": (0, 6),
    "march": (0, OFF),
    "risen": (0, 0),
}
Wrong = NDArray[np.bool_]


def records_of(rows: Any, kind: np.dtype[Any], number: int, where: str) -> NDArray[np.void]:
    """Rows of bytes as so many records of this kind, copied; ValueError if they are no such rows."""
    wanted = (number, kind.itemsize)
    if not isinstance(rows, np.ndarray) or rows.dtype != np.uint8 or rows.shape != wanted:
        told = f"{rows.dtype} of shape {rows.shape}" if isinstance(rows, np.ndarray) else type(rows).__name__
        raise TetrarchiaError(f"{where} are bytes of shape {wanted} here, not {told}")
    return np.ascontiguousarray(rows).reshape(-1).view(kind).copy()


def check_records(games: Games, where: str) -> None:
    """ValueError, in one sentence that begins with where they come from, if one of these records cannot be a game."""
    if games.dtype != GAME or games.ndim != 1:
        raise TetrarchiaError(f"{where}: records of games are wanted, not {games.dtype.kind!r} of shape {games.shape}")
    check_entries(games, LIMITS, where)
    for wrong, sentence in _problems(games):
        _refuse(wrong, sentence, where)


def check_entries(records: NDArray[Any], limits: Mapping[str, tuple[Any, Any]], where: str) -> None:
    """ValueError if a number of these records is beyond its limits; NaN is beyond any."""
    for name, (least, most) in limits.items():
        fits = (records[name] >= least) & (records[name] <= most)
        _refuse(~fits.reshape(len(records), -1).all(axis=1), f"{name} is out of its range", where)


def need_all_actions(games: Games) -> Wrong:
    """Which of these games have actions beside the base game's."""
    wrong: Wrong = (games["variants"] & (IMPERIVM | PATRES_PATRIAE) != 0) | (games["modules"] & (DUX_MODULE | PIRATES_MODULE) != 0)
    return wrong


def _refuse(wrong: Wrong, sentence: str, where: str) -> None:
    if wrong.any():
        raise TetrarchiaError(f"{where}: record {int(wrong.argmax())} is damaged: {sentence}")


def _problems(games: Games) -> Iterator[tuple[Wrong, str]]:
    """What `notation.validation` asks of one game, of many: which are wrong, and why. Later ones rely on earlier ones."""
    yield from _pieces(games)
    yield from _armies(games)
    yield from _rules(games)
    running = games["phase"] != OVER
    yield running != (games["outcome"] == RUNNING), "phase and outcome do not agree"
    yield running & (games["turn"] >= games["max_turns"]), "more turns are finished than max_turns"
    yield running & (games["army_at"] == ROMA).any(axis=1), "an army stands in ROMA, but the game is running"
    yield from _figures(games)
    yield from _phases(games)
    yield from _pending(games)


def _pieces(games: Games) -> Iterator[tuple[Wrong, str]]:
    """R1.2, R1.3: one token a space, and no more pieces than there are."""
    kinds = [games["unrest"], games["revolts"], *games["tokens"].T]
    numbers = [np.bitwise_count(kind).astype(np.int64) for kind in kinds]
    yield np.bitwise_count(np.bitwise_or.reduce(kinds)) != sum(numbers), "a space holds more than one token"
    unrest = numbers[0] + games["reserve"][:, UNREST] + games["glory"].sum(axis=1)
    yield unrest > RESERVE["unrest"], "there are too many Unrest tokens"
    yield numbers[1] + games["reserve"][:, REVOLT] > RESERVE["revolt"], "there are too many Revolts"
    armies = (games["army_at"] != OFF).sum(axis=1) + games["reserve"][:, ARMIES]
    yield armies > RESERVE["armies"], "there are too many armies"
    yield (np.stack(numbers[2:], axis=1) + games["supply"] > MOST_TOKENS).any(axis=1), "an Emperor has too many tokens"


def _armies(games: Games) -> Iterator[tuple[Wrong, str]]:
    """In their order, each on its way to ROMA."""
    at, origin, kind = games["army_at"], games["army_origin"], games["army_kind"]
    yield (np.diff(at, axis=1) < (at[:, 1:] != OFF)).any(axis=1), "armies are not in the order of their spaces"
    away = (at == OFF) & ((origin != 0) | (kind != 0)) | (at != OFF) & (STEPS[origin, at] == OFF)
    yield away.any(axis=1), "an army does not stand on its way"
    goths = (kind == GOTHS).sum(axis=1)
    yield (goths > 1) | (goths == 1) & (games["modules"] & GOTHS_MODULE == 0), "the goths are there against the rules"


def _rules(games: Games) -> Iterator[tuple[Wrong, str]]:
    """Dux and Pirates only with their modules; fleets and Pirates apart."""
    has_dux, has_pirates = games["modules"] & DUX_MODULE != 0, games["modules"] & PIRATES_MODULE != 0
    yield ~has_dux & (games["at"][:, DUX] != GONE), "the Dux is there against the rules"
    zones = games["pirates"]
    yield (zones & (zones - 1) != 0) | ~has_pirates & (zones != 0), "the Pirates are there against the rules"
    yield zones & games["fleets"] != 0, "a Roman fleet is in the Pirates' zone"
    yield games["level"][:, 1] + has_pirates > ZONES, "there is no zone left for a fleet"


def _figures(games: Games) -> Iterator[tuple[Wrong, str]]:
    """R1.3, R4.3: one figure a space, but for the one that passes; that one is moved in this turn."""
    rows, passing = np.arange(len(games)), games["passing"]
    is_passing = passing != NOBODY
    alone = np.concatenate([games["at"], games["army_at"]], axis=1)
    place = alone[rows, passing]
    alone[rows[is_passing], passing[is_passing]] = OFF
    taken = np.bitwise_or.reduce(BIT[alone], axis=1)
    yield np.bitwise_count(taken) != (alone < OFF).sum(axis=1), "a space holds more than one figure"
    orders = (games["emperor"] == DIOCLETIAN) & (games["used"] & POWER_USED != 0) & (games["variants"] & IMPERIVM != 0)
    moved = (games["phase"] == ROMAN) & ((passing == games["emperor"]) | (passing == DUX) | orders)
    yield is_passing & ~(moved & (taken & BIT[place] != 0)), "the figure that passes cannot"


def _phases(games: Games) -> Iterator[tuple[Wrong, str]]:
    """What each phase needs."""
    phase, here = games["phase"], games["at"][np.arange(len(games)), games["emperor"]] < OFF
    placed = np.bitwise_count(games["fleets"]).astype(np.int64)
    yield (phase == FLEETS) & (placed >= games["level"][:, 1]), "its phase is 'fleets', but all are placed"
    yield (phase == ROMAN) & ~here, "its phase is 'roman', but its Emperor is not on the board"
    yield (phase == ARRIVAL) & here, "its phase is 'arrival', but its Emperor is on the board"
    for one, emperor in ((BOOST, GALERIUS), (BLOCK, CONSTANTIUS)):
        power = (games["variants"] & IMPERIVM != 0) & (games["supply"][:, emperor] > 0) & (games["at"][:, emperor] < OFF)
        yield (phase == one) & ~power, "it waits for a power that its Emperor does not have"


def _pending(games: Games) -> Iterator[tuple[Wrong, str]]:
    """A combat under way is real, and so is each army on the march; neither lasts beyond its phase."""
    phase, march, foe = games["phase"], games["march"], games["foe"]
    armies = np.bitwise_or.reduce(BIT[games["army_at"]], axis=1)
    real = np.where(foe == PIRATES, games["pirates"], armies & BIT[foe]) != 0
    real &= (games["fighter"] == GALERIUS) & (games["roman_die"] > 0) & (games["normal_die"] > 0)
    none = (games["fighter"] == NOBODY) & (foe == OFF) & (games["roman_die"] == 0) & (games["normal_die"] == 0)
    yield np.where(phase == BOOST, ~real, ~none), "there is no such combat"
    yield ((march[:, 0] != OFF) & (phase != BOOST) & (phase != BLOCK)), "no army marches in its phase"
    yield ((march != OFF) & (armies[:, None] & BIT[march] == 0)).any(axis=1), "an army on the march is nowhere"
    yield ((march[:, :-1] == OFF) & (march[:, 1:] != OFF)).any(axis=1), "the line of march has gaps"
    origin = (games["army_origin"] * (games["army_at"] == march[:, :1])).sum(axis=1)
    yield (phase == BLOCK) & (NEXT_STEP[origin, march[:, 0]] != games["at"][:, CONSTANTIUS]), "no army marches against Constantius"
