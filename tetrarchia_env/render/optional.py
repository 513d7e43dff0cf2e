"""Libraries that only pictures need: nothing loads them before the first picture."""

from importlib import import_module
from typing import Any

from tetrarchia_env.errors import TetrarchiaError


def library(name: str) -> Any:
    """The library, or one sentence that says how to get it."""
    try:
        return import_module(name)
    except ImportError:
        raise TetrarchiaError(f'this needs {name.partition(".")[0]}: pip install "tetrarchia[render]"') from None
