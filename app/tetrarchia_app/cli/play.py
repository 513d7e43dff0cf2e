"""The command `play`."""

from typing import Annotated

import typer

from tetrarchia_app.cli.arguments import (
    GAME,
    PLAYERS,
    Agents,
    Level,
    Modules,
    Revolts,
    Save,
    Scenario,
    Secured,
    Task,
    Variants,
    complete_list,
    game_options,
    game_policy,
)
from tetrarchia_env.messages import printable

PANEL = "Play and watch"
EXAMPLES = (
    "tetrarchia play --level 4200",
    "tetrarchia play --emperors diocletian,galerius --agents planner",
)
EMPERORS_OR_ALL = {
    "all": "",
    "diocletian": "Augustus, East",
    "galerius": "Caesar, East",
    "constantius": "Caesar, West",
    "maximian": "Augustus, West",
}


def play(
    level: Level = None,
    variants: Variants = "",
    modules: Modules = "",
    scenario: Scenario = None,
    task: Task = None,
    revolts: Revolts = None,
    secured: Secured = None,
    seed: Annotated[int | None, typer.Option(help="Random seed; default: a different game each time", rich_help_panel=GAME)] = None,
    agents: Agents = "random",
    emperors: Annotated[
        str,
        typer.Option(
            help="The Emperors you play, comma-separated; agents play the others",
            rich_help_panel=PLAYERS,
            autocompletion=complete_list(lambda: EMPERORS_OR_ALL),
        ),
    ] = "all",
    save: Save = None,
) -> None:
    """Play in the terminal, alone or with agents as teammates."""
    import secrets

    from tetrarchia_app.terminal.player import Player, parse_emperors
    from tetrarchia_env.board import EMPERORS
    from tetrarchia_env.files import check_output_paths
    from tetrarchia_env.game import Game

    check_output_paths(save)
    yours, seed = parse_emperors(emperors), secrets.randbelow(2**32) if seed is None else seed
    options = game_options(level, variants, modules, scenario, task, revolts, secured)
    game = Game.from_options(options, seed)
    print(f"You play {', '.join(yours)}. Seed: {seed}. Type ? for help.")
    policy = game_policy(agents, options)
    Player(game, {name: policy for name in EMPERORS if name not in yours}).run()
    if save:
        game.replay().save(save)
        print(f"saved: {printable(save)}")
