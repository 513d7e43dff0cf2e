"""The command `train`, which `python -m tetrarchia_train` is too."""

import inspect
import shlex
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer

from tetrarchia_env.cli import names
from tetrarchia_env.cli.completion import one_of, preset_names
from tetrarchia_env.cli.train_options import TrainOption, train_options

DEFAULT_PRESET = "ppo"
STOPPED = 130
THE_RUN = "The run"


def with_train_options(body: Callable[..., None]) -> Callable[..., None]:
    """The command with an option for each of a training run in the place of its last parameter."""
    *own, _ = inspect.signature(body).parameters.values()
    body.__signature__ = inspect.Signature([*own, *map(_parameter, train_options())])  # type: ignore[attr-defined]
    return body


def _parameter(option: TrainOption) -> inspect.Parameter:
    default = rf" \[default: {option.default}]" if option.default else ""
    panel = option.group[:1].upper() + option.group[1:]
    shown = typer.Option(help=f"{option.meaning}{default}".strip(), metavar=option.kind, show_default=False, rich_help_panel=panel)
    return inspect.Parameter(option.name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=Annotated[str | None, shown])


@with_train_options
def train(
    name: Annotated[str, typer.Option(help="Of the run: its folder is runs/NAME", rich_help_panel=THE_RUN)],
    preset: Annotated[
        str | None,
        typer.Option(
            help=f"{', '.join(preset_names())}, or a YAML file",
            show_default="ppo",
            rich_help_panel=THE_RUN,
            autocompletion=one_of(preset_names),
        ),
    ] = None,
    until: Annotated[
        str,
        typer.Option(
            help=f"The last stage: {', '.join(names.STAGES)}", rich_help_panel=THE_RUN, autocompletion=one_of(lambda: names.STAGES)
        ),
    ] = "ppo",
    resume: Annotated[bool, typer.Option("--resume", help="Go on with a run that was stopped", rich_help_panel=THE_RUN)] = False,
    **changes: str | None,
) -> None:
    """Train an agent: copy a teacher, then learn by PPO; Ctrl-C saves, and --resume goes on.

    A preset names the options of a good run, and each of them can be changed here. The defaults are for what it does not name.
    """
    given = {option: value for option, value in changes.items() if value is not None}
    with _packages_of_training():
        from tetrarchia_train.config import read_preset
        from tetrarchia_train.run import LATEST
        from tetrarchia_train.run import resume as go_on
        from tetrarchia_train.run import train as begin
    if resume:
        if preset or until != "ppo":
            raise ValueError("resume: a run goes on with the preset and to the stage that it was begun with: give neither beside it")
        checkpoint = go_on(name, given)
    else:
        options = read_preset(preset or DEFAULT_PRESET).changed(given)
        checkpoint = begin(options, name, until, command_text(name, preset or DEFAULT_PRESET, until, given))
    print(f"written: {checkpoint}")
    if checkpoint.name == LATEST:
        raise typer.Exit(STOPPED)


def command_text(name: str, preset: str, until: str, changes: dict[str, Any]) -> str:
    """The command that begins this run, as a checkpoint's card tells it."""
    stage = ["--until", until] if until != "ppo" else []
    changed = [word for option, value in changes.items() for word in (f"--{option.replace('_', '-')}", str(value))]
    return shlex.join(["tetrarchia", "train", "--name", name, "--preset", preset, *stage, *changed])


@contextmanager
def _packages_of_training() -> Iterator[None]:
    try:
        yield
    except ModuleNotFoundError as error:
        raise ValueError(f'training needs the package {error.name}: pip install "tetrarchia[train]"') from None
