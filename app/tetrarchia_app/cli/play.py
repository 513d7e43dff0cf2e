"""The command `play`."""

from typing import Annotated

import typer

from tetrarchia_app.cli.arguments import (
    EMPERORS,
    GAME,
    PLAYERS,
    Agents,
    AllowFullInformation,
    LastSeen,
    Level,
    MessageTokens,
    Modules,
    Revolts,
    Save,
    Scenario,
    Secured,
    Task,
    Variants,
    ViewRadius,
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


def play(
    level: Level = None,
    variants: Variants = "",
    modules: Modules = "",
    scenario: Scenario = None,
    task: Task = None,
    revolts: Revolts = None,
    secured: Secured = None,
    view_radius: ViewRadius = None,
    last_seen: LastSeen = False,
    message_tokens: MessageTokens = 0,
    seed: Annotated[int | None, typer.Option(help="Random seed; default: a different game each time", rich_help_panel=GAME)] = None,
    agents: Agents = "random",
    allow_full_information: AllowFullInformation = False,
    emperors: Annotated[
        str,
        typer.Option(
            help="The Emperors you play, comma-separated; agents play the others",
            rich_help_panel=PLAYERS,
            autocompletion=complete_list(lambda: {"all": "", **EMPERORS}),
        ),
    ] = "all",
    save: Save = None,
) -> None:
    """Play in the terminal, alone or with agents as teammates."""
    import secrets

    from tetrarchia_app.terminal.player import Player, parse_emperors
    from tetrarchia_env.files import check_output_paths
    from tetrarchia_env.game import Game
    from tetrarchia_env.local_view import LocalOptions

    check_output_paths(save)
    yours, seed = parse_emperors(emperors), secrets.randbelow(2**32) if seed is None else seed
    options = game_options(level, variants, modules, scenario, task, revolts, secured)
    game = Game.from_options(options, seed, local=LocalOptions(view_radius, last_seen, message_tokens))
    print(f"You play {', '.join(yours)}. Seed: {seed}. Type ? for help.")
    policy = game_policy(agents, game, yours, allow_full_information)
    Player(game, {name: policy for name in EMPERORS if name not in yours}).run()
    if save:
        game.replay().save(save)
        print(f"saved: {printable(save)}")
