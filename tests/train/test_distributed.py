"""Processes that learn together: shares, exact resuming, and what happens if one fails."""

from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("sb3_contrib")
pytest.importorskip("tensorboard")

from tetrarchia_agents.checkpoints import load_checkpoint
from tetrarchia_train import run as whole_run
from tetrarchia_train.config import TrainOptions, read_preset
from tetrarchia_train.distributed import Team, team_of


def tiny(**changes: object) -> TrainOptions:
    return read_preset("tiny").changed(changes)


@pytest.mark.slow
@pytest.mark.parametrize("policies", [1, 4])
def test_processes_that_learn_together_resume_exactly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, policies: int) -> None:
    monkeypatch.chdir(tmp_path)
    two = tiny(processes=2, policies=policies, steps=1024, learning_rate=1e-3, last_learning_rate=1e-3, entropy=0.005, last_entropy=0.005)

    straight = load_checkpoint(whole_run.train(two, "straight"))
    whole_run.train(two.changed({"steps": 512}), "stopped")
    resumed = load_checkpoint(whole_run.resume("stopped", {"steps": 1024}))

    assert straight.card["made"]["steps"] == resumed.card["made"]["steps"] == 1024
    assert straight.card["weights"] == resumed.card["weights"]
    with pytest.raises(ValueError, match="has 2 processes: it cannot go on with 1"):
        whole_run.resume("stopped", {"processes": 1})


def test_each_process_has_its_share_and_its_own_chances() -> None:
    first, second = (tiny(processes=2).part(rank) for rank in range(2))

    assert (first.games, first.minibatch) == (second.games, second.minibatch) == (8, 32)
    assert first.seed != second.seed
    with pytest.raises(ValueError, match="games of rules x processes"):
        tiny(processes=3)


def fail(team: Team) -> None:
    raise ValueError("no use")


def test_a_process_that_fails_is_told_of() -> None:
    with pytest.raises(RuntimeError, match="failed"), team_of(2, fail):
        pass
