"""The command `levels`: what a level's digits mean, and what else a game can be played with."""

import sys
from collections.abc import Mapping
from typing import Annotated

import typer
from rich import box
from rich.console import Console
from rich.table import Table

from tetrarchia_app.cli.arguments import LEVEL_DIGITS, LEVELS, MODULES, SCENARIOS, VARIANTS, level_names, one_of

PANEL = "Help and diagnostics"
EXAMPLES = (
    "tetrarchia levels",
    "tetrarchia levels 4211",
)

WIDE = 120  # characters of a line that goes into a pipe or a file
# R2.1: what each digit counts, one and many, and where or what for.
DIGITS = (
    ("token for each Emperor", "tokens for each Emperor", "to secure provinces and borders"),
    ("fleet", "fleets", "to carry Emperors along a coast"),
    ("extra Revolt", "extra Revolts", "beside the six of every set-up"),
    ("Barbarian army", "Barbarian armies", "on borders at the start"),
)
OTHERS = {"variants": VARIANTS, "modules": MODULES, "scenario": SCENARIOS}


def levels(
    level: Annotated[str | None, typer.Argument(help="A level to put into words, such as 4211", autocompletion=one_of(level_names))] = None,
) -> None:
    """Explain the four digits of a level, and list variants, modules and scenarios; or put one level into words."""
    console = Console(width=None if sys.stdout.isatty() else WIDE, highlight=False, markup=False)
    if level is not None:
        console.print(level_in_words(level))
        return
    console.print("A level is four digits. Level 4211:\n")
    console.print(_digits("4211"))
    console.print("Levels with a name: " + ", ".join(f"{name} is {about}" for name, about in LEVELS.items()) + ".")
    console.print("`tetrarchia levels 3222` puts that level into words.")
    for option, known in OTHERS.items():
        console.print(f"\n--{option}{'' if option == 'scenario' else ', with commas'}")
        console.print(_list(known))


def level_in_words(level: str) -> str:
    """What the level is called, and a line for each digit."""
    from tetrarchia_env.engine.scenarios import scenario_row
    from tetrarchia_env.options import Options
    from tetrarchia_train.config import RULEBOOK

    Options(level=level)  # refuses what is no level
    lines = [f"  {digit} {one if digit == '1' else many} {why}" for digit, (one, many, why) in zip(level, DIGITS, strict=True)]
    source = "in the rulebook's table of 81 levels" if level in RULEBOOK else "beyond the rulebook's table of 81 levels"
    called = [LEVELS[level]] if level in LEVELS else []
    called += [f"that of the scenario {name}" for name in SCENARIOS if scenario_row(name)["level"] == level]
    return "\n".join([f"Level {level}: {', '.join([*called, source])}.", *lines])


def _digits(level: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for title in ("digit", "counts", "", "easiest to hardest"):
        table.add_column(title)
    for digit, (_, many, why), values in zip(level, DIGITS, LEVEL_DIGITS, strict=True):
        table.add_row(digit, many, why, " ".join(values))
    return table


def _list(known: Mapping[str, str]) -> Table:
    table = Table(box=None, show_header=False, pad_edge=True)
    table.add_column(style="bold", no_wrap=True)
    table.add_column()
    for name, about in known.items():
        table.add_row(name, about)
    return table
