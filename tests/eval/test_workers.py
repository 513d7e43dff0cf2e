"""The arena's worker processes, and the file that several processes may reach for at once."""

import multiprocessing
import os
import signal
from collections.abc import Sequence
from pathlib import Path

import pytest

from tetrarchia_agents import GameResult
from tetrarchia_agents.pools import defer_sigint, worker_pool
from tetrarchia_eval import arena
from tetrarchia_eval.arena import Arena, match_spec, play_match
from tetrarchia_eval.match import spec_line
from tetrarchia_eval.result_files import ResultFile, load_match

SPEC = match_spec("random", 6, levels=["4200", "4211"])


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "run.jsonl"


def test_a_killed_worker_is_one_sentence_and_the_same_match_goes_on(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arena, "ALONE", -1.0)  # not a chunk in this process
    monkeypatch.setattr(arena, "PAYS", -1.0)

    def kill(games: Sequence[GameResult]) -> None:
        for process in multiprocessing.active_children():
            process.kill()

    with pytest.raises(ValueError, match=r"^a worker process was killed \(out of memory\?\): what was played is kept"):
        play_match(SPEC, file, workers=2, chunk=1, progress=kill)
    begun = load_match(file, unfinished_ok=True).games
    assert len(begun) < SPEC.total
    assert play_match(SPEC, file, workers=1).games[: len(begun)] == begun


@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="this system cannot let signals wait")
def test_ctrl_c_waits_in_a_worker_from_its_first_moment() -> None:
    with worker_pool(1, "killed") as pool:
        with defer_sigint():
            answer = pool.submit(signal.pthread_sigmask, signal.SIG_BLOCK, [])
        assert signal.SIGINT in answer.result()
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, [])


def test_a_finished_file_is_only_read(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even opened to write: a superuser may write into any file, so that its rights prove nothing."""
    first = play_match(SPEC, file, workers=1)
    file.chmod(0o444)
    monkeypatch.setattr(ResultFile, "appending", None)
    told: list[GameResult] = []
    assert play_match(SPEC, file, workers=1, progress=told.extend) == first
    assert tuple(told) == first.games


def test_a_finished_file_is_printed_while_another_process_holds_it(file: Path) -> None:
    fcntl = pytest.importorskip("fcntl")
    first = play_match(SPEC, file, workers=1)
    with file.open() as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert play_match(SPEC, file, workers=1) == first


def test_of_two_that_begin_together_the_second_leaves_the_file_alone(file: Path) -> None:
    fcntl = pytest.importorskip("fcntl")
    planned = ResultFile.planned(SPEC, file)
    file.write_text(spec_line(SPEC), encoding="utf-8")  # the other's, after this one has looked
    with file.open() as held, Arena(1) as alone:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(ValueError, match="another process writes into it"):
            alone.play(planned)
        assert os.fstat(held.fileno()).st_ino == file.stat().st_ino
    assert os.listdir(file.parent) == [file.name]


def test_where_there_are_no_links_a_file_is_moved_to_its_place(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "link", refuse)
    assert play_match(SPEC, file, workers=1) == load_match(file)
    assert os.listdir(file.parent) == [file.name]
