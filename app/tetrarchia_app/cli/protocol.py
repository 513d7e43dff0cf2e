"""The command `protocol`: evaluate an agent under a benchmark protocol."""

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tetrarchia_app.cli.arguments import OUTPUT, complete_agents
from tetrarchia_env.messages import printable

if TYPE_CHECKING:
    from tetrarchia_eval.protocol import SplitName

PANEL = "Measure and train"
EXAMPLES = (
    "tetrarchia protocol v1 --agent ppo --short",
    "tetrarchia protocol v1 --agent ppo --out leaderboard/ppo.json",
    "tetrarchia protocol v1 --agent my_module.MyAgent --declare declaration.toml --out my_agent.json",
    "tetrarchia protocol v1 --agent ppo:runs/mine/seed-1/final --agent ppo:runs/mine/seed-2/final --track planning --out mine.json",
)
FOLDER = Path("runs/protocol")  # of the matches' result files


def protocol(
    version: Annotated[str, typer.Argument(help="The protocol: v1")],
    agent: Annotated[
        list[str],
        typer.Option(help="The agent; repeat it for training runs of one method with different seeds", autocompletion=complete_agents),
    ],
    track: Annotated[
        list[str] | None, typer.Option(help="Track: planning or teamwork; may be repeated; default: every track that the agent can play")
    ] = None,
    short: Annotated[
        bool, typer.Option("--short", help="Development: fewer games, other seeds, and validation instead of held-out partners")
    ] = False,
    games: Annotated[int | None, typer.Option(help="With --short: games per level, or per partner and seat", min=1)] = None,
    partner: Annotated[
        list[str] | None, typer.Option(help="Play with this partner only, to measure its bounds; may be repeated; not for the leaderboard")
    ] = None,
    declare: Annotated[
        Path | None, typer.Option(help="TOML file: name, search, timesteps, training_hours, teachers, training_runs, authors, reference")
    ] = None,
    workers: Annotated[int | None, typer.Option(help="Processes; default: the number of cores")] = None,
    out: Annotated[Path | None, typer.Option(help="Write the result to this .json file", rich_help_panel=OUTPUT)] = None,
) -> None:
    """Evaluate an agent under a benchmark protocol: fixed levels, seeds, games and partners; see docs/protocol.md.

    Finished games are kept in runs/protocol: the same command continues an interrupted evaluation.
    """
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # one core per process; read by torch when an agent imports it
    from tetrarchia_agents.pools import available_cores
    from tetrarchia_env.errors import TetrarchiaError
    from tetrarchia_env.files import check_writable
    from tetrarchia_eval.arena import Arena
    from tetrarchia_eval.console import show, show_progress
    from tetrarchia_eval.leaderboard import load_bounds, partner_table, track_table
    from tetrarchia_eval.match import default_file_name
    from tetrarchia_eval.protocol import collect, load_protocol, plan_matches, write_result
    from tetrarchia_eval.protocol import declare as declare_agents
    from tetrarchia_eval.result_files import ResultFile
    from tetrarchia_eval.workers import AgentCache

    definition, cache = load_protocol(version), AgentCache()
    split: SplitName = "development" if short else "reporting"
    if out is not None:
        if out.suffix != ".json":
            raise TetrarchiaError(f"out must end in .json; got {str(out)!r}")
        check_writable(out)
    declaration = declare_agents(agent, declare, cache, required=not short)
    specs = plan_matches(definition, agent, split, track or (), cache, partners=partner or (), games=games)
    FOLDER.mkdir(parents=True, exist_ok=True)
    files = {case: ResultFile.open(spec, FOLDER / f"{default_file_name(spec)}.jsonl") for case, spec in specs.items()}
    with (
        Arena(available_cores() if workers is None else workers, cache=cache) as arena,
        show_progress(sum(spec.total for spec in specs.values())) as progress_of,
    ):
        try:
            matches = {case: arena.play(file, progress_of(case.label)) for case, file in files.items()}
        except KeyboardInterrupt:
            print("tetrarchia: interrupted; finished games are kept, and the same command continues", file=sys.stderr)
            raise
    result, bounds = collect(definition, split, matches, declaration, cache), load_bounds(version)
    for name in result.games:
        what = definition.tracks[name]
        per_case = f"{result.games[name]} games per {'partner and seat' if what.has_partners else 'level'}"
        show(f"Track {name}, {split} seeds, {per_case}. {what.description}")
        show(track_table([result], name, bounds))
        if what.has_partners:
            show(partner_table([result], name, bounds))
            if not set(result.partners) <= set(bounds):
                show("The bounds of these partners are not measured yet: win rates are not normalized.")
    if out is not None:
        write_result(result, out)
        print(f"written: {printable(out)}")
