"""The command `watch`."""

from tetrarchia_app.cli.arguments import (
    Agents,
    AllowFullInformation,
    LastSeen,
    Level,
    MessageTokens,
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
    View,
    ViewRadius,
    game_options,
    game_policy,
)
from tetrarchia_app.cli.serve import in_browser
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.messages import printable

PANEL = "Play and watch"
EXAMPLES = (
    "tetrarchia watch --agents planner --level 4200",
    "tetrarchia watch --agents planner,random --scenario danube_wars --seed 7",
    "tetrarchia watch --agents planner --video game.gif --save game.json",
    "tetrarchia watch --agents ppo --render browser",
    "tetrarchia watch --view-radius 2 --last-seen --view galerius",
)


def watch(
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
    seed: Seed = 0,
    agents: Agents = "random",
    allow_full_information: AllowFullInformation = False,
    speed: Speed = 2.0,
    render: Render = None,
    video: Video = None,
    save: Save = None,
    view: View = None,
) -> None:
    """Watch agents play a game: in the terminal, a window or the browser, or as a video. Without a TTY it prints without pausing."""
    from tetrarchia_app.terminal.present import check_presentation, present
    from tetrarchia_env.game import Game
    from tetrarchia_env.local_view import LocalOptions

    check_presentation(speed, render, video, save)
    options = game_options(level, variants, modules, scenario, task, revolts, secured)
    game = Game.from_options(options, seed, local=LocalOptions(view_radius, last_seen, message_tokens))
    if view:
        game.visible_snapshot(view)  # raises an error about a wrong view before the game
        game.view = view
    if render == "browser":
        if view:
            raise TetrarchiaError(f"--view {view}: --render browser shows the whole board")
        in_browser(game, agents, video or save, speed, allow_full_information)
        return
    game.policy = game_policy(agents, game, allow_full_information=allow_full_information)
    present(game, speed, render, video)
    if save:
        game.play_to_end()
        game.replay().save(save)
        print(f"saved: {printable(save)}")
