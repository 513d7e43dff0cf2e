"""Tests of the digests that freeze `tetrarchia_v0`."""

from collections.abc import Iterator

import numpy as np
import pytest

from tetrarchia_env import digest
from tetrarchia_env.agent import Observer
from tetrarchia_env.digest import environment_digest, layout_digest

FROZEN = {"environment": "f4897672f8c0066b", "layout": "6756f3c506fe2ed1"}  # others belong to a new version of the environment


@pytest.fixture
def _without_cache() -> Iterator[None]:
    environment_digest.cache_clear()
    yield
    environment_digest.cache_clear()


def test_rules_and_observations_of_tetrarchia_v0_are_frozen() -> None:
    assert {"environment": environment_digest(), "layout": layout_digest()} == FROZEN


@pytest.mark.usefixtures("_without_cache")
def test_another_layout_has_another_digest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(digest, "FIELDS", digest.FIELDS[::-1])
    assert layout_digest() != FROZEN["layout"]
    assert environment_digest() != FROZEN["environment"]


@pytest.mark.usefixtures("_without_cache")
def test_another_encoding_has_another_digest(monkeypatch: pytest.MonkeyPatch) -> None:
    observe = Observer.observe
    monkeypatch.setattr(Observer, "observe", lambda self, games, rows: observe(self, games, rows) * np.float32(2))
    assert environment_digest() != FROZEN["environment"]


@pytest.mark.usefixtures("_without_cache")
def test_other_dice_have_another_digest(monkeypatch: pytest.MonkeyPatch) -> None:
    new_games = digest.new_games
    monkeypatch.setattr(digest, "new_games", lambda options, seeds, tokens: new_games(options, seeds + np.uint64(1), tokens))
    assert environment_digest() != FROZEN["environment"]
