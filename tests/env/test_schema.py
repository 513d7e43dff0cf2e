"""What does not fit a type is told in one sentence: the entry, what is allowed, what was given."""

from dataclasses import dataclass
from typing import Annotated, Any, Literal

import pytest
from msgspec import Meta, Struct

from tetrarchia_env.schema import UNBOUNDED, check_fields, checked, describe, description_of, label, limits_of


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
    (7, "position is a table of army, places, fleets, tokens, figure, turn, not 7"),
    ({}, "position: 'army' is missing"),
    ({1: 2}, "position is a table of army, places, fleets, tokens, figure, turn, not {1: 2}"),
    (GOOD | {"figure": "x - at `$.y`"}, "position: figure is one of dux, emperor, null, not 'x - at `$.y`'"),
    (GOOD | {"a\nb": 1}, r"position: unknown entry 'a\nb'"),
    (GOOD | {"luck": 1}, "position: unknown entry 'luck'"),
    ({"army": {}}, "position: army: 'space' is missing"),
    ({"army": {"space": 3}}, "position: army, space is a text, not 3"),
    ({"army": {"space": "ROMA", "strength": 7}}, "position: army, strength is from 1 to 6, not 7"),
    ({"army": {"space": "ROMA", "strength": "7"}}, "position: army, strength is a whole number from 1 to 6, not '7'"),
    (GOOD | {"places": [["ROMA", 1]] * 3}, "position: places is a list of at most 2, not [['ROMA', 1], ['ROMA', 1], ['ROMA', 1]]"),
    (GOOD | {"places": [["ROMA", "x"]]}, "position: places is a whole number, not 'x'"),
    (GOOD | {"fleets": ["west", "north"]}, "unknown zone 'north' (did you mean south?): choose from west, east, south"),
    (GOOD | {"tokens": {"A": "unrest", "B": "peace"}}, "position: tokens is a table of tokens, not {'B': 'peace'}"),
    (GOOD | {"figure": "nero"}, "position: figure is one of dux, emperor, null, not 'nero'"),
    (GOOD | {"turn": -1}, "position: turn is from 0 to 1e+12, not -1"),
    (GOOD | {"turn": True}, "position: turn is a whole number, not True"),
]


@pytest.mark.parametrize(("data", "sentence"), WRONG, ids=[sentence for _, sentence in WRONG])
def test_what_does_not_fit_is_told_in_one_sentence(data: Any, sentence: str) -> None:
    with pytest.raises(ValueError, match=r".") as refusal:
        checked(data, Position, "position:")
    assert str(refusal.value) == sentence


@pytest.mark.parametrize("name", ["x` - at `$.y", "` - at `$.army.z", "` - at `$[3]", "`", "$[...]"])
def test_names_that_look_like_a_path_break_nothing(name: str) -> None:
    with pytest.raises(ValueError, match=r"^position") as refusal:
        checked({**GOOD, name: 1}, Position, "position:")
    assert "\n" not in str(refusal.value)


def test_what_fits_is_given_as_its_type() -> None:
    assert checked({**GOOD, "places": [["ROMA", 1]]}, Position, "position:") == Position(Army("ROMA"), [("ROMA", 1)])


@dataclass(frozen=True)
class Settings:
    share: Annotated[float, Meta(ge=0, le=1), Meta(description="of the games")] = 0.5
    names: tuple[str, ...] = ()
    kind: Literal["base", "all"] = "base"

    def __post_init__(self) -> None:
        check_fields(self, "option")


def test_the_fields_of_a_dataclass_are_checked_and_take_their_types() -> None:
    settings = Settings(share=1, names=["a"])  # type: ignore[arg-type]

    assert (settings.share, settings.names) == (1.0, ("a",))
    assert isinstance(settings.share, float)
    for wrong, sentence in (
        ({"share": 2}, "option share is from 0 to 1, not 2"),
        ({"share": "much"}, "option share is a number from 0 to 1, not 'much'"),
        ({"names": "a"}, "option names is a list, not 'a'"),
        ({"kind": "some"}, "option kind is base or all, not 'some'"),
    ):
        with pytest.raises(ValueError, match=f"^{sentence}$"):
            Settings(**wrong)


def test_a_field_tells_its_description_and_the_limits_worth_telling() -> None:
    share = Annotated[float, Meta(ge=0, le=1), Meta(description="of the games")]

    assert (description_of(share), limits_of(share)) == ("of the games", (0, 1))
    assert (description_of(int), limits_of(Annotated[int, Meta(ge=1, le=UNBOUNDED)])) == ("", None)
