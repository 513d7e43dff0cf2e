"""The command `train` of `tetrarchia train` and `python -m tetrarchia_train`."""

import os
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Annotated, Any

import typer

from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.extras import missing_package
from tetrarchia_env.files import check_name
from tetrarchia_env.messages import printable
from tetrarchia_train.config import EXIT_STOPPED, Stage, TrainConfig, TrainOptions, option_words, parse_seeds, preset_names, read_preset

DEFAULT_PRESET = "ppo"
PANEL = "Run"


def _complete_preset(incomplete: str) -> list[tuple[str, str]]:
    return [(name, help) for name, help in preset_names().items() if name.startswith(incomplete)]


@dataclass(frozen=True, kw_only=True)
class RunArguments:
    """The options of the command that are not training options."""

    ctx: typer.Context
    name: Annotated[str, typer.Option(help="Name of the run or group; its folder is runs/NAME.", rich_help_panel=PANEL)]
    preset: Annotated[
        str | None,
        typer.Option(
            help=f"{', '.join(preset_names())}, or a YAML file.",
            show_default=DEFAULT_PRESET,
            rich_help_panel=PANEL,
            autocompletion=_complete_preset,
        ),
    ] = None
    stop_after: Annotated[Stage, typer.Option(help="Last stage of the run.", rich_help_panel=PANEL)] = "ppo"
    resume: Annotated[bool, typer.Option("--resume", help="Continue a run or group that was stopped.", rich_help_panel=PANEL)] = False
    seeds: Annotated[
        str | None,
        typer.Option(
            help="Train a group: a run for each seed, in runs/NAME/seed-N.", metavar="1-5", show_default=False, rich_help_panel=PANEL
        ),
    ] = None
    jobs: Annotated[int, typer.Option(help="Runs of a group trained at once; they share the cores.", min=1, rich_help_panel=PANEL)] = 1


@dataclass(frozen=True, kw_only=True)
class TrainArguments(TrainOptions, RunArguments):
    """All options of the command."""


@wraps(TrainArguments, assigned=(), updated=())  # Typer takes the options from the fields of the dataclass
def train(
    *,
    ctx: typer.Context,
    name: str,
    preset: str | None,
    stop_after: Stage,
    resume: bool,
    seeds: str | None,
    jobs: int,
    **options: Any,
) -> None:
    """Train an agent by PPO, after behavior cloning of an expert or from random weights, optionally in rounds of expert iteration.

    Ctrl-C or SIGTERM saves the run, and --resume continues it. With --seeds a group of runs is trained, one by one or --jobs at once.

    A preset sets the options of a tested run; options given here override it, and the defaults apply where it sets nothing.
    """
    for part in name.split("/", 1) if resume else [name]:  # GROUP/seed-N is one run of a group
        check_name(part, "the name of a run")
    if resume and (preset or stop_after != "ppo" or seeds):
        raise TetrarchiaError("--resume cannot be combined with --preset, --stop-after or --seeds: the run keeps those it started with")
    overrides = {option: value for option, value in options.items() if _is_given(ctx, option)}
    words = ["--resume", "--name", name] if resume else ["--name", name, "--preset", preset or DEFAULT_PRESET]
    words += ["--stop-after", stop_after] if stop_after != "ppo" else []
    words += ["--seeds", seeds] if seeds else []
    words += [word for option, value in overrides.items() for word in option_words(option, value)]
    command = shlex.join(["tetrarchia", "train", *words])
    try:
        # Report wrong options before torch is loaded.
        config = None if resume else new_config(preset or DEFAULT_PRESET, overrides)
        group_seeds = None if seeds is None else parse_seeds(seeds)
        from tetrarchia_train import distributed, groups, run
    except ModuleNotFoundError as error:
        raise missing_package(error, "train", "training") from None

    if os.environ.get(distributed.EXIT_WITH_LAUNCHER):
        distributed.exit_with_launcher()
    if group_seeds or (resume and groups.group_runs(run.RUNS / name)):
        if "seed" in overrides or stop_after != "ppo" or distributed.is_launched():
            raise TetrarchiaError("a group of runs cannot be combined with --seed, --stop-after or torchrun")
        if config and group_seeds:
            config = groups.share_cores(config, overrides, jobs)
            groups.create_group(config, name, group_seeds, command)
        raise typer.Exit(groups.train_group(run.RUNS / name, {"threads": config.threads} if config else overrides, jobs))
    if jobs > 1:
        raise TetrarchiaError(f"jobs is an option of groups, see --seeds; got {jobs}")

    if distributed.is_launched():
        started = distributed.world_size()
        if overrides.setdefault("processes", started) != started:
            raise TetrarchiaError(f"processes must be {started}, the number that the launcher started; got {overrides['processes']}")
        config = config and config.with_overrides({"processes": started})
    else:
        config_or_saved = config or run.saved_options(run.RUNS / name)[0].resumed(overrides)
        if config_or_saved.processes > 1:
            raise typer.Exit(distributed.torchrun(config_or_saved.processes, "tetrarchia_train", words))
    checkpoint = run.train(config, name, stop_after, command) if config else run.resume(name, overrides)
    _report(checkpoint, distributed.is_rank_zero())


def new_config(preset: str, overrides: Mapping[str, Any]) -> TrainConfig:
    """Return a preset with these options; levels without a focus also clear the preset's focus, which consists of other levels."""
    cleared = {"focus": "", "focus_share": 0.0} if "levels" in overrides and "focus" not in overrides else {}
    return read_preset(preset).with_overrides(cleared | dict(overrides))


def _is_given(ctx: typer.Context, option: str) -> bool:
    source = ctx.get_parameter_source(option)
    return source is not None and source.name == "COMMANDLINE"


def _report(checkpoint: Path, is_rank_zero: bool) -> None:
    """Print the folder of the checkpoint; exit with `EXIT_STOPPED` if the run was stopped."""
    if is_rank_zero:
        print(f"written: {printable(checkpoint)}")
    from tetrarchia_train.checkpointing import LATEST_DIR

    if checkpoint.name == LATEST_DIR:
        raise typer.Exit(EXIT_STOPPED)
