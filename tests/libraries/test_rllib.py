"""RLlib's new API stack on PettingZoo's AEC API."""

from pathlib import Path

import pytest

from helpers.library_examples import check_training, run_example

pytest.importorskip("ray")


@pytest.mark.slow
def test_rllib_trains_one_policy(tmp_path: Path) -> None:
    check_training(run_example("rllib_ppo", tmp_path, "--timesteps", "1500"))


@pytest.mark.slow
def test_rllib_trains_four_policies_with_remote_runners(tmp_path: Path) -> None:
    check_training(run_example("rllib_ppo", tmp_path, "--policies", "four", "--num-env-runners", "2", "--timesteps", "1500"))
