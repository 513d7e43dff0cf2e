"""From a snapshot back to the game; a damaged one is refused in one sentence that names the entry."""

from collections.abc import Sequence

import numpy as np
from msgspec import UNSET
from msgspec.structs import astuple

from tetrarchia_env.batch import Games
from tetrarchia_env.board import BOARD, EMPERORS, NUMERALS
from tetrarchia_env.engine.state import (
    DUX,
    FIGURES,
    GONE,
    GOTHS,
    KINDS,
    NOBODY,
    OFF,
    OUTCOMES,
    PHASES,
    PIRATES,
    REBEL,
    REVOLT,
    UNREST,
    GameRecord,
)
from tetrarchia_env.engine.tables import BIT, BORDERS, STEPS
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.notation.snapshot_schema import DICE, TOKENS, CombatData, PendingData, SnapshotData
from tetrarchia_env.notation.snapshots import USES, Snapshot
from tetrarchia_env.notation.validation import problems
from tetrarchia_env.options import Options
from tetrarchia_env.schema import checked

SPACE_IDS: dict[str | None, int] = {name: space for space, name in enumerate(BOARD.names)}


def restore(snapshot: Snapshot) -> Games:
    """The game that a snapshot tells of, an array of one; ValueError if there can be no such game.

    >>> from tetrarchia_env.batch import new_games
    >>> from tetrarchia_env.notation import snapshot
    >>> games, _ = new_games(Options(level="4200"), seeds=7)
    >>> restore(snapshot(games)).tobytes() == games.tobytes()
    True
    """
    data = checked(snapshot, SnapshotData, "snapshot:")
    if data.dice >= 2**64:
        raise TetrarchiaError(f"snapshot: dice is {DICE}, not {data.dice}")
    options = _options(data)
    games = options.template.copy()
    game = games[0]
    game.level[:] = options.levels[0]
    _restore_turn(game, data)
    _restore_tokens(game, data)
    _restore_figures(game, data)
    _restore_armies(game, data.armies)
    game.fleets = _flags("fleets", data.fleets, BOARD.zones)
    game.pirates = 0 if data.pirates in (None, "gone") else _flags("pirates", [data.pirates], BOARD.zones)
    _restore_pending(game, data.pending)
    for problem in problems(game):
        raise TetrarchiaError(problem)
    return games


def _options(data: SnapshotData) -> Options:
    """The rules it names; else those of the base game and of the modules that the position shows."""
    has_goths = any(kind == KINDS[GOTHS] for _, _, kind in data.armies)
    shown = {"dux": data.dux is not None, "pirates": data.pirates is not None, "goths": has_goths}
    try:
        options = Options.of(**({"modules": [name for name in shown if shown[name]]} if data.rules is UNSET else data.rules))
    except ValueError as error:
        raise TetrarchiaError(f"rules: {error}") from None
    if options.draws_level:
        raise TetrarchiaError(f"rules: a game has one level, not {list(options.level_names)}")
    for name in ("dux", "pirates"):
        if shown[name] != (name in options.modules):
            raise TetrarchiaError(f"{name}: {getattr(data, name)!r} does not fit the modules {list(options.modules)}")
    if has_goths and "goths" not in options.modules:
        raise TetrarchiaError(f"armies: the goths do not fit the modules {list(options.modules)}")
    return options


def _restore_turn(game: GameRecord, data: SnapshotData) -> None:
    game.turn = data.turn
    game.emperor = EMPERORS.index(data.emperor)
    game.phase = PHASES.index(data.phase)
    game.ip = data.ip
    game.passing = NOBODY if data.passing is None else FIGURES.index(data.passing)
    game.outcome = OUTCOMES.index(data.outcome)
    game.dice = np.uint64(data.dice)


def _restore_tokens(game: GameRecord, data: SnapshotData) -> None:
    for name, kind in data.tokens.items():
        bit, owner = BIT[SPACE_IDS[name]], TOKENS.index(kind)
        if owner == UNREST:
            game.unrest |= bit
        elif owner == REVOLT:
            game.revolts |= bit
        else:
            game.tokens[owner - 2] |= bit
    game.supply[:], game.glory[:], game.reserve[:] = astuple(data.supply), astuple(data.glory), astuple(data.reserve)


def _restore_figures(game: GameRecord, data: SnapshotData) -> None:
    game.at[: len(EMPERORS)] = [OFF if name is None else SPACE_IDS[name] for name in astuple(data.emperors)]
    elsewhere = {None: GONE, "gone": GONE, "available": OFF}
    game.at[DUX] = elsewhere[data.dux] if data.dux in elsewhere else SPACE_IDS[data.dux]


def _restore_armies(game: GameRecord, standing: Sequence[tuple[str, str, str]]) -> None:
    rows = sorted(_army(row) for row in standing)
    rows += [(OFF, 0, 0)] * (3 - len(rows))
    game.army_at[:], game.army_origin[:], game.army_kind[:] = zip(*rows, strict=True)


def _army(row: tuple[str, str, str]) -> tuple[int, int, int]:
    """Space, origin and kind of one entry of `armies`."""
    space, origin, kind = SPACE_IDS[row[0]], 1 + NUMERALS.index(row[1]), KINDS.index(row[2])
    if STEPS[origin, space] == OFF or (kind == REBEL and not BIT[space] & BORDERS):
        raise TetrarchiaError(f"armies: {list(row)} does not stand on its way")
    return space, origin, kind


def _restore_pending(game: GameRecord, pending: PendingData) -> None:
    game.owed[:] = [pending.owed.get(name, 0) for name in EMPERORS]
    game.used = _flags("pending, used", pending.used, USES)
    march = [SPACE_IDS[name] for name in pending.march]
    game.march[:] = march + [OFF] * (3 - len(march))
    game.fighter, game.foe = NOBODY, OFF
    if pending.combat is not None:
        _restore_combat(game, pending.combat)


def _restore_combat(game: GameRecord, combat: CombatData) -> None:
    game.fighter = FIGURES.index(combat.fighter)
    game.foe = PIRATES if combat.foe == "PIRATES" else SPACE_IDS[combat.foe]
    game.roman_die, game.normal_die = combat.roman, combat.normal


def _flags(entry: str, values: Sequence[str], names: Sequence[str]) -> int:
    """The names as bits."""
    if len(values) != len(set(values)):
        raise TetrarchiaError(f"{entry}: a name is there twice in {list(values)}")
    return sum(1 << names.index(name) for name in values)
