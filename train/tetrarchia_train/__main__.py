"""Entry point of `python -m tetrarchia_train`, e.g. under torchrun."""

import os
import sys

import typer

from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.messages import printable
from tetrarchia_train.command import train
from tetrarchia_train.config import EXIT_STOPPED


def main() -> int:
    """Run the command and return its exit code."""
    app = typer.Typer(pretty_exceptions_enable=False, add_completion=False)
    app.command()(train)
    try:
        app()
    except SystemExit as exiting:
        return exiting.code if isinstance(exiting.code, int) else int(exiting.code is not None)
    except KeyboardInterrupt:
        return EXIT_STOPPED
    except (TetrarchiaError, OSError) as error:
        if isinstance(error, OSError) and error.filename is None:
            raise
        message = f"{error.filename}: {error.strerror}" if isinstance(error, OSError) else str(error)
        print(f"tetrarchia: {printable(message)}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    sys.stderr.flush()
    if "RANK" in os.environ:
        os._exit(code)  # the threads of gloo may abort the process while Python shuts down
    sys.exit(code)
