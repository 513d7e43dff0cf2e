"""All commands, and what they have in common: help, completion, mistakes in one sentence, exit codes.

Exit codes: 0 when all went well, 2 for a user's mistake, 130 when it was stopped (Ctrl-C;
`train` saves first, also on SIGTERM), 1 when `doctor` finds something broken.
"""

import sys
from collections.abc import Callable, Sequence
from functools import wraps
from itertools import pairwise
from typing import Annotated, Any, cast

import typer
from typer.core import TyperCommand

from tetrarchia_app.cli import FAILED, STOPPED
from tetrarchia_app.cli.bench import bench
from tetrarchia_app.cli.doctor import doctor
from tetrarchia_app.cli.eval import eval_
from tetrarchia_app.cli.examples import examples_of
from tetrarchia_app.cli.levels import levels
from tetrarchia_app.cli.play import play
from tetrarchia_app.cli.replay import replay
from tetrarchia_app.cli.serve import serve
from tetrarchia_app.cli.study import study
from tetrarchia_app.cli.train import train
from tetrarchia_app.cli.watch import watch
from tetrarchia_env import __version__
from tetrarchia_env.messages import printable

NAME = "tetrarchia"
MAY_STAND_ALONE = "--ray"
COMMANDS: dict[str, tuple[Callable[..., None], ...]] = {
    "Play and watch": (watch, play, serve, replay),
    "Measure and train": (eval_, train, bench, study),
    "Find your way": (levels, doctor),
}
# A wrong option or value: click's own class, or that of the copy that newer versions of typer carry.
Misuse = cast(type[Exception], typer.BadParameter.__bases__[0])


class Command(TyperCommand):
    """A command with an option whose value may be left out, which typer has no word for: it is then the empty one."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """What was typed, with that value."""
        pairs = pairwise([*args, "-"])
        return super().parse_args(ctx, [f"{word}=" if word == MAY_STAND_ALONE and after.startswith("-") else word for word, after in pairs])


app = typer.Typer(name=NAME, pretty_exceptions_enable=False, context_settings={"help_option_names": ["-h", "--help"]})


@app.callback(epilog=examples_of(""))
def tetrarchia(
    version: Annotated[
        bool, typer.Option("--version", help="Tell the version and leave", is_eager=True, callback=lambda asked: _tell_version(asked))
    ] = False,
) -> None:
    """TETRARCHIA, the cooperative board game of four Emperors, for reinforcement-learning research."""


def run(arguments: Sequence[str]) -> int:
    """The command with these arguments: its exit code; what went wrong is told in one sentence."""
    try:
        return int(app(list(arguments) or ["--help"], prog_name=NAME, standalone_mode=False) or 0)
    except Misuse as error:
        return _fail(_told(error))
    except ValueError as error:
        return _fail(str(error))
    except OSError as error:
        return _fail(f"{error.filename or 'input or output'}: {error.strerror or error}")
    except typer.Abort:  # the end of what could be typed
        return STOPPED


def _fail(sentence: str) -> int:
    print(f"{NAME}: {printable(sentence)}", file=sys.stderr)
    return FAILED


def _told(error: Any) -> str:
    """What was wrong with the arguments, and where to read more."""
    asked = error.ctx.command_path if error.ctx else NAME
    return f"{' '.join(error.format_message().split()).rstrip('.')} ({asked} --help tells more)"


def _tell_version(asked: bool) -> None:
    if asked:
        print(f"{NAME} {__version__}")
        raise typer.Exit


def _stoppable(body: Callable[..., None]) -> Callable[..., None]:
    """The command, which Ctrl-C ends with its own exit code."""

    @wraps(body)
    def run(**options: Any) -> None:
        try:
            body(**options)
        except KeyboardInterrupt:
            raise typer.Exit(STOPPED) from None

    return run


for panel, bodies in COMMANDS.items():
    for body in bodies:
        command = body.__name__.rstrip("_")
        app.command(command, cls=Command, rich_help_panel=panel, epilog=examples_of(command))(_stoppable(body))
