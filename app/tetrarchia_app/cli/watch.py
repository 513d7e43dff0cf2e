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
    from tetrarchia_app.playing.session import Session
    from tetrarchia_app.terminal.present import check_presentation, present
    from tetrarchia_env.notation import action_id, record_replay, save_replay
    from tetrarchia_env.show import Show, frames_of_play

    check_presentation(speed, render, film, save)
    options = game_options(level, variants, modules, scenario)
    if render == "browser":
        in_browser(Session(options, seed), agents, film or save)
        return
    policy = game_policy(agents, seed)
    show = Show(frames_of_play(options, seed, policy))
    present(show, speed, render, film)
    if save:
        actions = [action_id(str(frame.action)) for frame in show.all()[1:]]  # what was not watched is played now
        save_replay(record_replay(options, seed, actions), save)
        print(f"saved: {printable(save)}")
