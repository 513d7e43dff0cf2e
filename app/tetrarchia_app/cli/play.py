"""The command `play`: a person plays some of the Emperors, or all, in the terminal."""

from typing import Annotated

import typer

from tetrarchia_app.cli.arguments import Agents, Level, Modules, Save, Scenario, Variants, game_options, some_of
from tetrarchia_app.cli.game_policy import game_policy
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
    seed: Annotated[int | None, typer.Option(help="Fixes every die; a new game each time if not given")] = None,
    agents: Agents = "random",
    emperors: Annotated[
        str, typer.Option(help="Whom you play, with commas; agents play the others", autocompletion=some_of(lambda: EMPERORS_OR_ALL))
    ] = "all",
    save: Save = None,
) -> None:
    """Play in the terminal: you are some of the Emperors, or all."""
    import secrets

    from tetrarchia_app.terminal.player import Player, emperors_named
    from tetrarchia_env.board import EMPERORS
    from tetrarchia_env.files import check_output_paths
    from tetrarchia_env.game import Game
    from tetrarchia_env.notation import save_replay

    check_output_paths(save)
    yours, seed = emperors_named(emperors), secrets.randbelow(2**32) if seed is None else seed
    game = Game.from_options(game_options(level, variants, modules, scenario), seed)
    print(f"You play {', '.join(yours)}; the seed of this game is {seed}. ? tells what you may type.")
    policy = game_policy(agents)
    Player(game, {name: policy for name in EMPERORS if name not in yours}).run()
    if save:
        save_replay(game.replay(), save)
        print(f"saved: {printable(save)}")
