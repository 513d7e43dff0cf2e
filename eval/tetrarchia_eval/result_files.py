"""Result files: that of a match, with a line for the match and then a line per game; and the JSON files of single studies.

One process at a time appends games to the file of a match.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import msgspec

from tetrarchia_agents import GameResult
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.files import check_writable, create_text_atomic, file_lock, read_bounded, with_filename, write_text_atomic
from tetrarchia_env.schema import sanitize_line
from tetrarchia_eval.match import Match, MatchSpec, game_line, read_game, read_spec, spec_line

MAX_BYTES = 1_000_000_000  # several million games
Content = TypeVar("Content")


def load_match(path: str | os.PathLike[str], *, unfinished_ok: bool = False) -> Match:
    """Read and check a result file.

    Args:
        path: The file.
        unfinished_ok: Whether some games may still be missing.

    Raises:
        TetrarchiaError: If it is damaged, of another version, or unfinished.
    """
    return ResultFile.load(path, unfinished_ok=unfinished_ok).match


@dataclass
class ResultFile:
    """The file of one match. Each line is parsed once; one process at a time appends games."""

    path: Path
    spec: MatchSpec
    games: list[GameResult] = field(default_factory=list)
    size: int = 0  # bytes of the complete lines read so far; 0 if there is no file yet

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, unfinished_ok: bool = False) -> "ResultFile":
        """Read an existing file; arguments and errors as for `load_match`."""
        with _naming_file(path):
            lines = _complete_lines(Path(path), 0)
            file = cls(Path(path), read_spec(lines[0]), size=len(lines[0]) + 1)
            file._read(lines[1:])
            if not (unfinished_ok or file.is_finished):
                raise TetrarchiaError(
                    f"unfinished, with {len(file.games)} of {file.spec.total} games: run the same command again to continue"
                )
            return file

    @classmethod
    def open(cls, spec: MatchSpec, path: str | os.PathLike[str]) -> "ResultFile":
        """Read the file of this match if there is one; nothing is written yet.

        Raises:
            TetrarchiaError: If the file cannot be written or contains something else.
        """
        if not Path(path).exists():
            check_writable(Path(path))
            return cls(Path(path), spec)
        file = cls.load(path, unfinished_ok=True)
        with _naming_file(path):
            _check_same(spec, file.spec)
            if not (file.is_finished or os.access(path, os.W_OK)):
                raise TetrarchiaError("it is unfinished and cannot be written")
        return file

    @property
    def match(self) -> Match:
        """The match with the games read or appended so far."""
        return Match(self.spec, tuple(self.games))

    @property
    def is_finished(self) -> bool:
        """Whether all games of the match are here."""
        return len(self.games) == self.spec.total

    @contextmanager
    def appending(self) -> Iterator[None]:
        """Lock the file, read what other processes have added meanwhile, and cut off an incomplete last line."""
        if not self.size and create_text_atomic(self.path, spec_line(self.spec)):
            self.size = len(spec_line(self.spec).encode())
        busy = f"results {self.path}: another process is writing to it: wait until it has finished, or choose another file"
        with self.path.open("a", encoding="utf-8") as self._open, file_lock(self._open, busy):
            with _naming_file(self.path):
                self._catch_up()
            os.truncate(self.path, self.size)
            yield

    def append(self, games: Sequence[GameResult]) -> None:
        """Write the next games of the match; only inside `appending`."""
        lines = "".join(map(game_line, games))
        with with_filename(self.path):
            self._open.write(lines)
            self._open.flush()
        self.games += games
        self.size += len(lines)

    def replace_spec(self, spec: MatchSpec) -> None:
        """Replace the first line and keep the games, atomically."""
        first, _, games = self.path.read_text(encoding="utf-8").partition("\n")
        write_text_atomic(self.path, spec_line(spec) + games)
        self.size += len(spec_line(spec).encode()) - len(f"{first}\n".encode())
        self.spec = spec

    def _catch_up(self) -> None:
        if os.path.getsize(self.path) < self.size:
            raise TetrarchiaError("another program has shortened it meanwhile: run the same command again")
        if self.size:
            self._read(_complete_lines(self.path, self.size))
            return
        first, *games = _complete_lines(self.path, 0)
        found = read_spec(first)
        _check_same(self.spec, found)
        self.spec, self.size = found, len(first) + 1
        self._read(games)

    def _read(self, lines: Sequence[bytes]) -> None:
        for index, line in enumerate(lines, len(self.games)):
            self.games.append(read_game(index, line, self.spec))
        self.size += sum(map(len, lines)) + len(lines)


@contextmanager
def _naming_file(path: str | os.PathLike[str]) -> Iterator[None]:
    """Put the file's name at the beginning of every refusal."""
    try:
        yield
    except FileNotFoundError:
        reason = "there is no such file"
    except OSError as error:
        reason = f"it cannot be read ({error.strerror})"
    except TetrarchiaError as error:
        reason = str(error)
    else:
        return
    raise TetrarchiaError(f"results {os.fspath(path)}: {sanitize_line(reason)}")


def _complete_lines(path: Path, start: int) -> list[bytes]:
    """Return the lines from a byte on, without an incomplete last one, which an interrupted process leaves behind."""
    lines = read_bounded(path, MAX_BYTES, start).split(b"\n")[:-1]
    if not lines and start == 0:
        if path.stat().st_size:
            raise TetrarchiaError("its first line, which describes the match, is cut off: delete the file to start again")
        raise TetrarchiaError("it is empty")
    return lines


def _check_same(wanted: MatchSpec, found: MatchSpec) -> None:
    """Check that the same games would be played: Python and machine may differ; agents, environment and this package may not."""
    ours, theirs = wanted.identity(), found.identity()
    differing = [f"{name} {theirs[name]!r}, not {ours[name]!r}" for name in ours if theirs[name] != ours[name]]
    if differing:
        raise TetrarchiaError(f"it contains another match, with {'; '.join(differing)}: choose another file")
    if found.environment_digest not in ("", wanted.environment_digest):
        raise TetrarchiaError(
            f"it contains games of another environment (digest {found.environment_digest}, now {wanted.environment_digest}): "
            "choose another file or delete this one"
        )
    for name, version in wanted.fingerprints.items():
        if found.fingerprints[name] != version:
            raise TetrarchiaError(
                f"it contains games of another version of {name} ({found.fingerprints[name]}, now {version}): "
                "choose another file or delete this one"
            )


def read_json(path: Path, kind: type[Content]) -> Content:
    """Read the JSON file of a study.

    Raises:
        TetrarchiaError: If it cannot be read, or its content is of another type.
    """
    try:
        return msgspec.json.decode(path.read_bytes(), type=kind)
    except (OSError, msgspec.DecodeError, UnicodeError) as error:
        raise TetrarchiaError(f"{path} cannot be read: {error}") from None


def write_json(path: Path, data: object) -> None:
    """Write the JSON file of a study, completely or not at all."""
    write_text_atomic(path, msgspec.json.format(msgspec.json.encode(data), indent=1).decode() + "\n")
