"""Every render mode in every API; no display, no waiting (conftest.py)."""

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from pettingzoo.test import render_test

from tetrarchia_env import tetrarchia_v0
from tetrarchia_env.engine.state import MODULES, VARIANTS
from tetrarchia_env.envs.spaces import RENDER_MODES, VECTOR_RENDER_MODES

pytestmark = pytest.mark.usefixtures("hurried")

CONFIGURATIONS: dict[str, dict[str, Any]] = {
    "default": {},
    "everything": {"variants": VARIANTS, "modules": MODULES},
    "scenario": {"scenario": "great_persian_war"},
}
every_configuration = pytest.mark.parametrize("arguments", CONFIGURATIONS.values(), ids=CONFIGURATIONS)
VECTOR_APIS: dict[str, Callable[..., Any]] = {"vector": tetrarchia_v0.vector_env, "sb3": tetrarchia_v0.sb3_vec_env}


def begun(**arguments: Any) -> Any:
    env = tetrarchia_v0.raw_env(**arguments)
    env.reset(seed=1)
    return env


# The modes of every API


@every_configuration
def test_pettingzoo_render_test_in_every_mode(arguments: dict[str, Any]) -> None:
    render_test(lambda render_mode: tetrarchia_v0.env(**arguments, render_mode=render_mode))
    render_test(lambda render_mode: tetrarchia_v0.raw_env(**arguments, render_mode=render_mode))


@pytest.mark.parametrize("mode", [None, *RENDER_MODES])
@every_configuration
def test_gymnasium_check_in_every_mode(arguments: dict[str, Any], mode: str | None) -> None:
    """Without a mode the checker goes through all that the metadata names."""
    env = gymnasium.make("Tetrarchia-v0", **arguments, render_mode=mode)
    check_env(env.unwrapped)
    env.close()


def test_what_the_modes_give() -> None:
    text, pixels, nothing, svg = (begun(render_mode=mode).render() for mode in RENDER_MODES)
    assert "ROMA" in text
    assert (pixels.shape, pixels.dtype) == ((492, 900, 3), np.uint8)
    assert nothing is None
    assert svg.startswith("<svg")
    assert begun().render() is None


def test_the_parallel_face_renders() -> None:
    env = tetrarchia_v0.parallel_env(render_mode="rgb_array")
    env.reset(seed=1)
    assert np.ptp(env.render()) > 100


@pytest.mark.parametrize("mode", ["svg", "ansi"])
def test_a_drawing_tells_what_just_happened(mode: str) -> None:
    env = begun(render_mode=mode)
    env.step(env.action_id("fleet ATLANTICVM"))
    assert "fleet" in env.render().replace(begun(render_mode=mode).render(), "")
    env.reset(seed=1)
    assert env.render() == begun(render_mode=mode).render()


def test_a_notebook_shows_the_board() -> None:
    env = tetrarchia_v0.raw_env()
    assert env._repr_svg_() is None
    env.reset(seed=1)
    assert env._repr_svg_().startswith("<svg")
    single = gymnasium.make("Tetrarchia-v0").unwrapped
    single.reset(seed=1)
    assert single._repr_svg_() == env._repr_svg_()


@pytest.mark.parametrize("mode", VECTOR_RENDER_MODES)
def test_many_games_are_drawn_each_as_if_alone(mode: str) -> None:
    many = tetrarchia_v0.vector_env(3, render_mode=mode)
    many.reset(seed=1)
    drawings = many.render()
    assert isinstance(drawings, tuple)
    assert mode in many.metadata["render_modes"]
    assert np.array_equal(drawings[0], begun(render_mode=mode).render())
    assert not np.array_equal(drawings[0], drawings[1])


@pytest.mark.parametrize("api", VECTOR_APIS)
def test_no_window_shows_many_games(api: str) -> None:
    if api == "sb3":
        pytest.importorskip("stable_baselines3")
    with pytest.raises(ValueError, match=r"None or one of ansi, rgb_array, svg; got 'human'"):
        VECTOR_APIS[api](2, render_mode="human")


def test_stable_baselines3_renders() -> None:
    pytest.importorskip("stable_baselines3")
    env = tetrarchia_v0.sb3_vec_env(3, seed=1, render_mode="rgb_array")
    env.reset()
    assert env.render().shape == (2 * 492, 2 * 900, 3)
    assert [picture.shape for picture in env.get_images()] == [(492, 900, 3)] * 3
    assert env.metadata["render_fps"] > 0
    text = tetrarchia_v0.sb3_vec_env(2, seed=1, render_mode="ansi")
    text.reset()
    assert ["ROMA" in board for board in text.env_method("render", indices=[1])] == [True]
    assert text.get_images() == [None, None]


@pytest.mark.parametrize(("name", "mode"), [("pygame", "human"), ("resvg_py", "rgb_array"), ("PIL", "rgb_array")])
def test_a_missing_library_is_one_sentence(name: str, mode: str) -> None:
    script = f"""
import sys
sys.modules["{name}"] = None
from tetrarchia_env import tetrarchia_v0
env = tetrarchia_v0.raw_env(render_mode="{mode}")
try:
    env.reset(seed=1)
    env.render()
except ValueError as error:
    print(error)
"""
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert name in run.stdout
    assert "pip install" in run.stdout
    assert run.stdout.count("\n") == 1


def test_importing_the_game_loads_no_library_for_pictures() -> None:
    script = "import sys, tetrarchia_env, tetrarchia_env.tetrarchia_v0, tetrarchia_env.envs.gymnasium, tetrarchia_env.render.video\n"
    script += "print({'pygame', 'PIL', 'av', 'resvg_py'} & set(sys.modules))"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "set()"
