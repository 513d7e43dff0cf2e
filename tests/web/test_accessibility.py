"""Accessibility of the pages: touch targets, reduced motion, and the rules of axe-core."""

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
from helpers.room_page import (
    DESKTOP,
    IS_OVER,
    PHONE,
    TIMEOUT_S,
    ask_coach,
    click_choice,
    end_turn_slowly,
    open_page,
    position,
    wait_for_choices,
    wait_for_position_after,
)  # fmt: skip
from helpers.web_server import Server
from tetrarchia_env.board import BOARD
from tetrarchia_env.notation import replay_data
from tetrarchia_env.options import Options

pytestmark = pytest.mark.slow
MIN_TARGET_PX = 24  # WCAG 2.2, success criterion 2.5.8
TOO_SMALL = f"""[...document.querySelectorAll('a[href], button, input, select, summary')].filter((control) => control.checkVisibility())
    .map((control) => [control.outerHTML, (control.closest('label') ?? control).getBoundingClientRect()])
    .filter(([, box]) => box.width < {MIN_TARGET_PX} || box.height < {MIN_TARGET_PX}).map(([html]) => html)"""
SHOW_ALL_TARGETS = """import('/static/board.js').then((board) => {
    const spaces = Object.keys(JSON.parse(document.getElementById('data').textContent).spaces);
    board.showTargets(spaces.map((place) => ({place, action: '', label: '', cost: '1 IP'})), () => {}, () => {}); done(spaces); })"""
TARGET_CENTERS = """[...document.querySelectorAll('#targets .target')].map((target) => {
    const box = target.querySelector('.ring').getBoundingClientRect();
    return [target.dataset.place, (box.left + box.right) / 2, (box.top + box.bottom) / 2]; })"""
CHOICES_AT = """import('/static/board.js').then((board) => done(arguments[0].map(([x, y]) =>
    document.getElementById('view').contains(document.elementFromPoint(x, y)) && board.choicesAt(x, y).map((choice) => choice.place))))"""
VIOLATIONS = "(found) => done(found.violations.map((one) => [one.impact, one.id, one.nodes[0].html]))"
TWO_FRAMES = "window.shown = false, requestAnimationFrame(() => requestAnimationFrame(() => { shown = true; }))"  # animations start
ANIMATIONS = """[...document.querySelectorAll('#dice svg, #pieces .fresh')].map((one) => getComputedStyle(one).animationName)"""


def test_controls_are_large_enough_on_a_phone(server: Server, page: Browser) -> None:
    open_page(page, f"{server.origin}/", PHONE)
    assert too_small_controls(page) == []
    open_page(page, server.origin + server.create_room("player 1", "player 2", "random", "random", seed=5), PHONE)
    wait_for_choices(page)
    ask_coach(page)
    assert too_small_controls(page) == []


def too_small_controls(page: Browser) -> list[str]:
    """Return the controls that are too small, with each menu opened in turn."""
    found = []
    for number in range(page.run("document.querySelectorAll('details').length")):
        page.run(f"(document.querySelectorAll('details')[{number}].open = true, 0)")
        found += page.run(TOO_SMALL)
    return found


def test_every_target_on_the_map_can_be_touched_on_a_phone(server: Server, page: Browser) -> None:
    """With all targets shown at once, touching the minimal square of a target offers this target, possibly with a neighbor."""
    open_page(page, server.origin + server.create_room(*["player 1"] * 4, seed=5), PHONE)
    wait_for_choices(page)
    assert len(page.run_program(SHOW_ALL_TARGETS)) == len(BOARD.names) + len(BOARD.zones)
    for place, x, y in page.run(TARGET_CENTERS):
        touched = page.run_program(CHOICES_AT, [(x, y), *corners(x, y)])
        assert all(place in found for found in touched), place
        assert touched[0] == [place]


def corners(x: float, y: float) -> list[tuple[float, float]]:
    """Return the corners of the minimal square around a point, clipped to the screen."""
    half = MIN_TARGET_PX / 2 - 0.5
    return [(min(x + dx, PHONE[0] - 1), y + dy) for dx in (-half, half) for dy in (-half, half)]


def test_enlarged_map_shows_the_acting_figure_on_a_phone(server: Server, page: Browser) -> None:
    open_page(page, server.origin + server.create_room("player 1", *["random"] * 3, seed=5), PHONE)
    while not page.run("document.querySelector('#pieces [data-kind=diocletian].figure')"):
        click_choice(page, wait_for_choices(page)[0])
    page.click("#zoom")
    wait_for_choices(page)

    assert page.sees("#pieces [data-kind=diocletian].figure")
    assert page.run("document.querySelector('.board').getBoundingClientRect().width") > 2 * PHONE[0]


def test_touch_between_two_close_targets_offers_both(server: Server, page: Browser) -> None:
    open_page(page, server.origin + server.create_room(*["player 1"] * 4, seed=5), PHONE)
    rng = random.Random(5)
    while not (points := overlaps(page)):
        click_choice(page, rng.choice(wait_for_choices(page)))
    wait_for_choices(page)
    page.tap(*points[0])
    page.wait_for("!document.getElementById('card').hidden", TIMEOUT_S)
    assert page.run("document.querySelectorAll('#card .confirm').length") == 2
    number = position(page)
    wait_for_choices(page)  # the dead time of the card
    page.click("#card .confirm:nth-of-type(2)")
    wait_for_position_after(page, number)


def overlaps(page: Browser) -> list[tuple[float, float]]:
    """Return the midpoints of targets whose minimal squares overlap."""
    pairs = itertools.combinations([where for _, *where in page.run(TARGET_CENTERS)], 2)
    return [((a + c) / 2, (b + d) / 2) for (a, b), (c, d) in pairs if max(abs(a - c), abs(b - d)) < MIN_TARGET_PX - 2]


@pytest.mark.parametrize(("preference", "animation"), [("reduce", "none"), ("no-preference", "fresh")])
def test_reduced_motion_is_respected(server: Server, page: Browser, preference: str, animation: str) -> None:
    page.command("Emulation.setEmulatedMedia", features=[{"name": "prefers-reduced-motion", "value": preference}])
    open_page(page, server.origin + server.create_room("player 1", "random", "random", "random", seed=5, level="4000"))
    page.run("(window.started = 0, addEventListener('animationstart', () => { started += 1; }), 0)")
    end_turn_slowly(page)

    assert set(page.run(ANIMATIONS)) == {animation}
    page.run(f"({TWO_FRAMES}, 0)")
    page.wait_for("shown")
    assert (page.run("started") > 0) == (animation == "fresh")


@pytest.fixture(scope="session")
def axe(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return the source of axe-core from the npm registry."""
    npm = shutil.which("npm")
    folder = tmp_path_factory.mktemp("axe")
    if npm is None or subprocess.run([npm, "pack", "axe-core@4"], cwd=folder, capture_output=True, check=False).returncode:
        pytest.skip("axe-core is not available: no npm, or no registry")
    with tarfile.open(next(folder.glob("*.tgz"))) as archive:
        file = archive.extractfile("package/axe.min.js")
        assert file
        return file.read().decode()


@pytest.mark.thorough
@pytest.mark.parametrize("size", [DESKTOP, PHONE])
@pytest.mark.parametrize("view", ["lobby", "game", "attack", "finished", "analysis", "guide", "rules"])
def test_axe_finds_no_serious_violation(server: Server, page: Browser, axe: str, view: str, size: tuple[int, int]) -> None:
    OPEN_VIEW[view](server, page, size)
    violations = []
    for scheme in ("light", "dark"):
        page.command("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        violations += page.run_program(
            f"{axe}; scrollTo(0, 0); axe.run({{rules: {{'target-size': {{enabled: true}}}}}}).then({VIOLATIONS})"
        )

    assert [violation for violation in violations if violation[0] in ("serious", "critical")] == []


def open_lobby(server: Server, page: Browser, size: tuple[int, int]) -> None:
    open_page(page, f"{server.origin}/", size)
    page.run("document.querySelectorAll('details').forEach((one) => { one.open = true; })")


def open_game(server: Server, page: Browser, size: tuple[int, int]) -> None:
    """Open a game with analysis, coach and the players menu."""
    open_page(page, server.origin + server.create_room("player 1", "player 2", "random", "random", seed=5), size)
    click_choice(page, wait_for_choices(page)[0])
    page.click("#analysis-button")
    page.wait_for("document.getElementById('curve') !== null", TIMEOUT_S)
    ask_coach(page)
    page.run("(document.getElementById('players-menu').open = true, 0)")


def open_attack(server: Server, page: Browser, size: tuple[int, int]) -> None:
    open_page(page, server.origin + server.create_room(*["player 1"] * 4, replay=replay_data(beside_a_revolt())), size)
    wait_for_choices(page)
    page.click("#choices .combat")
    page.wait_for("!document.getElementById('card').hidden", TIMEOUT_S)


def open_finished_game(server: Server, page: Browser, size: tuple[int, int]) -> None:
    replay = random_replay(Options(), 11, 1000)
    open_page(page, server.origin + server.create_room("player 1", *["random"] * 3, replay=replay_data(replay)), size)
    page.wait_for(IS_OVER, TIMEOUT_S)


def open_analysis(server: Server, page: Browser, size: tuple[int, int]) -> None:
    open_finished_game(server, page, size)
    page.click("#analysis-button")
    page.wait_for("document.querySelectorAll('#mistakes .show').length > 0", TIMEOUT_S)
    page.click("#mistakes button")
    page.wait_for("document.querySelector('#analysis table') !== null", TIMEOUT_S)


def open_guide(server: Server, page: Browser, size: tuple[int, int]) -> None:
    open_page(page, server.origin + server.create_room("player 1", *["random"] * 3, seed=5), size, is_new_player=True)
    wait_for_choices(page)
    assert page.run("document.getElementById('guide').checkVisibility()")


def open_rules(server: Server, page: Browser, size: tuple[int, int]) -> None:
    open_page(page, server.origin + server.create_room("player 1", *["random"] * 3, scenario="carausian_revolt"), size)
    wait_for_choices(page)
    page.click("#rules-button")


OPEN_VIEW = {
    "guide": open_guide,
    "rules": open_rules,
    "lobby": open_lobby,
    "game": open_game,
    "attack": open_attack,
    "finished": open_finished_game,
    "analysis": open_analysis,
}
