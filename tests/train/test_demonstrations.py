"""Tests of demonstrations: saved after each job, and validated before compiled code reads them."""

import multiprocessing
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")

from helpers.arrays import rewrite_arrays
from tetrarchia_agents.cards import read_card
from tetrarchia_env import batch
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_eval.arena import match_spec
from tetrarchia_eval.dataset import iter_games, make_dataset
from tetrarchia_train.config import read_preset
from tetrarchia_train.demonstrations import (
    Job,
    collect_demonstrations,
    dataset_demonstrations,
    load_demonstrations,
    make_jobs,
    play_expert,
    save_demonstrations,
)
from tetrarchia_train.run import train


def write_false_header(path: Path, shape: tuple[int, ...], *, compressed: bool = False) -> None:
    """Write a small file whose header claims an array of this shape."""
    header = f"{{'descr': '|u1', 'fortran_order': False, 'shape': {shape}, }}".ljust(117).encode() + b"\n"
    kind = zipfile.ZIP_DEFLATED if compressed else zipfile.ZIP_STORED
    with zipfile.ZipFile(path, "w", kind) as archive:
        archive.writestr("games.npy", b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + bytes(180_000))
        for name in ("actions", "counts"):
            archive.writestr(f"{name}.npy", b"")


@pytest.mark.parametrize("compressed", [False, True])
def test_a_small_file_that_claims_a_large_array_is_refused(tmp_path: Path, compressed: bool) -> None:
    write_false_header(tmp_path / "d.npz", (20 * 10**9,), compressed=compressed)

    with pytest.raises(TetrarchiaError, match=r"not as long as its header says|is compressed"):
        load_demonstrations(tmp_path / "d.npz")


def test_damaged_demonstrations_are_refused(tmp_path: Path) -> None:
    path, good = tmp_path / "d.npz", play_expert(Job("greedy", first_seed=5, levels=["4200"], games=2))
    save_demonstrations(good, path)
    whole = path.read_bytes()
    rows, rng = good.games.view(np.uint8), np.random.default_rng(3)
    for wrong in (
        {"games": rng.integers(0, 256, rows.shape, dtype=np.uint8)},
        {"games": np.full_like(rows, 255)},
        {"games": rows[:-1]},
        {"actions": good.actions + 10**6},
        {"actions": -good.actions - 1},
        {"actions": np.roll(good.actions, 7)},
        {"actions": good.actions.astype(np.float64)},
        {"games": rows[:0], "actions": good.actions[:0]},
        {"counts": np.array([1, 2])},
    ):
        path.write_bytes(whole)
        rewrite_arrays(path, **wrong)
        with pytest.raises(TetrarchiaError, match=r"^demonstrations .*d.npz cannot be read: ") as refusal:
            load_demonstrations(path)
        assert "\n" not in str(refusal.value)


def test_interrupted_demonstrations_resume_to_the_same_result(tmp_path: Path) -> None:
    """Jobs finished before an interruption are not played again, and the result is the same."""

    def jobs() -> Any:
        return make_jobs("greedy", ["4200"], [{}], 0.1, 1)

    straight = collect_demonstrations(jobs(), 4500, 1, lambda _: None)

    def stop(number: int) -> None:
        if len(list(tmp_path.glob("*.npz"))) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        collect_demonstrations(jobs(), 4500, 1, stop, tmp_path)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.glob("*.npz")}
    resumed = collect_demonstrations(jobs(), 4500, 1, lambda _: None, tmp_path)

    assert len(before) == 2
    assert all(path.stat().st_mtime_ns == when for path, when in before.items())
    assert straight.games.tobytes() == resumed.games.tobytes()
    assert (straight.actions == resumed.actions).all()
    assert (straight.played, straight.won) == (resumed.played, resumed.won)


def test_a_killed_worker_raises_an_error_and_keeps_the_finished_jobs(tmp_path: Path) -> None:
    def kill(_: int) -> None:
        for process in multiprocessing.active_children():
            process.kill()

    with pytest.raises(TetrarchiaError, match=r"^a worker process was killed \(out of memory\?\): the demonstrations so far are saved"):
        collect_demonstrations(make_jobs("greedy", ["4200"], [{}], 0.1, 1), 10**6, 1, kill, tmp_path)
    assert len(list(tmp_path.glob("*.npz"))) >= 1


def test_data_set_becomes_demonstrations_of_whole_games_in_a_mixed_order(tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl.gz"
    make_dataset([match_spec("greedy", 4, levels=["4200", "4211"])], path)
    lengths = [len(game.replay.actions) for game in iter_games(path)]
    everything = dataset_demonstrations(path, 10**6)

    assert len(everything) == sum(lengths)
    assert (everything.played, everything.won) == (8, sum(game.won for game in iter_games(path)))
    assert batch.legal_masks(everything.games)[np.arange(len(everything)), everything.actions].all()
    levels = ["".join(map(str, level)) for level in everything.games["level"].tolist()]
    assert levels != sorted(levels)
    some = dataset_demonstrations(path, 100)
    assert len(some) == 100
    assert some.games.tobytes() == everything.games[:100].tobytes()
    assert some.played < 8


def test_data_set_with_other_actions_or_local_information_is_refused(tmp_path: Path) -> None:
    local, variant = tmp_path / "local.jsonl.gz", tmp_path / "variant.jsonl.gz"
    make_dataset([match_spec("random", 1, view_radius=2)], local)
    make_dataset([match_spec("random", 8, variants=["imperivm"])], variant)

    with pytest.raises(TetrarchiaError, match="demonstrations need full information; game 1 has view_radius=2"):
        dataset_demonstrations(local, 100)
    with pytest.raises(TetrarchiaError, match="actions must be from 0 to 108"):
        dataset_demonstrations(variant, 10**6, 109)


@pytest.mark.slow
def test_policy_is_cloned_from_a_data_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    make_dataset([match_spec("greedy", 8, levels=["4200"])], tmp_path / "games.jsonl.gz")
    config = read_preset("tiny").with_overrides({"expert": "greedy", "demonstrations": "games.jsonl.gz"})

    folder = train(config, "clone", stop_after="bc")

    training = read_card(folder)["training"]
    assert training["expert"] == "games.jsonl.gz"
    assert training["num_demonstrations"] == config.num_demonstrations
    assert 0 < training["bc_accuracy"] <= 1
