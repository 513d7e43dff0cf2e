"""One way through: in one evaluation each agent is built once and each line of a result file is read once."""

from collections import Counter
from pathlib import Path

import pytest

from tetrarchia_eval import arena, match, result_files, workers
from tetrarchia_eval.arena import Arena, match_spec, play_match
from tetrarchia_eval.command import EvalConfig, evaluate
from tetrarchia_eval.result_files import ResultFile, load_match
from tetrarchia_eval.results_page import write_report
from tetrarchia_eval.workers import PlayedChunk, Roster, ThisProcess

SMALL = {"level": "4200", "games": 3, "max_turns": 3, "workers": 1}


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often each agent is built."""
    count: Counter[str] = Counter()
    real = workers.make_agent
    monkeypatch.setattr(workers, "make_agent", lambda name: (count.update([name]), real(name))[1])
    return count


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> Counter[bytes]:
    """How often each line is parsed."""
    count: Counter[bytes] = Counter()
    read_spec, read_game = result_files.read_spec, result_files.read_game
    monkeypatch.setattr(result_files, "read_spec", lambda line: (count.update([line]), read_spec(line))[1])
    monkeypatch.setattr(result_files, "read_game", lambda index, line, spec: (count.update([line]), read_game(index, line, spec))[1])
    return count


@pytest.fixture(autouse=True)
def empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def lines_of(folder: Path) -> Counter[bytes]:
    return Counter(line for path in folder.rglob("*.jsonl") for line in path.read_bytes().splitlines())


def test_agents_are_built_once(built: Counter[str]) -> None:
    evaluate(EvalConfig(agents="random", against=("greedy", "random,greedy"), **SMALL))
    assert built == {"random": 1, "greedy": 1}


def test_agents_of_cross_play_are_built_once(built: Counter[str]) -> None:
    evaluate(EvalConfig(agents="random,greedy", cross_play=True, **SMALL))
    assert built == {"random": 1, "greedy": 1}


def test_what_is_played_is_not_parsed(parsed: Counter[bytes]) -> None:
    evaluate(EvalConfig(agents="random", against=("greedy",), **SMALL))
    assert not parsed


def test_finished_files_are_parsed_once(parsed: Counter[bytes]) -> None:
    for _ in range(2):
        evaluate(EvalConfig(agents="random", against=("greedy",), **SMALL))
    assert parsed == lines_of(Path("runs"))


def test_an_unfinished_file_is_parsed_once(parsed: Counter[bytes]) -> None:
    config = EvalConfig(agents="random", **{**SMALL, "out": Path("match.jsonl")})
    evaluate(config)
    lines = Path("match.jsonl").read_bytes().splitlines(keepends=True)
    Path("match.jsonl").write_bytes(b"".join(lines[:3]) + lines[3][:20])
    evaluate(config)
    assert parsed == Counter(line.rstrip(b"\n") for line in lines[:3])
    assert len(load_match("match.jsonl").games) == 3


def test_the_page_parses_each_file_once(parsed: Counter[bytes]) -> None:
    pytest.importorskip("matplotlib")
    Path("results").mkdir()
    evaluate(EvalConfig(agents="random,greedy", cross_play=True, **{**SMALL, "out": Path("results/crossplay")}))
    write_report("results", "page.md")
    assert parsed == lines_of(Path("results"))


def test_what_another_process_adds_is_read_when_this_one_begins(parsed: Counter[bytes]) -> None:
    """Between a look at the file and the first game."""
    spec, path = match_spec("random", 4, max_turns=3), Path("match.jsonl")
    whole = play_match(spec, path, workers=1)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:2]))
    file = ResultFile.planned(spec, path)
    path.write_bytes(b"".join(lines[:4]))
    with Arena(1) as alone:
        assert alone.play(file).games[:3] == whole.games[:3]
    assert parsed == Counter(line.rstrip(b"\n") for line in lines[:4])
    assert path.read_bytes().startswith(b"".join(lines[:4]))


def test_a_file_that_became_shorter_is_refused() -> None:
    spec, path = match_spec("random", 4, max_turns=3), Path("match.jsonl")
    play_match(spec, path, workers=1)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:4]))
    file = ResultFile.planned(spec, path)
    path.write_bytes(b"".join(lines[:2]))
    with Arena(1) as alone, pytest.raises(ValueError, match=r"match\.jsonl: another program has made it shorter"):
        alone.play(file)


def test_other_workers_take_chunks_through_the_same_interface(monkeypatch: pytest.MonkeyPatch) -> None:
    """And one pool serves all matches of an arena."""
    begun: list[int] = []

    class Elsewhere(ThisProcess):
        size = 2

        def next_played(self) -> PlayedChunk:
            return self._played.pop()  # the last one first

        def __enter__(self) -> "Elsewhere":
            begun.append(self.size)
            return self

        def __exit__(self, *_: object) -> None:
            begun.append(0)

    monkeypatch.setattr(arena, "ALONE", -1.0)
    monkeypatch.setattr(arena, "PAYS", -1.0)
    specs = [match_spec("random", 6, seed=seed, max_turns=3) for seed in (1, 2)]
    with Arena(2, chunk=1, pool=lambda size: Elsewhere(Roster())) as there:
        games = [there.play(ResultFile.planned(spec, f"{spec.seed}.jsonl")).games for spec in specs]
    assert begun == [2, 0]
    assert [[game.seed for game in some] for some in games] == [list(range(6))] * 2


def test_the_words_for_what_is_wrong_come_from_the_spec() -> None:
    assert match.DESCRIPTIONS["games"] == "games is a whole number from 1 on"
    assert set(match.DESCRIPTIONS) == {"levels", "agents", "fingerprints", "games", "first_seed", "seed"}
