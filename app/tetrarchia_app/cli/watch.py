"""The command `watch`: agents play one game, and it is shown."""

from tetrarchia_app.cli.arguments import Agents, Film, Level, Modules, Render, Save, Scenario, Seed, Speed, Variants, game_options
from tetrarchia_app.cli.game_policy import game_policy
from tetrarchia_app.cli.serve import in_browser
from tetrarchia_env.messages import printable

PANEL = "Play and watch"
EXAMPLES = (
    "tetrarchia watch --agents planner --level 4200",
    "tetrarchia watch --agents planner,random --scenario danube_wars --seed 7",
    "tetrarchia watch --agents planner --film game.gif --save game.json",
    "tetrarchia watch --agents ppo --render browser",
)


def watch(
    level: Level = None,
    variants: Variants = "",
    modules: Modules = "",
    scenario: Scenario = None,
    seed: Seed = 0,
    agents: Agents = "random",
    speed: Speed = 2.0,
    render: Render = None,
    film: Film = None,
    save: Save = None,
) -> None:
    """Watch agents play one game: in the terminal with keys, in a window, live in the browser, or as a film; plain lines into a pipe."""
    from tetrarchia_app.terminal.present import check_presentation, present
    from tetrarchia_env.game import Game
    from tetrarchia_env.notation import save_replay

    check_presentation(speed, render, film, save)
    game = Game.from_options(game_options(level, variants, modules, scenario), seed)
    if render == "browser":
        in_browser(game, agents, film or save)
        return
    game.policy = game_policy(agents)
    present(game, speed, render, film)
    if save:
        game.play_to_end()
        save_replay(game.replay(), save)
        print(f"saved: {printable(save)}")
