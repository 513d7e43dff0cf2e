"""The pages in a real browser: playing by clicks and keys, with other players, and from a file."""

import itertools
import random
import time
from pathlib import Path

import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
pytest.importorskip("websockets")

from helpers.browser import Browser, browser
from helpers.random_games import beside_a_revolt, random_replay
from helpers.room_page import (
    CHOICES,
    DESKTOP,
    IS_OVER,
    PHONE,
    TABLET,
    TIMEOUT_S,
    click_choice,
    click_random_choice,
    end_turn_slowly,
    open_page,
    play_turn,
    position,
    press_random_choice,
    saved_replay,
    wait_for_choices,
    wait_for_position_after,
)  # fmt: skip
from helpers.web_server import Server
from tetrarchia_env.board import EMPERORS
from tetrarchia_env.notation import replay_data
from tetrarchia_env.options import Options

pytestmark = pytest.mark.slow
SETUP = {"digit-2": "2", "digit-3": "2", "seed": "11"}  # a hard level: the game lasts about ten turns
IN_ROOM = "location.pathname.startsWith('/seat/')"
CHAINS = "[...document.querySelectorAll('#chains circle')].map((ring) => ring.classList[1])"
LOG = "document.getElementById('log').textContent"


@pytest.mark.parametrize("size", [DESKTOP, pytest.param(TABLET, marks=pytest.mark.thorough), PHONE])
def test_full_game_by_clicks_with_three_trained_agents(server: Server, page: Browser, size: tuple[int, int]) -> None:
    open_page(page, f"{server.origin}/", size)
    for field, text in SETUP.items():
        page.fill(f"#{field}", text)
    page.click("#start")
    page.wait_for(IN_ROOM, TIMEOUT_S)
    rng = random.Random(1)
    while choices := wait_for_choices(page):
        click_random_choice(page, choices, rng)

    replay = saved_replay(server, page)
    assert (replay.options.level, replay.seed) == ("4222", 11)
    assert replay.final["outcome"] != "running"
    assert {emperor for emperor, _ in replay.actions} == set(EMPERORS)
    assert page.run("document.querySelector('#head .ending') !== null")
    assert page.run("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize("size", [DESKTOP, *(pytest.param(size, marks=pytest.mark.thorough) for size in (TABLET, PHONE))])
def test_full_game_by_keyboard_only(server: Server, page: Browser, size: tuple[int, int]) -> None:
    open_page(page, f"{server.origin}/", size)
    while (focused := page.run("document.activeElement.id")) != "start":
        page.press(*SETUP.get(focused, ""), "Tab")
    page.press("Enter")
    page.wait_for(IN_ROOM, TIMEOUT_S)
    rng = random.Random(2)
    while choices := wait_for_choices(page):
        press_random_choice(page, choices, rng)

    replay = saved_replay(server, page)
    assert (replay.options.level, replay.seed) == ("4222", 11)
    assert replay.final["outcome"] != "running"


def test_full_game_of_two_players_with_a_page_reload(server: Server, page: Browser, tmp_path: Path) -> None:
    open_page(page, f"{server.origin}/")
    page.fill("#seed", "11")
    page.click("[data-players='2']")
    page.click("#start")
    page.wait_for(IN_ROOM, TIMEOUT_S)
    wait_for_choices(page)
    assert page.run("document.getElementById('players-menu').open")
    link = page.run("document.querySelector('#players li .link input').value")
    page.click("#players-menu summary")
    with browser(tmp_path / "second") as second:
        open_page(second, link, PHONE)
        rng, turns = random.Random(3), itertools.count()
        while decider := deciding_page(page, second):
            assert (page if decider is second else second).run(CHOICES) == []
            if next(turns) == 3:
                reload_during_a_turn(second, link)
            play_turn(decider, rng, end_probability=0.7)

        assert next(turns) > 4
        assert second.run(LOG) == page.run(LOG)
        assert saved_replay(server, second) == (replay := saved_replay(server, page))
        assert replay.final["outcome"] != "running"
        assert {emperor for emperor, _ in replay.actions} == set(EMPERORS)
        assert second.console_errors() == []


def deciding_page(*pages: Browser) -> Browser | None:
    """Return the page that shows choices; None when the game is over."""
    end = time.monotonic() + TIMEOUT_S
    while time.monotonic() < end:
        if found := next((page for page in pages if page.run(CHOICES)), None):
            return found
        if all(page.run(IS_OVER) for page in pages):
            return None
        time.sleep(0.02)
    raise AssertionError("no page shows choices, and the game is not over")


def reload_during_a_turn(page: Browser, link: str) -> None:
    """Reload the page and check that the choices and the log are unchanged."""
    click_choice(page, next(choice for choice in wait_for_choices(page) if choice["action"].startswith(("move", "enter"))))
    choices, log = wait_for_choices(page), page.run(LOG)
    page.open(link)
    assert wait_for_choices(page) == choices
    assert page.run(LOG) == log


def test_game_continues_from_a_replay_file_and_an_action_is_undone(server: Server, page: Browser, tmp_path: Path) -> None:
    random_replay(Options(level="4200"), 7, 20).save(tmp_path / "game.json")
    open_page(page, f"{server.origin}/")
    page.click("[data-players='all']")
    page.click("details.inline:last-of-type summary")
    page.fill("#file", str(tmp_path / "game.json"))
    page.wait_for("document.getElementById('position').value === '20'")
    page.run("(document.getElementById('position').value = '9', 0)")
    page.click("#start")
    page.wait_for(IN_ROOM, TIMEOUT_S)
    choices = wait_for_choices(page)
    assert position(page) == 9

    click_choice(page, next(choice for choice in choices if choice["action"].startswith(("move", "fleet", "enter"))))
    page.press("u")
    page.wait_for("document.getElementById('slider').max === '9'")
    assert [choice["action"] for choice in wait_for_choices(page)] == [choice["action"] for choice in choices]


def test_spectator_steps_through_a_game_of_agents_and_takes_over_an_emperor(server: Server, page: Browser) -> None:
    open_page(page, server.origin + server.create_room(*["random"] * 4, seed=5))
    page.wait_for("document.getElementById('decision-title').textContent.includes('press play')")
    for number in range(3):
        page.press("Right")
        wait_for_position_after(page, number)
    page.press("Space")
    wait_for_position_after(page, 12)
    page.press("Space", "Home", "Right", "Right")
    page.wait_for("document.getElementById('count').textContent.startsWith('2 /')")
    page.click("#take-over")
    page.click("#card input[value='diocletian']")
    page.click("#card .confirm")
    page.wait_for("document.getElementById('slider').max === '2'", 30)

    assert wait_for_choices(page)
    assert page.run("document.querySelectorAll('#log button').length") == 3


def test_chains_of_an_attack_stay_visible_until_the_card_is_closed(server: Server, page: Browser) -> None:
    open_page(page, server.origin + server.create_room(*["player 1"] * 4, replay=replay_data(beside_a_revolt())))
    wait_for_choices(page)
    page.click("#targets [data-place='DACIA'] .ring")
    assert page.run("document.querySelector('#card .odds').getAttribute('aria-label')") == "win 42%, draw 17%, loss 42%"
    widths = page.run(
        "[...document.querySelectorAll('#card .odds span')].map((part) => Math.round(36 * part.offsetWidth / part.parentNode.offsetWidth))"
    )
    assert widths == [15, 6, 15]
    page.run("(document.querySelector('#choices .combat').dispatchEvent(new Event('pointerleave')), 0)")
    assert page.run(CHAINS) == ["roman", "barbarian"]
    page.press("Escape")

    assert page.run("document.getElementById('card').hidden")
    page.run("(document.activeElement.blur(), 0)")
    assert page.run(CHAINS) == []


def test_dragging_the_slider_through_a_long_game_stays_below_the_rate_limit(server: Server, page: Browser) -> None:
    replay = random_replay(Options(level="4200"), 129, 1000)
    open_page(page, server.origin + server.create_room("player 1", *["random"] * 3, replay=replay_data(replay)))
    page.wait_for(IS_OVER, TIMEOUT_S)
    page.run_program(
        """const slider = document.getElementById('slider');
        function drag() { slider.value -= 1; slider.dispatchEvent(new Event('input')); slider.value > 0 ? setTimeout(drag, 4) : done(); }
        drag();"""
    )
    page.wait_for("document.getElementById('count').textContent === '0 / 95'", TIMEOUT_S)

    assert page.run("document.getElementById('status').textContent") == ""


def test_barbarian_phase_is_shown_step_by_step_and_can_be_skipped(server: Server, page: Browser) -> None:
    open_page(page, server.origin + server.create_room("player 1", "random", "random", "random", seed=5, level="4000"))
    end_turn_slowly(page)
    assert page.run("document.getElementById('decision-title').textContent") == "Showing events…"
    page.press(".")

    assert wait_for_choices(page)
    assert page.run("document.querySelectorAll('#dice svg').length") == 0


def test_player_names_are_shown_as_text(server: Server, page: Browser) -> None:
    name = "<img src=x>&amp;"
    open_page(page, server.origin + server.create_room("player 1", "player 2", "random", "random", name=name))
    wait_for_choices(page)

    assert name in page.run("document.getElementById('players').textContent")
    assert page.run("document.querySelectorAll('#players img').length") == 0
