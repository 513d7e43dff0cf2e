"""What a page may say to the server: every message is checked against one of these before anything is done."""

from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

import msgspec
from msgspec import Meta, Struct

from tetrarchia_env.board import EMPERORS
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.schema import truncate_repr

T = TypeVar("T")
LARGEST = 4_096  # bytes of a message: the longest that a page sends has two hundred
LARGEST_SETUP = 2_000_000  # bytes of what a room is made of: a replay may be in it
LONGEST_NAME = 24

Number = Annotated[int, Meta(ge=0, le=1_000_000)]
Text = Annotated[str, Meta(max_length=80)]
Name = Annotated[str, Meta(max_length=LONGEST_NAME)]
if TYPE_CHECKING:
    Emperor = str
else:
    Emperor = Literal[EMPERORS]


class Play(Struct, tag="play", forbid_unknown_fields=True):
    """An action; `number` is that of the position it is meant for, so that a late or doubled click does nothing."""

    number: Number
    action: Text


class Undo(Struct, tag="undo", forbid_unknown_fields=True):
    """Take back the last action."""

    number: Number


class Look(Struct, tag="look", forbid_unknown_fields=True):
    """Show a past position."""

    number: Number


class On(Struct, tag="on", forbid_unknown_fields=True):
    """Where only agents play: let the next action of this position be played, if it is not yet."""

    number: Number


class Coach(Struct, tag="coach", forbid_unknown_fields=True):
    """What an agent would do here."""

    number: Number


class Analyse(Struct, tag="analyse", forbid_unknown_fields=True):
    """What an agent thinks of the whole game so far."""


class Rename(Struct, tag="name", forbid_unknown_fields=True):
    """How others see you."""

    name: Name


class Consent(Struct, tag="consent", forbid_unknown_fields=True):
    """Whether this game may be kept for research."""

    given: bool


class StandIn(Struct, tag="stand in", forbid_unknown_fields=True):
    """Propose, or agree, that an agent plays for a person who is away."""

    player: Number
    agent: Text


class TakeOver(Struct, tag="take over", forbid_unknown_fields=True):
    """A room of your own that goes on from this position, in which you play these Emperors, and this agent the others.

    No agent: those who play them now, and the best there is for a person.
    """

    number: Number
    emperors: Annotated[tuple[Emperor, ...], Meta(min_length=1, max_length=len(EMPERORS))]
    agent: Text | None = None


Message = Play | Undo | Look | On | Coach | Analyse | Rename | Consent | StandIn | TakeOver
_MESSAGES: msgspec.json.Decoder[Message] = msgspec.json.Decoder(Message)


class Setup(Struct, forbid_unknown_fields=True):
    """A room to be made: who decides for each Emperor (`person 1` is who makes it, or an agent's name), and what is played.

    The game begins by the rules given, or goes on from a position of a replay or from a snapshot.
    """

    emperors: tuple[Text, Text, Text, Text]
    name: Name = ""
    level: Text | None = None
    variants: Annotated[list[Text], Meta(max_length=8)] = []
    modules: Annotated[list[Text], Meta(max_length=8)] = []
    scenario: Text | None = None
    fixed_setup: bool = False
    seed: Annotated[int, Meta(ge=0, le=2**63 - 1)] | None = None
    replay: dict[str, Any] | None = None
    number: Number | None = None
    snapshot: dict[str, Any] | None = None
    consent: bool = False  # of `person 1`, that the game may be kept for research


_SETUPS = msgspec.json.Decoder(Setup)


def read_message(data: str | bytes) -> Message:
    """ValueError in one sentence if it is none."""
    return _decoded(_MESSAGES, data)


def read_setup(data: bytes) -> Setup:
    """ValueError in one sentence if it is none."""
    return _decoded(_SETUPS, data)


def _decoded(decoder: "msgspec.json.Decoder[T]", data: str | bytes) -> T:
    try:
        return decoder.decode(data)
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        raise TetrarchiaError(f"this is no message of the page: {truncate_repr(str(error))}") from None
