"""The replay page: its content, and its behaviour in a real browser."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from helpers.browser import Browser
from helpers.random_games import EVERYTHING, random_replay
from tetrarchia_env.game import Game
from tetrarchia_env.options import Options
from tetrarchia_env.render.frames import Frame
from tetrarchia_env.render.page import replay_page

TITLE = "TETRARCHIA: four random agents, seed 11"
VOID = {"meta", "link", "input", "br", "img", "hr"}
PHONES = [(360, 640), (390, 844), (844, 390)]
CONTROLS = ["#first", "#previous-turn", "#previous", "#play", "#next", "#next-turn", "#last", "#slider", "#speed"]
TURNS = [0, 8, 14, 19, 23, 29, 30, 35, 39]  # indices of the frames of the example game at which a turn begins
ATTACK = '</script><img src="x" onerror="alert(1)">&amp; "$title"'


@cache
def game() -> tuple[Frame, ...]:
    """Return the frames of a game of 43 actions in 9 turns in which Rome falls."""
    return tuple(Game.from_replay(random_replay(Options(), 11, 1000)).frames())


@cache
def page() -> str:
    return replay_page(game(), TITLE)


class Outline(HTMLParser):
    """A parser that collects elements and texts of log entries, and checks that all tags are closed in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.ids: list[str] = []
        self.events: list[str] = []
        self.data = ""
        self._open: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        self.tags.append(tag)
        self.ids += [values["id"] or ""] if "id" in values else []
        if tag not in VOID:
            self._open.append((tag, values))

    def handle_startendtag(self, tag: str, attrs: object) -> None:
        self.tags.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop()[0] == tag

    def handle_data(self, data: str) -> None:
        tag, values = self._open[-1] if self._open else ("", {})
        if tag == "span" and (values.get("class") or "").startswith("event"):
            self.events.append(data)
        elif values.get("id") == "game":
            self.data += data


def data_of(text: str) -> Any:
    return json.loads(Outline(text).data)


def test_page_is_one_self_contained_document() -> None:
    outline = Outline(page())
    assert [outline.tags.count(tag) for tag in ("html", "head", "body", "main", "h1", "title")] == [1] * 6
    assert len(outline.ids) == len(set(outline.ids))
    assert not re.search(r"https?:|[\"'(]//|@import", page())
    led_to = set(re.findall(r"\b(?:src|href|url)\s*[=(]\s*\\?[\"']?([^\"'\\),;\s]+)", page()))
    assert led_to == {"data:", "data:font/ttf", *(f"#{name}" for name in outline.ids if name.startswith("symbol-"))}


def test_frames_refer_to_parts_and_each_part_is_stored_once() -> None:
    data = data_of(page())
    assert len(data["frames"]) == len(game())
    assert len(data["parts"]) == len(set(data["parts"]))
    used = {number for frame in data["frames"] for numbers in frame.values() for number in numbers}
    assert used == set(range(len(data["parts"])))
    assert data["turns"] == TURNS


def test_pieces_of_each_frame_match_its_position() -> None:
    data = data_of(page())
    for frame, drawn in zip(game(), data["frames"], strict=True):
        pieces = "".join(data["parts"][number] for number in drawn["pieces"])
        tokens = re.findall(r'class="token" data-space="([^"]+)" data-kind="([^"]+)"', pieces)
        assert dict(tokens) == frame.snapshot["tokens"]
        assert pieces.count('class="army"') == len(frame.snapshot["armies"])
        assert 'class="event"' not in pieces


def test_log_lists_all_stories_in_order() -> None:
    assert Outline(page()).events == ["the game begins", *(line for frame in game() for line in frame.story)]
    assert page().count('<button tabindex="-1">') == len(game())


def test_last_frame_shows_the_outcome() -> None:
    data = data_of(page())
    heads = ["".join(data["parts"][number] for number in frame["head"]) for frame in data["frames"]]
    assert ["ROME HAS FALLEN" in head for head in heads] == [False] * 43 + [True]


def test_all_texts_are_escaped() -> None:
    frame = replace(game()[1], story=(ATTACK,), dice=ATTACK)
    text = replay_page([game()[0], frame], ATTACK)
    outline = Outline(text)
    assert "img" not in outline.tags
    assert outline.tags.count("script") == 2
    assert outline.events == ["the game begins", ATTACK]


def test_page_of_a_long_game_is_below_one_megabyte() -> None:
    games = [Game.from_replay(random_replay(EVERYTHING, seed, 1000)).frames() for seed in range(8)]
    frames = [frame for frames in games for frame in frames]
    assert len(frames) > 300
    assert len(replay_page(frames, TITLE)) < 1_000_000


def test_page_needs_at_least_one_position() -> None:
    assert len(data_of(replay_page(game()[:1], TITLE))["frames"]) == 1
    with pytest.raises(ValueError, match="at least one position"):
        replay_page([], TITLE)


@pytest.fixture
def address(tmp_path: Path) -> str:
    (tmp_path / "page.html").write_text(page(), encoding="utf-8")
    return (tmp_path / "page.html").as_uri()


@pytest.fixture
def window(chromium: Browser, address: str) -> Iterator[Browser]:
    """Open the page at desktop size; check afterwards that the console has no errors."""
    chromium.resize(1280, 800)
    chromium.open(address)
    yield chromium
    assert chromium.console_errors() == []


def shown_frame(window: Browser) -> int:
    """Return the number of the shown frame; check that slider, count, log, map and texts agree on it."""
    number = int(window.run("document.getElementById('slider').value"))
    frame = game()[number]
    assert window.run("document.getElementById('count').value") == f"{number} / {len(game()) - 1}"
    assert window.run("entries.map((entry, k) => entry.hasAttribute('aria-current') ? k : -1).filter((k) => k >= 0)") == [number]
    assert window.run("document.getElementById('live').textContent") == ("; ".join(frame.story) or "the game begins")
    assert window.run("document.querySelectorAll('#pieces .token').length") == len(frame.snapshot["tokens"])
    assert window.run("document.querySelector('#head').textContent").startswith(
        f"Turn {frame.snapshot['turn'] + 1}" if frame.snapshot["outcome"] == "running" else "ROME HAS FALLEN"
    )
    assert window.sees("#log [aria-current] .event")
    return number


@pytest.mark.slow
def test_page_opens_at_the_first_position_without_loading_resources(window: Browser) -> None:
    assert shown_frame(window) == 0
    assert window.run("performance.getEntriesByType('resource').filter((entry) => !entry.name.startsWith('data:')).length") == 0
    window.wait_for("document.fonts.status === 'loaded' && document.fonts.check('12px \"Tetrarchia Sans\"')")


@pytest.mark.slow
def test_keys_step_by_action_by_turn_and_to_either_end(window: Browser) -> None:
    steps = ["Left 0", "Right 1", "Right 2", "Left 1", "End 43", "Right 43", "Home 0"]
    steps += [f"PageDown {TURNS[1]}", f"Down {TURNS[2]}", f"Right {TURNS[2] + 1}", f"PageUp {TURNS[2]}", f"Up {TURNS[1]}"]
    for step in steps:
        window.press(step.split()[0])
        assert f"{step.split()[0]} {shown_frame(window)}" == step


@pytest.mark.slow
def test_buttons_step_like_the_keys(window: Browser) -> None:
    steps = {"#next": 1, "#next-turn": TURNS[1], "#previous": TURNS[1] - 1, "#previous-turn": 0, "#last": 43, "#first": 0}
    for button, number in steps.items():
        window.click(button)
        assert (button, shown_frame(window)) == (button, number)


@pytest.mark.slow
def test_slider_selects_the_position(window: Browser) -> None:
    window.click("#slider")  # clicks the center
    before = shown_frame(window)
    assert abs(before - 21.5) < 3
    window.press("Right", "Right", "Left", "Up")
    assert shown_frame(window) == before + 2


@pytest.mark.slow
@pytest.mark.parametrize("start", ["button", "key"])
def test_play_and_pause(window: Browser, start: str) -> None:
    window.run("(speed.value = '10', speed.dispatchEvent(new Event('change')))")
    if start == "key":
        window.press("Space")
    else:
        window.click("#play")
    assert window.run("document.getElementById('play').getAttribute('aria-label')") == "Pause"
    window.wait_for("current >= 3")
    window.press("Space")
    stopped = shown_frame(window)
    assert stopped < 43
    with pytest.raises(AssertionError, match="not within"):
        window.wait_for(f"current !== {stopped}", 0.5)


@pytest.mark.slow
def test_play_stops_at_the_last_position_and_restarts_from_there(window: Browser) -> None:
    window.run("speed.value = '10'")
    window.press("End", "Left", "Left", "Space")
    window.wait_for("current === last && !playTimer")
    assert shown_frame(window) == 43
    window.press("Space")
    assert window.run("current") < 43
    window.press("Home")
    assert shown_frame(window) == 0


@pytest.mark.slow
def test_click_in_the_log_jumps_to_that_position(window: Browser) -> None:
    window.press("End", "PageUp")
    before = shown_frame(window)
    window.run("(entries[current - 1].id = 'wanted')")
    window.click("#wanted")
    assert shown_frame(window) == before - 1
    window.press("Right")
    assert shown_frame(window) == before


@pytest.mark.slow
def test_url_fragment_selects_and_follows_the_frame(window: Browser, address: str) -> None:
    window.open("about:blank")
    window.open(f"{address}#30")
    assert shown_frame(window) == 30
    window.press("Right")
    window.wait_for("location.hash === '#31'")
    window.run("(location.hash = '#7')")
    window.wait_for("current === 7")
    assert shown_frame(window) == 7
    window.run("(location.hash = '#9999')")
    window.wait_for("current === last")
    window.run("(location.hash = '#nowhere')")
    assert shown_frame(window) == 43


@pytest.mark.slow
@pytest.mark.parametrize(("width", "height"), PHONES)
def test_page_fits_a_phone_and_controls_are_visible(window: Browser, width: int, height: int) -> None:
    window.resize(width, height, phone=True)
    for key in ("Home", "End", "PageUp"):
        window.press(key)
        assert window.run("innerWidth") == width
        assert window.run("document.documentElement.scrollWidth <= innerWidth")
        assert [control for control in CONTROLS if not window.sees(control)] == []
    assert window.run("Math.min(...[...document.querySelectorAll('.buttons button')].map((one) => one.offsetWidth))") >= 36
    assert window.run("document.querySelector('.board').clientWidth") == width or width > height


@pytest.mark.slow
def test_map_can_be_enlarged_on_a_phone(window: Browser) -> None:
    window.resize(390, 844, phone=True)
    window.click("#zoom")
    assert window.run("document.querySelector('.board').getBoundingClientRect().width") == 2.5 * 390
    assert window.run("document.documentElement.scrollWidth <= innerWidth")
    window.press("End")
    assert window.sees("#pieces .fresh")
    window.click("#zoom")
    window.run("scrollTo(0, 9999)")
    assert window.sees("#panel .facts")
    assert window.sees("#play")


@pytest.mark.slow
def test_log_is_a_single_tab_stop(window: Browser) -> None:
    window.press("Right", "Right", "Right")
    window.run("document.getElementById('last').focus()")
    window.press("Tab")
    if window.run("document.activeElement.id === 'log'"):  # some browsers also focus the scrollable list
        window.press("Tab")
    assert window.run("document.activeElement === entries[3] && entries[3].matches(':focus-visible')")
