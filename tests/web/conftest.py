"""What the tests of the pages share: a server with trained colleagues, and a browser."""

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from helpers.browser import BROWSER, DRIVER, MISSING, Browser, browser

if TYPE_CHECKING:
    from helpers.web_server import Server

os.environ.setdefault("OMP_NUM_THREADS", "1")  # the tests' machine has few cores, and browsers beside torch


@pytest.fixture(name="server", scope="module")
def a_server_with_trained_agents(tmp_path_factory: pytest.TempPathFactory) -> "Iterator[Server]":
    pytest.importorskip("torch")
    from helpers.web_server import serving
    from tetrarchia_app.cli.serve import thinkers

    with serving(tmp_path_factory.mktemp("rooms"), ("ppo", "random"), **thinkers("ppo")) as server:
        yield server


@pytest.fixture(name="chromium", scope="module")
def a_browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    if not (BROWSER and DRIVER):
        pytest.skip(MISSING)
    with browser(tmp_path_factory.mktemp("chromium")) as window:
        yield window


@pytest.fixture(name="page")
def a_page(server: "Server", chromium: Browser) -> Iterator[Browser]:
    """A browser that knows nothing of the tests before."""
    chromium.forget(server.origin)
    yield chromium
    complaints = chromium.complaints()
    chromium.open("about:blank")
    assert complaints == []
