"""Fixtures of the web tests: a server with trained agents, and a browser."""

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from helpers.browser import BROWSER, DRIVER, MISSING, Browser, browser

if TYPE_CHECKING:
    from helpers.web_server import Server

os.environ.setdefault("OMP_NUM_THREADS", "1")  # browsers and torch share few cores


@pytest.fixture(name="server", scope="package")
def server_with_trained_agents(tmp_path_factory: pytest.TempPathFactory) -> "Iterator[Server]":
    pytest.importorskip("torch")
    from helpers.web_server import serving
    from tetrarchia_app.cli.serve import COACHES, make_coach

    with serving(tmp_path_factory.mktemp("rooms"), ("ppo", "random"), coach=make_coach(*COACHES)) as server:
        yield server


@pytest.fixture(scope="package")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    if not (BROWSER and DRIVER):
        pytest.skip(MISSING)
    with browser(tmp_path_factory.mktemp("chromium")) as window:
        yield window


@pytest.fixture
def page(server: "Server", chromium: Browser) -> Iterator[Browser]:
    """Yield the browser, reset before the test; fail if the console has errors after it."""
    chromium.reset(server.origin)
    yield chromium
    errors = chromium.console_errors()
    chromium.open("about:blank")
    assert errors == []
