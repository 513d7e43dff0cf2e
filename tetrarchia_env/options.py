"""The rules that a game is played by: the same keyword arguments in every API, validated here."""

from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from tetrarchia_env import variants
from tetrarchia_env.engine.scenarios import SCENARIOS, scenario_row
from tetrarchia_env.engine.state import GAME, MODULES, VARIANTS
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.messages import did_you_mean
from tetrarchia_env.schema import describe, label, truncate_repr, validate_fields

DIGITS = (("tokens per Emperor", "2345"), ("fleets", "0123"), ("extra Revolts", "0123"), ("initial armies", "0123"))
DEFAULT_LEVEL = "4211"
MAX_TURNS = 2**31 - 1

MAX_REVOLTS, MAX_SECURED = 6, 5  # R2.8
BORDER_COUNT = 6


def _counts(maximum: int) -> Any:
    """Return the type of an argument that is a number from 0 to `maximum`, or a list of these."""
    number = Annotated[int, Meta(ge=0, le=maximum)]
    allowed = describe(f"an integer from 0 to {maximum}, or a list of these")
    return Annotated[number | Annotated[tuple[number, ...], Meta(min_length=1)], allowed]


FOUR_DIGITS = f'four digits, e.g. "{DEFAULT_LEVEL}"'
if TYPE_CHECKING:  # what callers may pass
    Level = str | Sequence[str] | None
    Variants = Iterable[str]
    Modules = Iterable[str]
    Scenario = str | None
    Revolts = int | Sequence[int]
    Secured = int | Sequence[int]
    Task = str | None
else:  # what it is validated as, after `__post_init__` has made tuples of iterables
    Levels = Annotated[tuple[Annotated[str, describe(FOUR_DIGITS)], ...], Meta(min_length=1)]
    Level = Annotated[str | Levels | None, describe(f"{FOUR_DIGITS}, or a list of levels")]
    Variants = Annotated[tuple[Annotated[Literal[VARIANTS], label("variant")], ...], describe(f"a list of {', '.join(VARIANTS)}")]
    Modules = Annotated[tuple[Annotated[Literal[MODULES], label("module")], ...], describe(f"a list of {', '.join(MODULES)}")]
    Scenario = Annotated[Literal[(*SCENARIOS, None)], label("scenario")]
    Revolts, Secured = _counts(MAX_REVOLTS), _counts(MAX_SECURED)
    Task = Annotated[Literal[(*variants.TASKS, None)], label("task")]


@dataclass(frozen=True)
class Options:
    """The setup and rules of a game.

    Args:
        level: Four digits (R2.1): tokens per Emperor, fleets, extra Revolts, initial armies. The default is "4211". A list draws one of
            its levels for each game.
        variants: Any names of `constants.VARIANTS` (R10).
        modules: Any names of `constants.MODULES` (R11).
        scenario: One of carausian_revolt, danube_wars, mauretanian_war, great_persian_war (R12); it sets the level and the modules.
        fixed_setup: Place the Revolts in province 3 of each region (R2.7).
        max_turns: The game is truncated after this number of turns.
        revolts: The number of initial Revolts, 0 to 6 (R2.8). A list draws one of its numbers for each game, after the level.
        secured: The number of borders that are secured from the beginning, 0 to 5 (R2.8). A list is drawn from after `revolts`.
        task: A name of `constants.TASKS`, which sets level, revolts and secured.

    Raises:
        TetrarchiaError: An argument is invalid; the message says what was given and what is allowed.

    >>> Options(scenario="danube_wars").modules
    ('goths',)
    >>> Options(level="9200")
    Traceback (most recent call last):
    tetrarchia_env.errors.TetrarchiaError: level '9200': tokens per Emperor must be 2 to 5; got '9'
    """

    level: Level = None
    variants: Variants = ()
    modules: Modules = ()
    scenario: Scenario = None
    fixed_setup: bool = False
    max_turns: Annotated[int, Meta(ge=1, le=MAX_TURNS), describe(f"an integer from 1 to {MAX_TURNS}")] = 400
    revolts: Revolts = MAX_REVOLTS
    secured: Secured = 0
    task: Task = None

    @classmethod
    def of(cls, **arguments: Any) -> "Options":
        """Return options from keyword arguments whose names may be wrong, e.g. from a file.

        Raises:
            TetrarchiaError: A name or value is invalid.
        """
        known = list(cls.__dataclass_fields__)
        for name in arguments:
            if name not in known:
                raise TetrarchiaError(f"unknown argument {truncate_repr(name)}{did_you_mean(name, known)}: choose from {', '.join(known)}")
        return cls(**arguments)

    def __post_init__(self) -> None:
        for name in ("variants", "modules"):
            names: Any = getattr(self, name)
            if isinstance(names, Iterable) and not isinstance(names, str):
                self._set(name, tuple(names))
        for name in ("level", "revolts", "secured"):
            value: Any = getattr(self, name)
            if isinstance(value, Set):
                self._set(name, (value,))  # refused: games are drawn from a list by its order
            elif isinstance(value, Sequence) and not isinstance(value, str | list):
                self._set(name, tuple(value))
        validate_fields(self)
        self._set("variants", tuple(name for name in VARIANTS if name in self.variants))
        self._set("modules", tuple(name for name in MODULES if name in self.modules))
        has_head_start = (self.revolts, self.secured) != (MAX_REVOLTS, 0)
        if self.task is not None:
            if self.level is not None or self.scenario is not None or has_head_start:
                raise TetrarchiaError(f"task {self.task!r} sets level, revolts and secured: omit these and the scenario")
            for name, value in zip(("level", "revolts", "secured"), variants.TASKS[self.task][:3], strict=True):
                self._set(name, value)
        if self.scenario is not None:
            if self.level is not None or self.modules:
                raise TetrarchiaError(f"scenario {self.scenario!r} sets the level and the modules: omit both")
            if has_head_start:
                raise TetrarchiaError(f"scenario {self.scenario!r} has its own set-up: omit revolts and secured")
            row = scenario_row(self.scenario)
            self._set("level", row["level"])
            self._set("modules", tuple(row["modules"]))
        elif self.level is None:
            self._set("level", DEFAULT_LEVEL)
        for level in self.level_names:
            _check_level(level)
            if "pirates" in self.modules and level[1] == "3":
                raise TetrarchiaError(f"the pirates module needs a level with fewer than 3 fleets (R11.2); got {level!r}")
            if int(level[3]) + max(self.secured_counts) > BORDER_COUNT:
                raise TetrarchiaError(
                    f"secured plus the initial armies of the level must be at most {BORDER_COUNT} (R2.8); "
                    f"got {max(self.secured_counts)} and level {level!r}"
                )

    @property
    def draws_level(self) -> bool:
        """Whether each game draws its level from a list."""
        return not isinstance(self.level, str)

    @property
    def level_names(self) -> tuple[str, ...]:
        """The level, or all levels that may be drawn."""
        return (self.level,) if isinstance(self.level, str) else tuple(self.level or ())

    @cached_property
    def levels(self) -> NDArray[np.int8]:
        """The levels as rows of digits."""
        return np.array([[int(digit) for digit in level] for level in self.level_names], dtype=np.int8)

    @property
    def draws_revolts(self) -> bool:
        """Whether each game draws its number of initial Revolts from a list."""
        return not isinstance(self.revolts, int)

    @property
    def draws_secured(self) -> bool:
        """Whether each game draws its number of secured borders from a list."""
        return not isinstance(self.secured, int)

    @cached_property
    def revolt_counts(self) -> NDArray[np.int64]:
        """The number of initial Revolts, or all that may be drawn."""
        return np.array(self.revolts, dtype=np.int64).reshape(-1)

    @cached_property
    def secured_counts(self) -> NDArray[np.int64]:
        """The number of secured borders, or all that may be drawn."""
        return np.array(self.secured, dtype=np.int64).reshape(-1)

    @cached_property
    def template(self) -> NDArray[np.void]:
        """An array of one game record with these rules and no position."""
        template = np.zeros(1, dtype=GAME)
        template["variants"] = _flags(self.variants, VARIANTS)
        template["modules"] = _flags(self.modules, MODULES)
        template["scenario"] = 0 if self.scenario is None else 1 + SCENARIOS.index(self.scenario)
        template["fixed_setup"] = self.fixed_setup
        template["max_turns"] = self.max_turns
        return template

    @property
    def needs_all_actions(self) -> bool:
        """Whether the variants and modules have actions that the base game does not have."""
        return any(
            rule.needs_all_actions for rule in (*variants.VARIANTS, *variants.MODULES) if rule.name in {*self.variants, *self.modules}
        )

    def arguments(self) -> dict[str, Any]:
        """Return the keyword arguments that make equal options, as JSON data; a head start only if there is one."""
        rules = self.rules()
        if self.task is not None:
            del rules["level"]
            return {"task": self.task, **rules}
        defaults = {"revolts": MAX_REVOLTS, "secured": 0}
        counts = {name: value if isinstance(value := getattr(self, name), int) else list(value) for name in defaults}
        return rules | {name: value for name, value in counts.items() if value != defaults[name]}

    def rules(self) -> dict[str, Any]:
        """Return the keyword arguments of the rules in force during the game, without the head start, as JSON data."""
        by_level = {"level": self.level if isinstance(self.level, str) else list(self.level or ()), "modules": list(self.modules)}
        rules = by_level if self.scenario is None else {"scenario": self.scenario}
        return {**rules, "variants": list(self.variants), "fixed_setup": self.fixed_setup, "max_turns": self.max_turns}

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)


def _check_level(level: str) -> None:
    """Check each digit against its range (R2.1)."""
    if len(level) != len(DIGITS):
        raise TetrarchiaError(f"level must be {FOUR_DIGITS}; got {truncate_repr(level)}")
    for digit, (meaning, allowed) in zip(level, DIGITS, strict=True):
        if digit not in allowed:
            raise TetrarchiaError(f"level {level!r}: {meaning} must be {allowed[0]} to {allowed[-1]}; got {digit!r}")


def _flags(names: Iterable[str], allowed: tuple[str, ...]) -> int:
    return sum(1 << allowed.index(name) for name in names)
