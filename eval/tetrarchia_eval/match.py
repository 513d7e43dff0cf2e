"""A match: what is played and by whom, its games; written as JSON lines, and told in words."""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from shlex import quote
from typing import Annotated, Any, Literal, get_type_hints

import msgspec
from msgspec import Meta

from tetrarchia_agents import GameResult
from tetrarchia_agents.registry import PLAYERS, assign_players
from tetrarchia_env.batch import seed_array
from tetrarchia_env.board import EMPERORS
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.messages import printable
from tetrarchia_env.notation.replays import ENVIRONMENT
from tetrarchia_env.options import MOST_TURNS, Options
from tetrarchia_env.schema import UNBOUNDED, truncate_repr
from tetrarchia_eval.sweep import level_words

FORMAT = 1
BASE_GAME = "base game"
FEW = 4  # levels that a file's name can tell
LONGEST = 150  # letters of the words in a file's name: file systems take about 255 in all
BORDERS, HIGHEST_SCORE, LOWEST_SCORE = 6, 10, -18  # R9.1; R9.3: no border, all 7 regions in revolt, three armies, one the Goths, Pirates
Seed = Annotated[int, Meta(ge=0, description="a seed is a whole number from 0 to 2**64 - 1")]


class MatchSpec(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is played and by whom: `games` games at each level, game i of each with the seed `first_seed` + i.

    So matches of other agents are paired with this one by level and seed. A description says what is wrong with an entry.
    """

    format: int
    environment: str
    arguments: dict[str, Any]  # of Options, but for the level
    levels: Annotated[tuple[str, ...], Meta(min_length=1, max_length=256, description="levels: at least one of four digits, and each once")]
    agents: Annotated[tuple[str, str, str, str], Meta(description=f"agents: one name for each of {', '.join(EMPERORS)}")]
    fingerprints: Annotated[dict[str, str], Meta(description="fingerprints: one for each of the agents")]  # by their names
    games: Annotated[int, Meta(ge=1, le=UNBOUNDED, description="games is a whole number from 1 on")]
    first_seed: Seed
    seed: Seed  # the match's, that agents take their chance from
    versions: dict[str, str]
    machine: dict[str, str | int]

    @classmethod
    def of(cls, **entries: Any) -> "MatchSpec":
        """From its entries; ValueError, in one sentence, if one of them is wrong."""
        try:
            return msgspec.convert(entries, cls)
        except msgspec.ValidationError as error:
            raise TetrarchiaError(_complaint(error, entries)) from None

    def __post_init__(self) -> None:
        if set(self.fingerprints) != set(self.agents):
            raise TetrarchiaError(f"fingerprints: one for each of {', '.join(dict.fromkeys(self.agents))}, not {self.fingerprints!r}")
        if len(set(self.levels)) < len(self.levels):
            raise TetrarchiaError(f"levels: at least one, and each once, not {list(self.levels)!r}")
        for level in self.levels:
            if self.options(level).level != level:
                raise TetrarchiaError(f"level {level!r} is not that of scenario {self.arguments['scenario']!r}")
        seed_array([self.seed, self.first_seed, self.first_seed + self.games - 1])

    @property
    def total(self) -> int:
        """The games at all levels."""
        return self.games * len(self.levels)

    def options(self, level: str) -> Options:
        """The rules of the games at this level."""
        return Options.of(**self.arguments) if self.arguments.get("scenario") else Options.of(**{**self.arguments, "level": level})

    def job(self, index: int) -> tuple[str, int]:
        """Level and seed of a game, by its place in the match."""
        return self.levels[index // self.games], self.first_seed + index % self.games

    def identity(self) -> dict[str, Any]:
        """What makes two matches the same, but for the agents' versions."""
        others = ("fingerprints", "versions", "machine")
        same = {name: getattr(self, name) for name in self.__struct_fields__ if name not in others}
        return same | {"tetrarchia version": self.versions.get("tetrarchia")}


Decisions = Annotated[int, Meta(ge=0, le=UNBOUNDED)]
Seconds = Annotated[float, Meta(ge=0, le=UNBOUNDED)]  # NaN is in no range


class GameLine(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the line of a game holds: the fields of GameResult, in their order, each as a game can have it."""

    level: str
    seed: int
    outcome: Literal["won", "rome fell", "reserve empty", "truncated"]
    score: Annotated[int, Meta(ge=LOWEST_SCORE, le=HIGHEST_SCORE)]
    turns: Annotated[int, Meta(ge=0, le=MOST_TURNS)]
    borders: Annotated[int, Meta(ge=0, le=BORDERS)]
    decisions: tuple[Decisions, Decisions, Decisions, Decisions]
    seconds: tuple[Seconds, Seconds, Seconds, Seconds]

    def __post_init__(self) -> None:
        if self.outcome == "won" and self.borders < BORDERS:
            raise TetrarchiaError(f"won, with {self.borders} of {BORDERS} borders secured")


class _Version(msgspec.Struct):
    """Read first: what another version writes may have other entries."""

    format: Any
    environment: Any


_game_line = msgspec.json.Decoder(GameLine)


@dataclass(frozen=True)
class Match:
    """What was to be played, and its games in the order of their index."""

    spec: MatchSpec
    games: tuple[GameResult, ...]


def spec_line(spec: MatchSpec) -> str:
    """The first line of the file."""
    return msgspec.json.encode(spec).decode() + "\n"


def game_line(game: GameResult) -> str:
    """A game's line."""
    return msgspec.json.encode(game).decode() + "\n"


def read_spec(line: bytes) -> MatchSpec:
    """Of the first line; ValueError, in one sentence, if it is damaged or of another version."""
    try:
        version = msgspec.json.decode(line, type=_Version)
        if (version.format, version.environment) != (FORMAT, ENVIRONMENT):
            raise TetrarchiaError(
                f"it is of format {truncate_repr(version.format)} and environment {truncate_repr(version.environment)}, "
                f"not {FORMAT} and {ENVIRONMENT!r}"
            )
        return msgspec.json.decode(line, type=MatchSpec)
    except (msgspec.DecodeError, RecursionError) as error:
        raise TetrarchiaError(f"line 1 is damaged: {_damage(error, line, MatchSpec)}") from None


def read_game(index: int, line: bytes, spec: MatchSpec) -> GameResult:
    """The game of this index; ValueError, in one sentence, if its line is damaged or another game's."""
    try:
        found = _game_line.decode(line)
    except (msgspec.DecodeError, RecursionError) as error:
        raise TetrarchiaError(f"line {index + 2} is damaged: {_damage(error, line, GameLine)}") from None
    most = spec.arguments.get("max_turns", Options.max_turns)
    if found.turns > most:
        raise TetrarchiaError(f"line {index + 2} is damaged: {found.turns} turns, but games end after {most}")
    if index >= spec.total or (found.level, found.seed) != spec.job(index):
        raise TetrarchiaError(f"line {index + 2} is damaged: it is not game {index} of the match that line 1 describes")
    return GameResult(*msgspec.structs.astuple(found))


def _damage(error: Exception, line: bytes, kind: type[msgspec.Struct]) -> str:
    """What is wrong with a line, in a clause."""
    if not isinstance(error, msgspec.ValidationError):
        return "it is not JSON"
    if " - at " not in str(error) and error.__cause__ is None:  # of no entry, and not what __post_init__ says
        return f"its entries should be {', '.join(kind.__struct_fields__)} ({_lower(str(error))})"
    if kind is GameLine:  # also of what __post_init__ says
        return f"it is not a finished game ({_complaint(error, {})})"
    return _complaint(error, msgspec.json.decode(line))


def _complaint(error: msgspec.ValidationError, entries: dict[str, Any]) -> str:
    """What msgspec says, in the words of the entry's description if it has one."""
    reason, _, place = str(error).partition(" - at `$.")
    entry = re.split(r"\W", place)[0]
    if entry in entries and entry in DESCRIPTIONS:
        return f"{DESCRIPTIONS[entry]}, not {truncate_repr(entries[entry])}"
    return f"{entry}: {_lower(reason)}" if entry else reason


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:]


DESCRIPTIONS = {
    name: hint.__metadata__[0].description
    for name, hint in get_type_hints(MatchSpec, include_extras=True).items()
    if hasattr(hint, "__metadata__")
}


def team_label(agents: Sequence[str]) -> str:
    """R13.1: one name if one agent plays all Emperors, two for the couples, and so on, with commas."""
    for players in PLAYERS.values():
        names = [agents[players.index(player)] for player in sorted(set(players))]
        if assign_players(names) == tuple(agents):
            return ",".join(names)
    raise TetrarchiaError(f"four agents, one for each Emperor, not {','.join(agents)}")


def rules_label(spec: MatchSpec) -> str:
    """What is played: the base game, a scenario, variants and modules."""
    given = spec.arguments
    parts = [*filter(None, [given.get("scenario")]), *given.get("variants", ()), *given.get("modules", ())] or [BASE_GAME]
    if given.get("fixed_setup"):
        parts.append("fixed set-up")
    if given.get("max_turns", Options.max_turns) != Options.max_turns:
        parts.append(f"{given['max_turns']} turns at most")
    return " + ".join(parts)


def repeat_command(spec: MatchSpec, file: str) -> str:
    """What makes this file, from an empty folder."""
    return printable(" ".join(["tetrarchia eval", *_options(spec), f"--out {quote(file)}"]))


def _options(spec: MatchSpec) -> Iterator[str]:
    """Those left out that stand at their defaults."""
    given = spec.arguments
    yield f"--agents {quote(team_label(spec.agents))}"
    yield f"--scenario {given['scenario']}" if given.get("scenario") else f"--level {level_words(spec.levels)}"
    for name in ("variants", "modules"):
        if given.get(name):
            yield f"--{name} {','.join(given[name])}"
    if given.get("fixed_setup"):
        yield "--fixed-setup"
    if given.get("max_turns", Options.max_turns) != Options.max_turns:
        yield f"--max-turns {given['max_turns']}"
    yield f"--games {spec.games} --seed {spec.first_seed}"
    if spec.seed:
        yield f"--agents-seed {spec.seed}"


def own_file_name(spec: MatchSpec) -> str:
    """A name that tells who plays what, and that no other match has: nor the same one by another version of an agent."""
    levels = level_words(spec.levels) if len(spec.levels) <= FEW or "," not in level_words(spec.levels) else f"{len(spec.levels)} levels"
    seeds = f"seeds {spec.first_seed}-{spec.first_seed + spec.games - 1}"
    words = [team_label(spec.agents), *(word for word in [rules_label(spec)] if word != BASE_GAME), levels, seeds]
    digest = sha256(json.dumps([spec.identity(), spec.fingerprints], sort_keys=True).encode()).hexdigest()
    return file_name(f"{'_'.join(words)[:LONGEST]}_{digest[:8]}")


def file_name(words: str) -> str:
    """As a file may be called."""
    return re.sub(r"[^\w.=@+]+", "-", words.replace(",", "+").replace(" + ", "+"))
