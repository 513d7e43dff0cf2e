"""BenchMARL's algorithms on the parallel API."""

import re
from pathlib import Path

import pytest

from helpers.library_examples import NOTHING_WRONG, counted, run_example

pytest.importorskip("benchmarl")


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", ["mappo", "ippo", "qmix"])
def test_benchmarl_gets_more_borders_the_longer_it_learns(algorithm: str, tmp_path: Path) -> None:
    printed = run_example("benchmarl_task", tmp_path, "--algorithm", algorithm)

    rewards = [float(found) for found in re.findall(r"mean reward a step (-?[\d.]+)", printed)]
    assert sum(rewards[-3:]) > 2 * sum(rewards[:3])
    assert counted(printed) == NOTHING_WRONG
