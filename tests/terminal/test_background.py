"""Tests that run in the background of a shell, where Ctrl-C is ignored and inherited so."""

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
def test_a_person_in_a_terminal_of_his_own_can_still_stop_it() -> None:
    with Terminal("watch", "--speed", "0.01") as terminal:
        terminal.wait("action 0")
        terminal.type("\x03")
        assert terminal.finish(30) == 130
