"""`tetrarchia eval`: the options are checked, the line-ups made, their matches played, and what they say is shown and written."""

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path

from tetrarchia_agents import assign_players
from tetrarchia_agents.registry import split_names
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.files import check_parent_dir
from tetrarchia_env.messages import printable
from tetrarchia_env.options import Options
from tetrarchia_eval import verify
from tetrarchia_eval.analysis import ad_hoc_teams, pair_teams
from tetrarchia_eval.arena import Arena, match_spec
from tetrarchia_eval.console import show, showing
from tetrarchia_eval.eval_report import AD_HOC, PAIRS, CrossPlay, EvalReport, SideBySide
from tetrarchia_eval.match import Match, MatchSpec, file_name, own_file_name, team_label
from tetrarchia_eval.plots import check_picture, save
from tetrarchia_eval.ray_cluster import address_of, load_ray
from tetrarchia_eval.result_files import ResultFile
from tetrarchia_eval.result_tables import check_table, write_table
from tetrarchia_eval.results_page import write_report
from tetrarchia_eval.sweep import levels_named
from tetrarchia_eval.workers import Roster, Workers, process_pool

FOLDER = Path("runs/eval")  # where results go if the user does not say
PAGE = Path("docs/results.md")
GAMES = 100  # at each level, if the user does not say
MANY = 6  # files, from which only their folder is told
Pool = Callable[[int], AbstractContextManager[Workers]]


@dataclass(frozen=True)
class EvalConfig:
    """The options of the command, in their own words."""

    level: str | None = None
    variants: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()
    scenario: str | None = None
    fixed_setup: bool = False
    max_turns: int = Options.max_turns
    agents: str = "planner"
    players: int | None = None
    against: tuple[str, ...] = ()
    cross_play: bool = False
    games: int | None = None
    seed: int = 0
    agents_seed: int = 0
    workers: int | None = None
    ray: str | None = None
    out: Path | None = None
    table: Path | None = None
    plot: Path | None = None
    report: Path | None = None
    verify: Path | None = None

    def __post_init__(self) -> None:
        for name in ("variants", "modules", "against"):
            object.__setattr__(self, name, tuple(getattr(self, name) or ()))  # to be compared with others

    @property
    def cores(self) -> int:
        """The workers asked for, else as many as this process may use."""
        if self.workers is not None:
            return self.workers
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@dataclass(frozen=True)
class LineUp:
    """Who plays, in a word, and the file of their match."""

    name: str
    file: ResultFile


def evaluate(config: EvalConfig) -> None:
    """Do what the user asks for; ValueError in one sentence if that cannot be done."""
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # a process has one core; read by torch when an agent imports it, later
    if config.report is not None:
        _report(config, config.report)
    elif config.verify is not None:
        _verify(config, config.verify)
    else:
        _evaluate(config)


def _evaluate(config: EvalConfig) -> None:
    roster = Roster()
    teams = line_ups(config, roster)
    with _workers(config, teams) as (size, pool, place), Arena(size, roster=roster, pool=pool) as arena:
        matches = _play(teams, arena, place)
    _tell(CrossPlay(matches) if config.cross_play else SideBySide(matches), config)
    _tell_files([one.file.path for one in teams])


@contextmanager
def _workers(config: EvalConfig, teams: Sequence[LineUp]) -> Iterator[tuple[int, Pool, Callable[[], str]]]:
    """How many there are, what makes them, and where they are: processes, or a Ray cluster if there is anything to play."""
    if config.ray is None or all(one.file.is_finished for one in teams):
        yield config.cores, process_pool, str
        return
    from tetrarchia_eval.ray_workers import ray_workers  # nothing of Ray is loaded without it

    with ray_workers(config.ray, config.workers) as cluster:
        yield max(2, cluster.size), lambda _: nullcontext(cluster), lambda: cluster.place


def _report(config: EvalConfig, folder: Path) -> None:
    """Write the page of results again."""
    if config != EvalConfig(report=folder, out=config.out):
        raise TetrarchiaError("report: the page is made of kept results alone: give no option beside it but out")
    page = config.out or PAGE
    write_report(folder, page)
    print(f"written: {printable(page)}")


def _verify(config: EvalConfig, folder: Path) -> None:
    """Play the first games of kept results again, and tell which differ."""
    if config != EvalConfig(verify=folder, games=config.games):
        raise TetrarchiaError("verify: agents, rules and seeds are those of the files: give no option beside it but games")
    todo, roster = verify.verifications(folder, verify.GAMES if config.games is None else config.games), Roster()
    with showing(sum(one.games for one in todo)) as progress_of:
        verdicts = [verify.verify_file(one, roster, progress_of(str(one.path))) for one in todo]
    differences = [verdict.difference for verdict in verdicts if verdict.difference]
    print("".join(f"{printable(sentence)}\n" for sentence in differences), end="")
    print(
        f"{sum(verdict.games for verdict in verdicts):,} games of {len(verdicts)} files played again; "
        f"new fingerprints in {sum(verdict.is_rewritten for verdict in verdicts)} files"
    )
    if differences:
        raise TetrarchiaError(f"verify: {len(differences)} of {len(verdicts)} files do not agree with the agents of today")


def _play(teams: Sequence[LineUp], arena: Arena, place: Callable[[], str]) -> dict[str, Match]:
    """What the files lack; the same command goes on with them."""
    try:
        with showing(sum(one.file.spec.total for one in teams), place) as progress_of:
            return {one.name: arena.play(one.file, progress_of(one.name)) for one in teams}
    except KeyboardInterrupt:
        print("tetrarchia: stopped; what was played is kept, and the same command goes on from there.", file=sys.stderr)
        raise


def _tell(report: EvalReport, config: EvalConfig) -> None:
    """In the terminal, then in the files asked for."""
    for part in report.shown():
        show(part)
    if config.table:
        write_table(report.table(), config.table)
        print(f"written: {printable(config.table)}")
    if config.plot:
        for word, picture in report.pictures().items():
            path = config.plot.with_stem(f"{config.plot.stem}-{file_name(word)}") if word else config.plot
            save(picture, path)
            print(f"written: {printable(path)}")


def _tell_files(paths: Sequence[Path]) -> None:
    if len(paths) < MANY:
        for path in paths:
            print(f"saved: {printable(path)}")
    else:
        print(f"saved: {len(paths)} files in {printable(os.path.commonpath([path.parent for path in paths]))}")


def line_ups(config: EvalConfig, roster: Roster) -> list[LineUp]:
    """Those that the user asks for, the first one first; ValueError before a game is played if anything is wrong."""
    _check_goals(config)
    teams = _cross_play(config) if config.cross_play else _rivals(config)
    specs = {name: _spec(config, agents, roster) for name, agents in teams.items()}
    files = {name: _file(config, name, spec, alone=len(specs) == 1) for name, spec in specs.items()}
    _check_distinct(files)
    for path in files.values():
        path.parent.mkdir(parents=True, exist_ok=True)
    return [LineUp(name, ResultFile.planned(specs[name], path)) for name, path in files.items()]


def _check_goals(config: EvalConfig) -> None:
    """That what is asked for in the end can be written, and that there is Ray if it is asked for."""
    if config.ray is not None:
        load_ray()
        address_of(config.ray)
    if config.table:
        check_table(config.table)
    if config.plot:
        check_picture(config.plot)
    if config.out:
        check_parent_dir(config.out)
        if config.cross_play or config.against:
            _check_out_folder(config.out)
        elif config.out.suffix != ".jsonl" or config.out.is_dir():
            raise TetrarchiaError(f"out: one line-up is kept in a file that ends with .jsonl, not {str(config.out)!r}")


def _check_out_folder(out: Path) -> None:
    if out.suffix == ".jsonl" or (out.exists() and not out.is_dir()):
        raise TetrarchiaError(f"out: several line-ups are kept in a folder, a file for each, not {str(out)!r}")


def _check_distinct(files: dict[str, Path]) -> None:
    """Letters that a file's name cannot have may be all that tells two line-ups apart."""
    owners: dict[Path, str] = {}
    for name, path in files.items():
        if path in owners:
            raise TetrarchiaError(f"out: {owners[path]} and {name} would both be kept in {path}: play them into different folders")
        owners[path] = name


def _rivals(config: EvalConfig) -> dict[str, str]:
    """The names of each line-up by a word for it."""
    found: dict[str, str] = {}
    for names in (config.agents, *config.against):
        word = team_label(assign_players(split_names(names, config.players)))
        if word in found:
            raise TetrarchiaError(f"against: {word} would be compared with itself: give each line-up once")
        found[word] = names
    return found


def _cross_play(config: EvalConfig) -> dict[str, str]:
    """Every pair, then every ad hoc team; an agent with itself is played once, as a pair."""
    names = list(dict.fromkeys(config.agents.split(",")))
    if config.against or config.players is not None:
        raise TetrarchiaError("cross-play has its own line-ups: give neither against nor players beside it")
    if len(names) < 2:
        raise TetrarchiaError(f"cross-play: give at least two agents, with commas, not {config.agents!r}")
    ad_hoc = [one for one in ad_hoc_teams(names) if len(set(one.agents)) == 2]
    teams = {PAIRS: pair_teams(names), AD_HOC: ad_hoc}
    return {f"{kind}/{one.label}": ",".join(one.agents) for kind, some in teams.items() for one in some}


def _spec(config: EvalConfig, agents: str, roster: Roster) -> MatchSpec:
    return match_spec(
        agents,
        GAMES if config.games is None else config.games,
        players=config.players,
        levels=levels_named(config.level) if config.level is not None else (),
        first_seed=config.seed,
        seed=config.agents_seed,
        roster=roster,
        variants=config.variants,
        modules=config.modules,
        scenario=config.scenario,
        fixed_setup=config.fixed_setup,
        max_turns=config.max_turns,
    )


def _file(config: EvalConfig, name: str, spec: MatchSpec, alone: bool) -> Path:
    if config.out is None:
        return FOLDER / f"{own_file_name(spec)}.jsonl"
    if alone:
        return config.out
    *folder, words = name.split("/", maxsplit=1) if config.cross_play else [name]
    return Path(config.out, *folder, f"{file_name(words)}.jsonl")
