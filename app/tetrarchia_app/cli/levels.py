"""The command `levels`."""

import sys
from typing import Annotated

import typer
from rich import box
from rich.console import Console
from rich.table import Table

from tetrarchia_app.cli.arguments import LEVEL_DIGITS, LEVELS, MODULES, SCENARIOS, TASKS, VARIANTS, all_levels, complete_one

PANEL = "Help and diagnostics"
EXAMPLES = (
    "tetrarchia levels",
    "tetrarchia levels 4211",
)
PIPE_WIDTH = 120  # characters per line in a pipe or a file
# R2.1: what each digit counts, in the singular and the plural, and what it is for.
DIGITS = (
    ("token for each Emperor", "tokens for each Emperor", "to secure provinces and borders"),
    ("fleet", "fleets", "to carry Emperors along a coast"),
    ("extra Revolt", "extra Revolts", "in addition to the six of every set-up"),
    ("Barbarian army", "Barbarian armies", "on borders at the start"),
)


def levels(
    level: Annotated[str | None, typer.Argument(help="A level to describe, such as 4211", autocompletion=complete_one(all_levels))] = None,
) -> None:
    """Explain the four digits of a level and list variants, modules, scenarios and tasks, or describe one level."""
    console = Console(width=None if sys.stdout.isatty() else PIPE_WIDTH, highlight=False, markup=False)
    if level is not None:
        console.print(level_in_words(level))
        return
    console.print("A level has four digits. Level 4211:\n")
    digits = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for title in ("digit", "counts", "", "easiest to hardest"):
        digits.add_column(title)
    for digit, (_, plural, purpose), values in zip("4211", DIGITS, LEVEL_DIGITS, strict=True):
        digits.add_row(digit, plural, purpose, " ".join(values))
    console.print(digits)
    console.print("Named levels: " + ", ".join(f"{name} is {title}" for name, title in LEVELS.items()) + ".")
    console.print("`tetrarchia levels 3222` describes that level.")
    for title, names in {
        "--variants, comma-separated": VARIANTS,
        "--modules, comma-separated": MODULES,
        "--scenario": SCENARIOS,
        "--task": TASKS,
    }.items():
        console.print(f"\n{title}")
        table = Table(box=None, show_header=False, pad_edge=True)
        table.add_column(style="bold", no_wrap=True)
        table.add_column()
        for name, text in names.items():
            table.add_row(name, text)
        console.print(table)


def level_in_words(level: str) -> str:
    """Return the level's names, if it has any, and a line for each digit."""
    from tetrarchia_env.engine.scenarios import scenario_row
    from tetrarchia_env.options import Options
    from tetrarchia_env.variants import RULEBOOK_LEVELS

    Options(level=level)  # raises an error if it is not a level
    lines = [
        f"  {digit} {singular if digit == '1' else plural} {purpose}"
        for digit, (singular, plural, purpose) in zip(level, DIGITS, strict=True)
    ]
    names = [LEVELS[level]] if level in LEVELS else []
    names += [f"the level of the scenario {name}" for name in SCENARIOS if scenario_row(name)["level"] == level]
    names += ["in the rulebook's table of 81 levels" if level in RULEBOOK_LEVELS else "not in the rulebook's table of 81 levels"]
    return "\n".join([f"Level {level}: {', '.join(names)}.", *lines])
