"""The rules a game is played by: the keyword arguments that are the same everywhere, checked in one place."""

from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from tetrarchia_env.engine.scenarios import SCENARIOS, scenario_row
from tetrarchia_env.engine.state import GAME, MODULES, VARIANTS
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.schema import check_fields, describe, label, truncate_repr

DIGITS = (("tokens per Emperor", "2345"), ("fleets", "0123"), ("extra Revolts", "0123"), ("initial armies", "0123"))
NORMAL_LEVEL = "4211"
MOST_TURNS = 2**31 - 1

A_LEVEL = f"a string of four digits such as {NORMAL_LEVEL!r}"
if TYPE_CHECKING:  # what may be given
    Level = str | Sequence[str] | None
    Variants = Iterable[str]
    Modules = Iterable[str]
    Scenario = str | None
else:  # what that is checked to be; any iterable of names is a tuple by then
    Levels = Annotated[tuple[Annotated[str, describe(A_LEVEL)], ...], Meta(min_length=1)]
    Level = Annotated[str | Levels | None, describe(f"{A_LEVEL} or a list of such levels")]
    Variants = Annotated[
        tuple[Annotated[Literal[VARIANTS], label("variant")], ...], describe(f"a list of names from {', '.join(VARIANTS)}")
    ]
    Modules = Annotated[tuple[Annotated[Literal[MODULES], label("module")], ...], describe(f"a list of names from {', '.join(MODULES)}")]
    Scenario = Annotated[Literal[(*SCENARIOS, None)], label("scenario")]


@dataclass(frozen=True)
class Options:
    """How a game is set up and played; a wrong value is a ValueError that says what was given and what is allowed.

    level: four digits (R2.1), "4211" if not given; or a list of levels, one of which is drawn for each game
    variants: any of imperivm mare_nostrvm diarchia patres_patriae the_great (R10)
    modules: any of dux pirates goths (R11)
    scenario: carausian_revolt danube_wars mauretanian_war great_persian_war (R12); it sets level and modules
    fixed_setup: Revolts in province 3 of each region (R2.7)
    max_turns: a game is truncated when so many turns are finished

    >>> Options(scenario="danube_wars").modules
    ('goths',)
    >>> Options(level="9200")
    Traceback (most recent call last):
    ValueError: level '9200': tokens per Emperor must be 2 to 5, not '9'
    """

    level: Level = None
    variants: Variants = ()
    modules: Modules = ()
    scenario: Scenario = None
    fixed_setup: bool = False
    max_turns: Annotated[int, Meta(ge=1, le=MOST_TURNS), describe(f"a whole number from 1 to {MOST_TURNS}")] = 400

    @classmethod
    def of(cls, **arguments: Any) -> "Options":
        """Return the options of these keywords, e.g. from a file; an unknown keyword raises TetrarchiaError."""
        known = list(cls.__dataclass_fields__)
        for name in arguments:
            if name not in known:
                raise TetrarchiaError(f"unknown argument {truncate_repr(name)}: choose from {', '.join(known)}")
        return cls(**arguments)

    def __post_init__(self) -> None:
        for name in ("variants", "modules"):
            self._set(name, _listed(getattr(self, name)))
        if not (self.level is None or isinstance(self.level, str | list)):
            self._set("level", _ordered(self.level))
        check_fields(self)
        self._set("variants", _in_order(self.variants, VARIANTS))
        self._set("modules", _in_order(self.modules, MODULES))
        if self.scenario is not None:
            self._take_from_scenario(self.scenario)
        elif self.level is None:
            self._set("level", NORMAL_LEVEL)
        self._check_levels()

    @property
    def draws_level(self) -> bool:
        """Whether each game draws its level from a list."""
        return not isinstance(self.level, str)

    @property
    def level_names(self) -> tuple[str, ...]:
        """The level, or all that may be drawn."""
        return (self.level,) if isinstance(self.level, str) else tuple(self.level or ())

    @cached_property
    def levels(self) -> NDArray[np.int8]:
        """The same as rows of digits."""
        return np.array([[int(digit) for digit in level] for level in self.level_names], dtype=np.int8)

    @cached_property
    def template(self) -> NDArray[np.void]:
        """A record that names these rules and nothing else, an array of one."""
        template = np.zeros(1, dtype=GAME)
        template["variants"] = _flags(self.variants, VARIANTS)
        template["modules"] = _flags(self.modules, MODULES)
        template["scenario"] = 0 if self.scenario is None else 1 + SCENARIOS.index(self.scenario)
        template["fixed_setup"] = self.fixed_setup
        template["max_turns"] = self.max_turns
        return template

    @property
    def needs_all_actions(self) -> bool:
        """Whether variants or modules have actions of their own beside the base game's."""
        return not {"imperivm", "patres_patriae", "dux", "pirates"}.isdisjoint({*self.variants, *self.modules})

    def arguments(self) -> dict[str, Any]:
        """As JSON data: the keyword arguments that make equal options again."""
        by_level = {"level": self.level if isinstance(self.level, str) else list(self.level or ()), "modules": list(self.modules)}
        by_scenario = {"scenario": self.scenario}
        rules = by_level if self.scenario is None else by_scenario
        return {**rules, "variants": list(self.variants), "fixed_setup": self.fixed_setup, "max_turns": self.max_turns}

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    def _take_from_scenario(self, name: str) -> None:
        if self.level is not None or self.modules:
            raise TetrarchiaError(f"scenario {name!r} sets the level and the modules: give neither of them beside it")
        row = scenario_row(name)
        self._set("level", row["level"])
        self._set("modules", tuple(row["modules"]))

    def _check_levels(self) -> None:
        for level in self.level_names:
            _check_level(level)
            if "pirates" in self.modules and level[1] == "3":
                raise TetrarchiaError(f"the pirates module needs a level with fewer than 3 fleets (R11.2), not {level!r}")


def _check_level(level: str) -> None:
    """R2.1: each digit in its range."""
    if len(level) != len(DIGITS):
        raise TetrarchiaError(f"a level is {A_LEVEL}, not {truncate_repr(level)}")
    for digit, (meaning, allowed) in zip(level, DIGITS, strict=True):
        if digit not in allowed:
            raise TetrarchiaError(f"level {level!r}: {meaning} must be {allowed[0]} to {allowed[-1]}, not {digit!r}")


def _ordered(levels: object) -> object:
    """Any sequence as a tuple; a set has no order that games could be drawn in, and so is no list but one wrong entry."""
    return tuple(levels) if isinstance(levels, Sequence) else (levels,) if isinstance(levels, Set) else levels


def _listed(names: object) -> object:
    """Any iterable as a tuple; a single text is none."""
    return tuple(names) if isinstance(names, Iterable) and not isinstance(names, str) else names


def _in_order(names: Iterable[str], known: tuple[str, ...]) -> tuple[str, ...]:
    """The names in their fixed order, each once."""
    return tuple(name for name in known if name in names) if names else ()


def _flags(names: Iterable[str], allowed: tuple[str, ...]) -> int:
    """The names as bits."""
    return sum(1 << allowed.index(name) for name in names)
