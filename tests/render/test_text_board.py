"""The board as text: size, completeness, and the same text with and without colours."""

from typing import Any

import pytest

from helpers.configurations import ONE_BY_ONE, random_options
from helpers.positions import EMPTY
from helpers.pseudo_terminal import without_codes
from helpers.random_games import random_frames
from tetrarchia_env.board import BOARD, EMPERORS, ROMAN_PROVINCES
from tetrarchia_env.render.text import draw_text

MARKS = {"unrest": "[u]", "revolt": "[R]", **{name: f"({name[0].upper()})" for name in EMPERORS}}
ARMIES = {"army": "army", "goths": "Goth", "rebel": "Rebel"}


def cell(text: str, space: int) -> str:
    """Return the text in the columns of one space."""
    number = "*" if space >= ROMAN_PROVINCES else BOARD.number[space]
    label = f"{number} {BOARD.names[space]} "
    for line in text.splitlines():
        for start in range(0, len(line), 34):
            if line[start:].startswith(label) or line[start : start + 32].rstrip() == label.rstrip():
                return line[start + 2 : start + 32]
    raise AssertionError(f"{label} is not shown")


def assert_shows_everything(snapshot: dict[str, Any], text: str) -> None:
    for space, name in enumerate(BOARD.names):
        shown = cell(text, space)
        assert MARKS.get(snapshot["tokens"].get(name, ""), "") in shown
        assert ("[" in shown) == (snapshot["tokens"].get(name) in ("unrest", "revolt"))
        for figure, place in {**snapshot["emperors"], "dux": snapshot["dux"]}.items():
            assert (figure.capitalize()[:3] in shown) == (place == name)
    for place, origin, kind in snapshot["armies"]:
        assert f"{ARMIES[kind]} {origin}" in cell(text, BOARD.space_id(place))
    for zone in BOARD.zones:
        line = next(line for line in text.splitlines() if zone in line)
        assert ("fleet" in line) == (zone in snapshot["fleets"])
        assert ("Pirates" in line) == (zone == snapshot["pirates"])
    for name in EMPERORS:
        assert f"{name.capitalize():11} {snapshot['supply'][name]} tokens" in text
    for kind, mark in (("unrest", "[u]"), ("revolt", "[R]")):
        assert f"{snapshot['reserve'][kind]:2} {mark}" in text
    assert f"armies {snapshot['reserve']['armies']}" in text
    assert f"turn {snapshot['turn'] + 1} " in text
    assert f"score {snapshot['score']}" in text


@pytest.mark.parametrize("seed", range(12))
def test_boards_of_random_games_fit_and_show_everything(seed: int) -> None:
    for frame in random_frames(random_options(seed), seed)[:: 1 + seed % 3]:
        text = draw_text(frame.snapshot, story=frame.story * 3, dice=frame.dice)
        lines = text.split("\n")
        assert max(map(len, lines)) <= 100
        assert len(lines) <= 40
        assert "\x1b" not in text
        assert all(line == line.rstrip() for line in lines)
        assert_shows_everything(frame.snapshot, text)


@pytest.mark.parametrize("name", ONE_BY_ONE)
def test_colours_do_not_change_the_text(name: str) -> None:
    for frame in random_frames(ONE_BY_ONE[name], 7)[::5]:
        plain = draw_text(frame.snapshot, story=frame.story, dice=frame.dice)
        coloured = draw_text(frame.snapshot, colour=True, story=frame.story, dice=frame.dice)
        assert [line.rstrip() for line in without_codes(coloured).split("\n")] == plain.split("\n")
        assert coloured.count("\x1b[0m") * 2 == coloured.count("\x1b[")


@pytest.mark.parametrize(("width", "height"), [(100, 40), (80, 24), (40, 10), (20, 3), (1, 1), (200, 60)])
def test_board_fits_any_window_size(width: int, height: int) -> None:
    for frame in random_frames(ONE_BY_ONE["everything"], 147)[::10]:
        lines = draw_text(frame.snapshot, story=frame.story * 5, width=width, height=height).split("\n")
        assert max(map(len, lines)) <= width
        assert len(lines) <= height


def test_handwritten_snapshot_is_accepted() -> None:
    text = draw_text(EMPTY)
    assert "turn 9 " in text
    assert "> D  Diocletian" in text


def test_long_story_is_cut_to_its_newest_lines() -> None:
    story = [f"event {number}" for number in range(50)] + ["> the last one"]
    lines = draw_text(EMPTY, story=story).split("\n")
    assert lines[-2:] == ["event 49", "> the last one"]
    assert "event 0" not in lines


def test_long_event_is_wrapped() -> None:
    event = "III 4 RHAETIA rises: " + ", ".join(BOARD.names[:12]) + " revolt"
    lines = draw_text(EMPTY, story=[event]).split("\n")
    assert " ".join(" ".join(lines[-2:]).split()) == event
