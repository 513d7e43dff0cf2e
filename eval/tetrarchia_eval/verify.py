"""Verification that results reproduce: games of result files and protocol results are played again and compared in everything but time."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from math import lgamma
from pathlib import Path

import numpy as np
from msgspec.structs import replace as replace_entries

from tetrarchia_agents import GameResult
from tetrarchia_env.digest import environment_digest
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_eval.arena import Progress
from tetrarchia_eval.match import GameLine, MatchSpec
from tetrarchia_eval.protocol import OUTCOMES, ProtocolResult, case_spec, is_result, read_result
from tetrarchia_eval.result_files import ResultFile
from tetrarchia_eval.workers import AgentCache, play_chunk

DEFAULT_GAMES = 20  # at each level
MAX_LEVELS_FACTOR = 12  # at most this many times the number of games per level are verified in one file
SECONDS_PER_GAME = 3.0  # times the number of games per level: the time that the verified games of a file may have taken when first played
MIN_GAMES = 2
MAX_CHUNK_GAMES = 256  # games played together
COMPARED = tuple(name for name in GameLine.__struct_fields__ if name != "seconds")


@dataclass(frozen=True)
class Verdict:
    """The verification of one file."""

    games: int = 0  # played again
    total: int = 0  # in the file
    difference: str = ""  # empty if everything agrees
    is_updated: bool = False  # the file received the present fingerprints of the agents and digest of the environment


@dataclass(frozen=True)
class Verification:
    """A result file or protocol result and the indexes of the games to play again, or the reason why it cannot be read."""

    path: Path
    file: ResultFile | ProtocolResult | None
    indexes: Sequence[int] = ()
    damage: str = ""


def plan_verification(paths: Sequence[Path], rng: np.random.Generator, games: int | None = DEFAULT_GAMES) -> list[Verification]:
    """Read result files and choose the games to play again.

    Args:
        paths: Result files (.jsonl) and protocol results (.json), or folders that contain some at any depth.
        rng: Draws the games.
        games: Games at each level; from a protocol result up to `MAX_LEVELS_FACTOR` times as many are drawn. `None`: all games.

    Raises:
        TetrarchiaError: If there is no file.
    """
    files = [file for path in paths for file in (_result_files(path) if path.is_dir() else [path])]
    found = []
    for path in files:
        try:
            if path.suffix == ".json":
                result = read_result(path)
                found.append(Verification(path, result, range(result.total) if games is None else draw_protocol_games(result, games, rng)))
                continue
            file = ResultFile.load(path, unfinished_ok=True)
            found.append(Verification(path, file, range(len(file.games)) if games is None else draw_games(file, games, rng)))
        except TetrarchiaError as error:
            found.append(Verification(path, None, damage=str(error)))
    if not found:
        raise TetrarchiaError(f"verify: there is no result file below {', '.join(map(str, paths))}")
    return found


def _result_files(folder: Path) -> list[Path]:
    return sorted([*folder.rglob("*.jsonl"), *filter(is_result, folder.rglob("*.json"))])


def draw_protocol_games(result: ProtocolResult, games: int, rng: np.random.Generator) -> list[int]:
    """Draw games of a protocol result without replacement, at most `games` times `MAX_LEVELS_FACTOR`; fewer of slow agents."""
    seconds = np.repeat([result.seconds_per_game.get(one.track, 0.0) for one in result.cases], [len(one.outcomes) for one in result.cases])
    drawn = rng.permutation(result.total)[: MAX_LEVELS_FACTOR * games]
    in_time = np.cumsum(seconds[drawn]) <= SECONDS_PER_GAME * games
    return sorted(drawn[: max(MIN_GAMES, int(in_time.sum()))].tolist())


def draw_games(file: ResultFile, games: int, rng: np.random.Generator) -> list[int]:
    """Draw games of each level without replacement; fewer of slow agents and of files with many levels."""
    spec = file.spec
    per_level = max(1, min(games, MAX_LEVELS_FACTOR * games // len(spec.levels)))
    levels = [list(indexes) for _, indexes in groupby(range(len(file.games)), key=lambda index: index // spec.games)]
    drawn = [rng.permutation(indexes)[:per_level].tolist() for indexes in levels]
    in_turn = [indexes[place] for place in range(per_level) for indexes in drawn if place < len(indexes)]
    kept: list[int] = []
    seconds = 0.0
    for index in in_turn:
        if len(kept) >= MIN_GAMES and seconds > SECONDS_PER_GAME * games:
            break
        kept.append(index)
        seconds += sum(file.games[index].seconds)
    return sorted(kept)


def verify_file(planned: Verification, agents: AgentCache, progress: Progress, update: bool = False) -> Verdict:
    """Check the digest of the environment and the agents' fingerprints, and play the chosen games again.

    Args:
        planned: The file and its games.
        agents: Agents created before.
        progress: Called with games as they finish.
        update: Whether to accept other fingerprints and another digest of the environment and, if all games agree, to write the present
            ones into the file; never in protocol results.
    """
    file = planned.file
    if file is None:
        return Verdict(difference=planned.damage)
    if isinstance(file, ProtocolResult):
        try:
            difference = _protocol_difference(file, planned.indexes, agents, progress)
        except TetrarchiaError as error:  # an agent that cannot be created
            difference = str(error)
        return Verdict(len(planned.indexes), file.total, f"{planned.path}: {difference}" if difference else "")
    total = len(file.games)
    try:
        environment = file.spec.environment_digest and environment_digest()  # early files have none
        is_other_environment = environment != file.spec.environment_digest
        if is_other_environment and not update:
            return Verdict(0, total, f"{planned.path}: {_other_environment(file.spec.environment_digest)}")
        present = {name: agents.fingerprint(name) for name in file.spec.fingerprints}
        changed = [name for name, digest in file.spec.fingerprints.items() if present[name] != digest]
        if changed and not update:
            name = changed[0]
            reason = f"agent {name} has the fingerprint {present[name]}, not {file.spec.fingerprints[name]}"
            return Verdict(0, total, f"{planned.path}: {reason}: its weights, options or actions are different")
        if difference := _first_difference(file, planned.indexes, agents, progress):
            return Verdict(len(planned.indexes), total, difference)
        is_updated = bool(changed) or is_other_environment
        if is_updated:
            with file.appending():
                file.replace_spec(replace_entries(file.spec, fingerprints=present, environment_digest=environment))
        return Verdict(len(planned.indexes), total, is_updated=is_updated)
    except TetrarchiaError as error:  # an agent that cannot be created, or a file that another process is writing
        return Verdict(0, total, f"{planned.path}: {error}" if str(planned.path) not in str(error) else str(error))


def _first_difference(file: ResultFile, indexes: Sequence[int], agents: AgentCache, progress: Progress) -> str:
    for chunk in _chunks(file.spec, indexes):
        games = play_chunk(file.spec, agents.team(file.spec.agents), chunk)
        progress(games)
        for index, now in zip(chunk, games, strict=True):
            if entries := differing_entries(file.games[index], now):
                return f"{file.path}: game {index} (level {now.level}, seed {now.seed}) does not reproduce: {entries}"
    return ""


def _protocol_difference(result: ProtocolResult, indexes: Sequence[int], agents: AgentCache, progress: Progress) -> str:
    """Compare the environment, the fingerprints and the chosen games of a protocol result with the present ones."""
    if environment_digest() != result.environment_digest:
        return _other_environment(result.environment_digest)
    prints = result.agents | {f"partner:{name}": known for name, known in result.partners.items()}
    for name, known in prints.items():
        if (present := agents.fingerprint(name)) != known:
            return f"agent {name} has the fingerprint {present}, not {known}: its weights, options or actions are different"
    starts = np.cumsum([0, *(len(one.outcomes) for one in result.cases)])
    for place, numbers in groupby(indexes, key=lambda index: int(np.searchsorted(starts, index, side="right")) - 1):
        case, own = result.cases[place], [index - int(starts[place]) for index in numbers]
        spec = case_spec(result.definition, case.case, result.split, len(case.outcomes), agents)
        for chunk in _chunks(spec, own):
            games = play_chunk(spec, agents.team(spec.agents), chunk)
            progress(games)
            for index, now in zip(chunk, games, strict=True):
                before = OUTCOMES[case.outcomes[index]], case.scores[index], case.turns[index]
                if before != (now.outcome, now.score, now.turns):
                    return (
                        f"{case.case.label}, seed {now.seed} does not reproduce: outcome, score and turns were {before}, "
                        f"now {(now.outcome, now.score, now.turns)}"
                    )
    return ""


def _other_environment(digest: str) -> str:
    return f"the environment has the digest {environment_digest()}, not {digest}: its rules or observations are different"


def _chunks(spec: MatchSpec, indexes: Sequence[int]) -> list[Sequence[int]]:
    """Return the indexes in parts of one level each."""
    levels = [list(part) for _, part in groupby(indexes, key=lambda index: index // spec.games)]
    return [part[start : start + MAX_CHUNK_GAMES] for part in levels for start in range(0, len(part), MAX_CHUNK_GAMES)]


def differing_entries(before: GameResult, now: GameResult) -> str:
    """Return the entries that differ, apart from the time taken; empty if the games agree."""
    if replace(before, seconds=now.seconds) == now:
        return ""
    pairs = ((name, getattr(before, name), getattr(now, name)) for name in COMPARED)
    return ", ".join(f"{name} was {old}, now {new}" for name, old, new in pairs if old != new)


def detection_probability(total: int, played: int, false_share: float) -> float:
    """Return the probability that a random sample contains a false game.

    Args:
        total: Games of the file.
        played: Games of the sample, drawn without replacement.
        false_share: Share of the file's games that are false; at least one game is.

    >>> round(detection_probability(1000, 60, 0.05), 3)
    0.957
    """
    true = total - max(1, round(false_share * total))
    if played > true:
        return 1.0
    return float(1 - np.exp(lgamma(true + 1) - lgamma(true - played + 1) - lgamma(total + 1) + lgamma(total - played + 1)))
