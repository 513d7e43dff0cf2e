"""Validation: messages name the entry, what is allowed and what was given."""

from dataclasses import dataclass
from typing import Annotated, Any, Literal

import pytest
from msgspec import Meta, Struct

from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.schema import UNBOUNDED, describe, label, limits_of, validate, validate_fields


class Army(Struct, forbid_unknown_fields=True):
    space: str
    strength: Annotated[int, Meta(ge=1, le=6)] = 1


class Position(Struct, forbid_unknown_fields=True):
    army: Army
    places: Annotated[list[tuple[str, int]], Meta(max_length=2)] = []
    fleets: list[Annotated[Literal["west", "east", "south"], label("zone")]] = []
    tokens: Annotated[dict[str, Literal["unrest", "revolt"]], describe("a table of tokens")] = {}
    figure: Literal["dux", "emperor", None] = None
    turn: Annotated[int, Meta(ge=0, le=UNBOUNDED)] = 0


GOOD = {"army": {"space": "ROMA"}}
WRONG: list[tuple[Any, str]] = [
    (7, "position must be a table of army, places, fleets, tokens, figure, turn; got 7"),
    ({}, "position: 'army' is missing"),
    ({1: 2}, "position must be a table of army, places, fleets, tokens, figure, turn; got {1: 2}"),
    (GOOD | {"figure": "x - at `$.y`"}, "position: figure must be one of dux, emperor, null; got 'x - at `$.y`'"),
    (GOOD | {"a\nb": 1}, r"position: unknown entry 'a\nb'"),
    (GOOD | {"luck": 1}, "position: unknown entry 'luck'"),
    ({"army": {}}, "position: army: 'space' is missing"),
    ({"army": {"space": 3}}, "position: army.space must be a string; got 3"),
    ({"army": {"space": "ROMA", "strength": 7}}, "position: army.strength must be from 1 to 6; got 7"),
    ({"army": {"space": "ROMA", "strength": "7"}}, "position: army.strength must be an integer from 1 to 6; got '7'"),
    (GOOD | {"places": [["ROMA", 1]] * 3}, "position: places must be a list of at most 2; got [['ROMA', 1], ['ROMA', 1], ['ROMA', 1]]"),
    (GOOD | {"places": [["ROMA", "x"]]}, "position: places[0][1] must be an integer; got 'x'"),
    (GOOD | {"fleets": ["west", "north"]}, "unknown zone 'north' (did you mean south?): choose from west, east, south"),
    (GOOD | {"tokens": {"A": "unrest", "B": "peace"}}, "position: tokens must be a table of tokens; got {'B': 'peace'}"),
    (GOOD | {"figure": "nero"}, "position: figure must be one of dux, emperor, null; got 'nero'"),
    (GOOD | {"turn": -1}, "position: turn must be from 0 to 1e+12; got -1"),
    (GOOD | {"turn": True}, "position: turn must be an integer; got True"),
]


@pytest.mark.parametrize(("data", "sentence"), WRONG, ids=[sentence for _, sentence in WRONG])
def test_invalid_data_is_refused_with_entry_and_allowed_values(data: Any, sentence: str) -> None:
    with pytest.raises(TetrarchiaError, match=r".") as refusal:
        validate(data, Position, "position:")
    assert str(refusal.value) == sentence


@pytest.mark.parametrize("name", ["x` - at `$.y", "` - at `$.army.z", "` - at `$[3]", "`", "$[...]"])
def test_unknown_name_that_looks_like_a_path_is_refused(name: str) -> None:
    with pytest.raises(TetrarchiaError, match=r"^position") as refusal:
        validate({**GOOD, name: 1}, Position, "position:")
    assert "\n" not in str(refusal.value)


def test_valid_data_is_converted() -> None:
    assert validate({**GOOD, "places": [["ROMA", 1]]}, Position, "position:") == Position(Army("ROMA"), [("ROMA", 1)])


@dataclass(frozen=True)
class Settings:
    share: Annotated[float, Meta(ge=0, le=1), Meta(description="of the games")] = 0.5
    names: tuple[str, ...] = ()
    kind: Literal["base", "all"] = "base"

    def __post_init__(self) -> None:
        validate_fields(self, "option")


def test_fields_of_a_dataclass_are_validated_and_converted() -> None:
    settings = Settings(share=1, names=["a"])  # type: ignore[arg-type]

    assert (settings.share, settings.names) == (1.0, ("a",))
    assert isinstance(settings.share, float)
    for wrong, sentence in (
        ({"share": 2}, "option share must be from 0 to 1; got 2"),
        ({"share": "much"}, "option share must be a number from 0 to 1; got 'much'"),
        ({"names": "a"}, "option names must be a list; got 'a'"),
        ({"kind": "some"}, "option kind must be base or all; got 'some'"),
    ):
        with pytest.raises(TetrarchiaError, match=f"^{sentence}$"):
            Settings(**wrong)


def test_limits() -> None:
    assert limits_of(Annotated[float, Meta(ge=0, le=1)]) == (0, 1)
    assert limits_of(Annotated[int, Meta(ge=1, le=UNBOUNDED)]) is None
