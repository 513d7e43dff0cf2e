"""A window by pygame-ce, for the render mode `human` and for watching a game."""

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
from tetrarchia_env.render.raster import Pixels, draw_rgb, optional

NAME = "TETRARCHIA"
WIDTH = 1200  # of a new window, if it fits on the desktop
MARGIN = 0.9  # maximum fraction of the desktop
POLL_MS = 10  # between two polls for events
REDRAW_S = 0.3  # a paused picture is redrawn at this interval, so that it is sharp in a resized window
LEAVE = ("q", "escape")
HELP = "space: play or pause, arrows: one action, + -: speed, q: quit"


class Window:
    """A window that opens with the first picture and stays closed once the user has closed it; a copy is a new, closed window."""

    def __init__(self) -> None:
        self._pane: Any = None
        self._picture: Pixels | None = None
        self._is_dismissed = False

    def __reduce__(self) -> tuple[type["Window"], tuple[()]]:
        return Window, ()

    @property
    def is_open(self) -> bool:
        """Whether the window is open."""
        return self._pane is not None

    @property
    def width(self) -> int:
        """The width of a picture that fills the window."""
        return max(min(self._pane.size[0], self._pane.size[1] * theme.WIDTH // theme.HEIGHT), 1) if self.is_open else WIDTH

    def show(self, pixels: Pixels, title: str = NAME) -> None:
        """Show a picture; does nothing once the user has closed the window.

        Args:
            pixels: An array of shape (height, width, 3).
            title: Title of the window.

        Raises:
            TetrarchiaError: If there is no display.
        """
        if self._is_dismissed:
            return
        self._picture = pixels
        self._pane = self._pane or _new_pane(pixels)
        self._pane.title = title
        self._paint()
        self.next_key(0)

    def hold(self, seconds: float) -> None:
        """Process events for this number of seconds."""
        self.next_key(seconds)

    def next_key(self, seconds: float, keys: Collection[str] = ()) -> str:
        """Process events until one of these keys is pressed or the time has passed.

        Args:
            seconds: Maximum waiting time.
            keys: Names of the keys, as in `COMMANDS`.

        Returns:
            The name of the key, or an empty string.
        """
        pygame, until = optional("pygame"), time.monotonic() + seconds
        while self.is_open:
            event = pygame.event.poll()
            if event.type != pygame.NOEVENT:
                if (key := self._handle(event)) in keys:
                    return key
            elif time.monotonic() >= until:
                break
            else:
                pygame.time.wait(POLL_MS)
        return ""

    def close(self) -> None:
        """Close the window; the next picture opens a new one."""
        self._shut()
        self._is_dismissed = False

    def _shut(self) -> None:
        if self.is_open:
            self._pane.destroy()
        self._pane = self._picture = None

    def _handle(self, event: Any) -> str:
        """Handle an event; return the name of the key if one was pressed."""
        pygame = optional("pygame")
        if event.type == pygame.QUIT or (event.type == pygame.WINDOWCLOSE and event.window == self._pane):
            self._is_dismissed = True
            self._shut()
            pygame.event.clear()  # closing the last window causes a second event, which must not close the next one
        elif event.type in (pygame.WINDOWSIZECHANGED, pygame.WINDOWEXPOSED):
            self._paint()
        return _key_name(event) if event.type == pygame.KEYDOWN else ""

    def _paint(self) -> None:
        """Draw the picture in the middle, as large as it fits."""
        assert self._picture is not None
        pygame, surface = optional("pygame"), self._pane.get_surface()
        height, width = self._picture.shape[:2]
        scale = min(surface.get_width() / width, surface.get_height() / height)
        drawn = pygame.image.frombuffer(np.ascontiguousarray(self._picture), (width, height), "RGB")
        picture = pygame.transform.smoothscale(drawn, (max(int(width * scale), 1), max(int(height * scale), 1)))
        surface.fill(theme.PAPER)
        surface.blit(picture, picture.get_rect(center=surface.get_rect().center))
        self._pane.flip()


def _new_pane(pixels: Pixels) -> Any:
    check_display()
    os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
    pygame = optional("pygame")
    if not hasattr(pygame, "Window"):
        raise TetrarchiaError("a window needs pygame-ce instead of pygame: pip uninstall pygame, then pip install pygame-ce")
    try:
        pygame.display.init()
        (height, width), desktop = pixels.shape[:2], pygame.display.get_desktop_sizes()[0]
        scale = min(1.0, MARGIN * desktop[0] / width, MARGIN * desktop[1] / height)
        return pygame.Window(NAME, (int(width * scale), int(height * scale)), resizable=True)
    except pygame.error as error:
        raise TetrarchiaError(f"no window can be opened: {error}") from None


def check_display() -> None:
    """Check that this machine has a display; without one SDL would crash.

    Raises:
        TetrarchiaError: If there is none.
    """
    named = ("DISPLAY", "WAYLAND_DISPLAY", "SDL_VIDEODRIVER")
    if sys.platform not in ("darwin", "win32") and not any(os.environ.get(name) for name in named):
        raise TetrarchiaError(
            "a window needs a display and this machine has none: choose another way to render, or set SDL_VIDEODRIVER=dummy"
        )


def _key_name(event: Any) -> str:
    """Return the typed character, independent of the keyboard layout, or the name of the key."""
    typed: str = event.unicode
    return typed.lower() if typed.isprintable() and typed else str(optional("pygame").key.name(event.key))


@dataclass
class _Playback:
    """The state of playback."""

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
        pace = f"{self.speed:g} per second" if self.is_playing else "paused"
        return f"{NAME} · {self.number}: {done} · {pace} · {HELP}"

    def picture(self, width: int) -> Pixels:
        return draw_rgb(self.frame.snapshot, story=self.frame.story, dice=self.frame.dice, width=width)

    def forward(self) -> None:
        """Advance one action; pause at the end."""
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


COMMANDS: dict[str, Callable[[_Playback], None]] = {
    " ": _Playback.play_or_pause,
    "right": _Playback.step_forward,
    "left": _Playback.step_back,
    "+": _Playback.faster,
    "-": _Playback.slower,
}


def open_window(frame_at: Callable[[int], Frame], speed: float) -> None:
    """Show a game in a window until the user closes it.

    Args:
        frame_at: Returns the frame with a given number, or the last frame, e.g. `Game.frame`.
        speed: Actions per second.

    Raises:
        TetrarchiaError: If the speed is not allowed, or there is no display.
    """
    check_speed(speed)
    window, playback = Window(), _Playback(frame_at, speed)
    check_display()
    try:
        while _show_frame(playback, window):
            pass
    finally:
        window.close()


def _show_frame(playback: _Playback, window: Window) -> bool:
    """Show one picture and handle a key; return whether to continue."""
    window.show(playback.picture(window.width), playback.title)
    key = window.next_key(1 / playback.speed if playback.is_playing else REDRAW_S, (*COMMANDS, *LEAVE))
    if key in COMMANDS:
        COMMANDS[key](playback)
    elif playback.is_playing:
        playback.forward()
    return window.is_open and key not in LEAVE
