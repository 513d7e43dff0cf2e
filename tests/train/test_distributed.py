"""Tests of data-parallel training under torchrun: averaged gradients, exact resuming, signals and killed processes."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("tensorboard")

from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_train.config import PRESETS, TrainConfig, read_preset

TRAIN = [sys.executable, "-m", "tetrarchia_train"]
TORCHRUN = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
RUN = ["--name", "x", "--preset", "tiny", "--total-timesteps", "4096", "--save-freq", "256", "--eval-freq", "1024"]
CONSTANT = ["--learning-rate", "1e-3", "--final-learning-rate", "1e-3", "--ent-coef", "0.005", "--final-ent-coef", "0.005"]
needs_proc = pytest.mark.skipif(not Path("/proc").is_dir(), reason="finds the processes of a launcher in /proc")


def tiny(**changes: object) -> TrainConfig:
    return read_preset("tiny").with_overrides(changes)


def start(folder: Path, *command: str) -> "subprocess.Popen[str]":
    """Start a command in a new session with its output redirected to a file."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    with open(folder / "output", "w", encoding="utf-8") as output:
        return subprocess.Popen(command, cwd=folder, env=environment, stdout=output, stderr=output, text=True, start_new_session=True)


def run(folder: Path, *command: str, code: int = 0) -> str:
    """Run a command to completion; return its output."""
    found = start(folder, *command).wait(500)
    output = (folder / "output").read_text(encoding="utf-8")
    assert found == code, output
    return output


def result(folder: Path, name: str = "x") -> object:
    """Return the weights and win rates of a run."""
    lines = [json.loads(line) for line in (folder / f"runs/{name}/progress.jsonl").read_text(encoding="utf-8").splitlines()]
    points = [(line["timesteps"], line["win_rates"], line["borders"]) for line in lines]
    return json.loads((folder / f"runs/{name}/final/card.json").read_bytes())["weights_sha256"], points


def wait_for_checkpoint(folder: Path, process: "subprocess.Popen[str]") -> None:
    while process.poll() is None and not (folder / "runs/x/latest/card.json").exists():
        time.sleep(0.02)
    assert process.poll() is None, (folder / "output").read_text(encoding="utf-8")


def ranks(launcher: int) -> Iterator[int]:
    """Yield the process ids of the ranks started by a launcher."""
    for children in Path(f"/proc/{launcher}/task").glob("*/children"):
        yield from map(int, children.read_text().split())


def test_each_process_has_a_share_of_the_work_and_a_different_seed() -> None:
    first, second = (tiny(processes=2).for_rank(rank) for rank in range(2))

    assert (first.num_envs, first.minibatch_size) == (second.num_envs, second.minibatch_size) == (8, 32)
    assert first.seed != second.seed
    with pytest.raises(TetrarchiaError, match="num_envs a multiple of rules x processes"):
        tiny(processes=3)


@pytest.mark.thorough
def test_speed_is_measured_with_two_processes(tmp_path: Path) -> None:
    (tmp_path / "two.yaml").write_text(f"{(PRESETS / 'tiny.yaml').read_text(encoding='utf-8')}processes: 2\n", encoding="utf-8")

    output = run(tmp_path, sys.executable, "-m", "tetrarchia_train.speed", "two.yaml")

    both, parts = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
    assert both["processes"] == 2
    assert both["fps"] > 0
    assert parts["microseconds"]["updates"] > 0


SCRIPT = """
import torch
from tetrarchia_train.config import read_preset
from tetrarchia_train.distributed import broadcast, gather, is_rank_zero, process_group, rank
from tetrarchia_train.ppo import Learner

def values_of(tensors):
    return torch.cat([one.detach().flatten() for one in tensors])

def local_gradients(learner, data):
    learner.optimizer.zero_grad()
    learner.network(data.obs)[1].sum().backward()
    return values_of(one.grad if one.grad is not None else torch.zeros_like(one) for one in learner.network.parameters())

with process_group():
    learner = Learner(read_preset("tiny").with_overrides({"processes": 2, "policies": POLICIES}))
    learner.train_iteration()
    games, weights = gather(learner.games.games.tobytes()), gather(values_of(learner.network.parameters()))
    data = next(learner.rollout.minibatches(32))
    alone = gather(local_gradients(learner, data))
    learner.optimizer.zero_grad()
    logits, values = learner.parallel_network(data.obs)
    (values.sum() + 0 * logits.sum()).backward()
    averaged = values_of(one.grad if one.grad is not None else torch.zeros_like(one) for one in learner.network.parameters())
    if is_rank_zero():
        assert games[0] != games[1]
        assert torch.equal(weights[0], weights[1])
        assert not torch.equal(alone[0], alone[1])
        torch.testing.assert_close(averaged, (alone[0] + alone[1]) / 2)
        print("checked", learner.timesteps)
"""


@pytest.mark.slow
@pytest.mark.parametrize("policies", [1, 4])
def test_ranks_play_different_games_and_average_their_gradients(tmp_path: Path, policies: int) -> None:
    (tmp_path / "script.py").write_text(SCRIPT.replace("POLICIES", str(policies)))

    assert "checked 128\n" in run(tmp_path, *TORCHRUN, str(tmp_path / "script.py"))


@pytest.mark.thorough
def test_a_resumed_run_equals_an_uninterrupted_run(tmp_path: Path) -> None:
    """Runs started by torchrun and by --processes give the same result; only rank zero prints and writes."""
    output = run(tmp_path, *TRAIN, "--name", "x", "--preset", "tiny", "--processes", "2", "--total-timesteps", "1024", *CONSTANT)
    run(tmp_path, *TORCHRUN, "-m", "tetrarchia_train", "--name", "y", "--preset", "tiny", "--total-timesteps", "512", *CONSTANT)
    run(tmp_path, *TRAIN, "--name", "y", "--resume", "--total-timesteps", "1024")

    assert output.count("written: runs/x/final") == 1
    assert len(list((tmp_path / "runs/x/tensorboard").iterdir())) == 1
    assert result(tmp_path, "x") == result(tmp_path, "y")
    assert json.loads((tmp_path / "runs/y/final/card.json").read_bytes())["training"]["timesteps"] == 1024
    output = run(tmp_path, *TRAIN, "--name", "y", "--resume", "--processes", "1", code=2)
    assert "training option processes cannot change" in output
    output = run(tmp_path, *TRAIN, "--name", "y", "--preset", "tiny", "--processes", "2", code=2)
    assert output.count("\n") == 1
    assert "run 'y' already exists" in output


@pytest.fixture(scope="module")
def uninterrupted_result(tmp_path_factory: pytest.TempPathFactory) -> object:
    """Return the result of an uninterrupted run with `--processes 2`."""
    folder = tmp_path_factory.mktemp("undisturbed")
    run(folder, *TRAIN, *RUN, "--processes", "2")
    return result(folder)


@pytest.mark.thorough
@needs_proc
@pytest.mark.parametrize("rank", [0, 1])
def test_a_killed_rank_ends_the_run_and_resuming_gives_the_same_result(uninterrupted_result: object, tmp_path: Path, rank: int) -> None:
    launcher = start(tmp_path, *TRAIN, *RUN, "--processes", "2")
    wait_for_checkpoint(tmp_path, launcher)
    os.kill(sorted(ranks(launcher.pid))[rank], signal.SIGKILL)
    assert launcher.wait(200) != 0
    assert not (tmp_path / "runs/x/final").exists()

    run(tmp_path, *TORCHRUN, "-m", "tetrarchia_train", "--name", "x", "--resume")

    assert result(tmp_path) == uninterrupted_result


@pytest.mark.thorough
@needs_proc
@pytest.mark.parametrize("rank", [0, 1])
def test_torchrun_restarts_a_killed_run(uninterrupted_result: object, tmp_path: Path, rank: int) -> None:
    launcher = start(tmp_path, *TORCHRUN, "--max-restarts", "1", "-m", "tetrarchia_train", *RUN)
    wait_for_checkpoint(tmp_path, launcher)
    os.kill(sorted(ranks(launcher.pid))[rank], signal.SIGKILL)

    assert launcher.wait(500) == 0, (tmp_path / "output").read_text(encoding="utf-8")
    assert result(tmp_path) == uninterrupted_result


@pytest.mark.thorough
@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGINT])
def test_signals_save_the_run(uninterrupted_result: object, tmp_path: Path, sent: signal.Signals) -> None:
    launcher = start(tmp_path, *TRAIN, *RUN, "--processes", "2")
    wait_for_checkpoint(tmp_path, launcher)
    launcher.send_signal(sent)
    assert launcher.wait(200) == 130
    assert "stopped after" in (tmp_path / "output").read_text(encoding="utf-8")

    run(tmp_path, *TRAIN, "--name", "x", "--resume")

    assert result(tmp_path) == uninterrupted_result


@pytest.mark.thorough
@needs_proc
def test_ranks_end_with_their_launcher(tmp_path: Path) -> None:
    launcher = start(tmp_path, *TRAIN, *RUN, "--processes", "2")
    wait_for_checkpoint(tmp_path, launcher)
    started = list(ranks(launcher.pid))
    launcher.kill()
    launcher.wait()

    deadline = time.monotonic() + 60
    while any(Path(f"/proc/{rank}").exists() for rank in started) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert len(started) == 2
    assert not any(Path(f"/proc/{rank}").exists() for rank in started)
