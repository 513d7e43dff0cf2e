"""The window: opening, rendering, copies and keys, without a display or delays (conftest.py)."""

import copy
import pickle
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest

from helpers.random_games import random_game
from tetrarchia_env import tetrarchia_v0
from tetrarchia_env.game import Game
from tetrarchia_env.render import window as windows
from tetrarchia_env.render.frames import Frame
from tetrarchia_env.render.video import save_video
from tetrarchia_env.render.window import Window, open_window

pygame = pytest.importorskip("pygame")
pytestmark = pytest.mark.usefixtures("hurried")

COPIERS: dict[str, Callable[[Any], Any]] = {"deepcopy": copy.deepcopy, "pickle": lambda env: pickle.loads(pickle.dumps(env))}
COPIERS["clone"] = lambda env: env.clone()
HUMAN_APIS: dict[str, Callable[[], Any]] = {
    "aec": lambda: tetrarchia_v0.raw_env(render_mode="human"),
    "gymnasium": lambda: gymnasium.make("Tetrarchia-v0", render_mode="human").unwrapped,
}
every_human_api = pytest.mark.parametrize("make", HUMAN_APIS.values(), ids=HUMAN_APIS)


def started_env(**arguments: Any) -> Any:
    env = tetrarchia_v0.raw_env(**arguments)
    env.reset(seed=1)
    return env


def play(env: Any, steps: int = 1) -> None:
    for _ in range(steps):
        env.step(env.legal_actions()[-1])


# Human render mode


@every_human_api
def test_human_mode_shows_resets_and_steps_without_render_calls(make: Callable[[], Any], monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[Any] = []
    monkeypatch.setattr(Window, "show", lambda window, pixels: shown.append(pixels) or _show(window, pixels))
    env = make()
    env.reset(seed=1)
    assert env.window.is_open
    play(env, 2)
    assert len(shown) == 3
    assert not np.array_equal(shown[0], shown[1])
    assert env.render() is None
    env.close()
    assert (env.window.is_open, len(shown)) == (False, 4)


_show = Window.show


@every_human_api
def test_human_mode_limits_the_frame_rate(make: Callable[[], Any], monkeypatch: pytest.MonkeyPatch) -> None:
    env = make()
    monkeypatch.setitem(type(env).metadata, "render_fps", 5)
    began = time.monotonic()
    env.reset(seed=1)
    play(env, 2)
    assert time.monotonic() - began >= 3 / 5
    env.close()


@pytest.mark.parametrize("copier", COPIERS.values(), ids=COPIERS)
@every_human_api
def test_copy_is_exact_and_does_not_share_the_window(make: Callable[[], Any], copier: Callable[[Any], Any]) -> None:
    env = make()
    env.reset(seed=1)
    play(env, 3)
    twin = copier(env)
    assert (env.window.is_open, twin.window.is_open) == (True, False)
    play(twin, 4)
    play(env, 4)
    assert twin.position.tobytes() == env.position.tobytes()
    assert (twin.events.lines, twin.events.dice) == (env.events.lines, env.events.dice)
    assert not twin.window.is_open
    twin.render()
    assert twin.window.is_open
    twin.close()
    assert env.window.is_open
    env.close()


def test_window_closed_by_the_user_stays_closed() -> None:
    env = started_env(render_mode="human")
    pygame.event.post(pygame.event.Event(pygame.WINDOWCLOSE, window=env.window._pane))
    pygame.event.post(pygame.event.Event(pygame.QUIT))
    play(env)
    assert not env.window.is_open
    play(env)
    env.reset(seed=2)
    env.render()
    assert not env.window.is_open
    other = started_env(render_mode="human")
    assert other.window.is_open
    other.close()


def test_picture_fits_a_window_of_any_size() -> None:
    window = Window()
    window.show(np.full((492, 900, 3), 100, dtype=np.uint8))
    for size, width in {(500, 900): 500, (1300, 300): 548, (1, 1): 1}.items():
        window._pane.size = size
        window.hold(0)
        assert window.width == width
        assert max(window._pane.get_surface().get_at((size[0] // 2, size[1] // 2))[:3]) <= 100  # a pixel of the picture, not of the margin
    window.close()


def test_missing_display_gives_a_one_line_error_and_opens_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SDL_VIDEODRIVER", "DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(pygame, "Window", lambda *_, **__: pytest.fail("a window was opened"))
    monkeypatch.setattr(pygame.display, "init", lambda: pytest.fail("a display was opened"))
    with pytest.raises(ValueError, match=r"^a window needs a display and this machine has none: [^\n]+$"):
        started_env(render_mode="human")
    with pytest.raises(ValueError, match="needs a display"):
        open_window(Game(seed=1).frame, 2.0)


def test_failing_display_gives_a_one_line_error(monkeypatch: pytest.MonkeyPatch) -> None:
    pygame.display.quit()
    monkeypatch.setenv("SDL_VIDEODRIVER", "no_such_driver")
    with pytest.raises(ValueError, match=r"^no window can be opened: [^\n]+$"):
        started_env(render_mode="human")


# Playback in the window


class KeyPresser:
    """A simulated user who presses one key after each picture; it records the window titles."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, keys: str) -> None:
        self.keys = iter(keys.split())
        self.titles: list[str] = []
        monkeypatch.setattr(Window, "show", lambda window, pixels, title: self.show_and_press(window, pixels, title))

    def show_and_press(self, window: Window, pixels: Any, title: str) -> None:
        self.titles.append(title)
        _show(window, pixels, title)
        name = next(self.keys, "wait")
        if name == "close":
            pygame.event.post(pygame.event.Event(pygame.WINDOWCLOSE, window=window._pane))
        elif name != "wait":
            key, typed = {"space": (pygame.K_SPACE, " "), "escape": (pygame.K_ESCAPE, "\x1b")}.get(name, (0, name))
            arrow = {"left": pygame.K_LEFT, "right": pygame.K_RIGHT}.get(name)
            pygame.event.post(pygame.event.Event(pygame.KEYDOWN, key=arrow or key, unicode="" if arrow else typed))

    @property
    def numbers(self) -> list[int]:
        return [int(title.split(" · ")[1].partition(":")[0]) for title in self.titles]


def frame_at(frames: list[Frame]) -> Callable[[int], Frame]:
    return lambda number: frames[min(number, len(frames) - 1)]


@pytest.mark.parametrize(
    ("keys", "numbers"),
    [
        ("space right right left left left right q", [0, 0, 1, 2, 1, 0, 0, 1]),
        ("wait wait x escape", [0, 1, 2, 3]),  # an unknown key does not stop the playback
        ("wait space wait space wait Q", [0, 1, 1, 1, 1, 2]),
        ("wait close", [0, 1]),
    ],
)
def test_keys_control_the_playback(monkeypatch: pytest.MonkeyPatch, keys: str, numbers: list[int]) -> None:
    monkeypatch.setattr(windows, "REDRAW_S", 0.01)
    user = KeyPresser(monkeypatch, keys)
    open_window(frame_at(random_game()), 64)
    assert user.numbers == numbers


def test_playback_stops_at_the_end_and_the_title_shows_the_speed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(windows, "REDRAW_S", 0.01)
    user = KeyPresser(monkeypatch, "- + - wait wait wait wait right left q")
    open_window(frame_at(random_game()[:3]), 64)
    assert user.numbers == [0, 0, 0, 0, 1, 2, 2, 2, 2, 1]
    assert [title.split(" · ")[2] for title in user.titles[:4]] == ["64 per second", "32 per second", "64 per second", "32 per second"]
    assert "paused" in user.titles[-1]


@pytest.mark.parametrize("speed", [0, -1, 2000, float("nan")])
def test_invalid_speed_is_refused(speed: float, tmp_path: Path) -> None:
    for watch in (lambda: open_window(Game(seed=1).frame, speed), lambda: save_video([], tmp_path / "game.gif", speed)):
        with pytest.raises(ValueError, match="actions per second"):
            watch()
