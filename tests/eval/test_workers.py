"""Tests of the arena's worker processes and of concurrent access to a result file."""

import multiprocessing
import os
import signal
from collections.abc import Sequence
from pathlib import Path

import pytest

from tetrarchia_agents import GameResult
from tetrarchia_agents.pools import defer_sigint, worker_pool
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_eval import arena
from tetrarchia_eval.arena import Arena, match_spec, play_match
from tetrarchia_eval.match import spec_line
from tetrarchia_eval.result_files import ResultFile, load_match

SPEC = match_spec("random", 6, levels=["4200", "4211"])


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "run.jsonl"


def test_killed_worker_is_reported_and_the_match_can_be_continued(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arena, "MAX_ALONE_CHUNK_S", -1.0)  # play no chunk in this process
    monkeypatch.setattr(arena, "MIN_POOL_WORK_S", -1.0)

    def kill(games: Sequence[GameResult]) -> None:
        for process in multiprocessing.active_children():
            process.kill()

    with pytest.raises(TetrarchiaError, match=r"^a worker process was killed \(out of memory\?\): finished games are kept"):
        play_match(SPEC, file, workers=2, chunk=1, progress=kill)
    begun = load_match(file, unfinished_ok=True).games
    assert len(begun) < SPEC.total
    assert play_match(SPEC, file, workers=1).games[: len(begun)] == begun


@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="this system cannot let signals wait")
def test_workers_start_with_sigint_blocked() -> None:
    with worker_pool(1, "killed") as pool:
        with defer_sigint():
            answer = pool.submit(signal.pthread_sigmask, signal.SIG_BLOCK, [])
        assert signal.SIGINT in answer.result()
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, [])


def test_finished_file_is_only_read(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The superuser can write to any file, so the test does not rely only on permissions."""
    first = play_match(SPEC, file, workers=1)
    file.chmod(0o444)
    monkeypatch.setattr(ResultFile, "appending", None)
    seen: list[GameResult] = []
    assert play_match(SPEC, file, workers=1, progress=seen.extend) == first
    assert tuple(seen) == first.games


def test_finished_file_is_read_while_another_process_locks_it(file: Path) -> None:
    fcntl = pytest.importorskip("fcntl")
    first = play_match(SPEC, file, workers=1)
    with file.open() as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert play_match(SPEC, file, workers=1) == first


def test_file_created_by_another_process_is_not_replaced(file: Path) -> None:
    fcntl = pytest.importorskip("fcntl")
    opened = ResultFile.open(SPEC, file)
    file.write_text(spec_line(SPEC), encoding="utf-8")  # as another process would
    with file.open() as held, Arena(1) as alone:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(TetrarchiaError, match="another process is writing to it"):
            alone.play(opened)
        assert os.fstat(held.fileno()).st_ino == file.stat().st_ino
    assert os.listdir(file.parent) == [file.name]


def test_file_systems_without_hard_links_are_supported(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "link", refuse)
    assert play_match(SPEC, file, workers=1) == load_match(file)
    assert os.listdir(file.parent) == [file.name]
