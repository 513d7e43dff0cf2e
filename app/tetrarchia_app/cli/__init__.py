"""The `tetrarchia` command: the only package of the game that imports upwards, and only when a command runs."""

import os
import sys

TYPE_CHECKING = False  # nothing that takes time is loaded before `main` runs
if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["main", "run_module"]

STOPPED = 130  # the exit code after Ctrl-C
FAILED = 2


def main(arguments: "Sequence[str] | None" = None) -> None:
    """Run the command with these arguments, or with those typed; nothing is loaded before Ctrl-C is cared for."""
    try:
        open_streams()
        if arguments is None:
            keep_workers_out_of_this_folder()
        from tetrarchia_app.cli.app import run

        code = flushed(run(sys.argv[1:] if arguments is None else arguments))
    except KeyboardInterrupt:
        code = STOPPED
    sys.exit(code)


def run_module(*words: str) -> None:
    """What `python -m` runs: the current folder, which Python puts first, comes last, so that no file there shadows a module."""
    if sys.path[0] in ("", os.getcwd()):
        sys.path.append(sys.path.pop(0))
    keep_workers_out_of_this_folder()
    main([*words, *sys.argv[1:]])


def keep_workers_out_of_this_folder() -> None:
    """A worker process begins by loading modules, before it is told where to look for them."""
    os.environ.setdefault("PYTHONSAFEPATH", "1")


def open_streams() -> None:
    """A standard stream that is closed reads nothing and takes everything; else the next file opened would be in its place."""
    for number, (name, mode) in enumerate((("stdin", "r"), ("stdout", "w"), ("stderr", "w"))):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115
            _occupy(number)


def _occupy(number: int) -> None:
    """Let this descriptor be nothing, if it is still closed."""
    try:
        os.fstat(number)
    except OSError:
        nothing = os.open(os.devnull, os.O_RDWR)
        if nothing != number:
            os.dup2(nothing, number)
            os.close(nothing)


def flushed(code: int) -> int:
    """The exit code, when what was printed last has also been taken; a pipe that nobody reads any more is no mistake."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        discard_output()
        return code or 1
    except OSError as error:
        discard_output()
        print(f"tetrarchia: standard output: {error.strerror}", file=sys.stderr)
        return FAILED
    return code


def discard_output() -> None:
    """What could not be printed is not tried again at the end of the process."""
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)
    os.close(nothing)
