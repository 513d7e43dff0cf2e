"""Settings of all tests of training."""

import sys

import pytest


@pytest.fixture(autouse=True)
def one_thread() -> None:
    if torch := sys.modules.get("torch"):  # some tests need no torch
        torch.set_num_threads(1)
