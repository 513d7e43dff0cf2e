"""Tests of the chunks of a match and of the progress display."""

from collections.abc import Iterator
from math import inf

import pytest
from msgspec.structs import replace

from tetrarchia_agents import GameResult
from tetrarchia_eval import console
from tetrarchia_eval.arena import CHUNK_S, MAX_CHUNK_GROWTH, Chunks, match_spec
from tetrarchia_eval.console import ProgressTracker, show_progress

SPEC = match_spec("random", 6, levels=["4200", "4211"])


def chunks_of(chunks: Chunks, seconds_per_game: float) -> Iterator[range]:
    while chunk := chunks.cut():
        yield chunk
        chunks.learn(len(chunk), seconds_per_game * len(chunk))


def test_chunks_cover_every_game_once_and_contain_one_level_each() -> None:
    cut = list(chunks_of(Chunks(replace(SPEC, games=100), 30), 0.001))
    assert [index for chunk in cut for index in chunk] == list(range(30, 200))
    assert {(chunk[0] // 100) == (chunk[-1] // 100) for chunk in cut} == {True}


def test_chunks_grow_to_the_target_duration() -> None:
    sizes = [len(chunk) for chunk in chunks_of(Chunks(replace(SPEC, games=5000), 0), 0.01)]
    assert sizes[:3] == [1, MAX_CHUNK_GROWTH, MAX_CHUNK_GROWTH**2]
    assert max(sizes) <= CHUNK_S / 0.01 < MAX_CHUNK_GROWTH * max(sizes)


def test_chunks_of_slow_agents_have_one_game() -> None:
    assert {len(chunk) for chunk in chunks_of(Chunks(SPEC, 0), 60.0)} == {1}


def test_given_chunk_size_is_used_regardless_of_time() -> None:
    sizes = [len(chunk) for chunk in chunks_of(Chunks(replace(SPEC, games=1000), 0, max_games=50, target_s=inf), 60.0)]
    assert max(sizes) == 50


def won(number: int, of: int) -> list[GameResult]:
    outcomes = ["won"] * number + ["rome fell"] * (of - number)
    return [GameResult("4200", i, outcome, 0, 1, 0, (1, 1, 1, 1), (0.0,) * 4) for i, outcome in enumerate(outcomes)]


def test_progress_shows_wins_speed_and_time_left(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr(console.time, "monotonic", lambda: now)
    tracker = ProgressTracker(1000)
    tracker.begin("", won(0, of=400))  # games of an earlier command
    assert tracker.text() == "0.0% won, 400 of 1,000 games"
    now += 10
    tracker.add(won(50, of=100))
    assert tracker.text() == "10.0% won, 500 of 1,000 games, 10 games/s, 0:00:50 left"


def test_compilation_time_is_excluded_from_the_speed(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr(console.time, "monotonic", lambda: now)
    tracker = ProgressTracker(100)
    tracker.begin("planner", [])
    now += 120
    tracker.add([])  # marks the end of compilation
    now += 1
    tracker.add(won(5, of=10))
    assert tracker.text() == "planner 50.0% won, 10 of 100 games, 10 games/s, 0:00:09 left"


def test_progress_of_several_matches_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr(console.time, "monotonic", lambda: now)
    tracker = ProgressTracker(300)
    tracker.begin("planner", won(80, of=100))  # games of an earlier command
    now += 5
    tracker.begin("greedy", [])
    now += 10
    tracker.add(won(30, of=100))
    assert tracker.text() == "greedy 30.0% won, 200 of 300 games, 10 games/s, 0:00:10 left"
    tracker.begin("random", won(0, of=50))
    assert tracker.text() == "random 0.0% won, 250 of 300 games, 10 games/s, 0:00:05 left"


def test_without_a_terminal_progress_is_printed_as_lines(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("FORCE_COLOR", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)
    with show_progress(12) as progress_of:
        progress = progress_of("planner")
        progress(won(1, of=6))
        assert capsys.readouterr().err == ""
        monkeypatch.setattr(console, "LOG_INTERVAL_S", 0.0)
        progress(won(1, of=6))
    assert capsys.readouterr().err.startswith("tetrarchia: planner 16.7% won, 12 of 12 games")


def test_with_a_terminal_progress_is_a_bar(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "120")
    with show_progress(20) as progress_of:
        for name in ("planner", "random"):
            progress = progress_of(name)
            progress([])
            progress(won(1, of=10))
    assert "random 10.0% won, 20 of 20 games" in capsys.readouterr().err
