"""AgileRL on `vector_env` with the mask in the info."""

from pathlib import Path

import numpy as np
import pytest

from helpers.library_examples import check_training, run_example

pytest.importorskip("agilerl")


@pytest.mark.slow
def test_agilerl_trains(tmp_path: Path) -> None:
    check_training(run_example("agilerl_ppo", tmp_path, "--timesteps", "6000"))


@pytest.mark.filterwarnings("ignore")  # from AgileRL's imports
def test_agilerl_still_applies_end_of_game_flags_one_step_late() -> None:
    """Check for the bug that the example works around; when this test fails, remove `mend_advantages`."""
    from agilerl.components.rollout_buffer import RolloutBuffer
    from gymnasium.spaces import Box, Discrete

    buffer = RolloutBuffer(4, Box(-1, 1, (2,)), Discrete(3), 1, gamma=1.0, gae_lambda=1.0)
    nothing, zero = np.zeros((1, 2)), np.zeros(1)
    for step in range(4):
        buffer.add(nothing, np.zeros((1, 1)), np.array([float(step == 1)]), np.array([step == 1]), zero, zero, nothing)
    buffer.compute_returns_and_advantages(zero, zero)

    assert buffer.buffer["returns"].flatten().tolist() == [0, 1, 0, 0]  # [1, 1, 0, 0] would be correct
