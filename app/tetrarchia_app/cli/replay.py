"""The command `replay`: a recorded game is played again, checked and shown."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tetrarchia_app.cli.arguments import Film, Render, Speed, agent_names
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
    file: Annotated[Path, typer.Argument(help="A replay file, as `watch --save` writes it")],
    speed: Speed = 2.0,
    render: Render = None,
    film: Film = None,
    agents: Annotated[
        str | None,
        typer.Option(help="Who plays on in the browser: one agent, or one for each of two to four players", autocompletion=agent_names),
    ] = None,
    html: Annotated[Path | None, typer.Option(help="Write a page for any browser: game.html")] = None,
    analyse: Annotated[
        str | None, typer.Option(help="Show on the page what this agent thinks of the game: ppo", autocompletion=agent_names)
    ] = None,
) -> None:
    """Play a replay file again, check every step, and show it: forwards, backwards, as a film or as a page."""
    from tetrarchia_app.terminal.present import check_presentation, checked_replay, present
    from tetrarchia_env.files import write_text_atomic
    from tetrarchia_env.game import Game

    if analyse and not html:
        raise TetrarchiaError(f"--analyse {analyse} is shown on a page: give --html too")
    if agents and render != "browser":
        raise TetrarchiaError(f"--agents {agents} play on in the browser: give --render browser too")
    check_presentation(speed, render, film, html, source=file)
    played = checked_replay(file)
    game = Game.from_replay(played)
    if render == "browser":
        in_browser(game, agents, film or html)
        return
    if html:
        from tetrarchia_env.render.page import replay_page

        write_text_atomic(html, replay_page(list(game.frames()), printable(file.stem), analysis_of(played, analyse) if analyse else None))
        print(f"written: {printable(html)}")
    if render or film or not html:
        present(game, speed, render, film)


def analysis_of(played: "Replay", agent: str) -> "GameAnalysis":
    """What this agent thinks of the game, with a bar while it does."""
    from rich.console import Console
    from rich.progress import Progress

    from tetrarchia_agents.compiling import compile_ahead
    from tetrarchia_agents.registry import make_agent

    make_agent(agent)  # tells what is missing before anything of it is loaded
    from tetrarchia_agents.luck_adjusted import analyze_replay
    from tetrarchia_agents.position_analysis import make_critic

    critic = make_critic(agent)
    compile_ahead()
    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(f"{agent} thinks", total=1.0)
        return analyze_replay(critic, played, progress=lambda fraction: bar.update(task, completed=fraction))
