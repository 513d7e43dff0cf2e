"""Any number of seeded games between named agents, on several cores, kept in a file that the same plan goes on with."""

import os
import platform
import time
from collections.abc import Callable, Sequence
from dataclasses import fields
from math import inf
from pathlib import Path
from typing import IO, Any

import numba
import numpy as np

from tetrarchia_agents import Agent, assign_players, make_agent
from tetrarchia_agents.fingerprint import fingerprint
from tetrarchia_agents.registry import named
from tetrarchia_env import __version__
from tetrarchia_env.files import check_folder
from tetrarchia_env.notation.replays import ENVIRONMENT
from tetrarchia_env.options import Options
from tetrarchia_eval.arena.chunks import GOAL, MOST, Chunks, play_chunk, seated, warm_up
from tetrarchia_eval.arena.pool import play_in_pool
from tetrarchia_eval.results import FORMAT, Header, Played, Run, game_line, header_line, load_run, whole_lines

try:
    import fcntl
except ImportError:  # Windows has no such locks
    fcntl = None  # type: ignore[assignment]

ALONE = 1.0  # seconds a chunk, up to which this process goes on alone
PAYS = 4.0  # seconds of work that are worth the start of other processes, about two seconds each
Progress = Callable[[Sequence[Played]], None]  # told of games: those the file held before, then none when all is ready, then as they end


def plan(
    agents: str, games: int, *, players: int | None = None, levels: Sequence[str] = (), first_seed: int = 0, seed: int = 0, **arguments: Any
) -> Header:
    """What is to be played: so many games at each level by the agents of these names (R13.1: of one to four players).

    `arguments` are those of `Options` but for the level; without levels it is the normal one or the scenario's.
    """
    names = named(agents, players)
    made = {name: make_agent(name) for name in names}
    rules = Options.of(level=levels[0] if levels else None, **arguments)
    diocletian, galerius, constantius, maximian = assign_players(names)
    return Header(
        format=FORMAT,
        environment=ENVIRONMENT,
        arguments={name: value for name, value in rules.arguments().items() if name != "level"},
        levels=tuple(levels) or rules.level_names,
        agents=(diocletian, galerius, constantius, maximian),
        fingerprints={name: fingerprint(agent) for name, agent in made.items()},
        games=games,
        first_seed=first_seed,
        seed=seed,
        versions={"tetrarchia": __version__, "python": platform.python_version(), "numpy": np.__version__, "numba": numba.__version__},
        machine={"cores": os.cpu_count() or 1, "system": platform.system(), "architecture": platform.machine()},
    )


def run(
    plan: Header,
    path: str | os.PathLike[str],
    workers: int = 2,
    chunk: int | None = None,
    progress: Progress = lambda games: None,
) -> Run:
    """Play what the file lacks of this plan, on so many cores; the games do not depend on cores, chunks or interruptions.

    chunk: the most games that are played side by side; if not given, as many as take about three seconds
    """
    _check_number("workers", workers)
    _check_number("chunk", MOST if chunk is None else chunk)
    found = check_file(plan, Path(path))
    if found is not None and found.is_finished:  # several may read it, even where nobody may write
        progress(found.games)
        return found
    agents = seated(plan.agents)
    if found is None:
        _create(Path(path), header_line(plan))
    with open(path, "a", encoding="utf-8") as file:
        begun = _begun(plan, file)
        progress(begun.games)
        if begun.is_finished:
            return begun
        warm_up(plan, agents)
        progress(())
        record = Record(file, list(begun.games), progress)
        _play(Chunks(plan, len(begun.games), chunk or MOST, inf if chunk else GOAL), agents, workers, record.take)
    return Run(begun.header, tuple(record.games))


def _check_number(name: str, value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ValueError(f"{name} is a whole number from 1 on, not {value!r}")


class Record:
    """Writes games into the file in the order of their index; those that come early wait."""

    def __init__(self, file: IO[str], games: list[Played], progress: Progress) -> None:
        self.games = games
        self._file, self._progress = file, progress
        self._early: dict[int, list[Played]] = {}  # chunks by their first index

    def take(self, games: list[Played]) -> None:
        """A chunk is finished."""
        self._early[games[0].index] = games
        while chunk := self._early.pop(len(self.games), None):
            self._file.write("".join(map(game_line, chunk)))
            self._file.flush()
            self.games += chunk
        self._progress(games)


def _play(chunks: Chunks, agents: Sequence[Agent], workers: int, take: Callable[[list[Played]], None]) -> None:
    """This process begins alone, and so learns whether others would be any help; they find everything compiled."""
    _play_alone(chunks, agents, take, ALONE if workers > 1 else inf)
    if chunks.seconds_left > PAYS:
        play_in_pool(chunks, workers, take)
    else:
        _play_alone(chunks, agents, take, inf)


def _play_alone(chunks: Chunks, agents: Sequence[Agent], take: Callable[[list[Played]], None], longest: float) -> None:
    """To the end, or until a chunk takes longer than this."""
    seconds = 0.0
    while seconds <= longest and (chunk := chunks.cut()):
        begun = time.perf_counter()
        games = play_chunk(chunks.plan, agents, chunk)
        seconds = time.perf_counter() - begun
        chunks.learn(len(games), seconds)
        take(games)


def _create(path: Path, header: str) -> None:
    """Whole or not at all; if another process is first, its file stays."""
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        draft.write_text(header, encoding="utf-8")
        _move_if_free(draft, path)
    finally:
        draft.unlink(missing_ok=True)


def _move_if_free(draft: Path, goal: Path) -> None:
    try:
        os.link(draft, goal)  # unlike a move it never takes the place of a file
    except FileExistsError:
        return
    except OSError:  # there are disks without links
        os.replace(draft, goal)


def _begun(plan: Header, file: IO[str]) -> Run:
    """What the open file holds of this plan, a line that was half written cut off; nobody else may write into it till it is closed."""
    path = Path(file.name)
    _lock(file)
    begun = check_file(plan, path)
    os.truncate(path, sum(len(line) + 1 for line in whole_lines(path)))
    return begun or Run(plan, ())


def _lock(file: IO[str]) -> None:
    """Lines of two writers would spoil the file."""
    if fcntl is None:
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise ValueError(f"results {file.name}: another process writes into it: let it finish, or choose another file") from None


def check_file(plan: Header, path: Path) -> Run | None:
    """What the file holds of this plan, None if there is none; ValueError if it cannot be written or holds something else."""
    if not path.exists():
        check_folder(path)
        return None
    begun = load_run(path, unfinished_ok=True)
    _check_same(plan, begun.header, path)
    return begun


def _check_same(plan: Header, header: Header, path: Path) -> None:
    """Another Python or machine may go on with a run; another plan or version of ours would play other games."""
    wanted, found = identity(plan), identity(header)
    differing = [f"{name} {found[name]!r}, not {wanted[name]!r}" for name in wanted if found[name] != wanted[name]]
    if differing:
        raise ValueError(f"results {path}: it holds another run, of {'; '.join(differing)}: choose another file")
    for name, version in plan.fingerprints.items():
        if header.fingerprints[name] != version:
            raise ValueError(
                f"results {path}: it holds games of another version of {name} ({header.fingerprints[name]}, now it is {version}): "
                "choose another file or delete this one"
            )


def identity(header: Header) -> dict[str, Any]:
    """What makes two runs the same, but for the agents' versions."""
    others = ("fingerprints", "versions", "machine")
    same = {field.name: getattr(header, field.name) for field in fields(header) if field.name not in others}
    return same | {"tetrarchia version": header.versions.get("tetrarchia")}
