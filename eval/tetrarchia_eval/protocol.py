"""Benchmark protocols: what is fixed in an evaluation that others can repeat, and the result file that it gives.

A protocol is data, `protocols/v1.toml`: the environment and its digest, tracks with levels and numbers of games, seeds, and partners with
their fingerprints. A result is one JSON file with outcome, score and turns of every game, which `tetrarchia verify` plays again.
"""

import json
import os
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, cached_property
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import msgspec
from msgspec import Meta

from tetrarchia_agents import Agent, GameResult
from tetrarchia_agents.cards import find_checkpoint, read_card
from tetrarchia_env.agent import check_information
from tetrarchia_env.board import EMPERORS
from tetrarchia_env.constants import TASKS
from tetrarchia_env.digest import environment_digest
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.files import check_nesting, read_bounded, write_text_atomic
from tetrarchia_env.local_view import LocalOptions
from tetrarchia_env.messages import did_you_mean
from tetrarchia_env.options import MAX_TURNS
from tetrarchia_env.schema import UNBOUNDED, sanitize_line, truncate_repr, validate
from tetrarchia_eval.arena import match_spec
from tetrarchia_eval.match import MAX_SCORE, MIN_SCORE, Match, MatchSpec, Seed
from tetrarchia_eval.workers import AgentCache

PROTOCOLS = Path(__file__).parent / "protocols"
FORMAT = 1
MAX_BYTES = 1_000_000
NUM_DIGITS = 16
OUTCOMES = {"w": "won", "r": "rome fell", "e": "reserve empty", "t": "truncated"}  # letters in result files
LETTERS = {outcome: letter for letter, outcome in OUTCOMES.items()}
UNTRAINED: dict[str, Any] = {"timesteps": 0, "training_hours": 0.0, "teachers": [], "training_runs": 0}
SCRIPTED = {"random": False, "greedy": False, "planner": True}  # agents without training, and whether they search

SplitName = Literal["reporting", "development"]
Games = Annotated[int, Meta(ge=1, le=100_000)]


class Case(NamedTuple):
    """Games of one agent at one level or task; with a partner, the agent has one seat and copies of the partner the three others."""

    track: str
    agent: str
    level: str
    partner: str = ""
    seat: str = ""

    @property
    def team(self) -> list[str]:
        """The agent of each Emperor."""
        return [f"partner:{self.partner}" if self.partner and emperor != self.seat else self.agent for emperor in EMPERORS]

    @property
    def label(self) -> str:
        """The case in words."""
        return " ".join([self.agent, self.level, *([f"as {self.seat} with {self.partner}"] if self.partner else [])])


class Track(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One kind of evaluation.

    Attributes:
        description: What it measures, in one sentence.
        levels: The levels; names of tasks are also allowed.
        games: Games at each level, by split; with partners, also for each partner and seat.
        has_partners: Whether the agent takes one seat and copies of a partner the others, instead of all four.
        arguments: The arguments of local information; empty for full information.
    """

    description: str
    levels: Annotated[tuple[str, ...], Meta(min_length=1)]
    games: dict[SplitName, Games]
    has_partners: bool = False
    arguments: dict[str, Any] = {}


class Split(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Seeds and partners, for reported results or for development.

    Attributes:
        first_seed: The seed of the first game of each case; the others follow.
        partners: The fingerprint of each partner by name.
    """

    first_seed: Seed
    partners: dict[str, str]


class Protocol(msgspec.Struct, frozen=True, forbid_unknown_fields=True, dict=True):
    """A definition, as in `protocols/v1.toml`.

    Attributes:
        version: Its name.
        environment: The version of the environment.
        environment_digest: Its digest, see `tetrarchia_env.digest`.
        max_ms_per_decision: The largest mean time per decision of an agent in a track.
        reporting: Seeds and held-out partners of reported results.
        development: Seeds and validation partners.
        tracks: Tracks by name.
    """

    version: str
    environment: str
    environment_digest: str
    max_ms_per_decision: float
    reporting: Split
    development: Split
    tracks: dict[str, Track]

    @cached_property
    def digest(self) -> str:
        """A digest of the definition; comments do not count."""
        return sha256(msgspec.json.encode(self)).hexdigest()[:NUM_DIGITS]

    def split(self, name: SplitName) -> Split:
        """Return seeds and partners by the name of the split."""
        return self.reporting if name == "reporting" else self.development

    def playable_tracks(self, agent: Agent) -> list[str]:
        """Return the tracks whose information the agent accepts."""
        return [name for name in self.tracks if _accepts(agent, self.tracks[name])]

    def cases(self, agents: Iterable[str], tracks: Iterable[str], partners: Sequence[str]) -> list[Case]:
        """Return the cases of an evaluation, in their order in result files."""
        found = []
        for name in tracks:
            track = self.tracks[name]
            seats = [(partner, seat) for partner in partners for seat in EMPERORS] if track.has_partners else [("", "")]
            found += [Case(name, agent, level, *pair) for agent in agents for level in track.levels for pair in seats]
        return found


def _accepts(agent: Agent, track: Track) -> bool:
    try:
        check_information([agent], LocalOptions(**track.arguments))
    except TetrarchiaError:
        return False
    return True


@cache
def load_protocol(version: str) -> Protocol:
    """Return the protocol with this name.

    Raises:
        TetrarchiaError: There is none.

    >>> load_protocol("v1").tracks["planning"].levels
    ('4200', '4211', '4222')
    """
    known = sorted(path.stem for path in PROTOCOLS.glob("*.toml"))
    if version not in known:
        raise TetrarchiaError(f"protocol must be one of {', '.join(known)}; got {version!r}{did_you_mean(version, known)}")
    path = PROTOCOLS / f"{version}.toml"
    return validate(tomllib.loads(path.read_text(encoding="utf-8")), Protocol, f"{path.name}:")


class Declaration(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What the author of a result states about the agent.

    Attributes:
        name: The row's name on the leaderboard.
        search: Whether the agent simulates games to choose its actions.
        timesteps: Environment steps of one training run, with those of the weights that it started from.
        training_hours: Its wall-clock hours.
        teachers: Agents that it imitated, directly or through its initial weights.
        training_runs: The number of training runs that the result represents; 0 for an agent without training.
        authors: Optional.
        reference: A paper or repository; optional.
    """

    name: Annotated[str, Meta(min_length=1, max_length=80)]
    search: bool
    timesteps: Annotated[int, Meta(ge=0, le=10**15)]
    training_hours: Annotated[float, Meta(ge=0, le=UNBOUNDED)]
    teachers: Annotated[tuple[str, ...], Meta(max_length=20)]
    training_runs: Annotated[int, Meta(ge=0, le=1000)]
    authors: Annotated[str, Meta(max_length=200)] = ""
    reference: Annotated[str, Meta(max_length=200)] = ""


def declare(agents: Sequence[str], path: Path | None, cache: AgentCache, *, required: bool) -> Declaration | None:
    """Return the declaration of a result: what the project knows about its own agents and checkpoints, and what a file states.

    Args:
        agents: The agents; several are training runs of one method.
        path: A TOML file with entries of `Declaration`, which replace what is known.
        cache: Agents created before.
        required: Whether to refuse an agent that is unknown and has no file, instead of returning None.

    Raises:
        TetrarchiaError: An entry is missing or wrong, or the file cannot be read.
    """
    known = [known_entries(name, cache.agent(name)) for name in agents]
    entries: dict[str, Any] = {"name": agents[0]}
    if all(known):
        entries |= {
            "search": any(one["search"] for one in known),
            "timesteps": max(one["timesteps"] for one in known),
            "training_hours": max(one["training_hours"] for one in known),
            "teachers": sorted({teacher for one in known for teacher in one["teachers"]}),
            "training_runs": sum(one["training_runs"] for one in known),
        }
    elif path is None and not required:
        return None
    if path is not None:
        try:
            entries |= tomllib.loads(check_nesting(read_bounded(path, MAX_BYTES).decode("utf-8")))
        except (OSError, ValueError, RecursionError) as error:
            raise TetrarchiaError(f"declaration {path} cannot be read ({sanitize_line(str(error))})") from None
    return validate(entries, Declaration, f"declaration {path or 'of ' + agents[0]}:")


def known_entries(name: str, agent: Agent) -> dict[str, Any]:
    """Return what the project knows about an agent for its declaration: scripted agents, and checkpoints by their cards."""
    kind = name.partition(":")[0]
    if kind in SCRIPTED:
        return {"search": SCRIPTED[kind], **UNTRAINED}
    if kind != "ppo":
        return {}
    try:
        timesteps, seconds, teachers = _training_effort(read_card(find_checkpoint(agent.checkpoint))["training"])  # type: ignore[attr-defined]
    except (TetrarchiaError, KeyError):  # a card without its training, or the checkpoint that it started from is not here
        return {}
    return {
        "search": agent.candidates > 0,  # type: ignore[attr-defined]
        "timesteps": timesteps,
        "training_hours": round(seconds / 3600, 2),
        "teachers": sorted(teachers - {"none"}),
        "training_runs": 1,
    }


def _training_effort(training: Mapping[str, Any]) -> tuple[int, float, set[str]]:
    """Return timesteps, seconds and teachers of a training and of everything before it, from the card of a checkpoint."""
    found = [(training.get("timesteps", 0), training["seconds"], {training["expert"]} if "expert" in training else set())]
    before = training.get("warm_start") or {}
    if before:
        found.append(_training_effort(before))
    initial = training.get("init_checkpoint", "")
    if "expert" in before and "init_checkpoint" not in before:  # early cards name it among the options alone
        initial = training.get("options", {}).get("init_checkpoint", "")
    if initial:
        found.append(_training_effort(read_card(find_checkpoint(initial))["training"]))
    return sum(one[0] for one in found), sum(one[1] for one in found), set().union(*(one[2] for one in found))


class PlayedCase(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """The games of a case in the order of their seeds: a letter of `OUTCOMES`, the score and the number of turns of each."""

    track: str
    agent: str
    level: str
    partner: str = ""
    seat: str = ""
    outcomes: Annotated[str, Meta(pattern=f"^[{''.join(OUTCOMES)}]+$")]
    scores: tuple[Annotated[int, Meta(ge=MIN_SCORE, le=MAX_SCORE)], ...]
    turns: tuple[Annotated[int, Meta(ge=0, le=MAX_TURNS)], ...]

    @property
    def case(self) -> Case:
        """The case without its games."""
        return Case(self.track, self.agent, self.level, self.partner, self.seat)

    @property
    def won(self) -> list[bool]:
        """Whether each game was won."""
        return [letter == "w" for letter in self.outcomes]


class ProtocolResult(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The result of an evaluation under a protocol.

    Attributes:
        format: The version of the file format.
        protocol: The name of the protocol.
        protocol_digest: The digest of its definition.
        environment_digest: The digest of the environment that played the games.
        split: "reporting", or "development" for the short mode.
        first_seed: The seed of the first game of each case.
        games: Games of each case, by track.
        agents: The fingerprint of each agent; several are training runs of one method.
        partners: The fingerprint of each partner.
        declaration: What the author states about the agent; optional in development.
        ms_per_decision: The agent's mean time per decision, by track.
        seconds_per_game: The time of all agents per game, by track.
        versions: Versions of packages and Python, for information.
        machine: The machine, for information.
        cases: All games.
    """

    format: int
    protocol: str
    protocol_digest: str
    environment_digest: str
    split: SplitName
    first_seed: Seed
    games: dict[str, Games]
    agents: Annotated[dict[str, str], Meta(min_length=1)]
    partners: dict[str, str]
    declaration: Declaration | None
    ms_per_decision: dict[str, Annotated[float, Meta(ge=0, le=UNBOUNDED)]]
    seconds_per_game: dict[str, Annotated[float, Meta(ge=0, le=UNBOUNDED)]]
    versions: dict[str, str]
    machine: dict[str, str | int]
    cases: tuple[PlayedCase, ...]

    @property
    def definition(self) -> Protocol:
        """The definition of the protocol."""
        return load_protocol(self.protocol)

    @property
    def total(self) -> int:
        """The number of games."""
        return sum(len(one.outcomes) for one in self.cases)

    @property
    def name(self) -> str:
        """The declared name, or that of the agent."""
        return self.declaration.name if self.declaration else next(iter(self.agents))

    def is_complete(self) -> bool:
        """Return whether the result can be a row of the leaderboard: reporting seeds, all held-out partners, and a declaration."""
        return self.split == "reporting" and self.partners == self._needed_partners() and self.declaration is not None

    def _needed_partners(self) -> dict[str, str]:
        needs = any(self.definition.tracks[track].has_partners for track in self.games)
        return self.definition.split(self.split).partners if needs else {}

    def check(self) -> None:
        """Check the result against the definition of its protocol, without playing.

        Raises:
            TetrarchiaError: Something differs from the definition, or games are missing.
        """
        definition = self.definition
        if not self.games or list(self.games) != [name for name in definition.tracks if name in self.games]:
            raise TetrarchiaError(f"games must be of tracks among {', '.join(definition.tracks)}; got {truncate_repr(self.games)}")
        split, allowed = definition.split(self.split), self._needed_partners()
        expected: dict[str, tuple[object, object]] = {
            "format": (self.format, FORMAT),
            "protocol_digest": (self.protocol_digest, definition.digest),
            "environment_digest": (self.environment_digest, definition.environment_digest),
            "first_seed": (self.first_seed, split.first_seed),
            "partners": (self.partners, {name: allowed.get(name, "none") for name in self.partners}),
            "cases": ([one.case for one in self.cases], definition.cases(self.agents, self.games, list(self.partners))),
        }
        if self.split == "reporting":
            expected["games"] = (self.games, {name: definition.tracks[name].games["reporting"] for name in self.games})
        for entry, (found, needed) in expected.items():
            if found != needed:
                raise TetrarchiaError(f"{entry} must be {sanitize_line(str(needed), 200)}; got {sanitize_line(str(found), 200)}")
        for one in self.cases:
            if {len(one.outcomes), len(one.scores), len(one.turns)} != {self.games[one.track]}:
                lengths = f"{len(one.outcomes)}, {len(one.scores)} and {len(one.turns)}"
                raise TetrarchiaError(
                    f"{one.case.label}: outcomes, scores and turns must have length {self.games[one.track]}; got {lengths}"
                )
        for name in self.games:
            milliseconds = self.ms_per_decision.get(name, 0.0)
            if milliseconds > definition.max_ms_per_decision:
                raise TetrarchiaError(
                    f"ms_per_decision of track {name} must be at most {definition.max_ms_per_decision:g}; got {milliseconds:g}"
                )
        if self.split == "reporting" and self.declaration is None:
            raise TetrarchiaError("declaration must be given for the reporting seeds")


def plan_matches(
    protocol: Protocol,
    agents: Sequence[str],
    split: SplitName,
    tracks: Sequence[str],
    cache: AgentCache,
    *,
    partners: Sequence[str] = (),
    games: int | None = None,
) -> dict[Case, MatchSpec]:
    """Return the match of each case.

    Args:
        protocol: The protocol.
        agents: Names of agents; several are training runs of one method.
        split: Which seeds and partners.
        tracks: Names of tracks; none for all that the first agent can play.
        cache: Agents created before.
        partners: Names of partners of the split; none for all.
        games: Games of each case, instead of the protocol's; only for development.

    Raises:
        TetrarchiaError: An argument is not allowed, the agent can play no track, or environment or partners are not the protocol's.
    """
    known = protocol.split(split).partners
    for what, names, allowed in (("track", tracks, protocol.tracks), ("partner", partners, known)):
        for name in names:
            if name not in allowed:
                raise TetrarchiaError(f"{what} must be one of {', '.join(allowed)}; got {name!r}{did_you_mean(name, allowed)}")
    if games is not None and split == "reporting":
        raise TetrarchiaError(f"games are fixed for the reporting seeds; got {games}")
    if len(set(agents)) < len(agents):
        raise TetrarchiaError(f"agents must be different; got {', '.join(agents)}")
    if environment_digest() != protocol.environment_digest:
        raise TetrarchiaError(
            f"protocol {protocol.version} needs the environment {protocol.environment_digest}; this one is {environment_digest()}"
        )
    chosen = [name for name in protocol.tracks if name in (tracks or protocol.playable_tracks(cache.agent(agents[0])))]
    if not chosen:
        raise TetrarchiaError(f"agent {agents[0]} can play none of the tracks {', '.join(protocol.tracks)}: it needs other information")
    names = [name for name in known if name in (partners or known)]
    cases = protocol.cases(agents, chosen, names)
    for name in names if any(case.partner for case in cases) else ():
        if (found := cache.fingerprint(f"partner:{name}")) != known[name]:
            raise TetrarchiaError(f"partner {name} must have the fingerprint {known[name]}; got {found}: its definition was edited")
    return {case: case_spec(protocol, case, split, games or protocol.tracks[case.track].games[split], cache) for case in cases}


def case_spec(protocol: Protocol, case: Case, split: SplitName, games: int, cache: AgentCache) -> MatchSpec:
    """Return the match that plays the games of a case."""
    first_seed, arguments = protocol.split(split).first_seed, protocol.tracks[case.track].arguments
    place: dict[str, Any] = {"task": case.level} if case.level in TASKS else {"levels": [case.level]}
    return match_spec(",".join(case.team), games, **place, first_seed=first_seed, cache=cache, **arguments)


def collect(
    protocol: Protocol, split: SplitName, matches: Mapping[Case, Match], declaration: Declaration | None, cache: AgentCache
) -> ProtocolResult:
    """Return the result of an evaluation from its matches, in the order of `plan_matches`."""
    tracks = list(dict.fromkeys(case.track for case in matches))
    by_track = {track: {case: match for case, match in matches.items() if case.track == track} for track in tracks}
    spec = next(iter(matches.values())).spec
    result = ProtocolResult(
        format=FORMAT,
        protocol=protocol.version,
        protocol_digest=protocol.digest,
        environment_digest=environment_digest(),
        split=split,
        first_seed=spec.first_seed,
        games={track: next(iter(some.values())).spec.games for track, some in by_track.items()},
        agents={name: cache.fingerprint(name) for name in dict.fromkeys(case.agent for case in matches)},
        partners={name: cache.fingerprint(f"partner:{name}") for name in dict.fromkeys(case.partner for case in matches) if name},
        declaration=declaration,
        ms_per_decision={track: _ms_per_decision(some) for track, some in by_track.items()},
        seconds_per_game={track: _seconds_per_game(some.values()) for track, some in by_track.items()},
        versions=spec.versions,
        machine=spec.machine,
        cases=tuple(_played(case, match.games) for case, match in matches.items()),
    )
    result.check()
    return result


def _played(case: Case, games: Sequence[GameResult]) -> PlayedCase:
    return PlayedCase(
        **case._asdict(),
        outcomes="".join(LETTERS[game.outcome] for game in games),
        scores=tuple(game.score for game in games),
        turns=tuple(game.turns for game in games),
    )


def _ms_per_decision(matches: Mapping[Case, Match]) -> float:
    """Return the mean time per decision of the agent, without its partners."""
    seconds, decisions = 0.0, 0
    for case, match in matches.items():
        for place in [EMPERORS.index(case.seat)] if case.seat else range(len(EMPERORS)):
            seconds += sum(game.seconds[place] for game in match.games)
            decisions += sum(game.decisions[place] for game in match.games)
    return float(f"{1000 * seconds / max(decisions, 1):.3g}")


def _seconds_per_game(matches: Iterable[Match]) -> float:
    seconds = [sum(game.seconds) for match in matches for game in match.games]
    return float(f"{sum(seconds) / len(seconds):.3g}")


def result_text(result: ProtocolResult) -> str:
    """Return the content of a result file: a line for each case.

    Raises:
        TetrarchiaError: It is larger than 1 MB.
    """
    entries = msgspec.to_builtins(result)
    cases = ",\n".join(json.dumps(case, separators=(",", ":")) for case in entries.pop("cases"))
    text = f'{json.dumps(entries, indent=1)[:-2]},\n "cases": [\n{cases}\n]}}\n'
    if len(text.encode()) > MAX_BYTES:
        raise TetrarchiaError(f"a result file must be at most {MAX_BYTES:,} bytes; got {len(text.encode()):,}: give fewer agents")
    return text


def write_result(result: ProtocolResult, path: str | os.PathLike[str]) -> None:
    """Write a result file, completely or not at all."""
    write_text_atomic(path, result_text(result))


def read_result(path: str | os.PathLike[str]) -> ProtocolResult:
    """Read a result file and check it against the definition of its protocol; no game is played.

    Raises:
        TetrarchiaError: It cannot be read, is damaged, or differs from the definition.
    """
    source = f"protocol result {os.fspath(path)}:"
    try:
        data = json.loads(read_bounded(path, MAX_BYTES))
    except OSError as error:
        raise TetrarchiaError(f"{source} it cannot be read ({error.strerror})") from None
    except (ValueError, RecursionError) as error:
        raise TetrarchiaError(f"{source} {sanitize_line(str(error))}") from None
    result = validate(data, ProtocolResult, source)
    try:
        result.check()
    except TetrarchiaError as error:
        raise TetrarchiaError(f"{source} {error}") from None
    return result


def is_result(path: Path) -> bool:
    """Return whether a JSON file has to be a protocol result: only other valid JSON is something else."""
    try:
        data = json.loads(read_bounded(path, MAX_BYTES))
    except (OSError, ValueError, RecursionError):
        return True
    return isinstance(data, dict) and "protocol_digest" in data
