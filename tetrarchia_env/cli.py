"""The `tetrarchia` command: the only file that imports upwards, and only when a command runs."""

import sys
from collections.abc import Callable
from functools import wraps
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from tetrarchia_env.options import Options
    from tetrarchia_env.terminal.player import Chooser

app = typer.Typer(
    help="TETRARCHIA, the cooperative board game of four Emperors, for reinforcement-learning research.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)

Level = Annotated[
    str | None, typer.Option(help="Four digits: tokens per Emperor, fleets, extra Revolts, initial armies; 4211 if not given")
]
VARIANTS = "With commas: imperivm,mare_nostrvm,diarchia,patres_patriae,the_great"
MODULES = "With commas: dux,pirates,goths"
SCENARIOS = "carausian_revolt, danube_wars, mauretanian_war or great_persian_war"
Variants = Annotated[str, typer.Option(help=VARIANTS)]
Modules = Annotated[str, typer.Option(help=MODULES)]
Scenario = Annotated[str | None, typer.Option(help=SCENARIOS)]
Seed = Annotated[int, typer.Option(help="Fixes every die: the same seed and actions are the same game")]
Agents = Annotated[str, typer.Option(help="One for all Emperors or one for each of two to four players, with commas: planner,random")]
Speed = Annotated[float, typer.Option(help="Actions a second")]
Render = Annotated[str | None, typer.Option(help="ansi: in the terminal; human: in a window; ansi if nothing is written to a file")]
Film = Annotated[Path | None, typer.Option(help="Write a film: game.gif or game.mp4")]
Save = Annotated[Path | None, typer.Option(help="Keep the game as a replay file")]


# Of `eval`, in groups.
PLAYED, WHO, MANY, KEPT = "What is played", "Who plays", "How many games, and which", "What is kept"
Levels = Annotated[str | None, typer.Option(help="One or more with commas; rulebook: its 81; every: all 256", rich_help_panel=PLAYED)]
FixedSetup = Annotated[bool, typer.Option("--fixed-setup", help="The first Revolts lie in province 3", rich_help_panel=PLAYED)]
MaxTurns = Annotated[int, typer.Option(help="A game is truncated after so many", rich_help_panel=PLAYED)]
LineUp = Annotated[
    str, typer.Option(help="One for all Emperors or one for each player, with commas: planner:beam=64,random", rich_help_panel=WHO)
]
Players = Annotated[int | None, typer.Option(help="1 to 4; as many as there are names if not given", rich_help_panel=WHO)]
Against = Annotated[
    list[str] | None, typer.Option(help="Another line-up, to compare with on the same seeds; also repeated", rich_help_panel=WHO)
]
Partners = Annotated[bool, typer.Option("--partners", help="Cross-play: each agent named with each other", rich_help_panel=WHO)]
Games = Annotated[int, typer.Option(help="At each level", rich_help_panel=MANY)]
FirstSeed = Annotated[int, typer.Option(help="Of the first game; the others follow it", rich_help_panel=MANY)]
AgentsSeed = Annotated[int, typer.Option(help="For the agents' own chance", rich_help_panel=MANY)]
Workers = Annotated[int | None, typer.Option(help="Processes; as many as cores if not given", rich_help_panel=MANY)]
Out = Annotated[Path | None, typer.Option(help="A file .jsonl, a folder for several line-ups; else in runs/eval", rich_help_panel=KEPT)]
ToTable = Annotated[Path | None, typer.Option(help="Write all figures: table.md, .csv or .json", rich_help_panel=KEPT)]
ToPlot = Annotated[Path | None, typer.Option(help="Draw bars, a map of many levels, matrices: plot.png or .svg", rich_help_panel=KEPT)]
Report = Annotated[Path | None, typer.Option(help="Play nothing: make docs/results.md (or --out) of this folder", rich_help_panel=KEPT)]


def main() -> None:
    """Run the command; a user's mistake is one sentence and exit code 2."""
    try:
        app()
    except ValueError as error:
        _fail(str(error))
    except OSError as error:
        _fail(f"{error.filename or 'input or output'}: {error.strerror}")


def _fail(sentence: str) -> None:
    print(f"tetrarchia: {sentence}", file=sys.stderr)
    sys.exit(2)


def _command(body: Callable[..., None]) -> Callable[..., None]:
    """A command of the app; Ctrl-C ends it with exit code 130."""

    @wraps(body)
    def run(*arguments: Any, **options: Any) -> None:
        try:
            body(*arguments, **options)
        except KeyboardInterrupt:
            raise typer.Exit(130) from None

    return app.command(body.__name__.rstrip("_"))(run)


@app.callback()
def tetrarchia() -> None:
    """Show the commands as a list even while there is only one."""


@_command
def watch(
    level: Level = None,
    variants: Variants = "",
    modules: Modules = "",
    scenario: Scenario = None,
    seed: Seed = 0,
    agents: Agents = "random",
    speed: Speed = 2.0,
    render: Render = None,
    film: Film = None,
    save: Save = None,
) -> None:
    """Watch agents play one game: in the terminal with keys, in a window, or as a film; plain lines into a pipe."""
    from tetrarchia_env.notation import action_id, record_replay, save_replay
    from tetrarchia_env.show import Show, frames_of_play
    from tetrarchia_env.terminal.showing import check_wishes, present

    check_wishes(speed, render, film, save)
    options, chooser = _options(level, variants, modules, scenario), _chooser(agents, seed)
    show = Show(frames_of_play(options, seed, chooser))
    present(show, speed, render, film)
    if save:
        actions = [action_id(str(frame.action)) for frame in show.all()[1:]]  # what was not watched is played now
        save_replay(record_replay(options, seed, actions), save)
        print(f"saved: {save}")


@_command
def replay(
    file: Annotated[Path, typer.Argument(help="A replay file, as `watch --save` writes it")],
    speed: Speed = 2.0,
    render: Render = None,
    film: Film = None,
    html: Annotated[Path | None, typer.Option(help="Write a page for any browser: game.html")] = None,
) -> None:
    """Play a replay file again, check every step, and show it: forwards, backwards, as a film or as a page."""
    from tetrarchia_env.files import write_whole
    from tetrarchia_env.show import Show, frames_of
    from tetrarchia_env.terminal.showing import check_wishes, checked_replay, present

    check_wishes(speed, render, film, html)
    show = Show(frames_of(checked_replay(file)))
    if html:
        from tetrarchia_env.render.page import replay_page

        write_whole(html, replay_page(show.all(), file.stem))
        print(f"written: {html}")
    if render or film or not html:
        present(show, speed, render, film)


@_command
def play(
    level: Level = None,
    variants: Variants = "",
    modules: Modules = "",
    scenario: Scenario = None,
    seed: Annotated[int | None, typer.Option(help="Fixes every die; a new game each time if not given")] = None,
    agents: Agents = "random",
    emperors: Annotated[str, typer.Option(help="Whom you play, with commas; agents play the others")] = "all",
    save: Save = None,
) -> None:
    """Play in the terminal: you are some of the Emperors, or all."""
    import secrets

    from tetrarchia_env.board import EMPERORS
    from tetrarchia_env.files import check_folder
    from tetrarchia_env.notation import save_replay
    from tetrarchia_env.terminal.player import Player, emperors_named
    from tetrarchia_env.terminal.table import Table

    if save:
        check_folder(save)
    yours, seed = emperors_named(emperors), secrets.randbelow(2**32) if seed is None else seed
    table = Table(_options(level, variants, modules, scenario), seed)
    print(f"You play {', '.join(yours)}; the seed of this game is {seed}. ? tells what you may type.")
    chooser = _chooser(agents, seed)
    Player(table, {name: chooser for name in EMPERORS if name not in yours}).run()
    if save:
        save_replay(table.replay(), save)
        print(f"saved: {save}")


@_command
def eval_(
    level: Levels = None,
    variants: Annotated[str, typer.Option(help=VARIANTS, rich_help_panel=PLAYED)] = "",
    modules: Annotated[str, typer.Option(help=MODULES, rich_help_panel=PLAYED)] = "",
    scenario: Annotated[str | None, typer.Option(help=SCENARIOS, rich_help_panel=PLAYED)] = None,
    fixed_setup: FixedSetup = False,
    max_turns: MaxTurns = 400,
    agents: LineUp = "planner",
    players: Players = None,
    against: Against = None,
    partners: Partners = False,
    games: Games = 100,
    seed: FirstSeed = 0,
    agents_seed: AgentsSeed = 0,
    workers: Workers = None,
    out: Out = None,
    table: ToTable = None,
    plot: ToPlot = None,
    report: Report = None,
) -> None:
    """Play many seeded games and tell how often they are won, with intervals; compare agents on the same seeds.

    Results are kept: the same command goes on where it was stopped, or only shows them again. Examples:

    \b
    tetrarchia eval --agents planner --level 4200 --games 1000
    tetrarchia eval --agents planner --against greedy --against random
    tetrarchia eval --agents planner,random --players 2 --scenario danube_wars
    tetrarchia eval --agents greedy --level rulebook --games 20 --plot sweep.png
    tetrarchia eval --agents planner,greedy,random --partners --table partners.csv
    """
    wishes = locals() | {"variants": _names(variants), "modules": _names(modules)}  # the options by their names
    from eval.command import evaluate
    from eval.wishes import Wishes

    evaluate(Wishes(**wishes))


@_command
def bench(
    out: Annotated[Path, typer.Option(help="Where to write the figures as JSON")] = Path("bench.json"),
    peers: Annotated[bool, typer.Option(help="Also measure PettingZoo's and OpenSpiel's games, where installed")] = False,
) -> None:
    """Measure the rules and each face of the environment, start-up and compile times. Takes about two minutes."""
    from eval.benchmark import measure, report
    from eval.peers import measure_peers, ratios
    from tetrarchia_env.files import write_whole

    rows = []
    for row in chain(measure(), measure_peers() if peers else ()):
        print(f"{row.what:55} {row.value:>15,.2f} {row.unit}", flush=True)
        rows.append(row)
    for row in list(ratios(rows)):
        print(f"{row.what:75} {row.value:>8,.1f} {row.unit}")
        rows.append(row)
    write_whole(out, report(rows))
    print(f"written: {out}")


def _options(level: str | None, variants: str, modules: str, scenario: str | None) -> "Options":
    from tetrarchia_env.options import Options

    return Options(level=level, variants=_names(variants), modules=_names(modules), scenario=scenario)


def _names(text: str) -> list[str]:
    return text.split(",") if text else []


def _chooser(names: str, seed: int) -> "Chooser":
    """How the agents decide in the one game of this seed."""
    import numpy as np

    from agents import Seats, make_agents

    seats, lane = Seats(make_agents(names), lanes=1), np.array([0])
    seats.begin(lane, seed)
    return lambda game, mask: int(seats.act(game, mask[np.newaxis], lane)[0])
