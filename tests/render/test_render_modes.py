"""Every render mode in every API, without a display or delays (conftest.py)."""

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

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


def started_env(**arguments: Any) -> Any:
    env = tetrarchia_v0.raw_env(**arguments)
    env.reset(seed=1)
    return env


@pytest.mark.parametrize("mode", [None, *RENDER_MODES])
@every_configuration
def test_gymnasium_check_in_every_mode(arguments: dict[str, Any], mode: str | None) -> None:
    """Without a mode the checker tries all modes of the metadata."""
    env = gymnasium.make("Tetrarchia-v0", **arguments, render_mode=mode)
    check_env(env.unwrapped)
    env.close()


def test_result_of_each_mode() -> None:
    text, pixels, nothing, svg = (started_env(render_mode=mode).render() for mode in RENDER_MODES)
    assert "ROMA" in text
    assert (pixels.shape, pixels.dtype) == ((492, 900, 3), np.uint8)
    assert nothing is None
    assert svg.startswith("<svg")
    assert started_env().render() is None


def test_parallel_api_renders() -> None:
    env = tetrarchia_v0.parallel_env(render_mode="rgb_array")
    env.reset(seed=1)
    assert np.ptp(env.render()) > 100


@pytest.mark.parametrize("mode", ["svg", "ansi"])
def test_drawing_shows_the_latest_events(mode: str) -> None:
    env = started_env(render_mode=mode)
    env.step(env.action_id("fleet ATLANTICVM"))
    assert "fleet" in env.render().replace(started_env(render_mode=mode).render(), "")
    env.reset(seed=1)
    assert env.render() == started_env(render_mode=mode).render()


def test_notebooks_display_the_board_as_svg() -> None:
    env = tetrarchia_v0.raw_env()
    assert env._repr_svg_() is None
    env.reset(seed=1)
    assert env._repr_svg_().startswith("<svg")
    single = gymnasium.make("Tetrarchia-v0").unwrapped
    single.reset(seed=1)
    assert single._repr_svg_() == env._repr_svg_()


@pytest.mark.parametrize("mode", VECTOR_RENDER_MODES)
def test_vector_api_renders_each_game_like_a_single_one(mode: str) -> None:
    many = tetrarchia_v0.vector_env(3, render_mode=mode)
    many.reset(seed=1)
    drawings = many.render()
    assert isinstance(drawings, tuple)
    assert mode in many.metadata["render_modes"]
    assert np.array_equal(drawings[0], started_env(render_mode=mode).render())
    assert not np.array_equal(drawings[0], drawings[1])


@pytest.mark.parametrize("api", VECTOR_APIS)
def test_vector_apis_refuse_human_mode(api: str) -> None:
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
def test_missing_library_gives_a_one_line_error(name: str, mode: str) -> None:
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


def test_import_loads_no_rendering_library() -> None:
    script = "import sys, tetrarchia_env, tetrarchia_env.tetrarchia_v0, tetrarchia_env.envs.gymnasium, tetrarchia_env.render.video\n"
    script += "print({'pygame', 'PIL', 'av', 'resvg_py'} & set(sys.modules))"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "set()"
