"""Entry point of `python -m tetrarchia_train`, e.g. under torchrun."""

import sys

import typer

from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.messages import printable
from tetrarchia_train.command import EXIT_STOPPED, train

if __name__ == "__main__":
    app = typer.Typer(pretty_exceptions_enable=False, add_completion=False)
    app.command()(train)
    try:
        app()
    except TetrarchiaError as error:
        print(f"tetrarchia: {printable(error)}", file=sys.stderr)
        sys.exit(2)
    except OSError as error:
        if error.filename is None:
            raise
        print(f"tetrarchia: {printable(f'{error.filename}: {error.strerror}')}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(EXIT_STOPPED)
