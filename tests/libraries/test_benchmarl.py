"""BenchMARL's algorithms on the parallel API."""

from pathlib import Path

import pytest

from helpers.library_examples import check_training, run_example

pytest.importorskip("benchmarl")


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", ["mappo", "ippo", "qmix"])
def test_benchmarl_trains(algorithm: str, tmp_path: Path) -> None:
    check_training(run_example("benchmarl_task", tmp_path, "--algorithm", algorithm, "--timesteps", "1500"))
