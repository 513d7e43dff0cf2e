"""Number of inputs for each fuzz target: `pytest tests/fuzz --fuzz 100000`, or the variable TETRARCHIA_FUZZ."""

import os

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--fuzz", type=int, default=None, help="inputs of each family (2,000 if not given)")


@pytest.fixture
def inputs(request: pytest.FixtureRequest) -> int:
    given = request.config.getoption("--fuzz", default=None)
    return int(given or os.environ.get("TETRARCHIA_FUZZ") or 2000)
