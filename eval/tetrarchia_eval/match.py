"""A match: which games are played by which agents, and its representation as JSON lines, labels and file names."""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import product
from shlex import quote
from typing import Annotated, Any, Literal, TypeVar

import msgspec
from msgspec import Meta

from tetrarchia_agents import GameResult
from tetrarchia_agents.registry import PLAYERS, assign_players
from tetrarchia_env.batch import seed_array
from tetrarchia_env.board import EMPERORS
from tetrarchia_env.checks import A_SEED
from tetrarchia_env.digest import NUM_DIGITS
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.local_view import LocalOptions, parse_arguments
from tetrarchia_env.messages import printable
from tetrarchia_env.notation.replays import ENVIRONMENT
from tetrarchia_env.options import MAX_TURNS, Options
from tetrarchia_env.schema import UNBOUNDED, describe, truncate_repr, validate
from tetrarchia_env.variants import RULEBOOK_LEVELS

FORMAT = 1
BASE_GAME = "base game"
MAX_LEVELS_IN_FILE_NAME = 4
MAX_FILE_NAME_LENGTH = 150  # without the digest; file systems allow about 255
BORDERS, MAX_SCORE, MIN_SCORE = 6, 10, -18  # R9.1; R9.3: no border, all 7 regions in revolt, three armies, one the Goths, Pirates

ALL_LEVELS = tuple(map("".join, product("5432", "3210", "0123", "0123")))
NAMED_LEVELS = {"rulebook": RULEBOOK_LEVELS, "every": ALL_LEVELS}


def parse_levels(text: str) -> tuple[str, ...]:
    """Return the levels of a comma-separated list, each once; `rulebook` and `every` name the 81 and the 256 levels."""
    return tuple(dict.fromkeys(level for word in text.split(",") for level in NAMED_LEVELS.get(word, (word,))))


def format_levels(levels: Sequence[str]) -> str:
    """Return the shortest text that `parse_levels` turns into these levels."""
    return next((name for name, named in NAMED_LEVELS.items() if tuple(levels) == named), ",".join(levels))


Seed = Annotated[int, Meta(ge=0), describe(A_SEED)]
Digest = Annotated[str, Meta(pattern=f"^([0-9a-f]{{{NUM_DIGITS}}})?$"), describe(f"{NUM_DIGITS} hexadecimal digits")]


class MatchSpec(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A match: `games` games at each level, game i of each level with the seed `first_seed` + i.

    Matches of other agents at the same levels and seeds are paired with it.
    """

    format: int
    environment: str
    arguments: dict[str, Any]  # keyword arguments of Options except the level, and of LocalOptions
    levels: Annotated[tuple[str, ...], Meta(min_length=1, max_length=256), describe("a list of levels of four digits")]
    agents: Annotated[tuple[str, str, str, str], describe(f"a list of agents, one for each of {', '.join(EMPERORS)}")]
    fingerprints: Annotated[dict[str, str], describe("a table with a text for each agent")]
    games: Annotated[int, Meta(ge=1, le=UNBOUNDED), describe("an integer of at least 1")]
    first_seed: Seed
    seed: Seed  # of the agents' own random choices
    versions: dict[str, str]
    machine: dict[str, str | int]
    full_information: tuple[str, ...] = ()  # agents that receive whole games although the arguments have a view radius
    environment_digest: Digest = ""  # of rules and observations, see tetrarchia_env.digest; early files do not have it

    def __post_init__(self) -> None:
        if set(self.fingerprints) != set(self.agents):
            names = ", ".join(dict.fromkeys(self.agents))
            raise TetrarchiaError(f"fingerprints must have one entry for each of {names}; got {truncate_repr(self.fingerprints)}")
        if len(set(self.levels)) < len(self.levels):
            raise TetrarchiaError(f"levels must be different; got {', '.join(self.levels)}")
        for level in self.levels:
            if self.options(level).level != level:
                raise TetrarchiaError(f"level must be that of {self.set_up}; got {level!r}")
        if not set(self.full_information) <= set(self.agents) or (self.full_information and self.local.view_radius is None):
            raise TetrarchiaError(
                f"full_information must be agents of the match, with a view_radius; got {truncate_repr(self.full_information)}"
            )
        seed_array([self.seed, self.first_seed, self.first_seed + self.games - 1])

    @property
    def set_up(self) -> str | None:
        """The scenario or task, which sets the level; `None` if there is neither."""
        return self.arguments.get("scenario") or self.arguments.get("task")

    @property
    def total(self) -> int:
        """The number of games at all levels."""
        return self.games * len(self.levels)

    def options(self, level: str) -> Options:
        """Return the rules of the games at this level."""
        return parse_arguments(self.arguments if self.set_up else {**self.arguments, "level": level})[0]

    @property
    def local(self) -> LocalOptions:
        """The information of agents that need observations."""
        return parse_arguments(self.arguments)[1]

    @property
    def team(self) -> tuple[str, ...]:
        """The agents of the Emperors as tables show them: those with full information despite a view radius are marked."""
        return tuple(f"{agent} (full information)" if agent in self.full_information else agent for agent in self.agents)

    @property
    def team_label(self) -> str:
        """The label of the agents in tables."""
        return team_label(self.team)

    def job(self, index: int) -> tuple[str, int]:
        """Return level and seed of the game with this index."""
        return self.levels[index // self.games], self.first_seed + index % self.games

    def identity(self) -> dict[str, Any]:
        """Return the entries in which two files of the same match agree, apart from the digests of agents and environment."""
        others = ("fingerprints", "environment_digest", "versions", "machine")
        same = {name: getattr(self, name) for name in self.__struct_fields__ if name not in others}
        if not self.full_information:
            del same["full_information"]  # which earlier versions did not have
        return same | {"tetrarchia version": self.versions.get("tetrarchia")}


Decisions = Annotated[int, Meta(ge=0, le=UNBOUNDED)]
Seconds = Annotated[float, Meta(ge=0, le=UNBOUNDED)]  # NaN is outside every range


class GameLine(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The fields of GameResult, in the same order, with the values that a finished game can have."""

    level: str
    seed: int
    outcome: Literal["won", "rome fell", "reserve empty", "truncated"]
    score: Annotated[int, Meta(ge=MIN_SCORE, le=MAX_SCORE)]
    turns: Annotated[int, Meta(ge=0, le=MAX_TURNS)]
    borders: Annotated[int, Meta(ge=0, le=BORDERS)]
    decisions: tuple[Decisions, Decisions, Decisions, Decisions]
    seconds: tuple[Seconds, Seconds, Seconds, Seconds]

    def __post_init__(self) -> None:
        if self.outcome == "won" and self.borders < BORDERS:
            raise TetrarchiaError(f"borders must be {BORDERS} in a game that was won; got {self.borders}")


@dataclass(frozen=True)
class Match:
    """A match and its games in the order of their index."""

    spec: MatchSpec
    games: tuple[GameResult, ...]


def spec_line(spec: MatchSpec) -> str:
    """Return the first line of a result file."""
    return msgspec.json.encode(spec).decode() + "\n"


def game_line(game: GameResult) -> str:
    """Return a game's line in a result file."""
    return msgspec.json.encode(game).decode() + "\n"


def read_spec(line: bytes) -> MatchSpec:
    """Parse the first line of a result file.

    Raises:
        TetrarchiaError: If it is damaged or of another version.
    """
    version = _decode(line, _VERSION, 1)
    if (version.format, version.environment) != (FORMAT, ENVIRONMENT):
        raise TetrarchiaError(
            f"format and environment must be {FORMAT} and {ENVIRONMENT!r}; "
            f"got {truncate_repr(version.format)} and {truncate_repr(version.environment)}"
        )
    return _decode(line, _SPEC, 1)


def read_game(index: int, line: bytes, spec: MatchSpec) -> GameResult:
    """Parse the line of the game with this index.

    Raises:
        TetrarchiaError: If it is damaged or belongs to another game.
    """
    found = _decode(line, _GAME, index + 2)
    max_turns = spec.arguments.get("max_turns", Options.max_turns)
    if found.turns > max_turns:
        raise TetrarchiaError(f"line {index + 2} is damaged: turns must be at most {max_turns}; got {found.turns}")
    if index >= spec.total or (found.level, found.seed) != spec.job(index):
        raise TetrarchiaError(f"line {index + 2} is damaged: it is not game {index} of the match that line 1 describes")
    return GameResult(*msgspec.structs.astuple(found))


class _Version(msgspec.Struct):
    """Parsed first: the first line of another version may have other entries."""

    format: Any
    environment: Any


T = TypeVar("T")
_VERSION, _SPEC, _GAME = msgspec.json.Decoder(_Version), msgspec.json.Decoder(MatchSpec), msgspec.json.Decoder(GameLine)


def _decode(line: bytes, decoder: "msgspec.json.Decoder[T]", number: int) -> T:
    try:
        return decoder.decode(line)
    except (msgspec.DecodeError, RecursionError):
        pass
    where = f"line {number} is damaged:"
    try:
        data = json.loads(line)
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError):
        raise TetrarchiaError(f"{where} it is not JSON") from None
    validate(data, decoder.type, where)
    raise TetrarchiaError(f"{where} it is not JSON")  # e.g. NaN, which Python's parser accepts


def team_label(agents: Sequence[str]) -> str:
    """R13.1: return one name if one agent plays all Emperors, two if each plays a couple, and so on, separated by commas."""
    for players in PLAYERS.values():
        names = [agents[players.index(player)] for player in sorted(set(players))]
        if assign_players(names) == tuple(agents):
            return ",".join(names)
    raise TetrarchiaError(f"agents must be four, one for each Emperor; got {','.join(agents)}")


def rules_label(spec: MatchSpec) -> str:
    """Return the rules in words: the base game, a scenario or a task, variants and modules."""
    given = spec.arguments
    parts = [*filter(None, [spec.set_up]), *given.get("variants", ()), *given.get("modules", ())] or [BASE_GAME]
    parts += [f"{name} {_numbers(given[name])}" for name in ("revolts", "secured") if name in given]
    if given.get("fixed_setup"):
        parts.append("fixed set-up")
    if given.get("max_turns", Options.max_turns) != Options.max_turns:
        parts.append(f"at most {given['max_turns']} turns")
    if "view_radius" in given:
        parts.append(f"view radius {given['view_radius']}")
    if given.get("last_seen"):
        parts.append("last seen")
    if "message_tokens" in given:
        parts.append(f"{given['message_tokens']} message tokens")
    return " + ".join(parts)


def _numbers(value: int | Sequence[int]) -> str:
    """Return a number or a list of numbers as the command line takes them."""
    return str(value) if isinstance(value, int) else ",".join(map(str, value))


def repeat_command(spec: MatchSpec, file: str) -> str:
    """Return the command that plays this match into a file."""

    def options() -> Iterator[str]:
        given = spec.arguments
        yield f"--agents {quote(team_label(spec.agents))}"
        if spec.set_up:
            yield f"--{'scenario' if given.get('scenario') else 'task'} {spec.set_up}"
        else:
            yield f"--level {format_levels(spec.levels)}"
        for name in ("revolts", "secured"):
            if name in given:
                yield f"--{name} {_numbers(given[name])}"
        for name in ("variants", "modules"):
            if given.get(name):
                yield f"--{name} {','.join(given[name])}"
        if given.get("fixed_setup"):
            yield "--fixed-setup"
        if given.get("max_turns", Options.max_turns) != Options.max_turns:
            yield f"--max-turns {given['max_turns']}"
        if "view_radius" in given:
            yield f"--view-radius {given['view_radius']}"
        if given.get("last_seen"):
            yield "--last-seen"
        if "message_tokens" in given:
            yield f"--message-tokens {given['message_tokens']}"
        if spec.full_information:
            yield "--allow-full-information"
        yield f"--games {spec.games} --seed {spec.first_seed}"
        if spec.seed:
            yield f"--agents-seed {spec.seed}"

    return printable(" ".join(["tetrarchia eval", *options(), f"--out {quote(file)}"]))


def default_file_name(spec: MatchSpec) -> str:
    """Return a name with agents, rules, levels and seeds that is different for each match and version of an agent."""
    levels = format_levels(spec.levels)
    if "," in levels and len(spec.levels) > MAX_LEVELS_IN_FILE_NAME:
        levels = f"{len(spec.levels)} levels"
    rules = [] if rules_label(spec) == BASE_GAME else [rules_label(spec)]
    words = [team_label(spec.agents), *rules, levels, f"seeds {spec.first_seed}-{spec.first_seed + spec.games - 1}"]
    digest = sha256(json.dumps([spec.identity(), spec.fingerprints], sort_keys=True).encode()).hexdigest()
    return file_name(f"{'_'.join(words)[:MAX_FILE_NAME_LENGTH]}_{digest[:8]}")


def file_name(text: str) -> str:
    """Replace the characters that a file name cannot have."""
    return re.sub(r"[^\w.=@+]+", "-", text.replace(",", "+").replace(" + ", "+"))
