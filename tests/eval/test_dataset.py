"""Tests of `tetrarchia dataset`: recording, reading, checking and converting games."""

import gzip
import json
import re
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest

import tetrarchia_env
from tetrarchia_agents import rollout
from tetrarchia_app import cli
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.notation import load_replay
from tetrarchia_eval import dataset
from tetrarchia_eval.arena import match_spec
from tetrarchia_eval.dataset import count_games, decisions, iter_games, make_dataset, metadata_path, summarize_dataset, write_numpy

SPECS = [match_spec(team, 3, levels=["4200", "4211"], first_seed=7, seed=2) for team in ("greedy", "random,greedy")]


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a data set that must not be changed."""
    path = tmp_path_factory.mktemp("dataset") / "games.jsonl.gz"
    make_dataset(SPECS, path)
    return path


def rewrite(source: Path, path: Path, number: int, **entries: Any) -> Path:
    """Write a copy of a data set in which one game has other entries."""
    lines = [json.loads(line) for line in gzip.decompress(source.read_bytes()).splitlines()]
    lines[number] |= entries
    path.write_bytes(gzip.compress("".join(json.dumps(line) + "\n" for line in lines).encode()))
    return path


def run(*words: object) -> int:
    with pytest.raises(SystemExit) as ended:
        cli.main(["dataset", *map(str, words)])
    return int(ended.value.code or 0)


def test_recorded_games_are_those_of_rollout(recorded: Path) -> None:
    games = list(iter_games(recorded))
    played = [
        one
        for team in ("greedy", "random,greedy")
        for level in ("4200", "4211")
        for one in rollout(team, 3, seed=7, agents_seed=2, level=level)
    ]

    assert [(game.level, game.replay.seed, game.replay.final["outcome"], len(game.replay.actions)) for game in games] == [
        (one.level, one.seed, one.outcome, one.steps) for one in played
    ]
    assert [game.agents for game in games[::6]] == [("greedy",) * 4, ("random", "random", "greedy", "greedy")]
    assert games[6].fingerprints == SPECS[1].fingerprints
    assert {game.agents_seed for game in games} == {2}


def test_a_line_is_a_replay_file(recorded: Path, tmp_path: Path) -> None:
    (tmp_path / "game.json").write_bytes(gzip.decompress(recorded.read_bytes()).splitlines()[0])

    assert load_replay(tmp_path / "game.json") == next(iter_games(recorded)).replay


def test_interrupted_recording_continues_to_the_same_file(recorded: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dataset, "GAMES_PER_JOB", 2)
    straight, path, counts = tmp_path / "straight.jsonl.gz", tmp_path / "games.jsonl.gz", list[int]()
    make_dataset(SPECS, straight)

    def stop(games: Any) -> None:
        counts.append(len(games))
        if len(counts) == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        make_dataset(SPECS, path, progress=stop)
    assert not path.exists()
    make_dataset(SPECS, path, progress=lambda games: counts.append(len(games)))

    assert counts == [0, 2, 1, 2] + [5, 1] + [2, 1] * 2
    assert path.read_bytes() == straight.read_bytes()
    assert gzip.decompress(path.read_bytes()) == gzip.decompress(recorded.read_bytes())
    assert sorted(one.name for one in tmp_path.glob("games*")) == ["games.croissant.json", "games.jsonl.gz"]


def test_a_recording_in_progress_is_not_deleted_by_another(tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl.gz"

    def record_other_games(_: Any) -> None:
        with pytest.raises(TetrarchiaError, match="another process is writing it"):
            make_dataset(SPECS[1:], path)

    make_dataset(SPECS, path, progress=record_other_games)

    assert len(list(iter_games(path))) == sum(spec.total for spec in SPECS)


@pytest.mark.slow
def test_worker_processes_record_the_same_file(recorded: Path, tmp_path: Path) -> None:
    make_dataset(SPECS, tmp_path / "games.jsonl.gz", workers=2)

    assert (tmp_path / "games.jsonl.gz").read_bytes() == recorded.read_bytes()


def test_existing_file_is_not_replaced(recorded: Path) -> None:
    before = recorded.read_bytes()
    with pytest.raises(TetrarchiaError, match="exists already"):
        make_dataset(SPECS, recorded)
    assert recorded.read_bytes() == before


def test_metadata_describes_the_file(recorded: Path) -> None:
    metadata = json.loads(metadata_path(recorded).read_text(encoding="utf-8"))
    line = json.loads(gzip.decompress(recorded.read_bytes()).splitlines()[0])
    [file], [records] = metadata["distribution"], metadata["recordSet"]

    assert metadata["conformsTo"] == "http://mlcommons.org/croissant/1.0"
    assert metadata["version"] == tetrarchia_env.__version__
    assert file["contentUrl"] == recorded.name
    assert file["contentSize"] == f"{recorded.stat().st_size} B"
    assert {field["source"]["fileObject"]["@id"] for field in records["field"]} == {file["@id"]}
    assert {field["source"]["extract"]["column"] for field in records["field"]} <= set(line)


@pytest.mark.parametrize(
    ("entries", "reason"),
    [
        ({"seed": 80}, "game 2: action "),
        ({"agents": ["greedy"]}, "game 2: agents must be a list of agents"),
        ({"environment": "tetrarchia_v9"}, "game 2: format and environment"),
        ({"agents_seed": -1}, "game 2: agents_seed"),
    ],
)
def test_changed_game_is_found(
    recorded: Path, tmp_path: Path, entries: dict[str, Any], reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    changed = rewrite(recorded, tmp_path / "games.jsonl.gz", 1, **entries)
    monkeypatch.setattr(dataset, "_check_digest", lambda path: None)

    with pytest.raises(TetrarchiaError, match=reason):
        summarize_dataset(changed, check=True)


def test_changed_file_does_not_match_its_metadata(recorded: Path, tmp_path: Path) -> None:
    changed = rewrite(recorded, tmp_path / "games.jsonl.gz", 1)
    with pytest.raises(TetrarchiaError, match="missing or damaged"):
        summarize_dataset(changed, check=True)
    metadata_path(changed).write_bytes(metadata_path(recorded).read_bytes())
    with pytest.raises(TetrarchiaError, match="SHA-256"):
        summarize_dataset(changed, check=True)


@pytest.mark.parametrize(
    "content",
    [b"", b"no gzip", gzip.compress(b"{}\n"), gzip.compress(b"[" * 100_000), gzip.compress(b"1" * 5_000_000)],
    ids=["empty", "not compressed", "not a game", "deeply nested", "a long line"],  # the contents differ between test workers
)
def test_damaged_file_is_refused(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl.gz"
    path.write_bytes(content)

    if content:
        with pytest.raises(TetrarchiaError, match=r"^data set .*games.jsonl.gz: "):
            list(iter_games(path))
    else:
        assert list(iter_games(path)) == []


def test_file_that_was_cut_off_is_refused(recorded: Path, tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl.gz"
    path.write_bytes(recorded.read_bytes()[:-20])

    with pytest.raises(TetrarchiaError, match="damaged after 11 games"):
        list(iter_games(path))


def test_numpy_files_equal_the_gymnasium_environment(recorded: Path, tmp_path: Path) -> None:
    write_numpy(recorded, tmp_path / "arrays", max_steps=400)

    files = sorted((tmp_path / "arrays").iterdir())
    assert len(files) > 1
    games = iter(iter_games(recorded))
    for file in files:
        data = dict(np.load(file))
        starts = data["episode_starts"]
        assert len(data["actions"]) == starts[-1] <= 400
        for number, (start, end) in enumerate(pairwise(starts)):
            game = next(games)
            env = gymnasium.make("Tetrarchia-v0", level=str(data["levels"][number]), illegal="raise")
            obs, info = env.reset(seed=int(data["seeds"][number]))
            for row in range(start, end):
                assert (data["observations"][row] == obs["observation"]).all()
                assert (data["action_masks"][row] == obs["action_mask"]).all()
                assert data["emperors"][row] == info["agent"]
                obs, reward, terminated, truncated, info = env.step(data["actions"][row])
                assert (data["rewards"][row], data["terminations"][row], data["truncations"][row]) == (reward, terminated, truncated)
            assert terminated or truncated
            assert (data["final_observations"][number] == obs["observation"]).all()
            assert tuple(data["agents"][number]) == game.agents
    assert next(games, None) is None


def test_truncated_game_has_no_termination(tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl.gz"
    make_dataset([match_spec("greedy", 1, levels=["4200"], max_turns=2)], path)
    write_numpy(path, tmp_path / "arrays")
    data = np.load(tmp_path / "arrays" / "00000.npz")

    assert (data["rewards"][-1], data["terminations"][-1], data["truncations"][-1]) == (0, False, True)


def test_conversion_of_local_information_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl.gz"
    make_dataset([match_spec("random", 1, levels=["4200"], view_radius=2, message_tokens=2)], path)
    [game] = iter_games(path)

    assert len(decisions(game.replay)[1]) == len(game.replay.actions)
    with pytest.raises(TetrarchiaError, match="game 1: conversions need full information; got view_radius=2"):
        write_numpy(path, tmp_path / "arrays")
    assert not (tmp_path / "arrays").exists()


def test_command_records_checks_and_converts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, arrays = tmp_path / "games.jsonl.gz", tmp_path / "arrays"

    assert (
        run(path, "--agents", "random", "--agents", "greedy", "--level", "4200", "--games", 2, "--seed", 5, "--check", "--numpy", arrays)
        == 0
    )
    shown = capsys.readouterr().out
    assert "all 4 games reproduce" in shown
    assert [game.replay.seed for game in iter_games(path)] == [5, 6, 5, 6]
    assert count_games(path) == len(np.load(arrays / "00000.npz")["seeds"]) == 4


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("games.jsonl.gz",), "cannot be read"),
        (("games.json", "--agents", "random"), "must end in .jsonl.gz"),
        (("games.jsonl.gz", "--agents", "unknown"), "unknown"),
        (("games.jsonl.gz", "--agents", "random", "--agents", "random,random"), "different teams"),
        (("games.jsonl.gz", "--agents", "random", "--games", "0"), "games must be"),
        (("games.jsonl.gz", "--agents", "random", "--workers", "0"), "workers must be"),
        (("games.jsonl.gz", "--agents", "random", "--numpy", "."), "must be a new folder"),
        (("none/games.jsonl.gz", "--agents", "random"), "there is no folder none"),
    ],
)
def test_wrong_arguments_give_a_one_line_error(
    words: tuple[str, ...], reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)

    assert run(*words) == 2
    message = capsys.readouterr().err
    assert reason in message
    assert len(message.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


def test_missing_minari_is_a_one_line_error(recorded: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setitem(sys.modules, "h5py", None)

    assert run(recorded, "--minari", "tetrarchia/games-v0") == 2
    assert re.fullmatch(r"tetrarchia: a Minari data set needs the package h5py: .+\n", capsys.readouterr().err)
