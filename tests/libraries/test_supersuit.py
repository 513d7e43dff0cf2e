"""SuperSuit's wrappers with mask="info"; docs/libraries/supersuit.md has the same lists."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tetrarchia_env import env, parallel_env

supersuit = pytest.importorskip("supersuit")

PAGE = Path(__file__).parents[2] / "docs" / "libraries" / "supersuit.md"
WORKING: dict[str, tuple[Any, ...]] = {
    "agent_indicator_v0": (),
    "clip_reward_v0": (),
    "delay_observations_v0": (2,),
    "dtype_v0": (np.float16,),
    "flatten_v0": (),
    "frame_stack_v1": (4,),
    "max_observation_v0": (2,),
    "nan_noop_v0": (0,),
    "nan_zeros_v0": (),
    "normalize_obs_v0": (),
    "pad_action_space_v0": (),
    "pad_observations_v0": (),
    "reshape_v0": ((1344, 1),),
}
NEEDS_A_BOX = ("agent_indicator_v0", "dtype_v0", "flatten_v0", "frame_stack_v1", "normalize_obs_v0", "pad_observations_v0", "reshape_v0")
NOT_FOR_THIS_GAME: dict[str, tuple[Any, ...]] = {"frame_skip_v0": (2,), "sticky_actions_v0": (0.9,), "scale_actions_v0": (2,)}

pytestmark = pytest.mark.filterwarnings("ignore")  # SuperSuit warns about its own spaces


def wrapped(name: str, arguments: tuple[Any, ...], make: Callable[..., Any], mask: str) -> Any:
    return getattr(supersuit, name)(make(level="5000", mask=mask), *arguments)


def legal(info: dict[str, Any], step: int) -> int:
    """Return a legal action that varies with the step."""
    actions = np.flatnonzero(info["action_mask"])
    return int(actions[step % len(actions)])


def play_aec(aec: Any) -> list[dict[str, Any]]:
    """Play one game and return its infos; check that every observation is in its space."""
    infos = []
    aec.reset(seed=1)
    for step, agent in enumerate(aec.agent_iter()):
        obs, _, terminated, truncated, info = aec.last()
        assert aec.observation_space(agent).contains(obs)
        infos.append(info)
        aec.step(None if terminated or truncated else legal(info, step))
    return infos


def play_parallel(parallel: Any) -> list[dict[str, Any]]:
    infos, step = [], 0
    obs, step_infos = parallel.reset(seed=1)
    while parallel.agents:
        assert all(parallel.observation_space(agent).contains(obs[agent]) for agent in parallel.agents)
        obs, *_, step_infos = parallel.step({agent: legal(step_infos[agent], step) for agent in parallel.agents})
        infos += step_infos.values()
        step += 1
    return infos


@pytest.mark.parametrize("name", WORKING)
def test_wrapper_plays_complete_games_without_illegal_actions(name: str) -> None:
    infos = play_aec(wrapped(name, WORKING[name], env, "info")) + play_parallel(wrapped(name, WORKING[name], parallel_env, "info"))

    assert infos[-1]["outcome"] != 0
    assert not any(info["illegal_action"] for info in infos)


def test_black_death_plays_complete_games_in_the_parallel_api() -> None:
    infos = play_parallel(wrapped("black_death_v3", (), parallel_env, "info"))

    assert not any(info.get("illegal_action", 0) for info in infos)


def test_concatenated_games_form_a_vector_environment() -> None:
    vector = supersuit.pettingzoo_env_to_vec_env_v1(parallel_env(level="5000", mask="info"))
    games = supersuit.concat_vec_envs_v1(vector, 2, num_cpus=0, base_class="gymnasium")

    _, infos = games.reset(seed=1)
    for step in range(100):
        _, _, _, _, infos = games.step(np.array([legal(info, step) for info in infos]))

    assert len(infos) == 2 * 4
    assert not any(info["illegal_action"] for info in infos)


@pytest.mark.parametrize("name", NEEDS_A_BOX)
def test_wrapper_refuses_the_mask_in_the_observation(name: str) -> None:
    with pytest.raises((AssertionError, AttributeError)):
        wrapped(name, WORKING[name], env, "observation")


@pytest.mark.parametrize("name", NOT_FOR_THIS_GAME)
def test_wrapper_that_repeats_or_scales_actions_is_unsuitable(name: str) -> None:
    """Check that these wrappers play illegal actions or lose the mask, because they change the chosen action."""
    with pytest.raises((AssertionError, KeyError)):
        assert not any(info["illegal_action"] for info in play_aec(wrapped(name, NOT_FOR_THIS_GAME[name], env, "info")))


def test_documentation_lists_the_same_wrappers() -> None:
    page = PAGE.read_text(encoding="utf-8")

    assert [name for name in (*WORKING, *NOT_FOR_THIS_GAME, "black_death_v3", "concat_vec_envs_v1") if name not in page] == []
