"""AgileRL on `vector_env` with the mask in the info."""

from pathlib import Path

import numpy as np
import pytest

from helpers.library_examples import NOTHING_WRONG, counted, run_example, win_rates

pytest.importorskip("agilerl")


@pytest.mark.slow
def test_agilerl_learns_the_end_game(tmp_path: Path) -> None:
    printed = run_example("agilerl_ppo", tmp_path)

    before, after = win_rates(printed)
    assert before < 0.15
    assert after > 0.6
    assert counted(printed) == NOTHING_WRONG


@pytest.mark.filterwarnings("ignore")  # of what AgileRL imports
def test_agilerl_still_looks_one_step_too_late_for_the_end_of_a_game() -> None:
    """Why the example mends the advantages: when this fails, that can go."""
    from agilerl.components.rollout_buffer import RolloutBuffer
    from gymnasium.spaces import Box, Discrete

    buffer = RolloutBuffer(4, Box(-1, 1, (2,)), Discrete(3), 1, gamma=1.0, gae_lambda=1.0)
    nothing, zero = np.zeros((1, 2)), np.zeros(1)
    for step in range(4):
        buffer.add(nothing, np.zeros((1, 1)), np.array([float(step == 1)]), np.array([step == 1]), zero, zero, nothing)
    buffer.compute_returns_and_advantages(zero, zero)

    assert buffer.buffer["returns"].flatten().tolist() == [0, 1, 0, 0]  # [1, 1, 0, 0] is right
