"""Options that several commands share, each declared once, with its completion.

Levels and scenarios are repeated here, because the rules take a second to import: too long for the Tab key. A test compares the names.
"""

import sys
from collections.abc import Callable, Collection, Iterable, Mapping
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tetrarchia_agents.registry import AGENTS
from tetrarchia_env import variants
from tetrarchia_env.errors import TetrarchiaError

if TYPE_CHECKING:
    from tetrarchia_env.agent import Agent
    from tetrarchia_env.game import Game, Policy
    from tetrarchia_env.options import Options

LEVEL_DIGITS = ("5432", "3210", "0123", "0123")  # R2.1, the easiest value of each digit first
LEVELS = {"4211": "the normal level", "4200": "the beginners' level"}

VARIANTS = {variant.name: variant.help for variant in variants.VARIANTS}
MODULES = {module.name: module.help for module in variants.MODULES}
TASKS = {name: task.help for name, task in variants.TASKS.items()}

SCENARIOS = {  # R12
    "carausian_revolt": "a Rebel in BRITANNIA, and Pirates in the Atlantic",
    "danube_wars": "Goths and another army on the Danube",
    "mauretanian_war": "a Rebel in GAETVLIA, and Pirates in the Atlantic",
    "great_persian_war": "Rebels in PERSIA and LIBYA",
}

EMPERORS = {"diocletian": "Augustus, East", "galerius": "Caesar, East", "constantius": "Caesar, West", "maximian": "Augustus, West"}

RENDERERS = {"ansi": "in the terminal", "human": "in a window", "browser": "live in the browser"}

Complete = Callable[[str], list[tuple[str, str]]]  # from what was typed to values with their help


def complete_one(values: Callable[[], Mapping[str, str]]) -> Complete:
    """Return a completion of one of these values."""
    return lambda incomplete: [(name, text) for name, text in values().items() if name.startswith(incomplete)]


def complete_list(values: Callable[[], Mapping[str, str]]) -> Complete:
    """Return a completion of the last value of a comma-separated list."""

    def complete(incomplete: str) -> list[tuple[str, str]]:
        before, comma, last = incomplete.rpartition(",")
        return [(before + comma + name, text) for name, text in complete_one(values)(last)]

    return complete


def complete_agents(incomplete: str) -> list[tuple[str, str]]:
    """Complete a comma-separated list of agents, after `ppo` also with the packaged checkpoints."""
    names = {name: agent_type.help for name, agent_type in AGENTS.items()}
    if incomplete.rpartition(",")[2].startswith("ppo"):
        from tetrarchia_agents.cards import shipped_checkpoints

        names |= {f"ppo:{name}": "a checkpoint" for name in shipped_checkpoints()}
    return complete_list(lambda: names)(incomplete)


def all_levels() -> dict[str, str]:
    """Return the 256 levels with their names, the named levels first."""
    return LEVELS | {level: "" for level in map("".join, product(*LEVEL_DIGITS)) if level not in LEVELS}


GAME, PLAYERS, OUTPUT = "Game", "Players", "Output"  # panels of the help

Level = Annotated[
    str | None,
    typer.Option(
        help="Four digits: tokens per Emperor, fleets, extra Revolts, initial armies (see `tetrarchia levels`); 4211 by default",
        rich_help_panel=GAME,
        autocompletion=complete_one(all_levels),
    ),
]
Variants = Annotated[
    str,
    typer.Option(help=f"Comma-separated: {', '.join(VARIANTS)}", rich_help_panel=GAME, autocompletion=complete_list(lambda: VARIANTS)),
]
Modules = Annotated[
    str,
    typer.Option(help=f"Comma-separated: {', '.join(MODULES)}", rich_help_panel=GAME, autocompletion=complete_list(lambda: MODULES)),
]
Scenario = Annotated[
    str | None,
    typer.Option(help=f"One of {', '.join(SCENARIOS)}", rich_help_panel=GAME, autocompletion=complete_one(lambda: SCENARIOS)),
]
Task = Annotated[
    str | None,
    typer.Option(
        help=f"A named set-up instead of a level, from easy to hard: {', '.join(TASKS)}",
        rich_help_panel=GAME,
        autocompletion=complete_one(lambda: TASKS),
    ),
]
Revolts = Annotated[
    str | None,
    typer.Option(
        help="Number of initial Revolts, 0 to 6, or a comma-separated list from which each game draws one; default: 6", rich_help_panel=GAME
    ),
]
Secured = Annotated[
    str | None,
    typer.Option(
        help="Number of borders secured at the start, 0 to 5, or a comma-separated list from which each game draws one; default: 0",
        rich_help_panel=GAME,
    ),
]
ViewRadius = Annotated[
    int | None,
    typer.Option(
        help="Local information (our extension): each Emperor observes only spaces within this many links, 0 to 12; default: everything",
        rich_help_panel=GAME,
    ),
]
LastSeen = Annotated[
    bool,
    typer.Option("--last-seen", help="With --view-radius: spaces out of view show what was seen there last", rich_help_panel=GAME),
]
MessageTokens = Annotated[
    int,
    typer.Option(help="With --view-radius: tokens that an Emperor can say once a turn, 0 to 16", rich_help_panel=GAME),
]
AllowFullInformation = Annotated[
    bool,
    typer.Option(
        "--allow-full-information",
        help="With --view-radius: allow agents that need whole games, as privileged baselines",
        rich_help_panel=PLAYERS,
    ),
]
View = Annotated[
    str | None,
    typer.Option(
        help=f"With --view-radius: show only what this Emperor knows: {', '.join(EMPERORS)}",
        rich_help_panel=OUTPUT,
        autocompletion=complete_one(lambda: EMPERORS),
    ),
]
Seed = Annotated[int, typer.Option(help="Random seed; the same seed and actions reproduce the game", rich_help_panel=GAME)]
Agents = Annotated[
    str,
    typer.Option(
        help="Agents, comma-separated: one for all Emperors, or one for each of two to four players, e.g. planner,random",
        rich_help_panel=PLAYERS,
        autocompletion=complete_agents,
    ),
]
Speed = Annotated[float, typer.Option(help="Actions per second", rich_help_panel=OUTPUT)]
Render = Annotated[
    str | None,
    typer.Option(
        help=f"{', '.join(f'{name}: {text}' for name, text in RENDERERS.items())}; ansi by default, unless a file is written",
        rich_help_panel=OUTPUT,
        autocompletion=complete_one(lambda: RENDERERS),
    ),
]
Video = Annotated[Path | None, typer.Option(help="Write a video: game.gif or game.mp4", rich_help_panel=OUTPUT)]
Save = Annotated[Path | None, typer.Option(help="Save the game as a replay file: game.json", rich_help_panel=OUTPUT)]


def split_list(text: str) -> list[str]:
    """Return the names of a comma-separated list."""
    return [name.strip() for name in text.split(",")] if text else []


def head_start(revolts: str | None, secured: str | None) -> dict[str, Any]:
    """Return the arguments `revolts` and `secured` of a game, if they are given on the command line (R2.8)."""
    given = {name: text for name, text in (("revolts", revolts), ("secured", secured)) if text is not None}
    for name, text in given.items():
        if not all(number.strip().isdecimal() and len(number) < 10 for number in text.split(",")):
            raise TetrarchiaError(f"{name} must be a number, or several separated by commas; got {text!r}")
    return {name: [int(number) for number in text.split(",")] if "," in text else int(text) for name, text in given.items()}


def game_options(
    level: str | None,
    variants: str,
    modules: str,
    scenario: str | None,
    task: str | None = None,
    revolts: str | None = None,
    secured: str | None = None,
) -> "Options":
    """Return the options of a game as they are given on the command line."""
    from tetrarchia_env.options import Options

    rules = {"variants": split_list(variants), "modules": split_list(modules), "scenario": scenario}
    return Options.of(level=level, task=task, **rules, **head_start(revolts, secured))


def warn_untrained(agents: "Iterable[Agent]", options: "Options") -> None:
    """Print a line to stderr for each network that was not trained with the rules of a game."""
    checks = [agent.training_warning for agent in agents if hasattr(agent, "training_warning")]
    for text in dict.fromkeys(check(options) for check in checks):
        if text:
            print(f"tetrarchia: warning: {text}", file=sys.stderr)


def game_policy(names: str, game: "Game | None" = None, emperors: "Collection[str]" = (), allow_full_information: bool = False) -> "Policy":
    """Return a function from a game to the next action, as the acting Emperor's agent chooses it.

    Args:
        names: Names of agents, as for `--agents`.
        game: The game, for which the agents are checked; a warning is printed for networks that were not trained with its rules.
        emperors: The Emperors that the user plays.
        allow_full_information: Whether agents that need whole games may play with a view radius.

    Raises:
        TetrarchiaError: An agent does not exist or may not play with the game's information.
    """
    from tetrarchia_agents import make_agents
    from tetrarchia_agents.compiling import compile_ahead
    from tetrarchia_env.agent import check_information

    agents = make_agents(names)
    playing = [agent for agent, emperor in zip(agents, EMPERORS, strict=True) if emperor not in emperors]
    if game:
        check_information(playing, game.local, allow_full_information)
        warn_untrained(playing, game.options)
    compile_ahead()
    return lambda game: game.ask(agents[game.status()[0]])
