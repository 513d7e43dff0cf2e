"""A room's page in a real browser, used by clicks on the map or in the list, by keys and by touch."""

import json
import random
from typing import Any

from helpers.browser import Browser
from helpers.web_server import Server
from tetrarchia_env.notation import Replay, parse_replay, play_replay

DESKTOP, TABLET, PHONE = (1440, 900), (1024, 768), (390, 844)
TIMEOUT_S = 60  # the machine may be busy
IS_OVER = "document.getElementById('decision-title').textContent === 'The game is over'"
HAS_CHOICES = "document.querySelector('#decision.own.ready [data-action]:not(:disabled)') !== null"  # after the dead time
IS_READY = f"{HAS_CHOICES} || {IS_OVER}"
TURN = "document.querySelector('#head .turn')?.textContent ?? ''"
CHOICES = """[...document.querySelectorAll('#decision.own [data-action]')].filter((button) => button.checkVisibility() && !button.disabled)
    .map((button) => ({action: button.dataset.action, key: button.querySelector('kbd')?.textContent.toLowerCase() ?? ''}))"""
CARD_IS_OPEN = "!document.getElementById('card').hidden"


def open_page(page: Browser, url: str, size: tuple[int, int] = DESKTOP, *, is_new_player: bool = False) -> None:
    """Open a page that shows events without pauses and, unless for a new player, without the guided turn."""
    page.resize(*size, phone=size == PHONE)
    page.open(url)
    page.run("localStorage.setItem('pace', '0')")
    if not is_new_player:
        page.run("localStorage.setItem('guide', 'done')")
    page.open(url)


def wait_for_choices(page: Browser) -> list[dict[str, Any]]:
    """Return the player's choices; empty when the game is over."""
    page.wait_for(IS_READY, TIMEOUT_S)
    found: list[dict[str, Any]] = page.run(CHOICES)
    return found


def position(page: Browser) -> int:
    """Return the number of actions in the page's log."""
    return int(page.run("Number(document.getElementById('slider').max)"))


def wait_for_position_after(page: Browser, number: int) -> None:
    page.wait_for(f"Number(document.getElementById('slider').max) > {number}", TIMEOUT_S)


def click_random_choice(page: Browser, choices: list[dict[str, Any]], rng: random.Random) -> None:
    """Click a target on the map half of the time, else a button."""
    number, choice = position(page), rng.choice(choices)
    places = page.run("[...document.querySelectorAll('#targets .target')].map((target) => target.dataset.place)")
    if places and rng.random() < 0.5:
        page.click(f"#targets [data-place='{rng.choice(places)}'] .ring")
    else:
        page.click(f'#decision [data-action="{choice["action"]}"]')
    confirm(page)
    wait_for_position_after(page, number)


def confirm(page: Browser) -> None:
    """Click the first button of the card, if it is open."""
    if page.run(CARD_IS_OPEN):
        assert page.run("document.querySelector('#card .confirm') === document.activeElement")
        page.wait_for(HAS_CHOICES)
        page.click("#card .confirm")


def press_random_choice(page: Browser, choices: list[dict[str, Any]], rng: random.Random) -> None:
    """Use the key of the choice, or the arrow keys if it has none."""
    number, choice = position(page), rng.choice(choices)
    if choice["key"]:
        page.press(choice["key"])
    else:
        while page.run("document.activeElement.dataset.action") != choice["action"]:
            page.press("Down")
        page.press("Enter")
    if page.run(CARD_IS_OPEN):
        page.press("Enter")  # its first button has the focus
    wait_for_position_after(page, number)


def click_choice(page: Browser, choice: dict[str, Any]) -> None:
    """Click a choice in the list and wait until everything that followed was shown."""
    number = position(page)
    page.wait_for(HAS_CHOICES, TIMEOUT_S)
    page.click(f'#decision [data-action="{choice["action"]}"]')
    confirm(page)
    wait_for_position_after(page, number)
    page.wait_for("document.getElementById('decision-title').textContent !== 'Showing events…'", TIMEOUT_S)


def play_turn(page: Browser, rng: random.Random, end_probability: float = 0.3) -> None:
    """Play until another Emperor has the turn; each decision ends the turn with this probability, if it can."""
    choices = wait_for_choices(page)
    turn = page.run(TURN)
    while choices and page.run(TURN) == turn:
        end = next((choice for choice in choices if choice["action"] == "end"), choices[0])
        click_choice(page, end if rng.random() < end_probability else rng.choice(choices))
        choices = page.run(CHOICES)


def end_turn_slowly(page: Browser) -> None:
    """End the turn at a slow pace, and wait until dice are shown."""
    wait_for_choices(page)
    page.run("(document.getElementById('pace').value = '1600', 0)")
    while not any(choice["action"] == "end" for choice in wait_for_choices(page)):
        click_choice(page, wait_for_choices(page)[0])
    page.press("e")
    if page.run(CARD_IS_OPEN):
        page.press("Enter")
    page.wait_for("document.querySelectorAll('#dice svg').length > 0", TIMEOUT_S)


def ask_coach(page: Browser) -> None:
    page.press("h")
    page.wait_for("document.querySelectorAll('#coach li').length > 0", TIMEOUT_S)


def saved_replay(server: Server, page: Browser) -> Replay:
    """Return the replay that the page saves, checked action by action."""
    path = page.run("document.getElementById('save-replay').getAttribute('href')")
    replay = parse_replay(json.loads(server.get(path)[2]))
    assert len(list(play_replay(replay))) == len(replay.actions)
    return replay
