"""Unmodified environment checkers of PettingZoo, Gymnasium and Stable-Baselines3; warnings are errors (pyproject.toml)."""

import gymnasium
import pytest
from gymnasium.utils.env_checker import check_env as gymnasium_check
from pettingzoo.test import api_test, parallel_api_test, parallel_seed_test, render_test, seed_test

from tetrarchia_env import tetrarchia_v0
from tetrarchia_env.engine.scenarios import SCENARIOS
from tetrarchia_env.engine.state import MODULES, VARIANTS
from tetrarchia_env.envs.spaces import RENDER_MODES

CONFIGURATIONS: dict[str, dict[str, object]] = {"default": {}, "everything": {"variants": VARIANTS, "modules": MODULES}}
CONFIGURATIONS |= {"mask in info": {"mask": "info"}, "last-border": {"task": "last-border", "reward": "borders"}}
CONFIGURATIONS |= {"calm-empire": {"task": "calm-empire"}}
CONFIGURATIONS |= {"head starts": {"level": ["4200", "5300"], "revolts": [0, 3], "secured": [0, 4]}}
CONFIGURATIONS |= {"local": {"view_radius": 2}, "local with memory": {"view_radius": 0, "last_seen": True, "mask": "info"}}
CONFIGURATIONS |= {"local, everything": {"view_radius": 1, "last_seen": True, "variants": VARIANTS, "modules": MODULES}}
CONFIGURATIONS |= {"local with messages": {"view_radius": 1, "last_seen": True, "message_tokens": 4}}
CONFIGURATIONS |= {name: {"scenario": name} for name in SCENARIOS}
every_configuration = pytest.mark.parametrize("arguments", CONFIGURATIONS.values(), ids=CONFIGURATIONS)


@every_configuration
@pytest.mark.filterwarnings("ignore:Observation (space for each agent|is not a NumPy array)")  # the observation also has a mask
@pytest.mark.filterwarnings("ignore:We recommend agents to be named")  # the agents have the names of the Emperors
def test_pettingzoo_api(arguments: dict[str, object]) -> None:
    api_test(tetrarchia_v0.env(**arguments), num_cycles=300)
    api_test(tetrarchia_v0.raw_env(**arguments), num_cycles=300)


@every_configuration
def test_pettingzoo_seed(arguments: dict[str, object]) -> None:
    seed_test(lambda: tetrarchia_v0.env(**arguments), num_cycles=50)


@every_configuration
def test_pettingzoo_parallel_api(arguments: dict[str, object]) -> None:
    parallel_api_test(tetrarchia_v0.parallel_env(**arguments), num_cycles=200)


@every_configuration
def test_pettingzoo_parallel_seed(arguments: dict[str, object]) -> None:
    parallel_seed_test(lambda: tetrarchia_v0.parallel_env(**arguments), num_cycles=50)


@every_configuration
@pytest.mark.usefixtures("hurried")
def test_pettingzoo_render(arguments: dict[str, object]) -> None:
    has_roma = dict.fromkeys(("ansi", "svg"), lambda board: "ROMA" in board)
    render_test(lambda render_mode: tetrarchia_v0.env(**arguments, render_mode=render_mode), has_roma)
    assert tetrarchia_v0.env().metadata["render_modes"] == list(RENDER_MODES)


@every_configuration
def test_gymnasium(arguments: dict[str, object]) -> None:
    env = gymnasium.make("Tetrarchia-v0", **arguments)
    gymnasium_check(env.unwrapped, skip_render_check=True)  # test_render_modes.py checks rendering
    assert env.spec is not None


@every_configuration
def test_stable_baselines3(arguments: dict[str, object]) -> None:
    sb3_check = pytest.importorskip("stable_baselines3.common.env_checker").check_env
    sb3_check(gymnasium.make("Tetrarchia-v0", **arguments).unwrapped)


@pytest.mark.parametrize("illegal", ["ignore", "lose"])
@pytest.mark.parametrize("mask", ["observation", "info"])
def test_checkers_that_ignore_the_mask(mask: str, illegal: str) -> None:
    """The checkers sample from all action ids, most of them illegal."""
    env = gymnasium.make("Tetrarchia-v0", mask=mask, illegal=illegal).unwrapped
    gymnasium_check(env, skip_render_check=True)
    pytest.importorskip("stable_baselines3.common.env_checker").check_env(env)
