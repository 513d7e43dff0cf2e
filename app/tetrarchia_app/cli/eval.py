"""The command `eval`: play many games, measure win rates and compare agents."""

import os
import sys
from contextlib import ExitStack, nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tetrarchia_app.cli.arguments import (
    GAME,
    OUTPUT,
    PLAYERS,
    Agents,
    AllowFullInformation,
    LastSeen,
    MessageTokens,
    Modules,
    Revolts,
    Scenario,
    Secured,
    Task,
    Variants,
    ViewRadius,
    all_levels,
    complete_agents,
    complete_list,
    game_options,
    head_start,
    split_list,
    warn_untrained,
)
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.messages import printable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tetrarchia_eval.groups import Group
    from tetrarchia_eval.match import MatchSpec

PANEL = "Measure and train"
EXAMPLES = (
    "tetrarchia eval --agents planner --level 4200 --games 1000",
    "tetrarchia eval --agents planner --against greedy --against random",
    "tetrarchia eval --agents planner,random --players 2 --scenario danube_wars",
    "tetrarchia eval --agents greedy --level rulebook --games 20 --plot sweep.png",
    "tetrarchia eval --agents planner,greedy,random --cross-play --table cross-play.csv",
    "tetrarchia eval --group mine --group other --level 4200,4211 --games 1000",
    "tetrarchia eval --agents planner --level every --games 10000 --ray 10.0.0.1:6379",
    "tetrarchia eval --agents random --against planner --view-radius 2 --last-seen --allow-full-information",
)
GAMES = "Games and seeds"  # panel of the help
LEVEL_SETS = {"rulebook": "the 81 levels of the rulebook", "every": "all 256 levels"}
DEFAULT_FOLDER = Path("runs/eval")
DEFAULT_PAGE = Path("docs/results.md")
DEFAULT_GAMES = 100
MAX_FILES_LISTED = 5


def eval_(
    context: typer.Context,
    level: Annotated[
        str | None,
        typer.Option(
            help="Levels, comma-separated; rulebook: the 81 of the rulebook; every: all 256; default: 4211",
            rich_help_panel=GAME,
            autocompletion=complete_list(lambda: LEVEL_SETS | all_levels()),
        ),
    ] = None,
    variants: Variants = "",
    modules: Modules = "",
    scenario: Scenario = None,
    task: Task = None,
    revolts: Revolts = None,
    secured: Secured = None,
    fixed_setup: Annotated[
        bool, typer.Option("--fixed-setup", help="Place the initial Revolts in province 3 of each region", rich_help_panel=GAME)
    ] = False,
    max_turns: Annotated[int, typer.Option(help="Turns after which a game is truncated", rich_help_panel=GAME)] = 400,
    view_radius: ViewRadius = None,
    last_seen: LastSeen = False,
    message_tokens: MessageTokens = 0,
    agents: Agents = "planner",
    allow_full_information: AllowFullInformation = False,
    players: Annotated[
        int | None, typer.Option(help="Number of players, 1 to 4; default: the number of agents", rich_help_panel=PLAYERS)
    ] = None,
    against: Annotated[
        list[str] | None,
        typer.Option(
            help="Line-up to compare with on the same seeds; may be repeated",
            rich_help_panel=PLAYERS,
            autocompletion=complete_agents,
        ),
    ] = None,
    group: Annotated[
        list[str] | None,
        typer.Option(
            help="Evaluate a group of training runs: a name in runs/, a shipped group or a folder; may be repeated to compare groups. "
            "By default each plays with the local information of its training",
            rich_help_panel=PLAYERS,
            metavar="NAME",
        ),
    ] = None,
    cross_play: Annotated[
        bool,
        typer.Option(
            "--cross-play",
            help="Combine every two agents, as pairs and as ad hoc teams; with --group: every two runs of a group",
            rich_help_panel=PLAYERS,
        ),
    ] = False,
    games: Annotated[int, typer.Option(help="Games per level", rich_help_panel=GAMES)] = DEFAULT_GAMES,
    seed: Annotated[int, typer.Option(help="Seed of the first game; the others follow", rich_help_panel=GAMES)] = 0,
    agents_seed: Annotated[int, typer.Option(help="Seed of the agents' own random choices", rich_help_panel=GAMES)] = 0,
    workers: Annotated[
        int | None, typer.Option(help="Processes, or chunks at once on Ray; default: the number of cores", rich_help_panel=GAMES)
    ] = None,
    ray: Annotated[
        str | None,
        typer.Option(
            help="Play on a Ray cluster: HOST:PORT or auto; without an address RAY_ADDRESS, else a new local cluster",
            rich_help_panel=GAMES,
            metavar="[ADDRESS]",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Result file .jsonl, or a folder for several line-ups; default: in runs/eval", rich_help_panel=OUTPUT),
    ] = None,
    table: Annotated[Path | None, typer.Option(help="Write all figures to a .md, .csv or .json file", rich_help_panel=OUTPUT)] = None,
    plot: Annotated[
        Path | None, typer.Option(help="Draw bars, heat maps, matrices or learning curves into a .png or .svg file", rich_help_panel=OUTPUT)
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(help="Play nothing; fill docs/results.md (or --out) from the results in this folder", rich_help_panel=OUTPUT),
    ] = None,
) -> None:
    """Play many seeded games and show win rates with intervals; compare agents on the same seeds.

    Results are kept: the same command continues an interrupted evaluation, or shows a finished one again.
    """
    sources = {name: context.get_parameter_source(name) for name in context.params}
    given = {name for name, source in sources.items() if source is not None and source.name == "COMMANDLINE"}
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # one core per process; read by torch when an agent imports it
    if report is not None:
        _check_only(given, {"report", "out"}, "report")
        from tetrarchia_eval.page import write_report

        write_report(report, out or DEFAULT_PAGE)
        print(f"written: {printable(out or DEFAULT_PAGE)}")
        return

    from tetrarchia_agents.pools import available_cores
    from tetrarchia_env.local_view import LocalOptions
    from tetrarchia_eval.arena import Arena, match_spec
    from tetrarchia_eval.console import show, show_progress
    from tetrarchia_eval.groups import GroupReport, find_group
    from tetrarchia_eval.match import file_name, parse_levels
    from tetrarchia_eval.plots import check_plot, save
    from tetrarchia_eval.ray_workers import cluster_address, load_ray, ray_workers
    from tetrarchia_eval.report import ComparisonReport, CrossPlayReport
    from tetrarchia_eval.result_files import ResultFile
    from tetrarchia_eval.tables import check_table, write_table
    from tetrarchia_eval.workers import AgentCache, process_pool

    # Check everything before the first game.
    if ray is not None:
        load_ray()
        cluster_address(ray)
    if table:
        check_table(table)
    if plot:
        check_plot(plot)
    if cross_play and (against or players is not None):
        raise TetrarchiaError("cross-play has its own line-ups: give neither against nor players")
    groups = {one.name: one for one in map(find_group, group or ())}
    if group and (given & {"agents", "against", "players"} or len(groups) < len(group)):
        raise TetrarchiaError("group has its own line-ups: give neither agents, against nor players, and no two groups of the same name")
    if groups:
        line_ups = {name: team for one in groups.values() for name, team in one.line_ups(cross_play).items()}
    elif cross_play:
        line_ups = _cross_play_line_ups(agents)
    else:
        line_ups = _rival_line_ups([agents, *(against or ())], players)
    cache = AgentCache()
    local = LocalOptions(view_radius, last_seen, message_tokens)

    def information(team: str) -> LocalOptions:
        """Return the information of a match: that with which a group was trained, unless options are given."""
        if not groups or given & {"view_radius", "last_seen", "message_tokens"}:
            return local
        return getattr(cache.agent(team.split(",", maxsplit=1)[0]), "local", None) or local

    specs = {
        name: match_spec(
            team,
            games,
            players=players,
            levels=() if level is None else parse_levels(level),
            first_seed=seed,
            seed=agents_seed,
            variants=split_list(variants),
            modules=split_list(modules),
            scenario=scenario,
            task=task,
            **head_start(revolts, secured),
            fixed_setup=fixed_setup,
            max_turns=max_turns,
            **asdict(information(team)),
            allow_full_information=allow_full_information,
            cache=cache,
        )
        for name, team in line_ups.items()
    }
    warn_untrained([cache.agent(name) for spec in specs.values() for name in spec.agents], game_options(None, variants, modules, scenario))
    paths = _result_paths(specs, out, has_folders=cross_play or bool(groups))
    for path in paths.values():
        path.parent.mkdir(parents=True, exist_ok=True)
    files = {name: ResultFile.open(specs[name], path) for name, path in paths.items()}

    # Play what the files do not contain yet.
    complete = {name for name, file in files.items() if file.is_finished}
    is_remote = ray is not None and len(complete) < len(files)
    with ExitStack() as stack:
        if is_remote:
            cluster = stack.enter_context(ray_workers(ray or "", workers))
            arena = stack.enter_context(Arena(max(2, cluster.size), cache=cache, pool=lambda _: nullcontext(cluster)))
        else:
            arena = stack.enter_context(Arena(available_cores() if workers is None else workers, cache=cache, pool=process_pool))
        progress_of = stack.enter_context(
            show_progress(sum(file.spec.total for file in files.values()), (lambda: cluster.place) if is_remote else str)
        )
        try:
            matches = {name: arena.play(file, progress_of(name)) for name, file in files.items()}
        except KeyboardInterrupt:
            stack.close()
            print("tetrarchia: interrupted; finished games are kept, and the same command continues", file=sys.stderr)
            raise

    # Show and write the results.
    summary: GroupReport | CrossPlayReport | ComparisonReport
    if groups:
        summary = GroupReport(matches, {name: _learning_curves(one) for name, one in groups.items()})
    else:
        summary = CrossPlayReport(matches) if cross_play else ComparisonReport({one.spec.team_label: one for one in matches.values()})
    for part in summary.parts():
        show(part)
    if table:
        write_table(summary.table(), table)
        print(f"written: {printable(table)}")
    if plot:
        for name, drawn in summary.plots().items():
            path = plot.with_stem(f"{plot.stem}-{file_name(name)}") if name else plot
            save(drawn, path)
            print(f"written: {printable(path)}")
    if len(paths) <= MAX_FILES_LISTED:
        for name, path in paths.items():
            print(f"already complete: {printable(path)}" if name in complete else f"saved: {printable(path)}")
    else:
        status = "already complete" if len(complete) == len(files) else "saved"
        print(f"{status}: {len(paths)} files in {printable(os.path.commonpath([path.parent for path in paths.values()]))}")


def _learning_curves(group: "Group") -> "dict[str, list[Any]]":
    """Return the learning curve of each run of a group, from its run folder or its published checkpoint."""
    from tetrarchia_agents.cards import find_checkpoint
    from tetrarchia_train.metrics import CURVE_FILE, PUBLISHED_CURVE_FILE, read_curve

    folders = {run: find_checkpoint(agent.removeprefix("ppo:")) for run, agent in group.agents.items()}
    return {run: read_curve(folder / PUBLISHED_CURVE_FILE) or read_curve(folder.parent / CURVE_FILE) for run, folder in folders.items()}


def _check_only(given: set[str], allowed: set[str], option: str) -> None:
    if others := sorted(given - allowed):
        raise TetrarchiaError(f"{option} takes no other option than {', '.join(sorted(allowed - {option}))}; got {', '.join(others)}")


def _rival_line_ups(line_ups: "Sequence[str]", players: int | None) -> dict[str, str]:
    """Return the agents of each line-up by its label."""
    from tetrarchia_agents import assign_players
    from tetrarchia_agents.registry import split_names
    from tetrarchia_eval.match import team_label

    found: dict[str, str] = {}
    for agents in line_ups:
        label = team_label(assign_players(split_names(agents, players)))
        if label in found:
            raise TetrarchiaError(f"against must differ from the other line-ups; got {label} twice")
        found[label] = agents
    return found


def _cross_play_line_ups(agents: str) -> dict[str, str]:
    """Return every pair, then every ad hoc team, by kind and label; an agent with itself is played once, as a pair."""
    from tetrarchia_eval.analysis import ad_hoc_teams, pair_teams
    from tetrarchia_eval.report import AD_HOC, PAIRS

    names = list(dict.fromkeys(agents.split(",")))
    if len(names) < 2:
        raise TetrarchiaError(f"cross-play needs at least two agents, separated by commas; got {agents!r}")
    teams = {PAIRS: pair_teams(names), AD_HOC: [team for team in ad_hoc_teams(names) if len(set(team.agents)) == 2]}
    return {f"{kind}/{team.label}": ",".join(team.agents) for kind, some in teams.items() for team in some}


def _result_paths(specs: "Mapping[str, MatchSpec]", out: Path | None, has_folders: bool) -> dict[str, Path]:
    """Return the result file of each line-up, all different.

    Args:
        specs: Matches by name.
        out: File of a single line-up, or folder of several; None for files in the default folder.
        has_folders: Whether the names begin with the kind of cross-play or the group, which is then a folder.
    """
    from tetrarchia_env.files import check_parent_dir
    from tetrarchia_eval.match import default_file_name, file_name

    if out is None:
        return {name: DEFAULT_FOLDER / f"{default_file_name(spec)}.jsonl" for name, spec in specs.items()}
    check_parent_dir(out)
    if len(specs) == 1:
        if out.suffix != ".jsonl" or out.is_dir():
            raise TetrarchiaError(f"out must be a file that ends in .jsonl for one line-up; got {str(out)!r}")
        return dict.fromkeys(specs, out)
    if out.suffix == ".jsonl" or (out.exists() and not out.is_dir()):
        raise TetrarchiaError(f"out must be a folder for several line-ups; got {str(out)!r}")
    paths: dict[str, Path] = {}
    owners: dict[Path, str] = {}
    for name in specs:
        *folder, label = name.split("/", maxsplit=1) if has_folders else [name]
        path = Path(out, *folder, f"{file_name(label)}.jsonl")
        if path in owners:  # names that differ only in characters that a file name cannot have
            raise TetrarchiaError(f"out: {owners[path]} and {name} have the same file {path}: use different folders")
        paths[name], owners[path] = path, name
    return paths
