"""Pictures in a window, by pygame-ce; and a show that is watched there."""

import os
import sys
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

import numpy as np

from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.render import theme
from tetrarchia_env.render.frames import MAX_SPEED, MIN_SPEED, Frame, check_speed
from tetrarchia_env.render.optional import library
from tetrarchia_env.render.raster import Pixels, draw_rgb

NAME = "TETRARCHIA"
WIDTH = 1200  # of a new window, if the desktop is larger
MARGIN = 0.9  # of the desktop, at most
NAP = 10  # milliseconds between two looks at what the person does
PATIENCE = 0.3  # seconds until a paused picture is drawn again, sharp in a window of another size
LEAVE = ("q", "escape")
HELP = "space: play or pause, arrows: one action, + -: speed, q: quit"


class Window:
    """Opens when the first picture comes. A person who closes it is not shown another; a copy is a new one, not open."""

    def __init__(self) -> None:
        self._pane: Any = None
        self._picture: Pixels | None = None
        self._is_dismissed = False

    def __reduce__(self) -> tuple[type["Window"], tuple[()]]:
        return Window, ()

    @property
    def is_open(self) -> bool:
        """Whether somebody can see it."""
        return self._pane is not None

    @property
    def width(self) -> int:
        """How wide a picture fills it."""
        return max(min(self._pane.size[0], self._pane.size[1] * theme.WIDTH // theme.HEIGHT), 1) if self.is_open else WIDTH

    def show(self, pixels: Pixels, title: str = NAME) -> None:
        """This picture from now on; ValueError where there is no display."""
        if self._is_dismissed:
            return
        self._picture = pixels
        self._pane = self._pane or _new_pane(pixels)
        self._pane.title = title
        self._paint()
        self.next_key(0)

    def hold(self, seconds: float) -> None:
        """Give the person time to look."""
        self.next_key(seconds)

    def next_key(self, seconds: float, keys: Collection[str] = ()) -> str:
        """The first of these keys that is pressed within this time, or nothing."""
        pygame, until = library("pygame"), time.monotonic() + seconds
        while self.is_open:
            event = pygame.event.poll()
            if event.type != pygame.NOEVENT:
                if (key := self._heed(event)) in keys:
                    return key
            elif time.monotonic() >= until:
                break
            else:
                pygame.time.wait(NAP)
        return ""

    def close(self) -> None:
        """Close it; the next picture opens another."""
        self._shut()
        self._is_dismissed = False

    def _shut(self) -> None:
        if self.is_open:
            self._pane.destroy()
        self._pane = self._picture = None

    def _heed(self, event: Any) -> str:
        """Do what the person wants with the window; the key that was pressed, if it is one."""
        pygame = library("pygame")
        if event.type == pygame.QUIT or (event.type == pygame.WINDOWCLOSE and event.window == self._pane):
            self._is_dismissed = True
            self._shut()
            pygame.event.clear()  # closing the last window brings a second event, which must not close the next one
        elif event.type in (pygame.WINDOWSIZECHANGED, pygame.WINDOWEXPOSED):
            self._paint()
        return _key_name(event) if event.type == pygame.KEYDOWN else ""

    def _paint(self) -> None:
        """The picture in the middle, as large as it fits."""
        assert self._picture is not None
        transform, surface = library("pygame").transform, self._pane.get_surface()
        height, width = self._picture.shape[:2]
        scale = min(surface.get_width() / width, surface.get_height() / height)
        picture = transform.smoothscale(_surface(self._picture), (max(int(width * scale), 1), max(int(height * scale), 1)))
        surface.fill(theme.PAPER)
        surface.blit(picture, picture.get_rect(center=surface.get_rect().center))
        self._pane.flip()


def _new_pane(pixels: Pixels) -> Any:
    check_display()
    os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
    pygame = library("pygame")
    if not hasattr(pygame, "Window"):
        raise TetrarchiaError('a window needs pygame-ce in the place of pygame: pip uninstall pygame, pip install "tetrarchia[render]"')
    try:
        pygame.display.init()
        return pygame.Window(NAME, _first_size(pixels, pygame.display.get_desktop_sizes()[0]), resizable=True)
    except pygame.error as error:
        raise TetrarchiaError(f"no window can be opened: {error}") from None


def check_display() -> None:
    """ValueError on a machine without a display: there a window must not even be tried."""
    named = ("DISPLAY", "WAYLAND_DISPLAY", "SDL_VIDEODRIVER")
    if sys.platform not in ("darwin", "win32") and not any(os.environ.get(name) for name in named):
        raise TetrarchiaError(
            "a window needs a display and this machine has none: choose another way to render, or set SDL_VIDEODRIVER=dummy"
        )


def _first_size(pixels: Pixels, desktop: tuple[int, int]) -> tuple[int, int]:
    height, width = pixels.shape[:2]
    scale = min(1.0, MARGIN * desktop[0] / width, MARGIN * desktop[1] / height)
    return int(width * scale), int(height * scale)


def _surface(pixels: Pixels) -> Any:
    height, width = pixels.shape[:2]
    return library("pygame").image.frombuffer(np.ascontiguousarray(pixels), (width, height), "RGB")


def _key_name(event: Any) -> str:
    """A letter or sign as typed, whatever the keyboard; else the name on the key."""
    typed: str = event.unicode
    return typed.lower() if typed.isprintable() and typed else str(library("pygame").key.name(event.key))


@dataclass
class _Projector:
    """Where a show is, and how it goes on."""

    frame_at: Callable[[int], Frame]
    speed: float
    number: int = 0
    is_playing: bool = True

    @property
    def frame(self) -> Frame:
        return self.frame_at(self.number)

    @property
    def title(self) -> str:
        done = f"{self.frame.agent} {self.frame.action}" if self.frame.agent else "the game begins"
        pace = f"{self.speed:g} a second" if self.is_playing else "paused"
        return f"{NAME} · {self.number}: {done} · {pace} · {HELP}"

    def picture(self, width: int) -> Pixels:
        return draw_rgb(self.frame.snapshot, story=self.frame.story, dice=self.frame.dice, width=width)

    def forward(self) -> None:
        """One action; at the end it pauses."""
        is_more = self.frame_at(self.number + 1).number > self.number
        self.number += is_more
        self.is_playing &= is_more

    def step_forward(self) -> None:
        self.is_playing = False
        self.forward()

    def step_back(self) -> None:
        self.is_playing = False
        self.number = max(self.number - 1, 0)

    def play_or_pause(self) -> None:
        self.is_playing = not self.is_playing

    def faster(self) -> None:
        self.speed = min(2 * self.speed, MAX_SPEED)

    def slower(self) -> None:
        self.speed = max(self.speed / 2, MIN_SPEED)


COMMANDS: dict[str, Callable[[_Projector], None]] = {
    " ": _Projector.play_or_pause,
    "right": _Projector.step_forward,
    "left": _Projector.step_back,
    "+": _Projector.faster,
    "-": _Projector.slower,
}


def open_window(frame_at: Callable[[int], Frame], speed: float) -> None:
    """Show a game in a window until the user closes it.

    Args:
        frame_at: returns the frame of a number, or the last frame, e.g. `Game.frame`
        speed: actions per second
    """
    check_speed(speed)
    window, projector = Window(), _Projector(frame_at, speed)
    check_display()
    try:
        while _project(projector, window):
            pass
    finally:
        window.close()


def _project(projector: _Projector, window: Window) -> bool:
    """One picture and what the person does about it; whether to go on."""
    window.show(projector.picture(window.width), projector.title)
    key = window.next_key(1 / projector.speed if projector.is_playing else PATIENCE, (*COMMANDS, *LEAVE))
    if key in COMMANDS:
        COMMANDS[key](projector)
    elif projector.is_playing:
        projector.forward()
    return window.is_open and key not in LEAVE
