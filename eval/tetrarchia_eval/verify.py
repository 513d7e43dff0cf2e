"""Do agents still play as they did? The first games of result files, played again and compared in all but their time."""

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from msgspec.structs import replace as replace_entries

from tetrarchia_agents import GameResult
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_eval.match import GameLine
from tetrarchia_eval.result_files import ResultFile
from tetrarchia_eval.workers import Roster, play_chunk

GAMES = 20  # at each level, if the user does not say
MOST = 12  # times as many in one file: each of many levels gets fewer
SECONDS = 3.0  # times as many in one file, by what the games took when they were played
LEAST = 2  # games, however long they take
COMPARED = tuple(name for name in GameLine.__struct_fields__ if name != "seconds")


@dataclass(frozen=True)
class Verdict:
    """What became of one file."""

    games: int  # played again
    difference: str = ""  # a sentence, if there is one
    is_rewritten: bool = False  # with the agents' present fingerprints


@dataclass(frozen=True)
class Verification:
    """One file, read, and the indexes of its games that are to be played again."""

    path: Path
    file: ResultFile | None
    chunks: tuple[range, ...]
    damage: str = ""

    @property
    def games(self) -> int:
        """How many are to be played."""
        return sum(map(len, self.chunks))


def verifications(folder: str | os.PathLike[str], games: int = GAMES) -> list[Verification]:
    """Of every result file below this folder; ValueError if there is none."""
    paths = sorted(Path(folder).rglob("*.jsonl"))
    if not paths:
        raise TetrarchiaError(f"verify: there is no result file below {os.fspath(folder)}")
    return [_verification(path, games) for path in paths]


def _verification(path: Path, games: int) -> Verification:
    try:
        file = ResultFile.load(path, unfinished_ok=True)
    except ValueError as error:
        return Verification(path, None, (), str(error))
    return Verification(path, file, tuple(chunks_to_play(file, games)))


def chunks_to_play(file: ResultFile, games: int) -> list[range]:
    """The first games of each level, level by level; fewer of slow agents and of many levels."""
    spec = file.spec
    each = min(spec.games, games, max(1, MOST * games // len(spec.levels)))
    counts, seconds = [0] * len(spec.levels), 0.0
    for number in range(each * len(spec.levels)):
        place, level = divmod(number, len(spec.levels))
        index = level * spec.games + place
        if index >= len(file.games) or (number >= LEAST and seconds > SECONDS * games):
            continue
        counts[level] += 1
        seconds += sum(file.games[index].seconds)
    return [range(level * spec.games, level * spec.games + count) for level, count in enumerate(counts) if count]


def verify_file(one: Verification, roster: Roster, progress: Callable[[Sequence[GameResult]], None]) -> Verdict:
    """Play its games; if all are as they were, the file gets the agents' present fingerprints, else it stays as it is."""
    if one.file is None:
        return Verdict(0, one.damage)
    try:
        difference = next(_differences(one.file, one.chunks, roster, progress), "")
        return Verdict(one.games, difference, not difference and _rewrite(one.file, roster))
    except ValueError as error:  # an agent that cannot be made, or a file that another process writes
        return Verdict(0, f"{one.path}: {error}" if str(one.path) not in str(error) else str(error))


def _differences(
    file: ResultFile, chunks: Sequence[range], roster: Roster, progress: Callable[[Sequence[GameResult]], None]
) -> Iterator[str]:
    for chunk in chunks:
        games = play_chunk(file.spec, roster.team(file.spec.agents), chunk)
        progress(games)
        for index, now in zip(chunk, games, strict=True):
            if entries := differing(file.games[index], now):
                yield f"{file.path}: game {index} (level {now.level}, seed {now.seed}) is not played as it was: {entries}"


def differing(before: GameResult, now: GameResult) -> str:
    """The entries that differ, but for the time that was taken."""
    if replace(before, seconds=now.seconds) == now:
        return ""
    pairs = ((name, getattr(before, name), getattr(now, name)) for name in COMPARED)
    return ", ".join(f"{name} was {old} and is {new}" for name, old, new in pairs if old != new)


def _rewrite(file: ResultFile, roster: Roster) -> bool:
    """Whether that was necessary."""
    present = {name: roster.fingerprint(name) for name in file.spec.fingerprints}
    if present == file.spec.fingerprints:
        return False
    with file.appending():
        file.rewrite(replace_entries(file.spec, fingerprints=present))
    return True
