"""The terminal as a full screen with single keys; its old state is always restored."""

import os
import re
import select
import signal
import sys
import termios
import tty
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

ENTER_SCREEN = "\x1b[?1049h\x1b[?25l"  # the alternate screen, no cursor
LEAVE_SCREEN = "\x1b[?25h\x1b[?1049l"
KEY_CODE = re.compile(rb"\x1b\[[0-9;]*[@-~]|\x1bO[@-~]|.", re.DOTALL)
INCOMPLETE_CODE = re.compile(rb"\x1b(\[[0-9;]*|O)?$")
REST_TIMEOUT_S = 0.05  # for the rest of an incomplete code
KEYS = {
    b"\x1b[A": "up", b"\x1b[B": "down", b"\x1b[C": "right", b"\x1b[D": "left",
    b"\x1b[H": "home", b"\x1b[1~": "home", b"\x1b[7~": "home",
    b"\x1b[F": "end", b"\x1b[4~": "end", b"\x1b[8~": "end",
    b"\x1b[5~": "page up", b"\x1b[6~": "page down",
    b"\r": "enter", b"\n": "enter", b"\x7f": "backspace", b"\x08": "backspace", b"\x1b": "escape", b"\x04": "eof",
}  # fmt: skip


def keys_in(data: bytes) -> list[str]:
    """Return the names of the keys with these codes; no bytes are the end of the input."""
    codes = KEY_CODE.findall(data)
    return [KEYS.get(code.replace(b"\x1bO", b"\x1b["), code.decode("ascii", "replace")) for code in codes] or ["eof"]


class Screen:
    """The screen that `open_screen` yields: replaces its lines and reads single keys."""

    def __init__(self, keyboard: int, signals: int) -> None:
        self._keyboard = keyboard
        self._signals = signals
        self._keys: list[str] = []

    def show(self, lines: list[str]) -> None:
        """Replace the content of the screen; the lines must fit."""
        _write("\x1b[H" + "".join(f"{line}\x1b[K\n" for line in lines[:-1]) + lines[-1] + "\x1b[J")

    def key(self, seconds: float | None) -> str | None:
        """Return the next key, or "resize" when the size of the window changed; `None` after this many seconds."""
        if not self._keys:
            self._read(seconds)
        return self._keys.pop(0) if self._keys else None

    def _read(self, seconds: float | None) -> None:
        ready, _, _ = select.select([self._keyboard, self._signals], [], [], seconds)
        if self._signals in ready:
            os.read(self._signals, 1024)
            self._keys.append("resize")
        if self._keyboard in ready:
            data = os.read(self._keyboard, 1024)
            while INCOMPLETE_CODE.search(data) and select.select([self._keyboard], [], [], REST_TIMEOUT_S)[0]:
                data += os.read(self._keyboard, 1024)
            self._keys += keys_in(data)


@contextmanager
def open_screen() -> Iterator[Screen]:
    """Use the whole terminal, and restore it afterwards, also after an error, Ctrl-C or SIGTERM, and during Ctrl-Z."""
    keyboard = sys.stdin.fileno()
    modes = termios.tcgetattr(keyboard)
    with _signal_pipe() as signals, _handlers(_screen_handlers(keyboard, modes)):
        try:
            _enter(keyboard)
            yield Screen(keyboard, signals)
        finally:
            with _handlers({signal.SIGINT: signal.SIG_IGN}):  # a second Ctrl-C must not interrupt this
                _leave(keyboard, modes)


def _enter(keyboard: int) -> None:
    tty.setcbreak(keyboard)  # not raw: Ctrl-C stays a signal
    _write(ENTER_SCREEN)


def _leave(keyboard: int, modes: list[Any]) -> None:
    termios.tcsetattr(keyboard, termios.TCSANOW, modes)
    _write(LEAVE_SCREEN)


def _write(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


@contextmanager
def _signal_pipe() -> Iterator[int]:
    """Yield a pipe that every signal writes to, so that a signal ends the wait for a key."""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    before = signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    try:
        yield reader
    finally:
        signal.set_wakeup_fd(before)
        os.close(reader)
        os.close(writer)


@contextmanager
def _handlers(handlers: dict[Any, Any]) -> Iterator[None]:
    """Replace the handlers of these signals."""
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _screen_handlers(keyboard: int, modes: list[Any]) -> dict[Any, Any]:
    """Return the signal handlers while the screen is in use."""

    def suspend(number: int, _frame: FrameType | None) -> None:
        _leave(keyboard, modes)
        with _handlers({number: signal.SIG_DFL}):
            os.kill(os.getpid(), number)
        _enter(keyboard)

    return {signal.SIGWINCH: lambda *_: None, signal.SIGTERM: _stop, signal.SIGHUP: _stop, signal.SIGTSTP: suspend}


def _stop(number: int, _frame: FrameType | None) -> None:
    raise SystemExit(128 + number)
