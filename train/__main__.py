"""`python -m train`: options of the run stand after those of the command, `--learning-rate 1e-4 --levels 4200,4211`."""

import shlex
import sys
from dataclasses import fields
from typing import Annotated

import typer

from train.options import TrainOptions, read_preset

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
NAMES = ", ".join(one.name.replace("_", "-") for one in fields(TrainOptions))


@app.command(
    context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
    help=f"Copy a teacher, then learn by PPO. Any option of the preset can be changed: --option value. Options: {NAMES}.",
)
def run(
    context: typer.Context,
    name: Annotated[str, typer.Option(help="Of the run: its folder is runs/NAME")],
    preset: Annotated[str, typer.Option(help="ppo, ppo-full, small, or a YAML file")] = "ppo",
    until: Annotated[str, typer.Option(help="The last stage: lessons, copy or ppo")] = "ppo",
    go_on: Annotated[bool, typer.Option("--resume", help="Go on with a run that was stopped")] = False,
) -> None:
    """Train."""
    from train.run import resume, train  # torch takes seconds to load: not for a wrong option

    changes = changes_of(context.args)
    options = read_preset(preset).changed(changes)
    command = shlex.join(["python", "-m", "train", *sys.argv[1:]])
    try:
        checkpoint = resume(name, changes) if go_on else train(options, name, until, command)
    except KeyboardInterrupt:
        raise typer.Exit(130) from None
    print(f"written: {checkpoint}")


def changes_of(arguments: list[str]) -> dict[str, str]:
    """`--option value` pairs as options by their field names."""
    names, values = arguments[::2], arguments[1::2]
    for option in names:
        if not option.startswith("--"):
            raise ValueError(f"training options are given as --option value, not {option!r}")
    if len(names) != len(values):
        raise ValueError(f"training option {names[-1]} has no value")
    return {option[2:].replace("-", "_"): value for option, value in zip(names, values, strict=True)}


def main() -> None:
    """Run the command; a user's mistake is one sentence and exit code 2."""
    try:
        app()
    except ValueError as error:
        print(f"train: {error}", file=sys.stderr)
        sys.exit(2)
    except OSError as error:
        print(f"train: {error.filename or 'input or output'}: {error.strerror}", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
