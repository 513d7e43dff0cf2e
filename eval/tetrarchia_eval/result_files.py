"""The file of a match: read once, and appended to by one process at a time."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tetrarchia_agents import GameResult
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.files import check_writable, create_text_atomic, file_lock, read_bounded, with_filename, write_text_atomic
from tetrarchia_env.schema import sanitize_line
from tetrarchia_eval.match import Match, MatchSpec, game_line, read_game, read_spec, spec_line

LARGEST = 1_000_000_000  # bytes: some million games


def load_match(path: str | os.PathLike[str], *, unfinished_ok: bool = False) -> Match:
    """Read a result file; ValueError, in one sentence, if it is damaged, of another version, or unfinished."""
    return ResultFile.load(path, unfinished_ok=unfinished_ok).match


@dataclass
class ResultFile:
    """The file of one match. Each of its lines is read once; one process at a time appends games to it."""

    path: Path
    spec: MatchSpec
    games: list[GameResult] = field(default_factory=list)
    size: int = 0  # bytes of the whole lines that are known here; 0: there is no file yet

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, unfinished_ok: bool = False) -> "ResultFile":
        """One that is there; ValueError, in one sentence, if it is damaged, of another version, or unfinished."""
        with _told_of(path):
            lines = _whole_lines(Path(path), 0)
            _check_first(lines, Path(path))
            file = cls(Path(path), read_spec(lines[0]), size=len(lines[0]) + 1)
            file._read(lines[1:])
            if not (unfinished_ok or file.is_finished):
                raise TetrarchiaError(
                    f"it is unfinished, with {len(file.games)} of {file.spec.total} games: run the same command again to go on"
                )
            return file

    @classmethod
    def planned(cls, spec: MatchSpec, path: str | os.PathLike[str]) -> "ResultFile":
        """What is there of this match, if anything; ValueError if it cannot be written or holds something else."""
        if not Path(path).exists():
            check_writable(Path(path))
            return cls(Path(path), spec)
        file = cls.load(path, unfinished_ok=True)
        with _told_of(path):
            _check_same(spec, file.spec)
            if not (file.is_finished or os.access(path, os.W_OK)):
                raise TetrarchiaError("it is unfinished and cannot be written")
        return file

    @property
    def match(self) -> Match:
        """What it holds."""
        return Match(self.spec, tuple(self.games))

    @property
    def is_finished(self) -> bool:
        """Whether all games of the match are here."""
        return len(self.games) == self.spec.total

    @contextmanager
    def appending(self) -> Iterator[None]:
        """Nobody else writes meanwhile; what others have added since is read, a line half written is cut off."""
        if not self.size and create_text_atomic(self.path, spec_line(self.spec)):
            self.size = len(spec_line(self.spec).encode())
        busy = f"results {self.path}: another process writes into it: let it finish, or choose another file"
        with open(self.path, "a", encoding="utf-8") as self._open, file_lock(self._open, busy):
            with _told_of(self.path):
                self._catch_up()
            os.truncate(self.path, self.size)
            yield

    def append(self, games: Sequence[GameResult]) -> None:
        """The next games of the match; only while `appending`."""
        lines = "".join(map(game_line, games))
        with with_filename(self.path):
            self._open.write(lines)
            self._open.flush()
        self.games += games
        self.size += len(lines)

    def rewrite(self, spec: MatchSpec) -> None:
        """The same games under another first line, in one moment."""
        first, _, games = self.path.read_text(encoding="utf-8").partition("\n")
        write_text_atomic(self.path, spec_line(spec) + games)
        self.size += len(spec_line(spec).encode()) - len(f"{first}\n".encode())
        self.spec = spec

    def _catch_up(self) -> None:
        """Read what was not there when this was loaded."""
        if os.path.getsize(self.path) < self.size:
            raise TetrarchiaError("another program has made it shorter meanwhile: run the same command again")
        lines = _whole_lines(self.path, self.size)
        if not self.size:
            _check_first(lines, self.path)
            found = read_spec(lines[0])
            _check_same(self.spec, found)
            self.spec, self.size = found, len(lines.pop(0)) + 1
        self._read(lines)

    def _read(self, lines: Sequence[bytes]) -> None:
        for index, line in enumerate(lines, len(self.games)):
            self.games.append(read_game(index, line, self.spec))
        self.size += sum(map(len, lines)) + len(lines)


@contextmanager
def _told_of(path: str | os.PathLike[str]) -> Iterator[None]:
    """Whatever is wrong is said in one sentence that names the file."""
    try:
        yield
    except FileNotFoundError:
        reason = "there is no such file"
    except OSError as error:
        reason = f"it cannot be read ({error.strerror})"
    except (ValueError, RecursionError) as error:
        reason = str(error)
    else:
        return
    raise TetrarchiaError(f"results {os.fspath(path)}: {sanitize_line(reason)}")


def _whole_lines(path: Path, start: int) -> list[bytes]:
    """The file's lines from a byte on, without a last one that was not written to its end: its writer was killed."""
    return read_bounded(path, LARGEST, start).split(b"\n")[:-1]


def _check_first(lines: Sequence[bytes], path: Path) -> None:
    """There is a first line, to its end."""
    if not lines and path.stat().st_size:
        raise TetrarchiaError("its first line, which says what is played, is cut off in the middle: delete the file to begin anew")
    if not lines:
        raise TetrarchiaError("it is empty")


def _check_same(wanted: MatchSpec, found: MatchSpec) -> None:
    """Another Python or machine may go on with a match; another spec or version of ours would play other games."""
    ours, theirs = wanted.identity(), found.identity()
    differing = [f"{name} {theirs[name]!r}, not {ours[name]!r}" for name in ours if theirs[name] != ours[name]]
    if differing:
        raise TetrarchiaError(f"it holds another match, of {'; '.join(differing)}: choose another file")
    for name, version in wanted.fingerprints.items():
        if found.fingerprints[name] != version:
            raise TetrarchiaError(
                f"it holds games of another version of {name} ({found.fingerprints[name]}, now it is {version}): "
                "choose another file or delete this one"
            )
