"""A whole game in Firefox; skipped where it is not installed."""

import random
from pathlib import Path

import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
pytest.importorskip("websockets")

from helpers.firefox import FIREFOX, firefox
from helpers.room_page import click_random_choice, open_page, saved_replay, wait_for_choices
from helpers.web_server import Server

pytestmark = pytest.mark.thorough


@pytest.mark.skipif(FIREFOX is None, reason="needs Firefox (Debian: firefox-esr)")
def test_full_game_in_firefox(server: Server, tmp_path: Path) -> None:
    with firefox(tmp_path / "profile") as page:
        open_page(page, server.origin + server.create_room("player 1", *["random"] * 3, seed=11, level="4222"))
        rng = random.Random(1)
        while choices := wait_for_choices(page):
            click_random_choice(page, choices, rng)

        assert saved_replay(server, page).final["outcome"] != "running"
