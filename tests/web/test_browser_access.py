"""The pages for everybody: a phone's touch screen, reduced motion, and what a checker of accessibility finds."""

import itertools
import random
import shutil
import subprocess
import tarfile

import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
pytest.importorskip("websockets")

from helpers.browser import Browser
from helpers.random_games import beside_a_revolt, random_replay
from helpers.room_page import OVER, PATIENCE, PHONE, WIDE, click_in_the_list, end_the_turn_slowly, enter, offered, played, wait_for_more
from helpers.web_server import Server
from tetrarchia_env.board import BOARD
from tetrarchia_env.notation import replay_data
from tetrarchia_env.options import Options

pytestmark = pytest.mark.slow


SMALLEST = 24  # CSS pixels, WCAG 2.2, success criterion 2.5.8
SMALL = f"""[...document.querySelectorAll('a[href], button, input, select, summary')].filter((one) => one.checkVisibility())
    .map((one) => [one.outerHTML, (one.closest('label') ?? one).getBoundingClientRect()])
    .filter(([, box]) => box.width < {SMALLEST} || box.height < {SMALLEST}).map(([words]) => words)"""
EVERYWHERE = """import('/static/board.js').then((board) => {
    const spaces = Object.keys(JSON.parse(document.getElementById('data').textContent).spaces);
    board.showTargets(spaces.map((place) => ({place, action: '', label: '', cost: '1 IP'})), () => {}, () => {}); done(spaces); })"""
PLACES = """[...document.querySelectorAll('#targets .target')].map((target) => {
    const box = target.querySelector('.ring').getBoundingClientRect();
    return [target.dataset.place, (box.left + box.right) / 2, (box.top + box.bottom) / 2]; })"""
OFFERED = """import('/static/board.js').then((board) => done(arguments[0].map(([x, y]) =>
    document.getElementById('view').contains(document.elementFromPoint(x, y)) && board.chosenAt(x, y).map((choice) => choice.place))))"""
FAULTS = "(found) => done(found.violations.map((one) => [one.impact, one.id, one.nodes[0].html]))"
TWO_FRAMES = "window.shown = false, requestAnimationFrame(() => requestAnimationFrame(() => { shown = true; }))"  # what moves begins
MOVING = """[...document.querySelectorAll('#tray svg, #pieces .fresh')].map((one) => getComputedStyle(one).animationName)"""


def test_on_a_phone_all_that_can_be_clicked_is_large_enough(server: Server, page: Browser) -> None:
    enter(page, f"{server.origin}/", PHONE)
    assert too_small(page) == []
    enter(page, server.origin + server.make_room("person 1", "person 2", "random", "random", seed=5), PHONE)
    offered(page)
    page.press("h")
    page.wait_for("document.querySelectorAll('#coach li').length > 0", PATIENCE)
    assert too_small(page) == []


def too_small(page: Browser) -> list[str]:
    """With each part unfolded that can be, one after the other."""
    found = []
    for number in range(page.run("document.querySelectorAll('details').length")):
        page.run(f"(document.querySelectorAll('details')[{number}].open = true, 0)")
        found += page.run(SMALL)
    return found


def test_on_a_phone_a_finger_reaches_every_place_on_the_map(server: Server, page: Browser) -> None:
    """A square of 24 pixels is each one's own, though all are offered at once: a touch there means this place, maybe a neighbour too."""
    enter(page, server.origin + server.make_room(*["person 1"] * 4, seed=5), PHONE)
    offered(page)
    assert len(page.run_program(EVERYWHERE)) == len(BOARD.names) + len(BOARD.zones)
    for place, x, y in page.run(PLACES):
        touched = page.run_program(OFFERED, [(x, y), *corners(x, y)])
        assert [place in found for found in touched] == [True] * 5, place
        assert touched[0] == [place]


def corners(x: float, y: float) -> list[tuple[float, float]]:
    """Of the square around this point, as far as it is on the screen."""
    far = SMALLEST / 2 - 0.5
    return [(min(x + across, PHONE[0] - 1), y + down) for across in (-far, far) for down in (-far, far)]


def test_on_a_phone_the_large_map_shows_who_acts(server: Server, page: Browser) -> None:
    enter(page, server.origin + server.make_room("person 1", *["random"] * 3, seed=5), PHONE)
    while not page.run("document.querySelector('#pieces [data-kind=diocletian].figure')"):
        click_in_the_list(page, offered(page)[0])
    page.click("#zoom")
    offered(page)

    assert page.sees("#pieces [data-kind=diocletian].figure")
    assert page.run("document.querySelector('.board').getBoundingClientRect().width") > 2 * PHONE[0]


def test_where_places_lie_close_together_a_finger_is_offered_both(server: Server, page: Browser) -> None:
    enter(page, server.origin + server.make_room(*["person 1"] * 4, seed=5), PHONE)
    rng = random.Random(5)
    while not (points := crowded(page)):
        click_in_the_list(page, rng.choice(offered(page)))
    page.tap(*points[0])
    page.wait_for("!document.getElementById('card').hidden", PATIENCE)
    assert page.run("document.querySelectorAll('#card .do').length") == 2
    number = played(page)
    page.click("#card .do:nth-of-type(2)")
    wait_for_more(page, number)


def crowded(page: Browser) -> list[tuple[float, float]]:
    """Halfway between two places whose squares overlap there."""
    pairs = itertools.combinations([where for _, *where in page.run(PLACES)], 2)
    return [((a + c) / 2, (b + d) / 2) for (a, b), (c, d) in pairs if max(abs(a - c), abs(b - d)) < SMALLEST - 2]


@pytest.mark.parametrize(("wish", "moves"), [("reduce", "none"), ("no-preference", "fresh")])
def test_reduced_motion_is_honoured(server: Server, page: Browser, wish: str, moves: str) -> None:
    page.command("Emulation.setEmulatedMedia", features=[{"name": "prefers-reduced-motion", "value": wish}])
    enter(page, server.origin + server.make_room("person 1", "random", "random", "random", seed=5, level="4000"))
    page.run("(window.begun = 0, addEventListener('animationstart', () => { begun += 1; }), 0)")
    end_the_turn_slowly(page)

    assert set(page.run(MOVING)) == {moves}
    page.run(f"({TWO_FRAMES}, 0)")
    page.wait_for("shown")
    assert (page.run("begun") > 0) == (moves == "fresh")


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
@pytest.mark.parametrize("place", ["lobby", "in play", "attack", "over", "analysed"])
def test_no_serious_fault_of_accessibility(server: Server, page: Browser, axe: str, place: str, size: tuple[int, int]) -> None:
    OPENED[place](server, page, size)
    faults = []
    for scheme in ("light", "dark"):
        page.command("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        faults += page.run_program(f"{axe}; scrollTo(0, 0); axe.run({{rules: {{'target-size': {{enabled: true}}}}}}).then({FAULTS})")

    assert [fault for fault in faults if fault[0] in ("serious", "critical")] == []


def open_lobby(server: Server, page: Browser, size: tuple[int, int]) -> None:
    enter(page, f"{server.origin}/", size)
    page.run("document.querySelectorAll('details').forEach((one) => { one.open = true; })")


def open_game(server: Server, page: Browser, size: tuple[int, int]) -> None:
    """With all that can be shown while one decides."""
    enter(page, server.origin + server.make_room("person 1", "person 2", "random", "random", seed=5), size)
    click_in_the_list(page, offered(page)[0])
    page.click("#ask-analysis")
    page.wait_for("document.getElementById('curve') !== null", PATIENCE)
    page.press("h")
    page.wait_for("document.querySelectorAll('#coach li').length > 0", PATIENCE)
    page.click("#people-box summary")


def open_attack(server: Server, page: Browser, size: tuple[int, int]) -> None:
    enter(page, server.origin + server.make_room(*["person 1"] * 4, replay=replay_data(beside_a_revolt())), size)
    offered(page)
    page.click("#choices .combat")
    page.wait_for("!document.getElementById('card').hidden", PATIENCE)


def open_finished_game(server: Server, page: Browser, size: tuple[int, int]) -> None:
    replay = random_replay(Options(), 11, 1000)
    enter(page, server.origin + server.make_room("person 1", *["random"] * 3, replay=replay_data(replay)), size)
    page.wait_for(OVER, PATIENCE)


def open_analysis(server: Server, page: Browser, size: tuple[int, int]) -> None:
    open_finished_game(server, page, size)
    page.click("#ask-analysis")
    page.wait_for("document.querySelectorAll('#worst button').length === 3", PATIENCE)
    page.click("#worst button")
    page.wait_for("document.querySelector('#thoughts table') !== null", PATIENCE)


OPENED = {"lobby": open_lobby, "in play": open_game, "attack": open_attack, "over": open_finished_game, "analysed": open_analysis}
