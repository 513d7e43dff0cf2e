"""The `tetrarchia` command in a real pseudo-terminal, controlled by key presses."""

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

PATIENCE = 60.0  # seconds; generous for a busy machine, a wait ends as soon as possible
# Make the terminal the controlling one and restore the default Ctrl-C: background jobs of a shell inherit an ignored SIGINT.
LAUNCH = """
import fcntl, signal, termios
signal.signal(signal.SIGINT, signal.default_int_handler)
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
from tetrarchia_app.cli import main
main()
"""
CODES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def without_codes(text: str) -> str:
    """Return the text without escape codes."""
    return CODES.sub("", text)


class Terminal:
    """A command that runs in a new terminal, as a context manager."""

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
        self._seen = 0  # end of the text that was already waited for

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
        """Return the terminal's current modes."""
        return termios.tcgetattr(self._slave)

    @property
    def picture(self) -> str:
        """Return the last screen drawn, with its escape codes."""
        return self.output.rpartition("\x1b[H")[2]

    def type(self, keys: str) -> None:
        """Send key presses."""
        os.write(self._master, keys.encode())

    def resize(self, columns: int, rows: int) -> None:
        """Resize the window; the system notifies the command."""
        self._set_size(columns, rows)

    def send(self, number: signal.Signals) -> None:
        """Send a signal to the command."""
        self._process.send_signal(number)

    def wait(self, *words: str) -> None:
        """Wait until all these texts were written, in this order, after the text already waited for."""
        for expected in words:
            self._wait_for(expected)

    def wait_until(self, condition: Callable[[], bool]) -> None:
        """Wait until the condition holds or the command has ended."""
        while not condition() and self._process.poll() is None:
            self._read(0.01)

    def finish(self, seconds: float = PATIENCE) -> int | None:
        """Wait for the command to end and read its remaining output; return the exit code, or None on timeout."""
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
