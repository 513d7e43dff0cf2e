"""Minari on Gymnasium's API."""

import re
from importlib.util import find_spec
from pathlib import Path

import gymnasium
import numpy as np
import pytest

from helpers.library_examples import check_counts, run_example
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_eval.arena import match_spec
from tetrarchia_eval.dataset import iter_games, make_dataset, write_minari

pytest.importorskip("minari")
needs_jax = pytest.mark.skipif(find_spec("jax") is None, reason="Minari's DataCollector requires jax")


@needs_jax
@pytest.mark.slow
def test_minari_restores_recorded_games_and_a_clone_is_trained_on_them(tmp_path: Path) -> None:
    printed = run_example("minari_clone", tmp_path, "--games", "20", "--epochs", "2")

    agreed = re.findall(r"of (\d+) recorded games won; rollout wins \d+ and agrees in (\d+)", printed)
    assert agreed == [("20", "20"), ("20", "20")]
    check_counts(printed)


@needs_jax
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


def test_data_set_becomes_a_minari_data_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import minari

    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path))
    path = tmp_path / "games.jsonl.gz"
    make_dataset([match_spec("greedy", 2, levels=["4200", "4211"], first_seed=7)], path)
    write_minari(path, "tetrarchia/games-v0")

    episodes = minari.load_dataset("tetrarchia/games-v0")
    assert episodes.total_episodes == 4
    for game, episode in zip(iter_games(path), episodes.iterate_episodes(), strict=True):
        env = gymnasium.make("Tetrarchia-v0", level=game.level, mask="info")
        obs, info = env.reset(seed=game.replay.seed)
        for step, action in enumerate(episode.actions):
            assert (episode.observations[step] == obs).all()
            assert (episode.infos["action_mask"][step] == info["action_mask"]).all()
            obs, reward, terminated, truncated, info = env.step(action)
            assert (episode.rewards[step], episode.terminations[step], episode.truncations[step]) == (reward, terminated, truncated)
        assert (episode.observations[-1] == obs).all()
        assert not episode.infos["action_mask"][-1].any()
    assert episodes.recover_environment().unwrapped.options.level_names == ("4200", "4211")


@pytest.mark.parametrize("name", ["games", "../games-v0", "tetrarchia/taken-v0"])
def test_wrong_names_of_minari_data_sets_are_refused(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path))
    (tmp_path / "tetrarchia/taken-v0").mkdir(parents=True)

    with pytest.raises(TetrarchiaError, match="minari must be a"):
        write_minari(tmp_path / "games.jsonl.gz", name)


def test_failed_conversion_leaves_no_minari_data_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path))
    path = tmp_path / "games.jsonl.gz"
    make_dataset([match_spec("random", 1, view_radius=2)], path)

    with pytest.raises(TetrarchiaError, match="conversions need full information"):
        write_minari(path, "games-v0")
    assert not (tmp_path / "games-v0").exists()
