"""Tests that an evaluation creates each agent once and parses each line of a result file once."""

from collections import Counter
from pathlib import Path

import pytest

from tetrarchia_app.cli.app import run
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_eval import arena, result_files, workers
from tetrarchia_eval.arena import Arena, match_spec, play_match
from tetrarchia_eval.result_files import ResultFile
from tetrarchia_eval.workers import AgentCache, PlayedChunk, ThisProcess

SMALL = ("--level", "4200", "--games", "3", "--max-turns", "3", "--workers", "1")


@pytest.fixture
def created(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Count how often each agent is created."""
    count: Counter[str] = Counter()
    real = workers.make_agent
    monkeypatch.setattr(workers, "make_agent", lambda name: (count.update([name]), real(name))[1])
    return count


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> Counter[bytes]:
    """Count how often each line is parsed."""
    count: Counter[bytes] = Counter()
    read_spec, read_game = result_files.read_spec, result_files.read_game
    monkeypatch.setattr(result_files, "read_spec", lambda line: (count.update([line]), read_spec(line))[1])
    monkeypatch.setattr(result_files, "read_game", lambda index, line, spec: (count.update([line]), read_game(index, line, spec))[1])
    return count


@pytest.fixture(autouse=True)
def empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def evaluate(*options: str) -> None:
    assert run(["eval", *options]) == 0


def lines_of(folder: Path) -> Counter[bytes]:
    return Counter(line for path in folder.rglob("*.jsonl") for line in path.read_bytes().splitlines())


def test_agents_are_created_once(created: Counter[str]) -> None:
    evaluate("--agents", "random", "--against", "greedy", "--against", "random,greedy", *SMALL)
    assert created == {"random": 1, "greedy": 1}


def test_agents_of_verified_files_are_created_once(created: Counter[str]) -> None:
    evaluate("--agents", "random", "--against", "random,greedy", "--out", "both", *SMALL)
    created.clear()
    assert run(["verify", "both"]) == 0
    assert created == {"random": 1, "greedy": 1}


def test_finished_files_are_parsed_once(parsed: Counter[bytes]) -> None:
    for _ in range(2):
        evaluate("--agents", "random", "--against", "greedy", *SMALL)
    assert parsed == lines_of(Path("runs"))


def test_games_appended_by_another_process_are_read(parsed: Counter[bytes]) -> None:
    spec, path = match_spec("random", 4, max_turns=3), Path("match.jsonl")
    whole = play_match(spec, path, workers=1)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:2]))
    file = ResultFile.open(spec, path)
    path.write_bytes(b"".join(lines[:4]))
    with Arena(1) as alone:
        assert alone.play(file).games[:3] == whole.games[:3]
    assert parsed == Counter(line.rstrip(b"\n") for line in lines[:4])
    assert path.read_bytes().startswith(b"".join(lines[:4]))


def test_shortened_file_is_refused() -> None:
    spec, path = match_spec("random", 4, max_turns=3), Path("match.jsonl")
    play_match(spec, path, workers=1)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:4]))
    file = ResultFile.open(spec, path)
    path.write_bytes(b"".join(lines[:2]))
    with Arena(1) as alone, pytest.raises(TetrarchiaError, match=r"match\.jsonl: another program has shortened it"):
        alone.play(file)


def test_one_worker_pool_plays_all_matches(monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[int] = []

    class ReversedPool(ThisProcess):
        size = 2

        def next_played(self) -> PlayedChunk:
            return self._played.pop()  # in reverse order

        def __enter__(self) -> "ReversedPool":
            begun.append(self.size)
            return self

        def __exit__(self, *_: object) -> None:
            begun.append(0)

    monkeypatch.setattr(arena, "MAX_ALONE_CHUNK_S", -1.0)
    monkeypatch.setattr(arena, "MIN_POOL_WORK_S", -1.0)
    specs = [match_spec("random", 6, seed=seed, max_turns=3) for seed in (1, 2)]
    with Arena(2, chunk=1, pool=lambda size: ReversedPool(AgentCache())) as there:
        games = [there.play(ResultFile.open(spec, f"{spec.seed}.jsonl")).games for spec in specs]
    assert begun == [2, 0]
    assert [[game.seed for game in some] for some in games] == [list(range(6))] * 2
