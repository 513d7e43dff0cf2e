"""The results of a run of games as one file of JSON lines: first what is needed to repeat it, then a line for each game."""

import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from tetrarchia_env.batch import seed_array
from tetrarchia_env.board import EMPERORS
from tetrarchia_env.engine.state import OUTCOMES, RUNNING, WON
from tetrarchia_env.notation.replays import ENVIRONMENT
from tetrarchia_env.options import Options

FORMAT = 1
# What a game's line holds. Its index is its place in the file, its steps are all its decisions.
GAME_KEYS = ("level", "seed", "outcome", "score", "turns", "borders", "decisions", "seconds")


@dataclass(frozen=True)
class Played:
    """One finished game."""

    index: int  # its place in the run
    level: str
    seed: int
    outcome: str  # one of engine.state.OUTCOMES
    score: int
    turns: int
    steps: int
    borders: int  # secured at the end
    decisions: tuple[int, int, int, int]  # of each Emperor in turn order
    seconds: tuple[float, float, float, float]  # that they took: three digits, at most six decimals

    @property
    def won(self) -> bool:
        """R9.1."""
        return self.outcome == OUTCOMES[WON]


@dataclass(frozen=True)
class Header:
    """What is played and by whom: `games` games at each level, game i of each with the seed `first_seed` + i.

    So runs of other agents are paired with this one by level and seed.
    """

    format: int
    environment: str
    arguments: dict[str, Any]  # of Options, but for the level
    levels: tuple[str, ...]  # a scenario's own, if there is one
    agents: tuple[str, str, str, str]  # of each Emperor in turn order
    fingerprints: dict[str, str]  # by the agents' names: agents.table.fingerprint
    games: int
    first_seed: int
    seed: int  # the run's, that agents take their chance from
    versions: dict[str, str]
    machine: dict[str, str | int]

    def __post_init__(self) -> None:
        if len(self.agents) != len(EMPERORS) or not all(isinstance(name, str) for name in self.agents):
            raise ValueError(f"agents: one name for each of {', '.join(EMPERORS)}, not {self.agents!r}")
        if set(self.fingerprints) != set(self.agents) or not all(isinstance(found, str) for found in self.fingerprints.values()):
            raise ValueError(f"fingerprints: one for each of {', '.join(dict.fromkeys(self.agents))}, not {self.fingerprints!r}")
        if isinstance(self.games, bool) or not isinstance(self.games, int) or self.games < 1:
            raise ValueError(f"games is a whole number from 1 on, not {self.games!r}")
        self._check_levels()
        seed_array([self.seed, self.first_seed])
        seed_array(self.first_seed + self.games - 1)

    def _check_levels(self) -> None:
        if not self.levels or len(set(self.levels)) < len(self.levels):
            raise ValueError(f"levels: at least one, and each once, not {list(self.levels)!r}")
        for level in self.levels:
            if not isinstance(level, str):
                raise ValueError(f"level {level!r} is not one of four digits")
            if self.options(level).level != level:
                raise ValueError(f"level {level!r} is not that of scenario {self.arguments['scenario']!r}")

    @property
    def total(self) -> int:
        """The games at all levels."""
        return self.games * len(self.levels)

    def options(self, level: str) -> Options:
        """The rules of the games at this level."""
        return Options.of(**self.arguments) if self.arguments.get("scenario") else Options.of(**{**self.arguments, "level": level})

    def job(self, index: int) -> tuple[str, int]:
        """Level and seed of a game, by its place in the run."""
        return self.levels[index // self.games], self.first_seed + index % self.games


HEADER_KEYS = tuple(field.name for field in fields(Header))


@dataclass(frozen=True)
class Run:
    """A run and its games in the order of their index."""

    header: Header
    games: tuple[Played, ...]

    @property
    def is_finished(self) -> bool:
        """Whether all its games are here."""
        return len(self.games) == self.header.total


def header_line(header: Header) -> str:
    """The first line of the file."""
    return _line(asdict(header))


def game_line(game: Played) -> str:
    """A game's line."""
    return _line({key: getattr(game, key) for key in GAME_KEYS})


def _line(content: dict[str, Any]) -> str:
    return json.dumps(content, separators=(",", ":")) + "\n"


def load_run(path: str | os.PathLike[str], *, unfinished_ok: bool = False) -> Run:
    """Read a result file; ValueError, in one sentence, if it is damaged, of another version, or unfinished."""
    try:
        return _parse(whole_lines(path), unfinished_ok)
    except FileNotFoundError:
        reason = "there is no such file"
    except OSError as error:
        reason = f"it cannot be read ({error.strerror})"
    except ValueError as error:
        reason = str(error)
    raise ValueError(f"results {os.fspath(path)}: {reason}")


def whole_lines(path: str | os.PathLike[str]) -> list[bytes]:
    """The file's lines, without a last one that was not written to its end: its writer was killed."""
    return Path(path).read_bytes().split(b"\n")[:-1]


def _parse(lines: Sequence[bytes], unfinished_ok: bool) -> Run:
    if not lines:
        raise ValueError("it is empty")
    header = _header(lines[0])
    run = Run(header, tuple(_game(index, line, header) for index, line in enumerate(lines[1:])))
    if not (run.is_finished or unfinished_ok):
        raise ValueError(f"it is unfinished, with {len(run.games)} of {header.total} games: run the same command again to go on")
    return run


def _header(line: bytes) -> Header:
    content = _table(line, HEADER_KEYS, 1)
    if content["format"] != FORMAT or content["environment"] != ENVIRONMENT:
        raise ValueError(
            f"it is of format {content['format']!r} and environment {content['environment']!r}, not {FORMAT} and {ENVIRONMENT!r}"
        )
    lists, tables = ("levels", "agents"), ("arguments", "fingerprints", "versions", "machine")
    if not (all(isinstance(content[key], list) for key in lists) and all(isinstance(content[key], dict) for key in tables)):
        raise ValueError(f"line 1 is damaged: {', '.join(lists)} should be lists, {', '.join(tables)} tables of names")
    content |= {key: tuple(content[key]) for key in lists}
    try:
        return Header(**content)
    except (TypeError, ValueError) as error:
        raise ValueError(f"line 1 is damaged: {error}") from None


def _game(index: int, line: bytes, header: Header) -> Played:
    number = index + 2
    content = _table(line, GAME_KEYS, number)
    if index >= header.total or (content["level"], content["seed"]) != header.job(index):
        raise ValueError(f"line {number} is damaged: it is not game {index} of the run that line 1 describes")
    if not _is_played(content):
        raise ValueError(f"line {number} is damaged: it is not a finished game")
    content |= {"decisions": tuple(content["decisions"]), "seconds": tuple(map(float, content["seconds"]))}
    return Played(index=index, steps=sum(content["decisions"]), **content)


def _table(line: bytes, keys: Sequence[str], number: int) -> dict[str, Any]:
    """A line's content, with exactly these keys."""
    try:
        content = json.loads(line)
    except (ValueError, RecursionError):
        raise ValueError(f"line {number} is damaged: it is not JSON") from None
    if not isinstance(content, dict) or set(content) != set(keys):
        raise ValueError(f"line {number} is damaged: its entries should be {', '.join(keys)}")
    return content


def _is_played(content: dict[str, Any]) -> bool:
    """Whether each entry is of its kind."""
    numbers = [content["score"], content["turns"], content["borders"]]
    is_over = content["outcome"] in OUTCOMES and content["outcome"] != OUTCOMES[RUNNING]
    return is_over and _are(numbers, 3, int) and _are(content["decisions"], 4, int) and _are(content["seconds"], 4, int, float)


def _are(values: object, count: int, *kinds: type) -> bool:
    """Whether this is a list of so many values of these kinds."""
    return isinstance(values, list) and len(values) == count and all(type(value) in kinds for value in values)
