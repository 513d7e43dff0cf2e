"""The Stable-Baselines3 API, and training with MaskablePPO."""

from typing import Any

import numpy as np
import pytest

from tetrarchia_env import outcome_name, tetrarchia_v0
from tetrarchia_env.engine.state import MODULES, VARIANTS
from tetrarchia_env.observation import SIZE

pytest.importorskip("sb3_contrib")

import torch
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import VecMonitor

EVERYTHING: dict[str, Any] = {"variants": VARIANTS, "modules": MODULES}


def legal(env: Any) -> np.ndarray:
    return np.array([np.flatnonzero(mask)[-1] for mask in env.env_method("action_masks")])


def test_masks_of_all_games_are_returned_at_once() -> None:
    env = tetrarchia_v0.sb3_vec_env(6)
    env.reset()
    assert is_masking_supported(env)
    assert env.has_attr("action_masks")
    masks = get_action_masks(env)
    assert masks.shape == (6, 455)
    assert masks.dtype == bool
    assert (masks == env.batched.masks).all()
    assert (env.env_method("action_masks", indices=[4])[0] == masks[4]).all()


def test_games_match_the_vector_api() -> None:
    env = tetrarchia_v0.sb3_vec_env(5, seed=9, reward="shaped", **EVERYTHING)
    many = tetrarchia_v0.vector_env(5, reward="shaped", autoreset_mode="SameStep", **EVERYTHING)
    seen, expected = env.reset(), many.reset(seed=9)[0]["observation"]
    for _ in range(200):
        assert seen.tobytes() == expected.tobytes()
        actions = legal(env)
        seen, rewards, ended, infos = env.step(actions)
        after, more, terminations, truncations, vector_infos = many.step(actions)
        expected = after["observation"]
        assert (rewards == more.astype(np.float32)).all()
        assert (ended == (terminations | truncations)).all()
        for i in np.flatnonzero(ended):
            assert infos[i]["terminal_observation"].tobytes() == vector_infos["final_obs"][i]["observation"].tobytes()
            assert infos[i]["TimeLimit.truncated"] == truncations[i]


@pytest.mark.filterwarnings("ignore:The environment is already wrapped with a `Monitor`")  # intended: both are compared
def test_episode_infos_equal_those_of_vec_monitor() -> None:
    env = tetrarchia_v0.sb3_vec_env(8, seed=1, level="4200")
    watched = VecMonitor(tetrarchia_v0.sb3_vec_env(8, seed=1, level="4200"), info_keywords=("outcome", "score", "turn"))
    env.reset()
    watched.reset()
    finished = 0
    for _ in range(150):
        actions = legal(env)
        _, _, ended, infos = env.step(actions)
        _, _, _, monitored = watched.step(actions)
        for i in np.flatnonzero(ended):
            finished += 1
            for key in ("r", "l"):
                assert infos[i]["episode"][key] == monitored[i]["episode"][key]
            assert infos[i]["episode"]["level"] == 4200
            assert outcome_name(infos[i]["outcome"]) in ("rome fell", "reserve empty")
    assert finished > 0
    assert env.env_is_wrapped(Monitor) == [True] * 8


@pytest.mark.parametrize(("arguments", "steps"), [({}, 9), ({"copy": False}, 1)])
def test_returned_observation_is_not_overwritten(arguments: dict[str, Any], steps: int) -> None:
    """With copy=False it stays valid for one more step, since SB3 copies the last observation only after the next step."""
    env = tetrarchia_v0.sb3_vec_env(3, **arguments)
    seen = env.reset()
    kept = seen.copy()
    for _ in range(steps):
        env.step(legal(env))
    assert (seen == kept).all()


def test_seed_and_reset_repeat_the_games() -> None:
    env = tetrarchia_v0.sb3_vec_env(3)
    env.seed(5)
    first = env.reset().copy()
    second = env.reset().copy()
    env.seed(5)
    assert (env.reset() == first).all()
    assert (env.reset() == second).all()
    assert (first != second).any()


def test_unknown_methods_and_attributes_are_refused() -> None:
    env = tetrarchia_v0.sb3_vec_env(2)
    with pytest.raises(AttributeError, match="'fly'"):
        env.env_method("fly")
    with pytest.raises(AttributeError, match="'level'"):
        env.set_attr("level", "4211")


class LegalActionsCallback(BaseCallback):
    """A callback that fails if an action was illegal under the mask it was sampled with."""

    played = 0

    def _on_step(self) -> bool:
        masks, actions = self.locals["action_masks"], self.locals["actions"].reshape(-1)
        assert masks[np.arange(len(actions)), actions].all()
        self.played += len(actions)
        return True


@pytest.mark.slow
@pytest.mark.parametrize("arguments", [{"actions": "base"}, EVERYTHING], ids=["base", "everything"])
def test_maskable_ppo_trains(arguments: dict[str, Any]) -> None:
    torch.set_num_threads(1)
    env = tetrarchia_v0.sb3_vec_env(16, seed=1, reward="shaped", **arguments)
    model = MaskablePPO("MlpPolicy", env, n_steps=32, batch_size=128, n_epochs=2, seed=1, device="cpu", policy_kwargs={"net_arch": [32]})
    before = [parameter.clone() for parameter in model.policy.parameters()]
    callback = LegalActionsCallback()
    model.learn(2048, callback=callback)
    assert callback.played == 2048
    assert any((old != new).any() for old, new in zip(before, model.policy.parameters(), strict=True))
    assert len(model.ep_info_buffer) > 0
    masks = get_action_masks(env)
    actions, _ = model.predict(np.zeros((16, SIZE), dtype=np.float32), action_masks=masks)
    assert masks[np.arange(16), actions].all()
