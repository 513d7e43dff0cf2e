"""The `tetrarchia` command in a real pseudo-terminal, with a person's keys."""

import fcntl
import os
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable
from typing import Self

PATIENCE = 60.0  # seconds; a busy machine may be slow, a wait ends as soon as it can
# The terminal becomes its own, and Ctrl-C means what it does by default: in the background of a shell it is ignored, and inherited so.
LAUNCH = """
import fcntl, signal, termios
signal.signal(signal.SIGINT, signal.default_int_handler)
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
from tetrarchia_app.cli import main
main()
"""
CODES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def without_codes(text: str) -> str:
    """What a person reads."""
    return CODES.sub("", text)


class Terminal:
    """A command that runs in a terminal of its own; use it in a `with`."""

    def __init__(self, *arguments: str, columns: int = 100, rows: int = 40) -> None:
        self._master, self._slave = os.openpty()
        self._set_size(columns, rows)
        self.modes_before = termios.tcgetattr(self._slave)
        environment = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES", "NO_COLOR")}
        self._process = subprocess.Popen(
            [sys.executable, "-c", LAUNCH, *arguments],
            stdin=self._slave,
            stdout=self._slave,
            stderr=self._slave,
            start_new_session=True,
            env={**environment, "TERM": "xterm-256color"},
        )
        self.output = ""
        self._seen = 0  # how much of it was waited for

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()
        os.close(self._master)
        os.close(self._slave)

    @property
    def modes(self) -> list[object]:
        """The terminal's modes now."""
        return termios.tcgetattr(self._slave)

    @property
    def picture(self) -> str:
        """What was drawn last, with its codes."""
        return self.output.rpartition("\x1b[H")[2]

    def type(self, keys: str) -> None:
        """Press these keys."""
        os.write(self._master, keys.encode())

    def resize(self, columns: int, rows: int) -> None:
        """As when a person drags the window: the system tells the command."""
        self._set_size(columns, rows)

    def send(self, number: signal.Signals) -> None:
        """A signal to the command."""
        self._process.send_signal(number)

    def wait(self, *words: str) -> None:
        """Until all these were written, in this order, after what was waited for before."""
        for expected in words:
            self._wait_for(expected)

    def wait_until(self, condition: Callable[[], bool]) -> None:
        """Until this is so, or the command has ended."""
        while not condition() and self._process.poll() is None:
            self._read(0.01)

    def finish(self, seconds: float = PATIENCE) -> int | None:
        """The exit code, once the command has ended; what it wrote last is read too. None if it has not ended."""
        deadline = time.monotonic() + seconds
        while self._process.poll() is None and time.monotonic() < deadline:
            self._read(0.05)
        while self._read(0.0):
            pass
        return self._process.poll()

    def _wait_for(self, expected: str) -> None:
        deadline = time.monotonic() + PATIENCE
        while (place := without_codes(self.output).find(expected, self._seen)) < 0:
            ended = self._process.poll() is not None
            if not self._read(0.5) and (ended or time.monotonic() > deadline):
                raise AssertionError(f"{expected!r} did not come; the last output was {without_codes(self.output)[-3000:]}")
        self._seen = place + len(expected)

    def _read(self, seconds: float) -> bool:
        if not select.select([self._master], [], [], seconds)[0]:
            return False
        data = os.read(self._master, 65536)
        self.output += data.decode()
        return bool(data)

    def _set_size(self, columns: int, rows: int) -> None:
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
