"""Data-parallel training: shares, exact resuming, and what happens if a process fails."""

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

    assert straight.card["made"]["timesteps"] == resumed.card["made"]["timesteps"] == 1024
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
