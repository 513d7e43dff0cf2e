"""PPO in plain PyTorch on `vector_env`."""

from pathlib import Path

import pytest

from helpers.library_examples import check_training, run_example

pytest.importorskip("torch")


@pytest.mark.slow
def test_cleanrl_style_trains(tmp_path: Path) -> None:
    check_training(run_example("cleanrl_style", tmp_path, "--total-timesteps", "10000"))
