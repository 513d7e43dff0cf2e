"""Data-parallel training: shares, exact resuming, and what happens if a process fails or is killed."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("sb3_contrib")
pytest.importorskip("tensorboard")

from tetrarchia_agents.checkpoints import load_checkpoint
from tetrarchia_train import run as whole_run
from tetrarchia_train.config import TrainConfig, read_preset
from tetrarchia_train.distributed import ProcessGroup, process_group


def tiny(**changes: object) -> TrainConfig:
    return read_preset("tiny").changed(changes)


@pytest.mark.slow
@pytest.mark.parametrize("policies", [1, 4])
def test_processes_that_learn_together_resume_exactly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, policies: int) -> None:
    monkeypatch.chdir(tmp_path)
    constant = {"learning_rate": 1e-3, "final_learning_rate": 1e-3, "ent_coef": 0.005, "final_ent_coef": 0.005}
    two = tiny(processes=2, policies=policies, total_timesteps=1024, **constant)

    straight = load_checkpoint(whole_run.train(two, "straight"))
    whole_run.train(two.changed({"total_timesteps": 512}), "stopped")
    resumed = load_checkpoint(whole_run.resume("stopped", {"total_timesteps": 1024}))

    assert straight.card["training"]["timesteps"] == resumed.card["training"]["timesteps"] == 1024
    assert straight.card["weights"] == resumed.card["weights"]
    with pytest.raises(ValueError, match="processes cannot change in a run that has begun: it is 2, not 1"):
        whole_run.resume("stopped", {"processes": 1})


def test_each_process_has_its_share_and_its_own_chances() -> None:
    first, second = (tiny(processes=2).part(rank) for rank in range(2))

    assert (first.num_envs, first.minibatch_size) == (second.num_envs, second.minibatch_size) == (8, 32)
    assert first.seed != second.seed
    with pytest.raises(ValueError, match="num_envs one of rules x processes"):
        tiny(processes=3)


def fail(group: ProcessGroup) -> None:
    raise ValueError("no use")


def test_a_process_that_fails_is_told_of() -> None:
    """Rank 0 waits for it at the next thing that they do together."""
    with pytest.raises(ValueError, match=r"^no use$"), process_group(2, fail) as group:
        group.broadcast(0.0)


def die(group: ProcessGroup) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def linger(group: ProcessGroup, pids: str) -> None:
    """Tell who it is, and wait for something that never comes."""
    Path(pids).write_text(str(os.getpid()))
    time.sleep(600)


def test_a_killed_process_of_a_group_is_one_sentence_and_no_hang() -> None:
    with pytest.raises(ValueError, match=r"^a process of the group was killed by signal 9 .* --resume$"), process_group(2, die) as group:
        group.broadcast(0.0)


LEADER = """
import sys
from test_distributed import linger
from tetrarchia_train.distributed import process_group
if __name__ == "__main__":
    with process_group(2, linger, sys.argv[1]) as group:
        group.broadcast(0.0)
"""


ALONE_AT_THE_RENDEZVOUS = """
import multiprocessing
from test_distributed import linger
from tetrarchia_train import distributed
join = distributed._joined
def joined(*arguments):
    for process in multiprocessing.active_children():
        process.kill()
    return join(*arguments)
if __name__ == "__main__":
    distributed._joined = joined
    with distributed.process_group(2, linger, "nobody"):
        pass
"""


@pytest.mark.slow
def test_nobody_is_waited_for_at_the_rendezvous_who_was_killed_on_the_way(tmp_path: Path) -> None:
    (tmp_path / "leader.py").write_text(ALONE_AT_THE_RENDEZVOUS)
    path = os.pathsep.join([str(Path(__file__).parent), str(Path(__file__).parents[1]), *sys.path])
    command = [sys.executable, tmp_path / "leader.py"]

    done = subprocess.run(command, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, timeout=200)

    assert done.returncode == 2, done.stderr
    assert done.stderr.startswith("tetrarchia: a process of the group was killed by signal 9"), done.stderr


@pytest.mark.slow
def test_processes_of_a_group_end_with_their_leader(tmp_path: Path) -> None:
    (tmp_path / "leader.py").write_text(LEADER)
    path = os.pathsep.join([str(Path(__file__).parent), str(Path(__file__).parents[1]), *sys.path])
    leader = subprocess.Popen([sys.executable, tmp_path / "leader.py", tmp_path / "pid"], env={**os.environ, "PYTHONPATH": path})
    deadline = time.monotonic() + 120
    while not (tmp_path / "pid").exists() and time.monotonic() < deadline:
        time.sleep(0.1)
    leader.kill()
    leader.wait()
    follower = int((tmp_path / "pid").read_text())

    while Path(f"/proc/{follower}").exists() and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not Path(f"/proc/{follower}").exists()
