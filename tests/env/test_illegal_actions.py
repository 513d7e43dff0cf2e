"""The rules for illegal actions in the Gymnasium, vector and SB3 APIs: raise, ignore up to a cap, or lose."""

import random
from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
import pytest

from helpers.positions import position
from tetrarchia_env import outcome_name, tetrarchia_v0
from tetrarchia_env.envs.gymnasium import TetrarchiaEnv
from tetrarchia_env.envs.illegal_actions import MAX_IGNORED
from tetrarchia_env.envs.spaces import VECTOR_RENDER_MODES
from tetrarchia_env.notation import snapshot

NEVER_LEGAL = 454  # in the base game
Step = Callable[[int], tuple[float, bool, bool, dict[str, Any]]]


def single(**arguments: Any) -> Step:
    env = gymnasium.make("Tetrarchia-v0", **arguments)
    env.reset(seed=1)
    return lambda action: env.step(action)[1:]


def vector(**arguments: Any) -> Step:
    """Step the first of two games; the other plays legal actions."""
    env = tetrarchia_v0.vector_env(2, autoreset_mode="Disabled", **arguments)
    env.reset(seed=1)

    def step(action: int) -> tuple[float, bool, bool, dict[str, Any]]:
        other = int(env.batched.masks[1].argmax())
        _, rewards, terminated, truncated, infos = env.step(np.array([action, other]))
        if terminated[1] or truncated[1]:
            env.reset(options={"reset_mask": np.array([False, True])})
        return rewards[0], terminated[0], truncated[0], {key: value[0] for key, value in infos.items()}

    return step


def sb3(**arguments: Any) -> Step:
    pytest.importorskip("stable_baselines3")
    env = tetrarchia_v0.sb3_vec_env(1, seed=1, **arguments)
    env.reset()

    def step(action: int) -> tuple[float, bool, bool, dict[str, Any]]:
        _, rewards, ended, infos = env.step(np.array([action]))
        truncated = infos[0].get("TimeLimit.truncated", False)
        return float(rewards[0]), bool(ended[0]) and not truncated, truncated, infos[0]

    return step


every_api = pytest.mark.parametrize("api", [single, vector, sb3])


@every_api
def test_raise_gives_a_one_line_error(api: Callable[..., Step]) -> None:
    step = api(illegal="raise")
    with pytest.raises(ValueError, match=r"is not legal .*: choose from (fleet ATLANTICVM|8, 9, 10)"):
        step(NEVER_LEGAL)
    assert step(8)[3]["illegal_action"] == 0


@every_api
def test_ignored_actions_change_nothing_until_the_cap_truncates_the_game(api: Callable[..., Step]) -> None:
    step = api(illegal="ignore")
    for _ in range(MAX_IGNORED - 1):
        reward, terminated, truncated, info = step(NEVER_LEGAL)
        assert (reward, terminated, truncated) == (0, False, False)
        assert (info["illegal_action"], info["turn"], outcome_name(info["outcome"])) == (1, 0, "running")
    reward, terminated, truncated, info = step(NEVER_LEGAL)
    assert (reward, terminated, truncated) == (0, False, True)
    assert (info["illegal_action"], outcome_name(info["outcome"])) == (1, "truncated")


@every_api
@pytest.mark.parametrize(("reward", "paid"), [("outcome", -1), ("glory", -1), ("score", -0.3)])
def test_lose_ends_the_game_as_lost(api: Callable[..., Step], reward: str, paid: float) -> None:
    step = api(illegal="lose", reward=reward)
    step(8)
    gain, terminated, truncated, info = step(NEVER_LEGAL)
    assert gain == pytest.approx(paid)
    assert (terminated, truncated, info["illegal_action"], outcome_name(info["outcome"])) == (True, False, 1, "rome fell")


@pytest.mark.parametrize("api", [single, vector])
def test_random_actions_without_masks_raise_no_error_by_default(api: Callable[..., Step]) -> None:
    step, chance = api(), random.Random(1)
    over, illegal = False, 0
    while not over:
        _, terminated, truncated, info = step(chance.randrange(455))
        over, illegal = terminated or truncated, illegal + info["illegal_action"]
    assert 0 < illegal <= MAX_IGNORED


def test_cap_restarts_with_each_game() -> None:
    env = TetrarchiaEnv()
    for _ in range(2):
        env.reset(seed=1)
        assert not any(env.step(NEVER_LEGAL)[3] for _ in range(MAX_IGNORED - 1))
    env.restore(env.snapshot())
    assert not env.step(NEVER_LEGAL)[3]


@pytest.mark.parametrize("illegal", ["ignore", "lose"])
def test_action_outside_the_space_is_refused_by_every_rule(illegal: str) -> None:
    many = tetrarchia_v0.vector_env(2, illegal=illegal)
    with pytest.raises(ValueError, match="reset the environment first"):
        many.step(np.array([8, 8]))
    many.reset(seed=1)
    before = many.batched.games.tobytes()
    for wrong in (-1, 455, 2**40):
        with pytest.raises(ValueError, match=f"action {wrong} is not legal in game 1"):
            many.step(np.array([0, wrong]))
    assert many.batched.games.tobytes() == before


@pytest.mark.parametrize("illegal", ["forgive", None, 1])
def test_unknown_rule_is_refused(illegal: Any) -> None:
    for make in (TetrarchiaEnv, tetrarchia_v0.vector_env):
        with pytest.raises(ValueError, match="illegal must be one of raise, ignore, lose"):
            make(illegal=illegal)


@pytest.mark.parametrize("mode", VECTOR_RENDER_MODES)
def test_game_lost_by_an_illegal_action_during_a_combat_can_be_rendered(mode: str) -> None:
    pytest.importorskip("resvg_py")
    attacked = {"armies": [["PANNONIA INFERIOR", "III", "army"]], "tokens": {"PANNONIA INFERIOR": "revolt"}}
    at = position(rules={"variants": ["imperivm"]}, emperor="maximian", dice=(5, 1, 3, 3), emperors={"galerius": "NORICVM"}, **attacked)
    env = TetrarchiaEnv(illegal="lose", render_mode=mode)
    env.restore(snapshot(at))
    env.step(env.action_id("end"))
    assert env.snapshot()["phase"] == "boost"
    env.step(env.action_id("end"))
    assert env.render() is not None
    assert (env.snapshot()["phase"], env.snapshot()["outcome"]) == ("over", "rome fell")
