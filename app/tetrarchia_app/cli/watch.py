"""The command `watch`."""

from tetrarchia_app.cli.arguments import (
    Agents,
    Level,
    Modules,
    Render,
    Revolts,
    Save,
    Scenario,
    Secured,
    Seed,
    Speed,
    Task,
    Variants,
    Video,
    game_options,
    game_policy,
)
from tetrarchia_app.cli.serve import in_browser
from tetrarchia_env.messages import printable

PANEL = "Play and watch"
EXAMPLES = (
    "tetrarchia watch --agents planner --level 4200",
    "tetrarchia watch --agents planner,random --scenario danube_wars --seed 7",
    "tetrarchia watch --agents planner --video game.gif --save game.json",
    "tetrarchia watch --agents ppo --render browser",
)


def watch(
    level: Level = None,
    variants: Variants = "",
    modules: Modules = "",
    scenario: Scenario = None,
    task: Task = None,
    revolts: Revolts = None,
    secured: Secured = None,
    seed: Seed = 0,
    agents: Agents = "random",
    speed: Speed = 2.0,
    render: Render = None,
    video: Video = None,
    save: Save = None,
) -> None:
    """Watch agents play a game: in the terminal, a window or the browser, or as a video. Without a TTY it prints without pausing."""
    from tetrarchia_app.terminal.present import check_presentation, present
    from tetrarchia_env.game import Game

    check_presentation(speed, render, video, save)
    options = game_options(level, variants, modules, scenario, task, revolts, secured)
    game = Game.from_options(options, seed)
    if render == "browser":
        in_browser(game, agents, video or save, speed)
        return
    game.policy = game_policy(agents, options)
    present(game, speed, render, video)
    if save:
        game.play_to_end()
        game.replay().save(save)
        print(f"saved: {printable(save)}")
