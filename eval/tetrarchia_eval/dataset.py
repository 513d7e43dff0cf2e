"""Data sets of games: many replays in one compressed file, with metadata, checks, and conversions to NumPy and Minari.

A data set is a gzip-compressed file of JSON lines. A line is a replay, as in a replay file, with three more entries: `agents`, the agent
of each Emperor in turn order, their `fingerprints`, and `agents_seed`, the seed of their own random choices. Croissant metadata is written
next to it (Akhtar et al., Croissant: a metadata format for ML-ready datasets, NeurIPS 2024).
"""

import gzip
import hashlib
import json
import os
import shutil
import warnings
import zlib
from collections import defaultdict
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import Future
from contextlib import closing
from dataclasses import dataclass
from datetime import date
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from tetrarchia_agents.pools import defer_sigint, worker_pool
from tetrarchia_agents.rollouts import record_games
from tetrarchia_env import __version__, batch
from tetrarchia_env.board import EMPERORS
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.extras import import_optional
from tetrarchia_env.files import (
    atomic_dir,
    atomic_write,
    check_output_paths,
    check_parent_dir,
    file_lock,
    parts_folder,
    read_bounded,
    write_text_atomic,
)
from tetrarchia_env.local_view import FULL_INFORMATION
from tetrarchia_env.notation import Replay, parse_replay, replay_actions, replay_data
from tetrarchia_env.schema import describe, sanitize_line, validate
from tetrarchia_eval.arena import Progress
from tetrarchia_eval.match import MatchSpec, Seed, team_label
from tetrarchia_eval.statistics import wilson_by_seed
from tetrarchia_eval.tables import Column, Table, one_decimal, percent
from tetrarchia_eval.workers import KILLED, AgentCache

SUFFIX, METADATA_SUFFIX = ".jsonl.gz", ".croissant.json"
GAMES_PER_JOB = 32  # played together by one process; an interruption loses at most two jobs per process
MAX_METADATA_BYTES = 1_000_000
MAX_LINE_BYTES = 4_000_000  # the longest games have some hundred thousand
READ_BYTES = 1 << 20  # at once
MAX_STEPS_PER_FILE = 1 << 14  # of a NumPy file: observations and masks take about 100 MB, twice that while they are written
CROISSANT_CONTEXT = {  # the standard context of Croissant 1.0
    "@language": "en",
    "@vocab": "https://schema.org/",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileProperty": "cr:fileProperty",
    "fileObject": "cr:fileObject",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}
CROISSANT_FIELDS = (  # name, type, whether it is a list, entry of a line, part of that entry, description
    ("environment", "sc:Text", False, "environment", "", "Version of the environment."),
    ("board", "sc:Text", False, "board", "", "Digest of the board."),
    ("level", "sc:Text", False, "final", "$.rules.level", "Level: tokens per Emperor, fleets, extra Revolts, initial armies."),
    ("seed", "sc:Integer", False, "seed", "", "Seed of the dice."),
    ("agents", "sc:Text", True, "agents", "", "Agents of Diocletian, Galerius, Constantius and Maximian."),
    ("agents_seed", "sc:Integer", False, "agents_seed", "", "Seed of the agents' own random choices."),
    ("emperors", "sc:Text", True, "actions", "$[0]", "The acting Emperor of each action."),
    ("actions", "sc:Text", True, "actions", "$[1]", "The text of each action."),
    ("outcome", "sc:Text", False, "final", "$.outcome", "won, rome fell, reserve empty or truncated."),
    ("score", "sc:Integer", False, "final", "$.score", "Score of the rulebook."),
    ("turns", "sc:Integer", False, "final", "$.turn", "Number of turns."),
)
CITATION = (
    "@software{tetrarchia_rl, title = {Tetrarchia: a cooperative board game for reinforcement-learning research}, "
    "author = {{Tetrarchia RL contributors}}, year = {2026}}"
)
LICENSE_URL = "https://spdx.org/licenses/MIT.html"
MINARI_EXTRA = "minari"


@dataclass(frozen=True)
class RecordedGame:
    """A finished game of a data set.

    Attributes:
        replay: The game.
        agents: The agent of each Emperor in turn order.
        fingerprints: The fingerprint of each of these agents.
        agents_seed: The seed of the agents' own random choices.
    """

    replay: Replay
    agents: tuple[str, str, str, str]
    fingerprints: dict[str, str]
    agents_seed: int

    @property
    def won(self) -> bool:
        """Whether the game was won (R9.1)."""
        return bool(self.replay.final["outcome"] == "won")

    @property
    def level(self) -> str:
        """The level."""
        return str(self.replay.final["rules"]["level"])


class Result(NamedTuple):
    """A finished game, as progress counts it."""

    won: bool


def iter_games(path: str | os.PathLike[str]) -> Iterator[RecordedGame]:
    """Iterate over the games of a data set.

    Each line is validated when it is read, and only one game is in memory at a time. The actions are checked when they are played, for
    example by `decisions`.

    Args:
        path: The data set, a file of `tetrarchia dataset`.

    Yields:
        The games in the order of the file.

    Raises:
        TetrarchiaError: The file cannot be read, or a line is damaged or of another version or board.
    """
    number = 0
    try:
        with gzip.open(path, "rb") as file:
            while line := file.readline(MAX_LINE_BYTES + 1):
                number += 1
                if len(line) > MAX_LINE_BYTES:
                    raise TetrarchiaError(f"a game must have at most {MAX_LINE_BYTES} bytes")
                yield _parse_line(line)
        return
    except TetrarchiaError as error:
        reason = f"game {number}: {error}"
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        reason = f"it is damaged after {number} games ({error})"
    except OSError as error:
        reason = f"it cannot be read ({error.strerror})"
    raise TetrarchiaError(f"data set {os.fspath(path)}: {sanitize_line(reason)}")


def decisions(replay: Replay) -> tuple[batch.Games, NDArray[np.int64]]:
    """Play a replay and return its decisions.

    Args:
        replay: A replay of n actions.

    Returns:
        The n + 1 positions of the game as records, the last one after the last action; and the ids of the n actions.

    Raises:
        TetrarchiaError: An action is not legal, or the game does not end in the final position of the replay.
    """
    games, masks = batch.new_games(replay.options, replay.seed, replay.local.message_tokens)
    positions, actions = [games.copy()], []
    for action in replay_actions(replay, games, masks):
        batch.step(games, np.array([action]), masks)
        positions.append(games.copy())
        actions.append(action)
    return np.concatenate(positions), np.array(actions, dtype=np.int64)


def make_dataset(specs: Sequence[MatchSpec], path: Path, workers: int = 1, progress: Progress = lambda games: None) -> None:
    """Play matches and write their games as a data set, with metadata next to it.

    Finished games are kept in a folder next to the file, from which the same call continues after an interruption. The file appears when
    it is complete; it does not depend on the number of processes or on interruptions.

    Args:
        specs: The matches.
        path: The data set to create, with the ending .jsonl.gz.
        workers: Number of processes; 1 plays in this process.
        progress: Called with the games found from an earlier call, then with games as they finish.

    Raises:
        TetrarchiaError: The file exists or cannot be written, or a worker was killed.
    """
    if not path.name.endswith(SUFFIX):
        raise TetrarchiaError(f"a data set must end in {SUFFIX}; got {str(path)!r}")
    if workers < 1:
        raise TetrarchiaError(f"workers must be at least 1; got {workers}")
    if path.exists():
        raise TetrarchiaError(f"data set {path} exists already: choose another name, or give no agents to read it")
    check_output_paths(path, metadata_path(path))
    jobs = [
        (spec, range(start, min(start + GAMES_PER_JOB, level_end)))
        for spec in specs
        for level_end in range(spec.games, spec.total + 1, spec.games)
        for start in range(level_end - spec.games, level_end, GAMES_PER_JOB)
    ]
    settings = [[spec.identity(), spec.fingerprints] for spec in specs]
    folder = path.with_name(f"{path.name}.parts")
    lock, busy = folder / "jobs.json", f"data set {path}: another process is writing it: wait until it has finished, or choose another file"
    if lock.is_file():
        with file_lock(lock, busy):  # parts_folder deletes parts of other games, but not while a process writes them
            pass
    parts_folder(folder, {"jobs": settings})
    parts = [folder / f"{number:06}{SUFFIX}" for number in range(len(jobs))]
    with file_lock(lock, busy):
        found = [part for part in parts if part.is_file()]
        progress([Result(game.won) for part in found for game in iter_games(part)])
        missing = {part: job for part, job in zip(parts, jobs, strict=True) if part not in found}
        with closing(_play_jobs(list(missing.values()), workers)) as played:
            for part, (content, results) in zip(missing, played, strict=True):
                with atomic_write(part) as draft:
                    draft.write_bytes(content)
                progress(results)
        with atomic_write(path) as draft:
            with open(draft, "wb") as file:
                for part in parts:
                    file.write(part.read_bytes())  # a gzip file may have several members
            write_text_atomic(metadata_path(path), json.dumps(croissant(specs, draft, path.name), indent=1, ensure_ascii=False) + "\n")
    shutil.rmtree(folder, ignore_errors=True)


def _play_jobs(jobs: Sequence[tuple[MatchSpec, range]], workers: int) -> Generator[tuple[bytes, list[Result]], None, None]:
    """Yield the result of each job in order."""
    if workers == 1:
        for job in jobs:
            yield play_job(*job)
        return
    with worker_pool(workers, KILLED) as pool:
        todo, waiting = iter(jobs), list[Future[tuple[bytes, list[Result]]]]()
        for _ in jobs:
            with defer_sigint():
                waiting += [pool.submit(play_job, *job) for job in islice(todo, 2 * workers - len(waiting))]
            yield waiting.pop(0).result()


_agents = AgentCache()  # of this process


def play_job(spec: MatchSpec, indexes: range) -> tuple[bytes, list[Result]]:
    """Play the games of a match with these indexes, all at one level; return their compressed lines and results."""
    level, _ = spec.job(indexes[0])
    seeds = [spec.job(index)[1] for index in indexes]
    replays = record_games(
        spec.options(level), _agents.team(spec.agents), seeds, spec.seed, spec.local, allow_full_information=bool(spec.full_information)
    )
    players = {"agents": spec.agents, "fingerprints": spec.fingerprints, "agents_seed": spec.seed}
    lines = "".join(json.dumps(replay_data(replay) | players, separators=(",", ":")) + "\n" for replay in replays)
    return gzip.compress(lines.encode(), mtime=0), [Result(replay.final["outcome"] == "won") for replay in replays]


def metadata_path(path: Path) -> Path:
    """Return the path of a data set's metadata."""
    return path.with_name(path.name.removesuffix(SUFFIX) + METADATA_SUFFIX)


def summarize_dataset(path: Path, check: bool = False, progress: Progress = lambda games: None) -> Table:
    """Return the number of games, the win rate, and the mean numbers of turns and decisions for each team and level.

    Args:
        path: The data set.
        check: Also compare the file with the digest in its metadata, and play every game again.
        progress: Called with nothing first, then with games as they are read.

    Raises:
        TetrarchiaError: The data set cannot be read, or with `check` it differs from its metadata or a game does not reproduce.
    """
    progress(())
    if check:
        _check_digest(path)
    games: dict[tuple[str, str], list[tuple[int, bool, int, int]]] = defaultdict(list)
    for number, game in enumerate(iter_games(path), 1):
        if check:
            try:
                decisions(game.replay)
            except TetrarchiaError as error:
                raise TetrarchiaError(f"data set {path}: game {number}: {error}") from None
        entries = game.replay.seed, game.won, game.replay.final["turn"], len(game.replay.actions)
        games[team_label(game.agents), game.replay.options.scenario or game.replay.options.task or game.level].append(entries)
        progress((Result(game.won),))
    rows: list[list[Any]] = []
    for (team, level), some in games.items():
        seeds, won, turns, lengths = zip(*some, strict=True)
        rows.append([team, level, len(some), wilson_by_seed(won, seeds), float(np.mean(turns)), float(np.mean(lengths))])
    means = [Column("won", percent), Column("turns", one_decimal), Column("decisions", one_decimal)]
    return Table([Column("agents"), Column("level"), Column("games"), *means], rows)


def count_games(path: Path) -> int:
    """Return the number of lines of a data set, which are not checked; 0 if it cannot be read."""
    try:
        with gzip.open(path, "rb") as file:
            return sum(chunk.count(b"\n") for chunk in iter(lambda: file.read(READ_BYTES), b""))
    except (EOFError, zlib.error, OSError):
        return 0


def croissant(specs: Sequence[MatchSpec], data: Path, name: str) -> dict[str, Any]:
    """Return Croissant metadata of a data set as JSON-LD.

    Args:
        specs: Its matches.
        data: The file.
        name: The name that the file will have.
    """
    games = sum(spec.total for spec in specs)
    teams = ", ".join(dict.fromkeys(spec.team_label for spec in specs))
    levels = ", ".join(dict.fromkeys(level for spec in specs for level in spec.levels))
    fields = [
        {
            "@type": "cr:Field",
            "@id": f"games/{field}",
            "name": field,
            "description": description,
            "dataType": kind,
            "repeated": is_list,
            "source": {
                "fileObject": {"@id": "games-file"},
                "extract": {"column": column},
                **({"transform": {"jsonPath": json_path}} if json_path else {}),
            },
        }
        for field, kind, is_list, column, json_path, description in CROISSANT_FIELDS
    ]
    return {
        "@context": CROISSANT_CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": name.removesuffix(SUFFIX),
        "description": f"{games:,} complete games of the cooperative board game TETRARCHIA by Miguel Marqués, played by the agents {teams} "
        f"at the levels {levels}. Each line is a replay; `tetrarchia dataset` checks and converts them.",
        "license": LICENSE_URL,
        "creator": {"@type": "sc:Organization", "name": "Tetrarchia RL contributors"},
        "datePublished": date.today().isoformat(),
        "version": __version__,
        "citeAs": CITATION,
        "keywords": ["reinforcement learning", "offline reinforcement learning", "imitation learning", "cooperative game", "board game"],
        "distribution": [
            {
                "@type": "cr:FileObject",
                "@id": "games-file",
                "name": name,
                "contentUrl": name,
                "contentSize": f"{data.stat().st_size} B",
                "encodingFormat": "application/jsonlines",
                "sha256": _sha256(data),
            }
        ],
        "recordSet": [{"@type": "cr:RecordSet", "@id": "games", "name": "games", "description": "One record per game.", "field": fields}],
    }


def write_numpy(path: Path, folder: Path, progress: Progress = lambda games: None, max_steps: int = MAX_STEPS_PER_FILE) -> None:
    """Write the decisions of a data set as compressed NumPy files of whole games.

    For each decision the arrays `observations`, `action_masks`, `actions`, `emperors`, `rewards`, `terminations` and `truncations` have a
    row; game i has the rows from `episode_starts[i]` to `episode_starts[i + 1]`. For each game `final_observations`, `seeds`, `levels` and
    `agents` have a row. Observations and rewards are those of `Tetrarchia-v0` with the reward `outcome`.

    Args:
        path: The data set.
        folder: The folder to create.
        progress: Called with nothing first, then with games as they are converted.
        max_steps: Decisions per file; only a single longer game exceeds it.

    Raises:
        TetrarchiaError: The folder exists, or the data set cannot be read or has local information.
    """
    check_new_folder(folder)
    progress(())
    with atomic_dir(folder) as draft:
        episodes: list[_Episode] = []
        files = steps = 0
        for episode in _episodes(path):
            if episodes and steps + len(episode.actions) > max_steps:
                _save_episodes(draft / f"{files:05}.npz", episodes)
                files, steps, episodes = files + 1, 0, []
            episodes.append(episode)
            steps += len(episode.actions)
            progress((episode.game,))
        if episodes:
            _save_episodes(draft / f"{files:05}.npz", episodes)


def check_new_folder(folder: Path) -> None:
    """Check that a folder for NumPy files can be created.

    Raises:
        TetrarchiaError: It exists, or the folder that would contain it does not.
    """
    check_parent_dir(folder)
    if folder.exists():
        raise TetrarchiaError(f"numpy must be a new folder; {str(folder)!r} exists")


def new_minari_folder(dataset_id: str) -> Path:
    """Return the folder of a new Minari data set.

    Raises:
        TetrarchiaError: Minari is not installed with HDF5, or the name is malformed or taken.
    """
    import_optional("h5py", MINARI_EXTRA, "a Minari data set")
    minari = import_optional("minari", MINARI_EXTRA, "a Minari data set")
    try:
        minari.dataset.minari_dataset.parse_dataset_id(dataset_id)
    except (ValueError, TypeError):  # TypeError: without a version
        raise TetrarchiaError(f"minari must be a name such as tetrarchia/games-v0; got {dataset_id!r}") from None
    folder = Path(minari.storage.get_dataset_path(dataset_id))
    if folder.exists():
        raise TetrarchiaError(f"minari must be a new name; {dataset_id!r} exists")
    return folder


def write_minari(path: Path, dataset_id: str, progress: Progress = lambda games: None) -> None:
    """Write a data set as a local Minari data set of `Tetrarchia-v0` with `mask="info"` and the reward `outcome`.

    Episodes have the masks as `infos["action_mask"]`. The environment of a data set with several levels draws one of them per game.

    Args:
        path: The data set.
        dataset_id: Minari's name of the new data set, e.g. tetrarchia/games-v0.
        progress: Called with nothing first, then with games as they are converted.

    Raises:
        TetrarchiaError: Minari is not installed with HDF5, or the name is malformed or taken; or the data set cannot be read, has local
            information, or has games with rules that differ in more than the level.
    """
    folder = new_minari_folder(dataset_id)
    import gymnasium
    import minari
    from minari.data_collector import EpisodeBuffer

    progress(())
    teams, rules, levels = set[str](), set[str](), set[str]()
    for game in iter_games(path):
        arguments = game.replay.options.arguments()
        if arguments.pop("level", None):  # which scenarios and tasks set themselves
            levels.add(game.level)
        rules.add(json.dumps(arguments, sort_keys=True))
        teams.add(team_label(game.agents))
    if len(rules) != 1:
        raise TetrarchiaError(f"a Minari data set needs games with the same rules except the level; {path} has {len(rules)} sets of rules")
    level = {"level": sorted(levels) if len(levels) > 1 else levels.pop()} if levels else {}
    env = gymnasium.make("Tetrarchia-v0", **json.loads(rules.pop()), **level, mask="info", illegal="raise")

    def buffers() -> Iterator[Any]:
        for episode in _episodes(path):
            rewards, terminations, truncations = episode.endings()
            yield EpisodeBuffer(
                seed=episode.game.replay.seed,
                observations=episode.observations,
                actions=episode.actions,
                rewards=rewards,
                terminations=terminations,
                truncations=truncations,
                infos={"action_mask": episode.masks},
            )
            progress((episode.game,))

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # Minari asks for the author and a link to the code
            minari.create_dataset_from_buffers(
                dataset_id,
                buffers(),  # an iterator is enough for this format and keeps one game in memory
                env=env,
                eval_env=env,
                algorithm_name=", ".join(sorted(teams)),
                description=f"Games of TETRARCHIA from {path.name}, written by tetrarchia {__version__}",
                requirements=[f"tetrarchia=={__version__}"],
                data_format="hdf5",
            )
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


@dataclass(frozen=True)
class _Episode:
    """The data of one game with n actions: n + 1 observations and masks, and the index of the Emperor who acts."""

    game: RecordedGame
    observations: NDArray[np.float32]
    masks: NDArray[np.int8]
    emperors: NDArray[np.int64]
    actions: NDArray[np.int64]

    def endings(self) -> tuple[NDArray[np.float32], NDArray[np.bool_], NDArray[np.bool_]]:
        """Return rewards, terminations and truncations of the steps; all but the last are 0."""
        is_truncated = self.game.replay.final["outcome"] == "truncated"
        rewards = np.zeros(len(self.actions), dtype=np.float32)
        terminations, truncations = np.zeros((2, len(self.actions)), dtype=np.bool_)
        rewards[-1] = 1 if self.game.won else 0 if is_truncated else -1
        terminations[-1], truncations[-1] = not is_truncated, is_truncated
        return rewards, terminations, truncations


def _episodes(path: Path) -> Iterator[_Episode]:
    for number, game in enumerate(iter_games(path), 1):
        try:
            if game.replay.local != FULL_INFORMATION:
                raise TetrarchiaError(f"conversions need full information; got {game.replay.local.text}")
            positions, actions = decisions(game.replay)
        except TetrarchiaError as error:
            raise TetrarchiaError(f"data set {path}: game {number}: {error}") from None
        emperors = batch.agents_to_act(positions)[:-1]
        yield _Episode(game, batch.observe(positions), batch.legal_masks(positions), emperors, actions)


def _save_episodes(path: Path, episodes: Sequence[_Episode]) -> None:
    rewards, terminations, truncations = (np.concatenate(column) for column in zip(*(one.endings() for one in episodes), strict=True))
    np.savez_compressed(
        path,
        observations=np.concatenate([one.observations[:-1] for one in episodes]),
        action_masks=np.concatenate([one.masks[:-1] for one in episodes]),
        actions=np.concatenate([one.actions for one in episodes]),
        emperors=np.concatenate([one.emperors for one in episodes]),
        rewards=rewards,
        terminations=terminations,
        truncations=truncations,
        episode_starts=np.cumsum([0, *(len(one.actions) for one in episodes)]),
        final_observations=np.stack([one.observations[-1] for one in episodes]),
        seeds=np.array([one.game.replay.seed for one in episodes], dtype=np.uint64),
        levels=np.array([one.game.level for one in episodes]),
        agents=np.array([one.game.agents for one in episodes]),
    )


class _Players(Struct):
    """The entries of a line that a replay does not have."""

    agents: Annotated[tuple[str, str, str, str], describe(f"a list of agents, one for each of {', '.join(EMPERORS)}")]
    fingerprints: Annotated[dict[str, str], describe("a table with a text for each agent")]
    agents_seed: Seed


def _parse_line(line: bytes) -> RecordedGame:
    try:
        content = json.loads(line)
    except (ValueError, RecursionError):
        raise TetrarchiaError("it is not JSON") from None
    players = validate(content, _Players, "")
    replay = parse_replay(content)
    if replay.final["outcome"] == "running":
        raise TetrarchiaError("it is not finished")
    return RecordedGame(replay, players.agents, players.fingerprints, players.agents_seed)


def _check_digest(path: Path) -> None:
    metadata = metadata_path(path)
    try:
        wanted = json.loads(read_bounded(metadata, MAX_METADATA_BYTES))["distribution"][0]["sha256"]
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        raise TetrarchiaError(f"data set {path}: the metadata {metadata.name} next to it is missing or damaged") from None
    if (found := _sha256(path)) != wanted:
        raise TetrarchiaError(f"data set {path}: its SHA-256 is {found}, not {wanted} as in {metadata.name}")


def _sha256(path: Path) -> str:
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while chunk := file.read(READ_BYTES):
            digest.update(chunk)
    return digest.hexdigest()
