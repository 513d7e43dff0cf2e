"""A room's page in a real browser, used as a person does: by clicks on the map or in the list, by keys, by touch."""

import json
import random
from typing import Any

from helpers.browser import Browser
from helpers.web_server import Server
from tetrarchia_env.notation import Replay, parse_replay, play_replay

WIDE, PHONE = (1400, 900), (390, 844)
PATIENCE = 60  # seconds: other work may go on on the machine
OVER = "document.getElementById('decide-title').textContent === 'The game is over'"
READY = f"document.querySelector('#choices button') !== null || {OVER}"
TURN = "document.querySelector('#head .turn')?.textContent ?? ''"
CHOICES = """[...document.querySelectorAll('#choices button')].map((button) => ({action: button.dataset.action,
    key: button.querySelector('kbd')?.textContent.toLowerCase() ?? '', fight: button.classList.contains('combat')}))"""


def enter(page: Browser, address: str, size: tuple[int, int] = WIDE) -> None:
    """Open a page on which nothing is waited for."""
    page.resize(*size, phone=size == PHONE)
    page.open(address)
    page.run("localStorage.setItem('pace', '0')")
    page.open(address)


def offered(page: Browser) -> list[dict[str, Any]]:
    """What the person may do now; nothing when the game is over."""
    page.wait_for(READY, PATIENCE)
    found: list[dict[str, Any]] = page.run(CHOICES)
    return found


def played(page: Browser) -> int:
    """How many actions the page knows of."""
    return int(page.run("Number(document.getElementById('slider').max)"))


def wait_for_more(page: Browser, number: int) -> None:
    """Until it knows of more actions than so many."""
    page.wait_for(f"Number(document.getElementById('slider').max) > {number}", PATIENCE)


def click_something(page: Browser, choices: list[dict[str, Any]], rng: random.Random) -> None:
    """A place on the map half of the time, else a button."""
    number, choice = played(page), rng.choice(choices)
    places = page.run("[...document.querySelectorAll('#targets .target')].map((target) => target.dataset.place)")
    if places and rng.random() < 0.5:
        page.click(f"#targets [data-place='{rng.choice(places)}'] .ring")
    else:
        page.click(f'#choices [data-action="{choice["action"]}"]')
    if not page.run("document.getElementById('card').hidden"):
        assert page.run("document.querySelector('#card .do') === document.activeElement")
        page.click("#card .do")
    wait_for_more(page, number)


def press_something(page: Browser, choices: list[dict[str, Any]], rng: random.Random) -> None:
    """By its key, or by going through the list."""
    number, choice = played(page), rng.choice(choices)
    if choice["key"]:
        page.press(choice["key"])
    else:
        while page.run("document.activeElement.dataset.action") != choice["action"]:
            page.press("Down")
        page.press("Enter")
    if choice["fight"]:
        page.wait_for("document.activeElement.classList.contains('do')")
        page.press("Enter")
    wait_for_more(page, number)


def click_in_the_list(page: Browser, choice: dict[str, Any]) -> None:
    """One choice, and wait until what followed has been shown."""
    number = played(page)
    page.click(f'#choices [data-action="{choice["action"]}"]')
    if choice["fight"]:
        page.click("#card .do")
    wait_for_more(page, number)
    page.wait_for("document.getElementById('decide-title').textContent !== 'It goes on…'", PATIENCE)


def end_of(choices: list[dict[str, Any]]) -> dict[str, Any]:
    """The end of the turn if it may be chosen: Rome falls soon if nobody does anything."""
    return next((choice for choice in choices if choice["action"] == "end"), choices[0])


def play_a_turn(page: Browser, rng: random.Random, early: float = 0.3) -> None:
    """Until another Emperor has the turn; each decision ends it early with this probability."""
    choices = offered(page)
    turn = page.run(TURN)
    while choices and page.run(TURN) == turn:
        click_in_the_list(page, end_of(choices) if rng.random() < early else rng.choice(choices))
        choices = page.run(CHOICES)


def end_the_turn_slowly(page: Browser) -> None:
    """Until dice lie on the map, which stay for a while."""
    offered(page)
    page.run("(document.getElementById('pace').value = '1600', 0)")
    while not any(choice["action"] == "end" for choice in offered(page)):
        click_in_the_list(page, offered(page)[0])
    page.press("e")
    page.wait_for("document.querySelectorAll('#tray svg').length > 0", PATIENCE)


def kept_game(server: Server, page: Browser) -> Replay:
    """What the page saves, played again."""
    path = page.run("document.getElementById('save-replay').getAttribute('href')")
    replay = parse_replay(json.loads(server.get(path)[2]))
    assert len(list(play_replay(replay))) == len(replay.actions)
    return replay
