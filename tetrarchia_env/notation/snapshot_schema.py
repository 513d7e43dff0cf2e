"""What each entry of a snapshot may be, as types that msgspec checks; `validation.py` says what must fit together."""

from typing import TYPE_CHECKING, Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType, field

from tetrarchia_env.board import BOARD, EMPERORS, NUMERALS
from tetrarchia_env.engine.state import FIGURES, KINDS, OUTCOMES, OVER, PHASES
from tetrarchia_env.notation.snapshots import USES
from tetrarchia_env.notation.validation import MOST_TOKENS, RESERVE
from tetrarchia_env.schema import describe

MOST_IP = 16
MOST_TURNS = 2**31
OFF_BOARD = ("available", "gone", None)  # where the Dux and the Pirates may be besides
TOKENS = ("unrest", "revolt", *EMPERORS)
DICE = "a whole number from 1 to 2**64 - 1"
A_SPACE, A_ZONE = "a space of the board", f"one of {', '.join(BOARD.zones)}"

if TYPE_CHECKING:  # mypy knows no Literal of names that a file tells
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

OwnTokens = Annotated[int, Meta(ge=0, le=MOST_TOKENS)]
Army = Annotated[tuple[Space, Numeral, Kind], describe("a list of space, region of origin and kind each")]
UnrestTokens = Annotated[int, Meta(ge=0, le=RESERVE["unrest"])]


class Entries(Struct, forbid_unknown_fields=True):
    """A table in which nothing unknown stands."""


class EmperorSpaces(Entries):
    """Where each of them is."""

    diocletian: MaybeSpace
    galerius: MaybeSpace
    constantius: MaybeSpace
    maximian: MaybeSpace


class Supply(Entries):
    """Tokens that each of them has left."""

    diocletian: OwnTokens
    galerius: OwnTokens
    constantius: OwnTokens
    maximian: OwnTokens


class Glory(Entries):
    """R10.5: Unrest tokens that each of them won."""

    diocletian: UnrestTokens
    galerius: UnrestTokens
    constantius: UnrestTokens
    maximian: UnrestTokens


class Reserve(Entries):
    """R1.2: what is not on the board."""

    unrest: UnrestTokens
    revolt: Annotated[int, Meta(ge=0, le=RESERVE["revolt"])]
    armies: Annotated[int, Meta(ge=0, le=RESERVE["armies"])]


class CombatData(Entries):
    """A combat that waits for R10.1's boost."""

    fighter: Figure
    foe: Foe
    roman: Annotated[int, Meta(ge=1, le=6 + MOST_TOKENS)]
    normal: Annotated[int, Meta(ge=1, le=6)]


class PendingData(Entries):
    """What an unfinished turn needs."""

    owed: Annotated[dict[Emperor, Annotated[int, Meta(ge=-1, le=1)]], describe("a table of Emperors, with -1, 0 or 1 each")] = {}
    used: Annotated[list[Use], Meta(max_length=len(USES))] = []
    combat: CombatData | None = None
    march: Annotated[list[Space], Meta(max_length=3)] = []


class SnapshotData(Entries, kw_only=True):
    """The whole game; what has a default may be left out."""

    turn: Annotated[int, Meta(ge=0, le=MOST_TURNS)]
    emperor: Emperor
    phase: Phase
    ip: Annotated[int, Meta(ge=0, le=MOST_IP)]
    passing: MaybeFigure
    tokens: Annotated[dict[Space, Token], describe(f"a table of spaces, with one of {', '.join(TOKENS)} each")]
    emperors: EmperorSpaces
    dux: DuxPlace
    armies: Annotated[
        list[Annotated[tuple[Space, Numeral, Kind], describe("a list of space, region of origin and kind each")]], Meta(max_length=3)
    ]
    fleets: Annotated[list[Zone], Meta(max_length=len(BOARD.zones))]
    pirates: PiratesPlace
    supply: Supply
    reserve: Reserve
    glory: Glory
    outcome: Outcome
    dice: Annotated[int, Meta(ge=1), describe(DICE)]  # msgspec knows no limits beyond 63 bits
    score: Any = None  # it follows from the rest
    pending: PendingData = field(default_factory=PendingData)
    rules: dict[str, Any] | UnsetType = UNSET
