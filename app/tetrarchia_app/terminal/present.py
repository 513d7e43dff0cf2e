"""What `watch` and `replay` have in common: options that are checked before anything is played, and where a show is shown."""

from pathlib import Path

from tetrarchia_app.terminal.printing import ending
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.files import check_output_paths
from tetrarchia_env.game import Game
from tetrarchia_env.messages import printable
from tetrarchia_env.notation import Replay, load_replay, play_replay
from tetrarchia_env.render.frames import check_speed

RENDERS = ("ansi", "human", "browser")


def check_presentation(speed: float, render: str | None, film: Path | None, file: Path | None, source: Path | None = None) -> None:
    """ValueError, in one sentence, for what could not be done afterwards."""
    check_speed(speed)
    if render not in (None, *RENDERS):
        raise TetrarchiaError(f"--render is {' or '.join(RENDERS)}, not {render!r}")
    if film:
        from tetrarchia_env.render.film import check_film

        check_film(film)
    check_output_paths(film, file, sources=(source,) if source else ())


def checked_replay(file: Path) -> Replay:
    """What the file holds, with every step played and found legal."""
    game = load_replay(file)
    try:
        for _ in play_replay(game):
            pass
    except ValueError as error:
        raise TetrarchiaError(f"replay {file}: {error}") from None
    return game


def present(game: Game, speed: float, render: str | None, film: Path | None) -> None:
    """In the terminal or in a window, unless only a film is wanted; then the film."""
    if render == "human":
        from tetrarchia_env.render.window import open_window

        open_window(game.frame, speed)
    elif render or not film:
        from tetrarchia_app.terminal.viewer import view

        view(game, speed)
    if film:
        _shoot(game, speed, film)


def _shoot(game: Game, speed: float, film: Path) -> None:
    from tetrarchia_env.render.film import save_film

    game.play_to_end()
    save_film(list(game.frames()), film, speed)
    print(f"{ending(game.snapshot())}\nwritten: {printable(film)}")
