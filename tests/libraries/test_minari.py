"""Minari on Gymnasium's API."""

import re
from pathlib import Path

import gymnasium
import numpy as np
import pytest

from helpers.library_examples import check_counts, run_example

pytest.importorskip("minari")
pytest.importorskip("jax")  # required by Minari for recording


@pytest.mark.slow
def test_minari_restores_recorded_games_and_a_clone_is_trained_on_them(tmp_path: Path) -> None:
    printed = run_example("minari_clone", tmp_path, "--games", "20", "--epochs", "2")

    agreed = re.findall(r"of (\d+) recorded games won; rollout wins \d+ and agrees in (\d+)", printed)
    assert agreed == [("20", "20"), ("20", "20")]
    check_counts(printed)


@pytest.mark.filterwarnings("ignore")  # Minari warns about a missing author and email
def test_minari_records_a_game_with_an_illegal_action(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import minari

    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path))
    env = minari.DataCollector(gymnasium.make("Tetrarchia-v0", level="5000", mask="info"), record_infos=True)
    _, info = env.reset(seed=1)
    env.step(int(np.flatnonzero(info["action_mask"] == 0)[0]))
    over = False
    while not over:
        _, _, terminated, truncated, info = env.step(int(info["action_mask"].argmax()))
        over = terminated or truncated
    env.create_dataset("tetrarchia/illegal-v0")

    (episode,) = minari.load_dataset("tetrarchia/illegal-v0").iterate_episodes()
    assert episode.infos["illegal_action"].tolist() == [0, 1] + [0] * (len(episode.actions) - 1)
    assert set(episode.infos) == {"turn", "score", "outcome", "agent", "illegal_action", "action_mask"}
