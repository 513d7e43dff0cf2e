"""The command `replay`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tetrarchia_app.cli.arguments import EMPERORS, OUTPUT, PLAYERS, Render, Speed, Video, complete_agents
from tetrarchia_app.cli.serve import in_browser
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.messages import printable

if TYPE_CHECKING:
    from tetrarchia_env.game_analysis import GameAnalysis
    from tetrarchia_env.notation import Replay

PANEL = "Play and watch"
EXAMPLES = (
    "tetrarchia replay game.json",
    "tetrarchia replay game.json --html game.html",
    "tetrarchia replay game.json --html game.html --analyse ppo",
    "tetrarchia replay game.json --render browser --agents ppo,planner",
)


def replay(
    file: Annotated[Path, typer.Argument(help="A replay file, as written by `watch --save`")],
    speed: Speed = 2.0,
    render: Render = None,
    video: Video = None,
    agents: Annotated[
        str | None,
        typer.Option(
            help="Agents that continue the game in the browser, as for `watch`; the best one by default",
            rich_help_panel=PLAYERS,
            autocompletion=complete_agents,
        ),
    ] = None,
    html: Annotated[Path | None, typer.Option(help="Write a web page of the game: game.html", rich_help_panel=OUTPUT)] = None,
    analyse: Annotated[
        str | None,
        typer.Option(
            help="Add this agent's analysis of the game to the page of --html, e.g. ppo",
            rich_help_panel=OUTPUT,
            autocompletion=complete_agents,
        ),
    ] = None,
) -> None:
    """Check every step of a replay file and show the game: in the terminal, a window or the browser, as a video or as a web page."""
    from tetrarchia_app.terminal.present import check_presentation, present
    from tetrarchia_env.files import write_text_atomic
    from tetrarchia_env.game import Game
    from tetrarchia_env.notation import load_replay, play_replay

    if analyse and not html:
        raise TetrarchiaError(f"--analyse {analyse} needs --html FILE, the page that shows the analysis")
    if agents and render != "browser":
        raise TetrarchiaError(f"--agents {agents} needs --render browser, where they continue the game")
    check_presentation(speed, render, video, html, source=file)
    played = load_replay(file)
    try:
        for _ in play_replay(played):
            pass
    except TetrarchiaError as error:
        raise TetrarchiaError(f"replay {file}: {error}") from None
    game = Game.from_replay(played)
    if render == "browser":
        in_browser(game, agents, video or html, speed)
        return
    if html:
        from tetrarchia_env.render.page import replay_page

        place = played.options.scenario or played.options.task or f"level {played.options.level}"
        title = f"{printable(file.stem)}: {place}, seed {played.seed}"
        views = {name: list(game.frames(view=name)) for name in EMPERORS} if game.local.view_radius is not None else {}
        write_text_atomic(html, replay_page(list(game.frames()), title, analyze_with(analyse, played) if analyse else None, views))
        print(f"written: {printable(html)}")
    if render or video or not html:
        present(game, speed, render, video)


def analyze_with(agent: str, played: "Replay") -> "GameAnalysis":
    """Return an agent's analysis of a game, with a progress bar meanwhile."""
    from rich.console import Console
    from rich.progress import Progress

    from tetrarchia_agents.compiling import compile_ahead
    from tetrarchia_agents.registry import make_agent

    make_agent(agent)  # raises an error about missing packages before they are imported
    from tetrarchia_agents.luck_adjusted import analyze_replay
    from tetrarchia_agents.position_analysis import make_critic

    critic = make_critic(agent)
    compile_ahead()
    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(f"analysis by {agent}", total=1.0)
        return analyze_replay(critic, played, progress=lambda fraction: bar.update(task, completed=fraction))
