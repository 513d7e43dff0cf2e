"""The command `train`, which `python -m tetrarchia_train` is too."""

import inspect
import shlex
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import Field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tetrarchia_app.cli import EXIT_INTERRUPTED
from tetrarchia_app.cli.arguments import complete_one
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.files import check_name
from tetrarchia_env.messages import printable
from tetrarchia_env.schema import base_type, description_of, extra_of, field_types, limits_of
from tetrarchia_train.config import PRESETS, RULEBOOK, TrainConfig, read_preset  # without torch, which would be waited for at every key
from tetrarchia_train.launcher import leads, with_processes

if TYPE_CHECKING:
    from tetrarchia_train.run import Learn

PANEL = "Measure and train"
EXAMPLES = (
    "tetrarchia train --name mine",
    "tetrarchia train --name quick --preset small --levels 4200,4211 --max-minutes 10",
    "tetrarchia train --name mine --resume --total-timesteps 60_000_000",
    "tetrarchia watch --agents ppo:runs/mine/final",
)

DEFAULT_PRESET = "ppo"
THE_RUN = "The run"
STAGES = {
    "demonstrations": "stop when the expert's games are played",
    "bc": "stop when its behaviour is cloned",
    "ppo": "learn to the end",
}
ONLY_IN_PRESETS = ("rules",)  # too much for an option


def preset_names() -> dict[str, str]:
    """Presets of training with the first line of each."""
    return {file.stem: _first_comment(file) for file in sorted(PRESETS.glob("*.yaml"), key=lambda file: file.stem)}


def _first_comment(file: Path) -> str:
    first = file.read_text(encoding="utf-8").partition("\n")[0]
    return first.removeprefix("# ") if first.startswith("#") else ""


def with_train_options(body: Callable[..., None]) -> Callable[..., None]:
    """The command with an option for each field of TrainConfig in the place of its last parameter."""
    *own, _ = inspect.signature(body).parameters.values()
    kinds = field_types(TrainConfig)
    added = [_parameter(one, kinds[one.name]) for one in fields(TrainConfig) if one.name not in ONLY_IN_PRESETS]
    body.__signature__ = inspect.Signature([*own, *added])  # type: ignore[attr-defined]
    return body


def _parameter(one: Field[Any], kind: Any) -> inspect.Parameter:
    """A text, which TrainConfig reads and checks as it does one from a file."""
    metavar = "NUMBER" if base_type(kind) in (int, float) else "A,B,C" if base_type(kind) == tuple[str, ...] else "TEXT"
    shown = typer.Option(help=_help(one, kind), metavar=metavar, show_default=False, rich_help_panel=extra_of(kind)["group"])
    return inspect.Parameter(one.name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=Annotated[str | None, shown])


def _help(one: Field[Any], kind: Any) -> str:
    """What it means, from where to where it goes, and what it is if not given."""
    words, limits, default = description_of(kind), limits_of(kind), default_text(one.default)
    facts = [f"{limits[0]} to {limits[1]}"] if limits else []
    facts += [f"default: {default}"] if default else []
    return words + (rf" \[{'; '.join(facts)}]" if facts else "")


def default_text(value: Any) -> str:
    """As a user would type it."""
    if value == RULEBOOK:
        return "rulebook"
    if isinstance(value, tuple):
        return ",".join(value)
    return f"{value:_}" if isinstance(value, int) else str(value)


@with_train_options
def train(
    name: Annotated[str, typer.Option(help="Of the run: its folder is runs/NAME", rich_help_panel=THE_RUN)],
    preset: Annotated[
        str | None,
        typer.Option(
            help=f"{', '.join(preset_names())}, or a YAML file",
            show_default="ppo",
            rich_help_panel=THE_RUN,
            autocompletion=complete_one(preset_names),
        ),
    ] = None,
    until: Annotated[
        str,
        typer.Option(help=f"The last stage: {', '.join(STAGES)}", rich_help_panel=THE_RUN, autocompletion=complete_one(lambda: STAGES)),
    ] = "ppo",
    resume: Annotated[bool, typer.Option("--resume", help="Go on with a run that was stopped", rich_help_panel=THE_RUN)] = False,
    ray: Annotated[
        str | None,
        typer.Option(
            help="Learn on a Ray cluster: HOST:PORT or auto; without an address RAY_ADDRESS, else a new one here",
            rich_help_panel=THE_RUN,
            metavar="[ADDRESS]",
        ),
    ] = None,
    **changes: str | None,
) -> None:
    """Train an agent: behaviour cloning of an expert, then PPO, in rounds if wanted; Ctrl-C or SIGTERM saves, and --resume goes on.

    A preset names the options of a good run, and each of them can be changed here. The defaults are for what it does not name.
    """
    check_name(name, "the name of a run")
    given = with_processes({option: value for option, value in changes.items() if value is not None})
    if resume and (preset or until != "ppo"):
        raise TetrarchiaError("resume: a run goes on with the preset and to the stage that it was begun with: give neither beside it")
    _tell(_resume(name, given, ray) if resume else _begin(name, preset or DEFAULT_PRESET, until, given, ray))


def _tell(checkpoint: Path) -> None:
    """Where it is; a run that was stopped has its own exit code."""
    if leads():
        print(f"written: {printable(checkpoint)}")
    from tetrarchia_train.folders import LATEST  # loaded by now

    if checkpoint.name == LATEST:
        raise typer.Exit(EXIT_INTERRUPTED)


def _begin(name: str, preset: str, until: str, changes: dict[str, Any], ray: str | None) -> Path:
    with _packages_of_training():
        config = read_preset(preset).changed(changes)  # mistakes are told before torch is loaded
        from tetrarchia_train import run
    return run.train(config, name, until, command_text(name, preset, until, changes), _on_ray(ray))


def _resume(name: str, changes: dict[str, Any], ray: str | None) -> Path:
    with _packages_of_training():
        from tetrarchia_train import run
    return run.resume(name, changes, _on_ray(ray))


def _on_ray(address: str | None) -> "Learn | None":
    """Training on the cluster at this address, if one was asked for."""
    if address is None:
        return None
    from tetrarchia_train.ray_trainer import learn_on_ray

    return learn_on_ray(address)


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
        raise TetrarchiaError(f'training needs the package {error.name}: pip install "tetrarchia[train]"') from None
