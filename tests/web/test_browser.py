"""The pages in a real browser: a person plays by clicks, by keys, with others, and goes on from a file."""

import json
import random
import shutil
import subprocess
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
pytest.importorskip("websockets")
pytest.importorskip("torch")

from helpers.browser import BROWSER, DRIVER, MISSING, Browser, browser
from helpers.random_games import random_replay
from helpers.web_server import Server, serving
from tetrarchia_env.cli.serve import thinkers
from tetrarchia_env.notation import parse_replay, play_replay
from tetrarchia_env.options import Options

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not (BROWSER and DRIVER), reason=MISSING)]
WIDE, PHONE = (1400, 900), (390, 844)
READY = "document.querySelector('#choices button') !== null || document.getElementById('decide-title').textContent === 'The game is over'"
CHOICES = """[...document.querySelectorAll('#choices button')].map((button) => ({action: button.dataset.action,
    key: button.querySelector('kbd')?.textContent.toLowerCase() ?? '', fight: button.classList.contains('combat')}))"""


@pytest.fixture(name="server", scope="module")
def a_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("rooms"), ("ppo", "random"), **thinkers("ppo")) as server:
        yield server


@pytest.fixture(name="page")
def a_page(tmp_path: Path) -> Iterator[Browser]:
    with browser(tmp_path / "profile") as page:
        yield page
        assert page.complaints() == []


def enter(page: Browser, address: str, size: tuple[int, int] = WIDE) -> None:
    page.resize(*size, phone=size == PHONE)
    page.open(address)
    page.run("localStorage.setItem('pace', '0')")
    page.open(address)


def offered(page: Browser) -> list[dict[str, Any]]:
    """What the person may do now; nothing when the game is over."""
    page.wait_for(READY, 60)
    found: list[dict[str, Any]] = page.run(CHOICES)
    return found


def played(page: Browser) -> int:
    return int(page.run("Number(document.getElementById('slider').max)"))


def wait_for_more(page: Browser, number: int) -> None:
    page.wait_for(f"Number(document.getElementById('slider').max) > {number}", 60)


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


def kept_game(server: Server, page: Browser) -> Any:
    path = page.run("document.getElementById('save-replay').getAttribute('href')")
    replay = parse_replay(json.loads(server.get(path)[2]))
    assert len(list(play_replay(replay))) == len(replay.actions)
    return replay


@pytest.mark.parametrize("size", [WIDE, PHONE])
def test_a_whole_game_is_played_by_clicks_with_three_trained_colleagues(server: Server, page: Browser, size: tuple[int, int]) -> None:
    enter(page, f"{server.origin}/", size)
    page.fill("#seed", "11")
    page.click("#begin")
    page.wait_for("location.pathname.startsWith('/seat/')")
    rng = random.Random(1)
    while choices := offered(page):
        click_something(page, choices, rng)

    replay = kept_game(server, page)
    assert replay.final["outcome"] != "running"
    assert {agent for agent, _ in replay.actions} == {"diocletian", "galerius", "constantius", "maximian"}
    assert page.run("document.querySelector('#head .ending') !== null")
    assert page.run("document.documentElement.scrollWidth <= innerWidth")


def test_a_whole_game_is_played_by_keyboard_alone(server: Server, page: Browser) -> None:
    enter(page, f"{server.origin}/")
    while (place := page.run("document.activeElement.id")) != "begin":
        for key in ("1", "1", "Tab") if place == "seed" else ("Tab",):
            page.press(key)
    page.press("Enter")
    page.wait_for("location.pathname.startsWith('/seat/')")
    rng = random.Random(2)
    while choices := offered(page):
        press_something(page, choices, rng)

    replay = kept_game(server, page)
    assert replay.seed == 11
    assert replay.final["outcome"] != "running"


def test_two_persons_share_a_game_and_one_loads_the_page_again(server: Server, page: Browser, tmp_path: Path) -> None:
    enter(page, f"{server.origin}/")
    page.click("[data-players='2']")
    page.click("#begin")
    page.wait_for("location.pathname.startsWith('/seat/')")
    offered(page)
    page.click("#people-box summary")
    link = page.run("document.querySelector('#people li .link input').value")
    page.click("#people-box summary")
    with browser(tmp_path / "second") as second:
        enter(second, link, PHONE)
        rng = random.Random(3)
        for turn in range(6):
            decider = second if turn % 4 > 1 else page
            play_a_turn(decider, rng)
            if turn == 3:
                second.open(link)
        second.wait_for(f"document.getElementById('slider').max === '{played(page)}'")
        assert second.run("document.getElementById('log').textContent") == page.run("document.getElementById('log').textContent")
        assert offered(second)  # the third Emperor's turn, who is his
        assert page.run("document.querySelectorAll('#choices button').length") == 0
        assert second.complaints() == []


def play_a_turn(page: Browser, rng: random.Random) -> None:
    """Until another Emperor has the turn."""
    choices = offered(page)
    turn = page.run("document.querySelector('#head .turn').textContent")
    while choices and page.run("document.querySelector('#head .turn').textContent") == turn:
        ends = [choice for choice in choices if choice["action"] == "end"]
        click_something_in_the_list(page, (ends or choices)[0] if rng.random() < 0.3 else rng.choice(choices))
        choices = page.run(CHOICES)


def click_something_in_the_list(page: Browser, choice: dict[str, Any]) -> None:
    number = played(page)
    page.click(f'#choices [data-action="{choice["action"]}"]')
    if choice["fight"]:
        page.click("#card .do")
    wait_for_more(page, number)
    page.wait_for("document.getElementById('decide-title').textContent !== 'It goes on…'")


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
    page.wait_for("location.pathname.startsWith('/seat/')")
    choices = offered(page)
    assert played(page) == 9

    free = next(choice for choice in choices if choice["action"].startswith(("move", "fleet", "enter")))
    click_something_in_the_list(page, free)
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


def test_the_coach_and_the_analysis_are_shown(server: Server, page: Browser) -> None:
    enter(page, server.origin + server.make_room("person 1", "random", "random", "random", seed=5))
    offered(page)
    page.press("h")
    page.wait_for("document.querySelectorAll('#coach li').length > 0", 60)
    assert "chance to win" in page.run("document.querySelector('#coach li').textContent")
    page.click("#coach li button")
    wait_for_more(page, 0)
    page.click("#ask-analysis")
    page.wait_for("document.getElementById('curve') !== null", 60)
    assert "chance to win" in page.run("document.getElementById('thoughts').textContent")


def test_the_barbarian_phase_is_shown_step_by_step_and_can_be_skipped(server: Server, page: Browser) -> None:
    enter(page, server.origin + server.make_room("person 1", "random", "random", "random", seed=5, level="4000"))
    offered(page)
    page.run("(document.getElementById('pace').value = '1600', 0)")
    while not any(choice["action"] == "end" for choice in offered(page)):
        click_something_in_the_list(page, offered(page)[0])
    page.press("e")
    page.wait_for("document.querySelectorAll('#tray svg').length > 0")
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


@pytest.fixture(name="axe", scope="session")
def the_axe(tmp_path_factory: pytest.TempPathFactory) -> str:
    """axe-core from the npm registry; not ours to keep."""
    npm = shutil.which("npm")
    folder = tmp_path_factory.mktemp("axe")
    if npm is None or subprocess.run([npm, "pack", "axe-core@4"], cwd=folder, capture_output=True, check=False).returncode:
        pytest.skip("axe-core is not to be had: no npm, or no registry")
    with tarfile.open(next(folder.glob("*.tgz"))) as archive:
        file = archive.extractfile("package/axe.min.js")
        assert file
        return file.read().decode()


@pytest.mark.parametrize("size", [WIDE, PHONE])
@pytest.mark.parametrize("place", ["lobby", "room", "over"])
def test_no_serious_fault_of_accessibility(server: Server, page: Browser, axe: str, place: str, size: tuple[int, int]) -> None:
    enter(page, f"{server.origin}/" if place == "lobby" else server.origin + server.make_room("person 1", *["random"] * 3, seed=5), size)
    if place != "lobby":
        offered(page)
        page.press("h")
        page.wait_for("document.querySelectorAll('#coach li').length > 0", 60)
        page.click("#people-box summary")
    if place == "over":
        page.click("#people-box summary")
        while (choices := offered(page)) and played(page) < 400:
            click_something_in_the_list(page, next((one for one in choices if one["action"] == "end"), choices[0]))
    found = page.run_program(
        f"{axe}; axe.run().then((found) => done(found.violations.map((one) => [one.impact, one.id, one.nodes[0].html])))"
    )

    assert [fault for fault in found if fault[0] in ("serious", "critical")] == []
