"""Options that several commands have, in the same words everywhere."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tetrarchia_env.cli import names
from tetrarchia_env.cli.completion import agent_names, level_names, one_of, some_of

if TYPE_CHECKING:
    from tetrarchia_env.options import Options

VARIANTS = f"With commas: {','.join(names.VARIANTS)}"
MODULES = f"With commas: {','.join(names.MODULES)}"
SCENARIOS = f"{', '.join(list(names.SCENARIOS)[:-1])} or {list(names.SCENARIOS)[-1]}"

variants_offered = some_of(lambda: names.VARIANTS)
modules_offered = some_of(lambda: names.MODULES)
scenarios_offered = one_of(lambda: names.SCENARIOS)

Level = Annotated[
    str | None,
    typer.Option(
        help="Four digits: tokens per Emperor, fleets, extra Revolts, initial armies; 4211 if not given; `tetrarchia levels` tells more",
        autocompletion=one_of(level_names),
    ),
]
Variants = Annotated[str, typer.Option(help=VARIANTS, autocompletion=variants_offered)]
Modules = Annotated[str, typer.Option(help=MODULES, autocompletion=modules_offered)]
Scenario = Annotated[str | None, typer.Option(help=SCENARIOS, autocompletion=scenarios_offered)]
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
        help="ansi: in the terminal; human: in a window; ansi if nothing is written to a file",
        autocompletion=one_of(lambda: {"ansi": "in the terminal", "human": "in a window"}),
    ),
]
Film = Annotated[Path | None, typer.Option(help="Write a film: game.gif or game.mp4")]
Save = Annotated[Path | None, typer.Option(help="Keep the game as a replay file")]


def options_of(level: str | None, variants: str, modules: str, scenario: str | None) -> "Options":
    """What is played."""
    from tetrarchia_env.options import Options

    return Options(level=level, variants=listed(variants), modules=listed(modules), scenario=scenario)


def listed(text: str) -> list[str]:
    """Names with commas."""
    return text.split(",") if text else []
