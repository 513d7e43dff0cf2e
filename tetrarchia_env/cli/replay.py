"""The command `replay`: a recorded game is played again, checked and shown."""

from pathlib import Path
from typing import Annotated

import typer

from tetrarchia_env.cli.arguments import Film, Render, Speed
from tetrarchia_env.messages import printable


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
    from tetrarchia_env.terminal.present import check_presentation, checked_replay, present

    check_presentation(speed, render, film, html, source=file)
    show = Show(frames_of(checked_replay(file)))
    if html:
        from tetrarchia_env.render.page import replay_page

        write_whole(html, replay_page(show.all(), printable(file.stem)))
        print(f"written: {printable(html)}")
    if render or film or not html:
        present(show, speed, render, film)
