"""The arena's worker processes, and the file that several processes may reach for at once."""

import multiprocessing
import os
import signal
from collections.abc import Sequence
from pathlib import Path

import pytest

from tetrarchia_eval.arena import match, plan, run
from tetrarchia_eval.arena.pool import ctrl_c_waiting, pool_of
from tetrarchia_eval.results import Played, header_line, load_run

PLAN = plan("random", 6, levels=["4200", "4211"])


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "run.jsonl"


def test_a_killed_worker_is_one_sentence_and_the_same_plan_goes_on(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(match, "ALONE", -1.0)  # not a chunk in this process
    monkeypatch.setattr(match, "PAYS", -1.0)

    def kill(games: Sequence[Played]) -> None:
        for process in multiprocessing.active_children():
            process.kill()

    with pytest.raises(ValueError, match=r"^a worker process was killed \(out of memory\?\): what was played is kept"):
        run(PLAN, file, workers=2, chunk=1, progress=kill)
    begun = load_run(file, unfinished_ok=True).games
    assert len(begun) < PLAN.total
    assert run(PLAN, file, workers=1).games[: len(begun)] == begun


@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="this system cannot let signals wait")
def test_ctrl_c_waits_in_a_worker_from_its_first_moment() -> None:
    with pool_of(1) as pool:
        with ctrl_c_waiting():
            answer = pool.submit(signal.pthread_sigmask, signal.SIG_BLOCK, [])
        assert signal.SIGINT in answer.result()
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, [])


def test_a_finished_file_is_only_read(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even opened to write: a superuser may write into any file, so that its rights prove nothing."""
    first = run(PLAN, file, workers=1)
    file.chmod(0o444)
    monkeypatch.setattr(match, "_begun", None)
    told: list[Played] = []
    assert run(PLAN, file, workers=1, progress=told.extend) == first
    assert tuple(told) == first.games


def test_a_finished_file_is_printed_while_another_process_holds_it(file: Path) -> None:
    fcntl = pytest.importorskip("fcntl")
    first = run(PLAN, file, workers=1)
    with file.open() as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert run(PLAN, file, workers=1) == first


def test_of_two_that_begin_together_the_second_leaves_the_file_alone(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fcntl = pytest.importorskip("fcntl")
    file.write_text(header_line(PLAN), encoding="utf-8")  # the other's, after this one has looked
    looked = iter([None])
    real = match.check_file
    monkeypatch.setattr(match, "check_file", lambda plan, path: next(looked, real(plan, path)))
    with file.open() as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(ValueError, match="another process writes into it"):
            run(PLAN, file, workers=1)
        assert os.fstat(held.fileno()).st_ino == file.stat().st_ino
    assert os.listdir(file.parent) == [file.name]


def test_where_there_are_no_links_a_file_is_moved_to_its_place(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "link", refuse)
    assert run(PLAN, file, workers=1) == load_run(file)
    assert os.listdir(file.parent) == [file.name]
