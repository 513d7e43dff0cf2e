"""Verification that results reproduce: the first games of result files are played again and compared in everything but time."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from msgspec.structs import replace as replace_entries

from tetrarchia_agents import GameResult
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_eval.arena import Progress
from tetrarchia_eval.match import GameLine
from tetrarchia_eval.result_files import ResultFile
from tetrarchia_eval.workers import AgentCache, play_chunk

DEFAULT_GAMES = 20  # at each level
MAX_LEVELS_FACTOR = 12  # a file has at most this many times as many games verified
SECONDS_PER_GAME = 3.0  # a file has games verified until they took this long, times the number of games, when first played
MIN_GAMES = 2
COMPARED = tuple(name for name in GameLine.__struct_fields__ if name != "seconds")


@dataclass(frozen=True)
class Verdict:
    """The verification of one file."""

    games: int = 0  # played again
    difference: str = ""  # empty if everything agrees
    is_updated: bool = False  # the file received the agents' present fingerprints


@dataclass(frozen=True)
class Verification:
    """A result file and the games to play again, or the reason why it cannot be read."""

    path: Path
    file: ResultFile | None
    chunks: Sequence[range] = ()
    damage: str = ""

    @property
    def games(self) -> int:
        """The number of games to play."""
        return sum(map(len, self.chunks))


def plan_verification(folder: str | os.PathLike[str], games: int = DEFAULT_GAMES) -> list[Verification]:
    """Read every result file below a folder and choose the games to play again.

    Raises:
        TetrarchiaError: If there is no file.
    """
    found = []
    for path in sorted(Path(folder).rglob("*.jsonl")):
        try:
            file = ResultFile.load(path, unfinished_ok=True)
            found.append(Verification(path, file, games_to_verify(file, games)))
        except TetrarchiaError as error:
            found.append(Verification(path, None, damage=str(error)))
    if not found:
        raise TetrarchiaError(f"verify: there is no result file below {os.fspath(folder)}")
    return found


def games_to_verify(file: ResultFile, games: int) -> list[range]:
    """Return the first games of each level; fewer of slow agents and of files with many levels."""
    spec = file.spec
    per_level = min(spec.games, games, max(1, MAX_LEVELS_FACTOR * games // len(spec.levels)))
    counts, seconds = [0] * len(spec.levels), 0.0
    for number in range(per_level * len(spec.levels)):
        place, level = divmod(number, len(spec.levels))
        index = level * spec.games + place
        if index >= len(file.games) or (number >= MIN_GAMES and seconds > SECONDS_PER_GAME * games):
            continue
        counts[level] += 1
        seconds += sum(file.games[index].seconds)
    return [range(level * spec.games, level * spec.games + count) for level, count in enumerate(counts) if count]


def verify_file(planned: Verification, agents: AgentCache, progress: Progress) -> Verdict:
    """Play the chosen games again; if all agree, write the agents' present fingerprints into the file."""
    file = planned.file
    if file is None:
        return Verdict(difference=planned.damage)
    try:
        if difference := _first_difference(file, planned.chunks, agents, progress):
            return Verdict(planned.games, difference)
        present = {name: agents.fingerprint(name) for name in file.spec.fingerprints}
        if present != file.spec.fingerprints:
            with file.appending():
                file.replace_spec(replace_entries(file.spec, fingerprints=present))
            return Verdict(planned.games, is_updated=True)
        return Verdict(planned.games)
    except TetrarchiaError as error:  # an agent that cannot be created, or a file that another process is writing
        return Verdict(difference=f"{planned.path}: {error}" if str(planned.path) not in str(error) else str(error))


def _first_difference(file: ResultFile, chunks: Sequence[range], agents: AgentCache, progress: Progress) -> str:
    for chunk in chunks:
        games = play_chunk(file.spec, agents.team(file.spec.agents), chunk)
        progress(games)
        for index, now in zip(chunk, games, strict=True):
            if entries := differing_entries(file.games[index], now):
                return f"{file.path}: game {index} (level {now.level}, seed {now.seed}) does not reproduce: {entries}"
    return ""


def differing_entries(before: GameResult, now: GameResult) -> str:
    """Return the entries that differ, apart from the time taken; empty if the games agree."""
    if replace(before, seconds=now.seconds) == now:
        return ""
    pairs = ((name, getattr(before, name), getattr(now, name)) for name in COMPARED)
    return ", ".join(f"{name} was {old}, now {new}" for name, old, new in pairs if old != new)
