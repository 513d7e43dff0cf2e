"""RLlib's new API stack on PettingZoo's AEC API."""

import re
from pathlib import Path

import pytest

from helpers.library_examples import NOTHING_WRONG, counted, run_example, win_rates

pytest.importorskip("ray")


def returns(printed: str) -> list[float]:
    """What the four together got in the mean, at each update."""
    return [float(found) for found in re.findall(r"mean return of the four together (-?[\d.]+)", printed)]


@pytest.mark.slow
def test_rllib_learns_the_last_borders_with_one_policy(tmp_path: Path) -> None:
    printed = run_example("rllib_ppo", tmp_path)

    before, after = win_rates(printed)
    assert before == 0
    assert after > 0.5
    assert returns(printed)[-1] > returns(printed)[0] + 4
    assert counted(printed) == NOTHING_WRONG


@pytest.mark.slow
def test_rllib_learns_with_four_policies_and_remote_runners(tmp_path: Path) -> None:
    printed = run_example("rllib_ppo", tmp_path, "--policies", "four", "--num-env-runners", "2", "--timesteps", "5000")

    assert returns(printed)[-1] > returns(printed)[0] + 2
    assert counted(printed) == NOTHING_WRONG
