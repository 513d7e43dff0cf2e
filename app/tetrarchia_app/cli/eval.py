"""The command `eval`: many games are played, measured and compared."""

from pathlib import Path
from typing import Annotated

import typer

from tetrarchia_app.cli.arguments import (
    A_MODULE_LIST,
    A_SCENARIO,
    A_VARIANT_LIST,
    agent_names,
    level_words,
    listed,
    modules_offered,
    scenarios_offered,
    some_of,
    variants_offered,
)

PANEL = "Measure and train"
EXAMPLES = (
    "tetrarchia eval --agents planner --level 4200 --games 1000",
    "tetrarchia eval --agents planner --against greedy --against random",
    "tetrarchia eval --agents planner,random --players 2 --scenario danube_wars",
    "tetrarchia eval --agents greedy --level rulebook --games 20 --plot sweep.png",
    "tetrarchia eval --agents planner,greedy,random --cross-play --table cross-play.csv",
    "tetrarchia eval --agents planner --level every --games 10000 --ray 10.0.0.1:6379",
)

PLAYED, WHO, MANY, KEPT = "What is played", "Who plays", "How many games, and which", "What is kept"
Levels = Annotated[
    str | None,
    typer.Option(
        help="One or more with commas; rulebook: its 81; every: all 256", rich_help_panel=PLAYED, autocompletion=some_of(level_words)
    ),
]
Variants = Annotated[str, typer.Option(help=A_VARIANT_LIST, rich_help_panel=PLAYED, autocompletion=variants_offered)]
Modules = Annotated[str, typer.Option(help=A_MODULE_LIST, rich_help_panel=PLAYED, autocompletion=modules_offered)]
Scenario = Annotated[str | None, typer.Option(help=A_SCENARIO, rich_help_panel=PLAYED, autocompletion=scenarios_offered)]
FixedSetup = Annotated[bool, typer.Option("--fixed-setup", help="The first Revolts lie in province 3", rich_help_panel=PLAYED)]
MaxTurns = Annotated[int, typer.Option(help="A game is truncated after so many", rich_help_panel=PLAYED)]
LineUp = Annotated[
    str,
    typer.Option(
        help="One for all Emperors or one for each player, with commas: planner:beam=64,random",
        rich_help_panel=WHO,
        autocompletion=agent_names,
    ),
]
Players = Annotated[int | None, typer.Option(help="1 to 4; as many as there are names if not given", rich_help_panel=WHO)]
Against = Annotated[
    list[str] | None,
    typer.Option(help="Another line-up, to compare with on the same seeds; also repeated", rich_help_panel=WHO, autocompletion=agent_names),
]
CrossPlay = Annotated[
    bool, typer.Option("--cross-play", help="Each agent named with each other, as pairs and as ad hoc teams", rich_help_panel=WHO)
]
Games = Annotated[int | None, typer.Option(help="At each level; 100 if not given, 20 to verify", rich_help_panel=MANY)]
FirstSeed = Annotated[int, typer.Option(help="Of the first game; the others follow it", rich_help_panel=MANY)]
AgentsSeed = Annotated[int, typer.Option(help="For the agents' own chance", rich_help_panel=MANY)]
Workers = Annotated[
    int | None, typer.Option(help="Processes, or chunks at once on Ray; as many as cores if not given", rich_help_panel=MANY)
]
Ray = Annotated[
    str | None,
    typer.Option(
        help="Play on a Ray cluster: HOST:PORT or auto; without an address RAY_ADDRESS, else a new one here",
        rich_help_panel=MANY,
        metavar="[ADDRESS]",
    ),
]
Out = Annotated[Path | None, typer.Option(help="A file .jsonl, a folder for several line-ups; else in runs/eval", rich_help_panel=KEPT)]
ToTable = Annotated[Path | None, typer.Option(help="Write all figures: table.md, .csv or .json", rich_help_panel=KEPT)]
ToPlot = Annotated[Path | None, typer.Option(help="Draw bars, a map of many levels, matrices: plot.png or .svg", rich_help_panel=KEPT)]
Report = Annotated[Path | None, typer.Option(help="Play nothing: make docs/results.md (or --out) of this folder", rich_help_panel=KEPT)]
Verify = Annotated[
    Path | None,
    typer.Option(
        help="Play the first games of this folder's results again: do agents still play so?", rich_help_panel=KEPT, metavar="FOLDER"
    ),
]


def eval_(
    level: Levels = None,
    variants: Variants = "",
    modules: Modules = "",
    scenario: Scenario = None,
    fixed_setup: FixedSetup = False,
    max_turns: MaxTurns = 400,
    agents: LineUp = "planner",
    players: Players = None,
    against: Against = None,
    cross_play: CrossPlay = False,
    games: Games = None,
    seed: FirstSeed = 0,
    agents_seed: AgentsSeed = 0,
    workers: Workers = None,
    ray: Ray = None,
    out: Out = None,
    table: ToTable = None,
    plot: ToPlot = None,
    report: Report = None,
    verify: Verify = None,
) -> None:
    """Play many seeded games and tell how often they are won, with intervals; compare agents on the same seeds.

    Results are kept: the same command goes on where it was stopped, or only shows them again.
    """
    config = locals() | {"variants": listed(variants), "modules": listed(modules)}  # the options by their names
    from tetrarchia_eval.command import EvalConfig, evaluate

    evaluate(EvalConfig(**config))
