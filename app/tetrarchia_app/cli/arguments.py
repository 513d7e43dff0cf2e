"""What several commands have in common: names that a user may type, what the Tab key offers for them, and the options that take them.

The names are those of the rules and of the registry of agents, which take seconds to load: a key pressed for completion cannot wait.
"""

from collections.abc import Callable, Mapping
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from tetrarchia_env.options import Options

LEVEL_DIGITS = ("5432", "3210", "0123", "0123")  # R2.1: the easiest first
LEVELS = {"4211": "the normal level", "4200": "the level for beginners"}

VARIANTS = {  # R10
    "imperivm": "each Emperor has a power that costs one of his tokens",
    "mare_nostrvm": "fleets in neighbouring zones join their coasts",
    "diarchia": "the two Emperors of a couple support each other with their tokens",
    "patres_patriae": "Diocletian may take a point from Galerius, Constantius may give one to Maximian",
    "the_great": "victories bring glory, and after a won game perhaps a title",
}

MODULES = {  # R11
    "dux": "a general whom every Emperor may lead in his turn",
    "pirates": "hold a sea zone against your fleets; for levels with fewer than 3 fleets",
    "goths": "a stronger army that comes over the borders III and IV",
}

SCENARIOS = {  # R12
    "carausian_revolt": "a Rebel in BRITANNIA, and Pirates in the Atlantic",
    "danube_wars": "Goths and another army on the Danube",
    "mauretanian_war": "a Rebel in GAETVLIA, and Pirates in the Atlantic",
    "great_persian_war": "Rebels in PERSIA and LIBYA",
}

Offer = tuple[str, str]  # a value and what it means
Completion = Callable[[str], list[Offer]]


def one_of(known: Callable[[], Mapping[str, str]]) -> Completion:
    """Offers the names that begin as typed."""

    def complete(incomplete: str) -> list[Offer]:
        return [(name, about) for name, about in known().items() if name.startswith(incomplete)]

    return complete


def some_of(known: Callable[[], Mapping[str, str]]) -> Completion:
    """The same for the last of several names with commas."""

    def complete(incomplete: str) -> list[Offer]:
        before, comma, last = incomplete.rpartition(",")
        return [(before + comma + name, about) for name, about in one_of(known)(last)]

    return complete


def level_names() -> dict[str, str]:
    """The levels that have names first, then all others."""
    return LEVELS | {level: "" for level in map("".join, product(*LEVEL_DIGITS)) if level not in LEVELS}


def level_words() -> dict[str, str]:
    """The same for `eval`, which has words for many of them."""
    return {"rulebook": "the 81 levels of the rulebook", "every": "all 256 levels"} | level_names()


def agent_names(incomplete: str) -> list[Offer]:
    """Agents with commas; after `ppo`, also the checkpoints that come with the project."""
    from tetrarchia_agents.registry import AGENTS

    last = incomplete.rpartition(",")[2]
    trained = {f"ppo:{name}": "a checkpoint" for name in _checkpoints()} if last.startswith("ppo") else {}
    return some_of(lambda: {name: agent_type.help for name, agent_type in AGENTS.items()} | trained)(incomplete)


def _checkpoints() -> list[str]:
    from tetrarchia_agents.cards import shipped_checkpoints

    return shipped_checkpoints()


A_VARIANT_LIST = f"With commas: {', '.join(VARIANTS)}"
A_MODULE_LIST = f"With commas: {', '.join(MODULES)}"
A_SCENARIO = f"{', '.join(list(SCENARIOS)[:-1])} or {list(SCENARIOS)[-1]}"

variants_offered = some_of(lambda: VARIANTS)
modules_offered = some_of(lambda: MODULES)
scenarios_offered = one_of(lambda: SCENARIOS)

Level = Annotated[
    str | None,
    typer.Option(
        help="Four digits: tokens per Emperor, fleets, extra Revolts, initial armies; 4211 if not given; `tetrarchia levels` tells more",
        autocompletion=one_of(level_names),
    ),
]
Variants = Annotated[str, typer.Option(help=A_VARIANT_LIST, autocompletion=variants_offered)]
Modules = Annotated[str, typer.Option(help=A_MODULE_LIST, autocompletion=modules_offered)]
Scenario = Annotated[str | None, typer.Option(help=A_SCENARIO, autocompletion=scenarios_offered)]
Seed = Annotated[int, typer.Option(help="Fixes every die: the same seed and actions are the same game")]
Agents = Annotated[
    str,
    typer.Option(
        help="One for all Emperors or one for each of two to four players, with commas: planner,random", autocompletion=agent_names
    ),
]
Speed = Annotated[float, typer.Option(help="Actions a second")]
Render = Annotated[
    str | None,
    typer.Option(
        help="ansi: in the terminal; human: in a window; browser: live in the browser; ansi if nothing is written to a file",
        autocompletion=one_of(lambda: {"ansi": "in the terminal", "human": "in a window", "browser": "live in the browser"}),
    ),
]
Film = Annotated[Path | None, typer.Option(help="Write a film: game.gif or game.mp4")]
Save = Annotated[Path | None, typer.Option(help="Keep the game as a replay file")]


def game_options(level: str | None, variants: str, modules: str, scenario: str | None) -> "Options":
    """What is played."""
    from tetrarchia_env.options import Options

    return Options(level=level, variants=listed(variants), modules=listed(modules), scenario=scenario)


def listed(text: str) -> list[str]:
    """Names with commas, and blanks beside them."""
    return [name.strip() for name in text.split(",")] if text else []
