"""The terminal as a screen with keys: single keys, the alternate screen, and always the old state afterwards."""

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

ENTER = "\x1b[?1049h\x1b[?25l"  # the alternate screen, no cursor
LEAVE = "\x1b[?25h\x1b[?1049l"
CODE = re.compile(rb"\x1b\[[0-9;]*[@-~]|\x1bO[@-~]|.", re.DOTALL)  # one key
BEGUN = re.compile(rb"\x1b(\[[0-9;]*|O)?$")  # a key's code that may go on
PATIENCE = 0.05  # seconds for the rest of it
KEYS = {
    b"\x1b[A": "up", b"\x1b[B": "down", b"\x1b[C": "right", b"\x1b[D": "left",
    b"\x1b[H": "home", b"\x1b[1~": "home", b"\x1b[7~": "home",
    b"\x1b[F": "end", b"\x1b[4~": "end", b"\x1b[8~": "end",
    b"\x1b[5~": "page up", b"\x1b[6~": "page down",
    b"\r": "enter", b"\n": "enter", b"\x7f": "backspace", b"\x08": "backspace", b"\x1b": "escape", b"\x04": "eof",
}  # fmt: skip


def keys_in(data: bytes) -> list[str]:
    """The keys that these bytes stand for; nothing at all is the end of the input."""
    codes = CODE.findall(data)
    return [KEYS.get(code.replace(b"\x1bO", b"\x1b["), code.decode("ascii", "replace")) for code in codes] or ["eof"]


class Screen:
    """What `open_screen` gives: something to draw on, and keys one by one."""

    def __init__(self, keyboard: int, bell: int) -> None:
        self._keyboard = keyboard
        self._bell = bell
        self._keys: list[str] = []

    def show(self, lines: list[str]) -> None:
        """Replace everything; the lines must fit."""
        _write("\x1b[H" + "".join(f"{line}\x1b[K\n" for line in lines[:-1]) + lines[-1] + "\x1b[J")

    def key(self, seconds: float | None) -> str | None:
        """The next key, or "resize" when the window changed; None if nothing came in so many seconds."""
        if not self._keys:
            self._read(seconds)
        return self._keys.pop(0) if self._keys else None

    def _read(self, seconds: float | None) -> None:
        ready, _, _ = select.select([self._keyboard, self._bell], [], [], seconds)
        if self._bell in ready:
            os.read(self._bell, 1024)
            self._keys.append("resize")
        if self._keyboard in ready:
            self._keys += keys_in(self._typed())

    def _typed(self) -> bytes:
        """What was typed, and the rest of a code that arrived in part."""
        data = os.read(self._keyboard, 1024)
        while BEGUN.search(data) and select.select([self._keyboard], [], [], PATIENCE)[0]:
            data += os.read(self._keyboard, 1024)
        return data


@contextmanager
def open_screen() -> Iterator[Screen]:
    """The whole terminal, until the end of the `with`, however that comes: error, Ctrl-C, SIGTERM; Ctrl-Z lends it back."""
    keyboard = sys.stdin.fileno()
    modes = termios.tcgetattr(keyboard)
    with _bell() as bell, _handlers(_suspending(keyboard, modes)):
        try:
            _take(keyboard)
            yield Screen(keyboard, bell)
        finally:
            with _handlers({signal.SIGINT: signal.SIG_IGN}):  # a second Ctrl-C must not stop this
                _give_back(keyboard, modes)


def _take(keyboard: int) -> None:
    tty.setcbreak(keyboard)  # not raw: Ctrl-C stays a signal
    _write(ENTER)


def _give_back(keyboard: int, modes: list[Any]) -> None:
    termios.tcsetattr(keyboard, termios.TCSANOW, modes)
    _write(LEAVE)


def _write(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


@contextmanager
def _bell() -> Iterator[int]:
    """A pipe that every signal writes to, so that it ends a wait for keys."""
    bell, ringer = os.pipe()
    os.set_blocking(ringer, False)
    before = signal.set_wakeup_fd(ringer, warn_on_full_buffer=False)
    try:
        yield bell
    finally:
        signal.set_wakeup_fd(before)
        os.close(bell)
        os.close(ringer)


@contextmanager
def _handlers(wanted: dict[Any, Any]) -> Iterator[None]:
    """Other handlers for these signals, for a while."""
    before = {number: signal.signal(number, handler) for number, handler in wanted.items()}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _suspending(keyboard: int, modes: list[Any]) -> dict[Any, Any]:
    """What signals do while the screen is ours."""

    def suspend(number: int, _frame: FrameType | None) -> None:
        _give_back(keyboard, modes)
        with _handlers({number: signal.SIG_DFL}):
            os.kill(os.getpid(), number)
        _take(keyboard)

    return {signal.SIGWINCH: _ring, signal.SIGTERM: _stop, signal.SIGHUP: _stop, signal.SIGTSTP: suspend}


def _ring(_number: int, _frame: FrameType | None) -> None:
    """Nothing: the bell does it."""


def _stop(number: int, _frame: FrameType | None) -> None:
    raise SystemExit(128 + number)
