"""The `tetrarchia` command line.

`main` imports the commands itself, so that Ctrl-C during the imports and closed standard streams are handled from the start.
"""

import os
import sys

TYPE_CHECKING = False  # importing `typing` would delay the handler for Ctrl-C
if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["main", "run_module"]

EXIT_USER_ERROR = 2
EXIT_INTERRUPTED = 130


def main(arguments: "Sequence[str] | None" = None) -> None:
    """Run a command and exit with its code.

    Args:
        arguments: The command and its options; `None` reads `sys.argv`.

    Raises:
        SystemExit: Always, unless the command fails with an unexpected exception, which is passed on.
    """
    try:
        open_closed_streams()
        if arguments is None:
            set_safe_path()
            arguments = sys.argv[1:]
        from tetrarchia_app.cli.app import run

        code = flush_stdout(run(arguments))
    except KeyboardInterrupt:
        code = EXIT_INTERRUPTED
    sys.exit(code)


def run_module(*command: str) -> None:
    """Run the command line for `python -m`.

    Python puts the current folder first on the path; it is moved to the end, so that no file in it shadows a module.

    Args:
        command: Words to put before those of `sys.argv`.
    """
    if sys.path[0] in ("", os.getcwd()):
        sys.path.append(sys.path.pop(0))
    set_safe_path()
    main([*command, *sys.argv[1:]])


def set_safe_path() -> None:
    """Keep the current folder off the path of worker processes, which import modules before they receive ours."""
    os.environ.setdefault("PYTHONSAFEPATH", "1")


def open_closed_streams() -> None:
    """Connect closed standard streams to the null device; otherwise the next opened file takes their descriptor."""
    for descriptor, (name, mode) in enumerate((("stdin", "r"), ("stdout", "w"), ("stderr", "w"))):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115
            try:
                os.fstat(descriptor)
            except OSError:
                null = os.open(os.devnull, os.O_RDWR)
                if null != descriptor:
                    os.dup2(null, descriptor)
                    os.close(null)


def flush_stdout(code: int) -> int:
    """Flush the standard output and return the exit code: the given one, or that of the failure to write.

    A pipe closed by its reader is not an error worth a message.
    """
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        discard_stdout()
        return code or 1
    except OSError as error:
        discard_stdout()
        print(f"tetrarchia: standard output: {error.strerror}", file=sys.stderr)
        return EXIT_USER_ERROR
    return code


def discard_stdout() -> None:
    """Redirect the standard output to the null device, so that Python does not try to write the rest at exit."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.close(null)
