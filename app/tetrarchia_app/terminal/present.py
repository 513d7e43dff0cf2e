"""Showing a game of `watch` or `replay`, and the check of their options before anything is played."""

from pathlib import Path

from tetrarchia_app.cli.arguments import RENDERERS
from tetrarchia_app.terminal.printing import ending
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.files import check_output_paths
from tetrarchia_env.game import Game
from tetrarchia_env.messages import printable
from tetrarchia_env.render.frames import check_speed


def check_presentation(speed: float, render: str | None, video: Path | None, file: Path | None, source: Path | None = None) -> None:
    """Raise TetrarchiaError for options that would fail after the game.

    Args:
        speed: Actions per second.
        render: `ansi`, `human`, `browser` or `None`.
        video: The video to write.
        file: Another file to write.
        source: The file that is read, which must not be overwritten.
    """
    check_speed(speed)
    if render is not None and render not in RENDERERS:
        raise TetrarchiaError(f'--render must be {" or ".join(RENDERERS)}; got "{render}"')
    if video:
        from tetrarchia_env.render.video import check_video

        check_video(video)
    check_output_paths(video, file, sources=(source,) if source else ())


def present(game: Game, speed: float, render: str | None, video: Path | None) -> None:
    """Show a game in the terminal or in a window, unless only a video is requested; then write the video."""
    if render == "human":
        from tetrarchia_env.render.window import open_window

        open_window(game.frame, speed)
    elif render or not video:
        from tetrarchia_app.terminal.viewer import view

        view(game, speed)
    if video:
        from tetrarchia_env.render.video import save_video

        game.play_to_end()
        save_video(list(game.frames()), video, speed)
        print(f"{ending(game.snapshot())}\nwritten: {printable(video)}")
