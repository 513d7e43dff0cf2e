"""PPO in plain PyTorch on `vector_env`."""

from pathlib import Path

import pytest

from helpers.library_examples import NOTHING_WRONG, counted, run_example, win_rates

pytest.importorskip("torch")


@pytest.mark.slow
def test_cleanrl_style_learns_the_end_game(tmp_path: Path) -> None:
    printed = run_example("cleanrl_style", tmp_path)

    before, after = win_rates(printed)
    assert before < 0.15
    assert after > 0.9
    assert counted(printed) == NOTHING_WRONG
