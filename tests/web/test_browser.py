"""The pages in a real browser: a person plays by clicks, by keys, with others, and goes on from a file."""

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
    OVER,
    PATIENCE,
    PHONE,
    WIDE,
    click_in_the_list,
    click_something,
    end_the_turn_slowly,
    enter,
    kept_game,
    offered,
    play_a_turn,
    played,
    press_something,
    wait_for_more,
)  # fmt: skip
from helpers.web_server import Server
from tetrarchia_env.notation import replay_data
from tetrarchia_env.options import Options

pytestmark = pytest.mark.slow
CHOSEN = {"digit-2": "2", "digit-3": "2", "seed": "11"}  # a hard level, at which Rome falls soon: about ten turns
CHAINS = "[...document.querySelectorAll('#chains circle')].map((ring) => ring.classList[1])"
LOG = "document.getElementById('log').textContent"


@pytest.mark.parametrize("size", [WIDE, PHONE])
def test_a_whole_game_is_played_by_clicks_with_three_trained_colleagues(server: Server, page: Browser, size: tuple[int, int]) -> None:
    enter(page, f"{server.origin}/", size)
    for place, words in CHOSEN.items():
        page.fill(f"#{place}", words)
    page.click("#begin")
    page.wait_for("location.pathname.startsWith('/seat/')", PATIENCE)
    rng = random.Random(1)
    while choices := offered(page):
        click_something(page, choices, rng)

    replay = kept_game(server, page)
    assert (replay.options.level, replay.seed) == ("4222", 11)
    assert replay.final["outcome"] != "running"
    assert {agent for agent, _ in replay.actions} == {"diocletian", "galerius", "constantius", "maximian"}
    assert page.run("document.querySelector('#head .ending') !== null")
    assert page.run("document.documentElement.scrollWidth <= innerWidth")


def test_a_whole_game_is_played_by_keyboard_alone(server: Server, page: Browser) -> None:
    enter(page, f"{server.origin}/")
    while (place := page.run("document.activeElement.id")) != "begin":
        page.press(*CHOSEN.get(place, ""), "Tab")
    page.press("Enter")
    page.wait_for("location.pathname.startsWith('/seat/')", PATIENCE)
    rng = random.Random(2)
    while choices := offered(page):
        press_something(page, choices, rng)

    replay = kept_game(server, page)
    assert (replay.options.level, replay.seed) == ("4222", 11)
    assert replay.final["outcome"] != "running"


def test_two_persons_share_a_whole_game_and_one_loads_the_page_again(server: Server, page: Browser, tmp_path: Path) -> None:
    enter(page, f"{server.origin}/")
    page.fill("#seed", "11")
    page.click("[data-players='2']")
    page.click("#begin")
    page.wait_for("location.pathname.startsWith('/seat/')", PATIENCE)
    offered(page)
    page.click("#people-box summary")
    link = page.run("document.querySelector('#people li .link input').value")
    page.click("#people-box summary")
    with browser(tmp_path / "second") as second:
        enter(second, link, PHONE)
        rng, turns = random.Random(3), itertools.count()
        while decider := whose_decision(page, second):
            assert (page if decider is second else second).run(CHOICES) == []
            if next(turns) == 3:
                load_again_in_the_middle_of_a_turn(second, link)
            play_a_turn(decider, rng, early=0.7)

        assert next(turns) > 4
        assert second.run(LOG) == page.run(LOG)
        assert kept_game(server, second) == (replay := kept_game(server, page))
        assert replay.final["outcome"] != "running"
        assert {agent for agent, _ in replay.actions} == {"diocletian", "galerius", "constantius", "maximian"}
        assert second.complaints() == []


def whose_decision(*pages: Browser) -> Browser | None:
    """The page that is asked; None when the game is over."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if asked := next((page for page in pages if page.run(CHOICES)), None):
            return asked
        if all(page.run(OVER) for page in pages):
            return None
        time.sleep(0.02)
    raise AssertionError("nobody is asked, and the game is not over")


def load_again_in_the_middle_of_a_turn(page: Browser, link: str) -> None:
    """The same decision is offered afterwards, in the same game."""
    click_in_the_list(page, next(choice for choice in offered(page) if choice["action"].startswith(("move", "enter"))))
    choices, log = offered(page), page.run(LOG)
    page.open(link)
    assert offered(page) == choices
    assert page.run(LOG) == log


def test_a_game_goes_on_from_a_replay_file_and_an_action_is_taken_back(server: Server, page: Browser, tmp_path: Path) -> None:
    replay = random_replay(Options(level="4200"), 7, 20)
    replay.save(tmp_path / "game.json")
    enter(page, f"{server.origin}/")
    page.click("[data-players='all']")
    page.click("details.opened:last-of-type summary")
    page.fill("#file", str(tmp_path / "game.json"))
    page.wait_for("document.getElementById('file-note').textContent === 'game.json: a replay of 20 actions.'")
    page.run("(document.getElementById('number').value = '9', 0)")
    page.click("#begin")
    page.wait_for("location.pathname.startsWith('/seat/')", PATIENCE)
    choices = offered(page)
    assert played(page) == 9

    free = next(choice for choice in choices if choice["action"].startswith(("move", "fleet", "enter")))
    click_in_the_list(page, free)
    page.press("u")
    page.wait_for("document.getElementById('slider').max === '9'")
    assert [one["action"] for one in offered(page)] == [one["action"] for one in choices]


def test_agents_are_watched_and_a_seat_is_taken_over(server: Server, page: Browser) -> None:
    enter(page, server.origin + server.make_room(*["random"] * 4, seed=5))
    page.wait_for("document.getElementById('decide-title').textContent.includes('press play')")
    for number in range(3):
        page.press("Right")
        wait_for_more(page, number)
    page.press("Space")
    wait_for_more(page, 12)
    page.press("Space", "Home", "Right", "Right")
    page.wait_for("document.getElementById('count').textContent.startsWith('2 /')")
    page.click("#take-over")
    page.click("#card input[value='diocletian']")
    page.click("#card .do")
    page.wait_for("document.getElementById('slider').max === '2'", 30)

    assert offered(page)
    assert page.run("document.querySelectorAll('#log button').length") == 3


def test_the_chains_of_an_attack_stay_in_sight_while_one_thinks_it_over(server: Server, page: Browser) -> None:
    enter(page, server.origin + server.make_room(*["person 1"] * 4, replay=replay_data(beside_a_revolt())))
    offered(page)
    page.click("#targets [data-place='DACIA'] .ring")
    assert page.run("document.querySelector('#card .odds').getAttribute('aria-label')") == "win 42%, draw 17%, loss 42%"
    page.run("(document.querySelector('#choices .combat').dispatchEvent(new Event('pointerleave')), 0)")
    assert page.run(CHAINS) == ["roman", "barbarian"]
    page.press("Escape")

    assert page.run("document.getElementById('card').hidden")
    page.run("(document.activeElement.blur(), 0)")
    assert page.run(CHAINS) == []


def test_who_hurries_through_a_long_game_is_not_taken_for_an_attacker(server: Server, page: Browser) -> None:
    replay = random_replay(Options(level="4200"), 129, 1000)
    enter(page, server.origin + server.make_room("person 1", *["random"] * 3, replay=replay_data(replay)))
    page.wait_for(OVER, PATIENCE)
    page.run_program(
        """const slider = document.getElementById('slider');
        function drag() { slider.value -= 1; slider.dispatchEvent(new Event('input')); slider.value > 0 ? setTimeout(drag, 4) : done(); }
        drag();"""
    )
    page.wait_for("document.getElementById('count').textContent === '0 / 95'", PATIENCE)

    assert page.run("document.getElementById('state').textContent") == ""


def test_the_barbarian_phase_is_shown_step_by_step_and_can_be_skipped(server: Server, page: Browser) -> None:
    enter(page, server.origin + server.make_room("person 1", "random", "random", "random", seed=5, level="4000"))
    end_the_turn_slowly(page)
    assert page.run("document.getElementById('decide-title').textContent") == "It goes on…"
    page.press(".")

    assert offered(page)
    assert page.run("document.querySelectorAll('#tray svg').length") == 0


def test_names_are_text(server: Server, page: Browser) -> None:
    name = "<img src=x>&amp;"
    address = server.make_room("person 1", "person 2", "random", "random", name=name)
    enter(page, server.origin + address)
    offered(page)

    assert name in page.run("document.getElementById('people').textContent")
    assert page.run("document.querySelectorAll('#people img').length") == 0
