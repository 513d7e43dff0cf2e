"""Restoring a game from a snapshot.

The types state what each entry may be, `engine.validity` what must fit together.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType, field
from msgspec.structs import astuple

from tetrarchia_env.batch import Games
from tetrarchia_env.board import BOARD, EMPERORS, NUMERALS
from tetrarchia_env.engine.actions import MAX_MESSAGE_TOKENS
from tetrarchia_env.engine.state import (
    DUX,
    FIGURES,
    GONE,
    GOTHS,
    KINDS,
    NOBODY,
    OFF,
    OUTCOMES,
    OVER,
    PHASES,
    PIRATES,
    REVOLT,
    UNREST,
    GameRecord,
)
from tetrarchia_env.engine.tables import BIT
from tetrarchia_env.engine.validity import MAX_ARMIES, MAX_IP, MAX_REVOLTS, MAX_TOKENS, MAX_TURNS, MAX_UNREST, MESSAGES, first_flaw
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.notation.snapshots import USES, Snapshot
from tetrarchia_env.options import Options
from tetrarchia_env.schema import describe, validate

OFF_BOARD = ("available", "gone", None)  # places of the Dux besides the spaces
TOKENS = ("unrest", "revolt", *EMPERORS)
DICE = "an integer from 1 to 2**64 - 1"
A_SPACE, A_ZONE = "a space of the board", f"one of {', '.join(BOARD.zones)}"
SPACE_IDS: dict[str | None, int] = {name: space for space, name in enumerate(BOARD.names)}

if TYPE_CHECKING:  # mypy accepts no Literal of names from a file
    Space = str
    Zone = str
    Emperor = str
    Figure = str
    Phase = str
    Outcome = str
    Token = str
    Numeral = str
    Kind = str
    Use = str
    Foe = str
    MaybeSpace = str | None
    MaybeFigure = str | None
    DuxPlace = str | None
    PiratesPlace = str | None
else:
    Emperor, Phase, Outcome = Literal[EMPERORS], Literal[PHASES[: OVER + 1]], Literal[OUTCOMES]
    Token, Numeral, Kind, Use = Literal[TOKENS], Literal[NUMERALS], Literal[KINDS], Literal[USES]
    Figure, MaybeFigure = Literal[FIGURES], Literal[(*FIGURES, None)]
    Space = Annotated[Literal[BOARD.names], describe(A_SPACE)]
    MaybeSpace = Annotated[Literal[(*BOARD.names, None)], describe(f"{A_SPACE} or null")]
    Foe = Annotated[Literal[(*BOARD.names, "PIRATES")], describe(f"{A_SPACE} or PIRATES")]
    DuxPlace = Annotated[Literal[(*BOARD.names, *OFF_BOARD)], describe(f"{A_SPACE}, available, gone or null")]
    Zone, PiratesPlace = Literal[BOARD.zones], Literal[(*BOARD.zones, "gone", None)]

OwnTokens = Annotated[int, Meta(ge=0, le=MAX_TOKENS)]
Army = Annotated[tuple[Space, Numeral, Kind], describe("a list of space, region of origin and kind")]
UnrestTokens = Annotated[int, Meta(ge=0, le=MAX_UNREST)]


class Entries(Struct, forbid_unknown_fields=True):
    """A table that refuses unknown entries."""


class EmperorSpaces(Entries):
    """The space of each Emperor."""

    diocletian: MaybeSpace
    galerius: MaybeSpace
    constantius: MaybeSpace
    maximian: MaybeSpace


class Supply(Entries):
    """Tokens that each Emperor has left."""

    diocletian: OwnTokens
    galerius: OwnTokens
    constantius: OwnTokens
    maximian: OwnTokens


class Glory(Entries):
    """R10.5: Unrest tokens that each Emperor has won."""

    diocletian: UnrestTokens
    galerius: UnrestTokens
    constantius: UnrestTokens
    maximian: UnrestTokens


class Reserve(Entries):
    """R1.2: pieces that are not on the board."""

    unrest: UnrestTokens
    revolt: Annotated[int, Meta(ge=0, le=MAX_REVOLTS)]
    armies: Annotated[int, Meta(ge=0, le=MAX_ARMIES)]


class CombatData(Entries):
    """A combat that waits for R10.1's boost."""

    fighter: Figure
    foe: Foe
    roman: Annotated[int, Meta(ge=1, le=6 + MAX_TOKENS)]
    normal: Annotated[int, Meta(ge=1, le=6)]


class PendingData(Entries):
    """The state of an unfinished turn."""

    owed: Annotated[dict[Emperor, Annotated[int, Meta(ge=-1, le=1)]], describe("a table of Emperors with -1, 0 or 1 each")] = {}
    used: Annotated[list[Use], Meta(max_length=len(USES))] = []
    combat: CombatData | None = None
    march: Annotated[list[Space], Meta(max_length=MAX_ARMIES)] = []


class MemoryData(Entries):
    """What an Emperor saw on a space, after this number of finished turns (R14.6)."""

    turn: Annotated[int, Meta(ge=0, le=MAX_TURNS)]
    token: Token | None = None
    figures: Annotated[list[Figure], Meta(max_length=len(FIGURES))] = []
    army: Annotated[tuple[Numeral, Kind] | None, describe("a list of region of origin and kind, or null")] = None


class MessageData(Entries):
    """The last token that an Emperor said, after this number of finished turns (R14.7)."""

    token: Annotated[int, Meta(ge=1, le=MAX_MESSAGE_TOKENS)]
    turn: Annotated[int, Meta(ge=0, le=MAX_TURNS)]


class LocalData(Entries):
    """The memory of each Emperor, of spaces out of his view, and the last message of each."""

    last_seen: dict[Emperor, dict[Space, MemoryData]] = {}
    messages: dict[Emperor, MessageData] = {}


class SnapshotData(Entries, kw_only=True):
    """A game; entries with a default are optional."""

    turn: Annotated[int, Meta(ge=0, le=MAX_TURNS)]
    emperor: Emperor
    phase: Phase
    ip: Annotated[int, Meta(ge=0, le=MAX_IP)]
    passing: MaybeFigure
    tokens: Annotated[dict[Space, Token], describe(f"a table of spaces with one of {', '.join(TOKENS)} each")]
    emperors: EmperorSpaces
    dux: DuxPlace
    armies: Annotated[list[Army], Meta(max_length=MAX_ARMIES)]
    fleets: Annotated[list[Zone], Meta(max_length=len(BOARD.zones))]
    pirates: PiratesPlace
    supply: Supply
    reserve: Reserve
    glory: Glory
    outcome: Outcome
    dice: Annotated[int, Meta(ge=1), describe(DICE)]  # msgspec has no limits beyond 63 bits: see restore
    score: Any = None  # ignored: it follows from the rest
    pending: PendingData = field(default_factory=PendingData)
    rules: dict[str, Any] | UnsetType = UNSET
    local: LocalData | None = None  # for environments with memory or messages: see restore_local


def restore(snapshot: Snapshot) -> Games:
    """Return the game of a snapshot, as an array of one.

    Args:
        snapshot: A snapshot as JSON data. `score`, `pending` and `rules` are optional.

    Raises:
        TetrarchiaError: An entry is invalid, or the position is impossible; the message names the entry.

    >>> from tetrarchia_env.batch import new_games
    >>> from tetrarchia_env.notation import snapshot
    >>> games, _ = new_games(Options(level="4200"), seeds=7)
    >>> restore(snapshot(games)).tobytes() == games.tobytes()
    True
    """
    data = validate(snapshot, SnapshotData, "snapshot:")
    if data.dice >= 2**64:
        raise TetrarchiaError(f"snapshot: dice must be {DICE}; got {data.dice}")
    options = _options(data)
    games = options.template.copy()
    game = games[0]
    game.level[:] = options.levels[0]
    game.turn = data.turn
    game.emperor = EMPERORS.index(data.emperor)
    game.phase = PHASES.index(data.phase)
    game.ip = data.ip
    game.passing = NOBODY if data.passing is None else FIGURES.index(data.passing)
    game.outcome = OUTCOMES.index(data.outcome)
    game.dice = data.dice
    _restore_pieces(game, data)
    _restore_pending(game, data.pending)
    _, flaw = first_flaw(games)
    if flaw:
        raise TetrarchiaError(f"snapshot: {MESSAGES[flaw]}")
    return games


def _options(data: SnapshotData) -> Options:
    """Return the rules of the snapshot; without any, the base game with the modules that the position shows."""
    has_goths = any(kind == KINDS[GOTHS] for _, _, kind in data.armies)
    shown = {"dux": data.dux is not None, "pirates": data.pirates is not None, "goths": has_goths}
    try:
        options = Options.of(**({"modules": [name for name in shown if shown[name]]} if data.rules is UNSET else data.rules))
    except TetrarchiaError as error:
        raise TetrarchiaError(f"snapshot: rules: {error}") from None
    if data.rules is not UNSET and (extra := {"revolts", "secured", "task"} & data.rules.keys()):
        raise TetrarchiaError(f"snapshot: rules must not have {', '.join(sorted(extra))}: the head start acts at set-up alone")
    if options.draws_level:
        raise TetrarchiaError(f"snapshot: rules.level must be one level; got {list(options.level_names)}")
    for name in ("dux", "pirates"):
        if shown[name] != (name in options.modules):
            raise TetrarchiaError(f"snapshot: {name} does not fit rules.modules {list(options.modules)}; got {getattr(data, name)!r}")
    return options


def _restore_pieces(game: GameRecord, data: SnapshotData) -> None:
    for name, kind in data.tokens.items():
        bit, owner = BIT[SPACE_IDS[name]], TOKENS.index(kind)
        if owner == UNREST:
            game.unrest |= bit
        elif owner == REVOLT:
            game.revolts |= bit
        else:
            game.tokens[owner - 2] |= bit
    game.supply[:], game.glory[:], game.reserve[:] = astuple(data.supply), astuple(data.glory), astuple(data.reserve)
    game.at[: len(EMPERORS)] = [OFF if name is None else SPACE_IDS[name] for name in astuple(data.emperors)]
    elsewhere = {None: GONE, "gone": GONE, "available": OFF}
    game.at[DUX] = elsewhere[data.dux] if data.dux in elsewhere else SPACE_IDS[data.dux]
    armies = sorted((SPACE_IDS[space], 1 + NUMERALS.index(origin), KINDS.index(kind)) for space, origin, kind in data.armies)
    armies += [(OFF, 0, 0)] * (MAX_ARMIES - len(armies))
    game.army_at[:], game.army_origin[:], game.army_kind[:] = zip(*armies, strict=True)
    game.fleets = _flags("fleets", data.fleets, BOARD.zones)
    game.pirates = 0 if data.pirates in (None, "gone") else _flags("pirates", [data.pirates], BOARD.zones)


def _restore_pending(game: GameRecord, pending: PendingData) -> None:
    game.owed[:] = [pending.owed.get(name, 0) for name in EMPERORS]
    game.used = _flags("pending.used", pending.used, USES)
    march = [SPACE_IDS[name] for name in pending.march]
    game.march[:] = march + [OFF] * (MAX_ARMIES - len(march))
    game.fighter, game.foe = NOBODY, OFF
    if pending.combat is not None:
        game.fighter = FIGURES.index(pending.combat.fighter)
        game.foe = PIRATES if pending.combat.foe == "PIRATES" else SPACE_IDS[pending.combat.foe]
        game.roman_die, game.normal_die = pending.combat.roman, pending.combat.normal


def _flags(entry: str, values: Sequence[str], names: Sequence[str]) -> int:
    if len(values) != len(set(values)):
        raise TetrarchiaError(f"snapshot: {entry} must not repeat a name; got {list(values)}")
    return sum(1 << names.index(name) for name in values)
