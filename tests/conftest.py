"""Windows in tests: nobody sees them, and nobody waits for them."""

import os
import warnings

import pytest

os.environ["PYGAME_HIDE_SUPPORT_PROMPT"] = "1"
with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # where pygame is, PettingZoo's tests load a game of theirs in their old way
    import pettingzoo.test  # noqa: F401


@pytest.fixture(autouse=True)
def no_display(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test opens a window on a developer's desktop."""
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")


@pytest.fixture
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """The mode `human` shows a picture only as long as it takes; skipped where the libraries for pictures are missing."""
    from tetrarchia_env.envs.aec import TetrarchiaAEC
    from tetrarchia_env.envs.gymnasium import TetrarchiaEnv

    for name in ("pygame", "resvg_py", "PIL"):
        pytest.importorskip(name)
    for api in (TetrarchiaAEC, TetrarchiaEnv):
        monkeypatch.setitem(api.metadata, "render_fps", 1000)
