"""Fixtures for all tests: no test opens a visible window or waits for one."""

import os
import warnings

import pytest

os.environ["PYGAME_HIDE_SUPPORT_PROMPT"] = "1"
with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # if pygame is installed, PettingZoo's tests import a game with deprecated code
    import pettingzoo.test  # noqa: F401


@pytest.fixture(autouse=True)
def no_display(monkeypatch: pytest.MonkeyPatch) -> None:
    """Prevent tests from opening windows on a developer's desktop."""
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")


@pytest.fixture
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Remove the delay between frames in the `human` render mode; skip if the rendering libraries are missing."""
    from tetrarchia_env.envs.aec import TetrarchiaAEC
    from tetrarchia_env.envs.gymnasium import TetrarchiaEnv

    for name in ("pygame", "resvg_py", "PIL"):
        pytest.importorskip(name)
    for api in (TetrarchiaAEC, TetrarchiaEnv):
        monkeypatch.setitem(api.metadata, "render_fps", 1000)
