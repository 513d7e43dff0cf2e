"""Tests of run folders: damaged or malicious files, files left by a killed process, and locking."""

import json
import pickle
import re
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("tensorboard")

from safetensors.torch import load_file, save_file  # noqa: E402

from helpers.arrays import rewrite_arrays  # noqa: E402
from tetrarchia_agents.checkpoints import load_checkpoint  # noqa: E402
from tetrarchia_env.engine.state import GAME  # noqa: E402
from tetrarchia_env.errors import TetrarchiaError  # noqa: E402
from tetrarchia_train import run as whole_run  # noqa: E402
from tetrarchia_train.checkpointing import load_run, run_lock, save_run  # noqa: E402
from tetrarchia_train.config import RESUMABLE_FIELDS, TrainConfig, read_preset  # noqa: E402
from tetrarchia_train.metrics import read_curve, truncate_curve  # noqa: E402
from tetrarchia_train.ppo import Learner  # noqa: E402


def tiny(**changes: object) -> TrainConfig:
    return read_preset("tiny").with_overrides(changes)


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    """Save a run after one iteration; return its folder `resume/`."""
    run = Learner(tiny())
    run.train_iteration()
    save_run(run, tmp_path)
    return tmp_path / "resume"


@pytest.fixture
def finished(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Train a complete run; return its folder."""
    monkeypatch.chdir(tmp_path)
    whole_run.train(tiny(total_timesteps=256), "first")
    return tmp_path / "runs/first"


def files_of(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


class Marker:
    """Object that creates a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return Path.touch, (self.path,)


def test_loading_a_run_unpickles_nothing(kept: Path, tmp_path: Path) -> None:
    marker = tmp_path / "marker"
    evil = pickle.dumps(Marker(marker))

    assert sorted(path.suffix for path in kept.iterdir()) == [".json", ".npz", ".safetensors", ".safetensors"]
    for path in list(kept.iterdir()):
        good = path.read_bytes()
        path.write_bytes(evil)
        with pytest.raises(TetrarchiaError, match="cannot be read"):
            load_run(tiny(), tmp_path)
        path.write_bytes(good)
    rewrite_arrays(kept / "arrays-0.npz", torch=np.array([Marker(marker)], dtype=object))
    with pytest.raises(TetrarchiaError, match=r"torch.npy is object"):
        load_run(tiny(), tmp_path)
    assert not marker.exists()


@pytest.mark.parametrize("how", ["random", "fields", "fewer", "float"])
def test_damaged_arrays_are_refused(kept: Path, tmp_path: Path, how: str) -> None:
    with np.load(kept / "arrays-0.npz") as file:
        games = file["env.games"]
    records = games.reshape(-1).view(GAME).copy()
    records["emperor"], records["army_at"] = 10**9, -(10**9)
    wrong = {
        "random": np.random.default_rng(1).integers(0, 256, games.shape, dtype=np.uint8),
        "fields": records.view(np.uint8).reshape(games.shape),
        "fewer": games[:5],
        "float": games.astype(np.float32),
    }
    rewrite_arrays(kept / "arrays-0.npz", **{"env.games": wrong[how]})

    with pytest.raises(TetrarchiaError, match=r"env.games|record 0 is damaged") as refusal:
        load_run(tiny(), tmp_path)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("file", ["weights", "optimizer"])
def test_damaged_tensors_are_refused(kept: Path, tmp_path: Path, file: str) -> None:
    path = kept / f"{file}.safetensors"
    good = load_file(path)
    name = max(good, key=lambda one: good[one].numel())
    for wrong in (
        {**good, name: torch.full_like(good[name], float("nan"))},
        {**good, name: good[name][:1].clone()},
        {**good, "more": torch.zeros(1)},
        {**good, name: good[name].double()},
    ):
        save_file(wrong, path)
        with pytest.raises(TetrarchiaError, match=rf"{file}.safetensors (is damaged|does not fit|is larger)"):
            load_run(tiny(), tmp_path)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"node_dim": "16"}, "training option node_dim cannot change when a run is resumed: it is 8; got 16"),
        ({"num_envs": "32"}, "training option num_envs cannot change"),
        ({"n_steps": "16"}, "training option n_steps cannot change"),
        ({"processes": "2"}, "training option processes cannot change"),
        ({"policies": "4"}, "training option policies cannot change"),
        ({"actions": "all"}, "training option actions cannot change"),
        ({"network": "mlp"}, "training option network cannot change"),
        ({"seed": "7"}, "training option seed cannot change"),
        ({"total_timesteps": "10"}, "total_timesteps must be at least 256, which the run has already played; got 10"),
    ],
)
def test_changes_of_fixed_options_are_refused_before_anything_is_written(finished: Path, changes: dict[str, str], sentence: str) -> None:
    before = files_of(finished)

    with pytest.raises(TetrarchiaError, match=re.escape(sentence)):
        whole_run.resume("first", changes)

    assert files_of(finished) == before


def test_resumable_options_take_effect(finished: Path) -> None:
    """The learner uses the new values instead of the original ones."""
    whole_run.resume("first", {"total_timesteps": "512", "node_dim": "8", "gae_lambda": "0.5", "minibatch_size": "128", "n_epochs": "1"})

    made = load_checkpoint(finished / "final").card["training"]
    assert (made["timesteps"], made["options"]["gae_lambda"]) == (512, 0.5)
    run = load_run(tiny(gae_lambda=0.5, minibatch_size=128, n_epochs=1), finished)
    assert (run.local.gae_lambda, run.local.minibatch_size, run.local.n_epochs) == (0.5, 128, 1)
    assert set(RESUMABLE_FIELDS) <= set(TrainConfig.__dataclass_fields__)


def test_invalid_edits_of_the_options_file_leave_the_run_intact(finished: Path) -> None:
    options = finished / "options.yaml"
    text = options.read_text()
    for edited in ("node_dim: 9", "num_envs: 32", "num_envs: 1099511627776", "processes: 2", "hidden_dim: 4096", "actions: all"):
        name = edited.partition(":")[0]
        options.write_text(re.sub(rf"^{name}: .*$", edited, text, flags=re.MULTILINE))
        before = files_of(finished / "resume")
        with pytest.raises(TetrarchiaError, match=r".") as refusal:
            whole_run.resume("first", {})
        assert "\n" not in str(refusal.value)
        assert files_of(finished / "resume") == before
    load_checkpoint(finished / "final")


@pytest.mark.parametrize("torn", [b'{"timesteps": 25', b"\xff\xfe", b"[" * 100_000, b'{"timesteps": "x"}\n', b"7\n"])
def test_an_incomplete_last_point_of_the_curve_is_dropped(finished: Path, torn: bytes) -> None:
    progress = finished / "progress.jsonl"
    whole = progress.read_bytes()
    progress.write_bytes(whole + torn)

    truncate_curve(finished, 256)

    assert progress.read_bytes() == whole
    progress.write_bytes(whole + torn)
    whole_run.resume("first", {})
    assert progress.read_bytes() == whole


@pytest.mark.parametrize("command", ["train", "resume"])
def test_a_run_continues_after_a_kill_while_the_clone_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str) -> None:
    monkeypatch.chdir(tmp_path)
    config = tiny(expert="greedy", num_demonstrations=100, total_timesteps=128)
    whole_run.train(config, "first", stop_after="bc")
    whole = load_checkpoint(tmp_path / "runs/first/bc").card["weights_sha256"]
    (tmp_path / "runs/first/bc/card.json").unlink()

    final = whole_run.train(config, "first") if command == "train" else whole_run.resume("first", {})

    assert load_checkpoint(tmp_path / "runs/first/bc").card["weights_sha256"] == whole
    assert load_checkpoint(final).card["training"]["timesteps"] == 128


def test_a_second_writer_of_a_run_is_refused(finished: Path) -> None:
    pytest.importorskip("fcntl")
    with run_lock(finished):
        for again in (lambda: whole_run.resume("first", {}), lambda: whole_run.train(tiny(), "first")):
            with pytest.raises(TetrarchiaError, match="another process writes into runs/first"):
                again()
    whole_run.resume("first", {})


def test_a_run_stopped_before_its_first_iteration_is_evaluated_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with monkeypatch.context() as at_once:
        at_once.setattr(whole_run, "_stop_on_signal", lambda: nullcontext(lambda: True))
        whole_run.train(tiny(total_timesteps=256, eval_freq=128), "first")

    whole_run.resume("first", {})

    assert [line["timesteps"] for line in read_curve(tmp_path / "runs/first/progress.jsonl")] == [0, 128, 256]


def test_the_previous_state_is_loaded_after_a_kill_between_two_renames(kept: Path, tmp_path: Path) -> None:
    kept.rename(tmp_path / ".resume.old")

    assert isinstance(load_run(tiny(), tmp_path), Learner)
    counters = json.loads((tmp_path / ".resume.old/counters.json").read_text())
    assert counters["num_timesteps"] == 128
