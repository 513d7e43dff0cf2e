"""Commands that show one game: `watch`, `play`, `replay`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tetrarchia_env.cli.arguments import Agents, Film, Level, Modules, Render, Save, Scenario, Seed, Speed, Variants, options_of
from tetrarchia_env.cli.completion import some_of

if TYPE_CHECKING:
    from tetrarchia_env.terminal.player import Chooser

WHOM = {"all": "", "diocletian": "Augustus, East", "galerius": "Caesar, East", "constantius": "Caesar, West", "maximian": "Augustus, West"}


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
    """Watch agents play one game: in the terminal with keys, in a window, or as a film; plain lines into a pipe."""
    from tetrarchia_env.notation import action_id, record_replay, save_replay
    from tetrarchia_env.show import Show, frames_of_play
    from tetrarchia_env.terminal.showing import check_wishes, present

    check_wishes(speed, render, film, save)
    options, chooser = options_of(level, variants, modules, scenario), chooser_of(agents, seed)
    show = Show(frames_of_play(options, seed, chooser))
    present(show, speed, render, film)
    if save:
        actions = [action_id(str(frame.action)) for frame in show.all()[1:]]  # what was not watched is played now
        save_replay(record_replay(options, seed, actions), save)
        print(f"saved: {save}")


def replay(
    file: Annotated[Path, typer.Argument(help="A replay file, as `watch --save` writes it")],
    speed: Speed = 2.0,
    render: Render = None,
    film: Film = None,
    html: Annotated[Path | None, typer.Option(help="Write a page for any browser: game.html")] = None,
) -> None:
    """Play a replay file again, check every step, and show it: forwards, backwards, as a film or as a page."""
    from tetrarchia_env.files import write_whole
    from tetrarchia_env.show import Show, frames_of
    from tetrarchia_env.terminal.showing import check_wishes, checked_replay, present

    check_wishes(speed, render, film, html)
    show = Show(frames_of(checked_replay(file)))
    if html:
        from tetrarchia_env.render.page import replay_page

        write_whole(html, replay_page(show.all(), file.stem))
        print(f"written: {html}")
    if render or film or not html:
        present(show, speed, render, film)


def play(
    level: Level = None,
    variants: Variants = "",
    modules: Modules = "",
    scenario: Scenario = None,
    seed: Annotated[int | None, typer.Option(help="Fixes every die; a new game each time if not given")] = None,
    agents: Agents = "random",
    emperors: Annotated[
        str, typer.Option(help="Whom you play, with commas; agents play the others", autocompletion=some_of(lambda: WHOM))
    ] = "all",
    save: Save = None,
) -> None:
    """Play in the terminal: you are some of the Emperors, or all."""
    import secrets

    from tetrarchia_env.board import EMPERORS
    from tetrarchia_env.files import check_folder
    from tetrarchia_env.notation import save_replay
    from tetrarchia_env.terminal.player import Player, emperors_named
    from tetrarchia_env.terminal.table import Table

    if save:
        check_folder(save)
    yours, seed = emperors_named(emperors), secrets.randbelow(2**32) if seed is None else seed
    table = Table(options_of(level, variants, modules, scenario), seed)
    print(f"You play {', '.join(yours)}; the seed of this game is {seed}. ? tells what you may type.")
    chooser = chooser_of(agents, seed)
    Player(table, {name: chooser for name in EMPERORS if name not in yours}).run()
    if save:
        save_replay(table.replay(), save)
        print(f"saved: {save}")


def chooser_of(names: str, seed: int) -> "Chooser":
    """How the agents decide in the one game of this seed."""
    import numpy as np

    from tetrarchia_agents import TeamPolicy, make_agents

    team, env_id = TeamPolicy(make_agents(names), env_ids=1), np.array([0])
    team.begin(env_id, seed)
    return lambda game, mask: int(team.act(game, mask[np.newaxis], env_id)[0])
