"""The command `dataset`: record games as a data set, check it and convert it."""

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from tetrarchia_app.cli.arguments import (
    GAME,
    OUTPUT,
    PLAYERS,
    Modules,
    Scenario,
    Variants,
    all_levels,
    complete_agents,
    complete_list,
    game_options,
    split_list,
    warn_untrained,
)
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.messages import printable

PANEL = "Measure and train"
EXAMPLES = (
    "tetrarchia dataset games.jsonl.gz --agents planner --agents ppo --level 4200,4211,4222 --games 500",
    "tetrarchia dataset games.jsonl.gz --check",
    "tetrarchia dataset games.jsonl.gz --numpy arrays",
    "tetrarchia dataset games.jsonl.gz --minari tetrarchia/games-v0",
    "tetrarchia train --name clone --demonstrations games.jsonl.gz --stop-after bc",
    "tetrarchia dataset games.jsonl.gz",
)


def dataset(
    file: Annotated[Path, typer.Argument(help="The data set: games.jsonl.gz")],
    agents: Annotated[
        list[str] | None,
        typer.Option(
            help="Record games of these agents, as for `eval`, in a new file; may be repeated for several teams",
            rich_help_panel=PLAYERS,
            autocompletion=complete_agents,
        ),
    ] = None,
    level: Annotated[
        str | None,
        typer.Option(help="Levels, comma-separated; 4211 by default", rich_help_panel=GAME, autocompletion=complete_list(all_levels)),
    ] = None,
    variants: Variants = "",
    modules: Modules = "",
    scenario: Scenario = None,
    games: Annotated[int, typer.Option(help="Games per team and level", rich_help_panel=GAME)] = 100,
    seed: Annotated[int, typer.Option(help="Seed of the first game; the others follow", rich_help_panel=GAME)] = 0,
    agents_seed: Annotated[int, typer.Option(help="Seed of the agents' own random choices", rich_help_panel=PLAYERS)] = 0,
    workers: Annotated[int, typer.Option(help="Processes that play the games", rich_help_panel=PLAYERS)] = 1,
    check: Annotated[
        bool, typer.Option("--check", help="Compare the file with its metadata and play every game again", rich_help_panel=OUTPUT)
    ] = False,
    numpy: Annotated[
        Path | None,
        typer.Option(help="Write observations, masks, actions and rewards as .npz files into a new folder", rich_help_panel=OUTPUT),
    ] = None,
    minari: Annotated[
        str | None, typer.Option(help="Create a local Minari data set with this name: tetrarchia/games-v0", rich_help_panel=OUTPUT)
    ] = None,
) -> None:
    """Record games of agents as a data set with Croissant metadata, check one, or convert it; show its teams and win rates.

    The same command continues an interrupted recording.
    """
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # one core per process; read by torch when an agent imports it
    from tetrarchia_eval.arena import match_spec
    from tetrarchia_eval.console import show, show_progress
    from tetrarchia_eval.dataset import (
        check_new_folder,
        count_games,
        make_dataset,
        metadata_path,
        new_minari_folder,
        summarize_dataset,
        write_minari,
        write_numpy,
    )
    from tetrarchia_eval.match import parse_levels
    from tetrarchia_eval.workers import AgentCache

    if numpy:
        check_new_folder(numpy)
    if minari:
        new_minari_folder(minari)
    if not agents and (level or variants or modules or scenario):
        raise TetrarchiaError("level, variants, modules and scenario are options of a recording, which needs agents")
    if agents:
        cache = AgentCache()
        specs = [
            match_spec(
                team,
                games,
                levels=() if level is None else parse_levels(level),
                first_seed=seed,
                seed=agents_seed,
                variants=split_list(variants),
                modules=split_list(modules),
                scenario=scenario,
                cache=cache,
            )
            for team in agents
        ]
        if len({spec.agents for spec in specs}) < len(specs):
            raise TetrarchiaError(f"agents must be different teams; got {' and '.join(agents)}")
        warn_untrained([cache.agent(name) for spec in specs for name in spec.agents], game_options(None, variants, modules, scenario))
        try:
            with show_progress(sum(spec.total for spec in specs)) as progress_of:
                make_dataset(specs, file, workers, progress_of("recording"))
        except KeyboardInterrupt:
            print("tetrarchia: interrupted; finished games are kept, and the same command continues", file=sys.stderr)
            raise
        print(f"written: {printable(file)}")
        print(f"written: {printable(metadata_path(file))}")
    total = count_games(file)
    with show_progress(total) as progress_of:
        table = summarize_dataset(file, check, progress_of("checking" if check else "reading"))
    show(table)
    if check:
        print(f"all {total:,} games reproduce")
    if numpy:
        with show_progress(total) as progress_of:
            write_numpy(file, numpy, progress_of("converting"))
        print(f"written: {printable(numpy)}")
    if minari:
        with show_progress(total) as progress_of:
            write_minari(file, minari, progress_of("converting"))
        print(f"written: {printable(minari)}")
