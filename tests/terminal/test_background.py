"""Ctrl-C in a terminal whose parent process ignores SIGINT, as a background job of a shell does."""

import signal
from collections.abc import Iterator

import pytest

from helpers.pseudo_terminal import Terminal


@pytest.fixture
def ctrl_c_ignored() -> Iterator[None]:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("ctrl_c_ignored")
def test_ctrl_c_works_in_a_new_terminal_when_sigint_was_ignored() -> None:
    with Terminal("watch", "--speed", "0.01") as terminal:
        terminal.wait("action 0")
        terminal.type("\x03")
        assert terminal.finish(30) == 130
