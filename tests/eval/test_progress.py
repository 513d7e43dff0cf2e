"""How a long run is cut into chunks, and what is seen of it."""

from collections.abc import Iterator
from math import inf

import pytest
from msgspec.structs import replace

from tetrarchia_agents import GameResult
from tetrarchia_eval import console
from tetrarchia_eval.arena import GOAL, GROWTH, Chunks, match_spec
from tetrarchia_eval.console import Tally, showing

SPEC = match_spec("random", 6, levels=["4200", "4211"])


def chunks_of(chunks: Chunks, seconds_a_game: float) -> Iterator[range]:
    while chunk := chunks.cut():
        yield chunk
        chunks.learn(len(chunk), seconds_a_game * len(chunk))


def test_chunks_cover_every_game_once_and_never_two_levels() -> None:
    cut = list(chunks_of(Chunks(replace(SPEC, games=100), 30), 0.001))
    assert [index for chunk in cut for index in chunk] == list(range(30, 200))
    assert {(chunk[0] // 100) == (chunk[-1] // 100) for chunk in cut} == {True}


def test_chunks_grow_until_they_take_their_time() -> None:
    sizes = [len(chunk) for chunk in chunks_of(Chunks(replace(SPEC, games=5000), 0), 0.01)]
    assert sizes[:3] == [1, GROWTH, GROWTH**2]
    assert max(sizes) <= GOAL / 0.01 < GROWTH * max(sizes)


def test_slow_agents_are_told_of_game_by_game() -> None:
    assert {len(chunk) for chunk in chunks_of(Chunks(SPEC, 0), 60.0)} == {1}


def test_a_chunk_asked_for_is_reached_whatever_it_takes() -> None:
    sizes = [len(chunk) for chunk in chunks_of(Chunks(replace(SPEC, games=1000), 0, most=50, goal=inf), 60.0)]
    assert max(sizes) == 50


def won(number: int, of: int) -> list[GameResult]:
    outcomes = ["won"] * number + ["rome fell"] * (of - number)
    return [GameResult("4200", i, outcome, 0, 1, 0, (1, 1, 1, 1), (0.0,) * 4) for i, outcome in enumerate(outcomes)]


def test_progress_tells_wins_speed_and_time_left(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr(console.time, "monotonic", lambda: now)
    tally = Tally(1000)
    tally.begin("", won(0, of=400))  # an earlier command's
    assert tally.text() == "0.0% won, 400 of 1,000 games"
    now += 10
    tally.add(won(50, of=100))
    assert tally.text() == "10.0% won, 500 of 1,000 games, 10 games/s, 0:00:50 left"


def test_compiling_is_no_part_of_the_speed(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr(console.time, "monotonic", lambda: now)
    tally = Tally(100)
    tally.begin("planner", [])
    now += 120
    tally.add([])  # compiled
    now += 1
    tally.add(won(5, of=10))
    assert tally.text() == "planner 50.0% won, 10 of 100 games, 10 games/s, 0:00:09 left"


def test_progress_of_several_runs_counts_all_and_tells_wins_of_the_last(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr(console.time, "monotonic", lambda: now)
    tally = Tally(300)
    tally.begin("planner", won(80, of=100))  # an earlier command's
    now += 5  # other runs were looked for
    tally.begin("greedy", [])
    now += 10
    tally.add(won(30, of=100))
    assert tally.text() == "greedy 30.0% won, 200 of 300 games, 10 games/s, 0:00:10 left"
    tally.begin("random", won(0, of=50))
    assert tally.text() == "random 0.0% won, 250 of 300 games, 10 games/s, 0:00:05 left"


def test_without_a_terminal_there_are_a_few_lines(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("FORCE_COLOR", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)
    with showing(12) as progress_of:
        tell = progress_of("planner")
        tell(won(1, of=6))
        assert capsys.readouterr().err == ""
        monkeypatch.setattr(console, "EVERY", 0.0)
        tell(won(1, of=6))
    assert capsys.readouterr().err.startswith("tetrarchia: planner 16.7% won, 12 of 12 games")


def test_in_a_terminal_there_is_a_bar(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "120")
    with showing(20) as progress_of:
        for name in ("planner", "random"):
            tell = progress_of(name)
            tell([])
            tell(won(1, of=10))
    assert "random 10.0% won, 20 of 20 games" in capsys.readouterr().err
