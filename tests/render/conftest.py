"""A browser fixture for the tests of pages."""

from collections.abc import Iterator

import pytest

from helpers.browser import BROWSER, DRIVER, MISSING, Browser, browser


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    if not (BROWSER and DRIVER):
        pytest.skip(MISSING)
    with browser(tmp_path_factory.mktemp("chromium")) as window:
        yield window
