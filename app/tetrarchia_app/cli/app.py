"""The Typer application: finds the commands, reports errors and sets exit codes.

Every module of this package that defines `PANEL` is a command: a function with the module's name (`eval.py` has `eval_`), whose docstring
is the help text; `PANEL`, the section of `tetrarchia --help` that lists it; and `EXAMPLES`, the command lines at the end of its help.

Exit codes: 0 success; 1 a bug (with its traceback), or `doctor` found something broken; 2 a user error; 130 interrupted by Ctrl-C.
"""

import errno
import os
import sys
import traceback
from collections.abc import Sequence
from importlib import import_module
from itertools import pairwise
from pkgutil import iter_modules
from types import ModuleType
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from tetrarchia_app import cli
from tetrarchia_app.cli import EXIT_INTERRUPTED, EXIT_USER_ERROR, discard_stdout
from tetrarchia_env import __version__
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.messages import printable

NAME = "tetrarchia"
PANELS = ("Play and watch", "Measure and train", "Help and diagnostics")  # in this order
EXAMPLES = ("tetrarchia watch --agents planner --level 4200", "tetrarchia eval --help")
DEBUG_OPTION, DEBUG_VARIABLE = "--debug", "TETRARCHIA_DEBUG"
OPTIONAL_VALUE = "--ray"  # an option that may be given without its value
OUTPUT_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EIO)  # without a file name: the standard output cannot be written
# A wrong option or value: click's class, or that of the copy of click inside newer versions of typer.
UsageError: Any = typer.BadParameter.__bases__[0]


class Command(TyperCommand):
    """A command with two additions to Typer's: `--ray` needs no value, and Ctrl-C has its own exit code."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Insert the empty value that Typer requires after `--ray`."""
        pairs = pairwise([*args, "-"])
        return super().parse_args(ctx, [f"{word}=" if word == OPTIONAL_VALUE and after.startswith("-") else word for word, after in pairs])

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise typer.Exit(EXIT_INTERRUPTED) from None


def command_modules() -> dict[str, ModuleType]:
    """Return the modules of all commands by name, in the order of the help."""
    modules = {info.name: import_module(f"{cli.__name__}.{info.name}") for info in iter_modules(cli.__path__) if info.name != "app"}
    commands = [name for name, module in modules.items() if hasattr(module, "PANEL")]
    return {name: modules[name] for name in sorted(commands, key=lambda name: PANELS.index(modules[name].PANEL))}


def epilog(examples: Sequence[str]) -> str:
    """Return example command lines as the end of a help text; blank lines keep them on separate lines."""
    return "\n\n".join(["Examples:" if len(examples) > 1 else "Example:", *examples])


def show_version(requested: bool) -> None:
    """Print the version and exit."""
    if requested:
        print(f"{NAME} {__version__}")
        raise typer.Exit


app = typer.Typer(name=NAME, pretty_exceptions_enable=False, context_settings={"help_option_names": ["-h", "--help"]})


@app.callback(epilog=epilog(EXAMPLES))
def tetrarchia(
    version: Annotated[bool, typer.Option("--version", help="Show the version and exit", is_eager=True, callback=show_version)] = False,
    debug: Annotated[
        bool, typer.Option(DEBUG_OPTION, help=f"Show the traceback of every error; also after a command, or by {DEBUG_VARIABLE}=1")
    ] = False,
) -> None:
    """TETRARCHIA, the cooperative board game of four Emperors, for reinforcement-learning research."""


for command, module in command_modules().items():
    body = getattr(module, command, None) or getattr(module, f"{command}_")
    app.command(command, cls=Command, rich_help_panel=module.PANEL, epilog=epilog(module.EXAMPLES))(body)


def run(arguments: Sequence[str]) -> int:
    """Run a command and return its exit code.

    User errors are printed as one line, with `--debug` as a traceback: `TetrarchiaError`, wrong arguments, and an `OSError` with a file
    name. Any other exception is a bug and is passed on.

    Args:
        arguments: The command and its options; the help if empty.
    """
    debug = DEBUG_OPTION in arguments or bool(os.environ.get(DEBUG_VARIABLE))
    words = [word for word in arguments if word != DEBUG_OPTION]
    try:
        return int(app(words or ["--help"], prog_name=NAME, standalone_mode=False) or 0)
    except typer.Abort:  # the input ended at a prompt
        return EXIT_INTERRUPTED
    except (UsageError, TetrarchiaError, OSError) as error:
        if isinstance(error, OSError) and error.filename is None:
            if error.errno not in OUTPUT_ERRORS:
                raise
            discard_stdout()
            error.filename = "standard output"
        if debug:
            traceback.print_exc()
        print(f"{NAME}: {printable(error_message(error))}", file=sys.stderr)
        return EXIT_USER_ERROR


def error_message(error: Any) -> str:
    """Return one line about a user error; for wrong arguments it also names the help to read."""
    if isinstance(error, OSError):
        return f"{error.filename}: {error.strerror or error}"
    if isinstance(error, UsageError):
        command = error.ctx.command_path if error.ctx else NAME
        return f"{' '.join(error.format_message().split()).rstrip('.')} (see {command} --help)"
    return str(error)
