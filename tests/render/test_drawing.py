"""The SVG drawing: golden pictures, positions of pieces, texts, and geometry of the map.

`PYTHONPATH=tests python tests/render/test_drawing.py` rewrites the golden pictures; inspect the difference before you commit it.
"""

import copy
import re
from collections.abc import Iterator, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from helpers.positions import EMPTY
from tetrarchia_env.board import BOARD, BROKEN, EMPERORS, NUMERALS, ROMAN_PROVINCES, SPACES
from tetrarchia_env.render import coasts, theme
from tetrarchia_env.render.pieces import army, figure, token
from tetrarchia_env.render.shapes import Point
from tetrarchia_env.render.svg import document, draw_svg, ground

GOLDEN = Path(__file__).parent / "golden_pictures"
NAMES = list(BOARD.names)
BORDERS = NAMES[ROMAN_PROVINCES:]
KINDS = ("unrest", "revolt", *EMPERORS)
STORY = ("galerius moves to THRACIA", "IV 3 THRACIA rises: MACEDONIA, MOESIA SVPERIOR revolt", "army from III attacks maximian: 7 to 5")


def changed(**changes: Any) -> dict[str, Any]:
    """Return EMPTY with changes; the board has no figures unless the changes add them."""
    off_board = {"emperors": dict.fromkeys(EMPERORS), "score": -2}
    return copy.deepcopy(EMPTY) | off_board | changes


POSITIONS: dict[str, dict[str, Any]] = {
    "opening": changed(turn=0, phase="fleets", ip=0, tokens=dict.fromkeys(("BAETICA", "BELGICA", "NORICVM", "THRACIA"), "revolt")),
    "everything": changed(
        emperor="galerius",
        ip=4,
        passing="galerius",
        tokens=dict(zip(("SYRIA", "DACIA", "LIBYA", "MACEDONIA", "BELGICA", "ROMA"), KINDS, strict=True)),
        emperors={"diocletian": "LIBYA", "galerius": "ACHAEA", "constantius": "BELGICA", "maximian": None},
        dux="ACHAEA",
        armies=[["DACIA", "III", "army"], ["SARMATIA", "IV", "goths"]],
        fleets=["ATLANTICVM", "AEGAEVM"],
        pirates="INTERNVM",
        supply={"diocletian": 3, "galerius": 5, "constantius": 0, "maximian": 2},
        glory={"diocletian": 0, "galerius": 2, "constantius": 0, "maximian": 0},
    ),
    "rebels": changed(
        emperor="constantius",
        tokens={"PERSIA": "revolt", "LIBYA": "revolt"},
        armies=[["PERSIA", "V", "rebel"], ["LIBYA", "VI", "rebel"]],
        pirates="ATLANTICVM",
    ),
    "block": changed(phase="block", emperor="maximian", emperors={**EMPTY["emperors"]}, armies=[["GERMANIA INFERIOR", "II", "army"]]),
    "won": changed(outcome="won", phase="over", score=10, tokens=dict(zip(BORDERS, EMPERORS + EMPERORS[:2], strict=True))),
    "lost": changed(outcome="rome fell", phase="over", armies=[["ROMA", "IV", "army"]]),
}  # fmt: skip


def outline(svg: str) -> list[str]:
    """Return one line per element with its tag, geometry and text; colours are not compared."""
    kept = ("class", "transform", "x", "y", "cx", "cy", "x1", "y1", "x2", "y2", "width", "height")
    lines = []
    for element in ElementTree.fromstring(svg).iter():
        facts = [f"{name}={value}" for name, value in element.attrib.items() if name in kept or name.startswith("data-")]
        lines.append(" ".join([element.tag.rpartition("}")[2], *facts, element.text or ""]).rstrip())
    return lines


def golden_lines(name: str) -> list[str]:
    """Return the outline of the ground, or of a position without the ground."""
    if name == "ground":
        return outline(document(ground(), 1200))
    return outline(draw_svg(POSITIONS[name], story=STORY, dice="IV 3, III").replace(ground(), ""))


@pytest.mark.parametrize("name", ["ground", *POSITIONS])
def test_picture_equals_the_golden_picture(name: str) -> None:
    assert golden_lines(name) == (GOLDEN / f"{name}.txt").read_text(encoding="utf-8").splitlines()


def pieces(snapshot: dict[str, Any]) -> set[tuple[str, str, str]]:
    """Return class, kind and place of all pieces in the picture."""
    found = ElementTree.fromstring(draw_svg(snapshot)).iter()
    moving = [one.attrib for one in found if one.get("class") in ("token", "figure", "army", "ship")]
    return {(one["class"], one["data-kind"], one.get("data-space") or one["data-zone"]) for one in moving}


def texts_of(svg: str) -> list[str]:
    return [element.text or "" for element in ElementTree.fromstring(svg).iter() if element.tag.endswith("}text")]


def test_empty_board_shows_no_piece() -> None:
    assert pieces(changed()) == set()


@pytest.mark.parametrize("kind", KINDS)
def test_token_is_drawn_in_its_space(kind: str) -> None:
    for name in NAMES:
        assert pieces(changed(tokens={name: kind})) == {("token", kind, name)}


@pytest.mark.parametrize(("dux", "seen"), [("ASIA", {("figure", "dux", "ASIA")}), ("available", set()), ("gone", set()), (None, set())])
def test_dux_is_drawn_only_when_on_the_board(dux: str | None, seen: set[tuple[str, str, str]]) -> None:
    assert pieces(changed(dux=dux)) == seen


@pytest.mark.parametrize("zone", BOARD.zones)
def test_ships_are_drawn_in_their_zone(zone: str) -> None:
    assert pieces(changed(fleets=[zone])) == {("ship", "fleet", zone)}
    assert pieces(changed(pirates=zone)) == {("ship", "pirates", zone)}
    assert pieces(changed(pirates="gone")) == set()


def elements_of_class(svg: str, name: str) -> list[dict[str, str]]:
    return [element.attrib for element in ElementTree.fromstring(svg).iter() if element.get("class") == name]


@pytest.mark.parametrize("border", BORDERS)
def test_border_is_marked_as_secured_only_by_an_emperors_token(border: str) -> None:
    for kind in KINDS:
        assert len(elements_of_class(draw_svg(changed(tokens={border: kind})), "secured")) == (kind in EMPERORS)
    assert not elements_of_class(draw_svg(changed(tokens={"ASIA": "galerius"})), "secured")


def test_ground_shows_the_whole_board() -> None:
    svg = document(ground(), 1200)
    assert [one["data-space"] for one in elements_of_class(svg, "name")] == NAMES
    assert {one["data-space"] for one in elements_of_class(svg, "province") + elements_of_class(svg, "border")} == set(NAMES)
    assert [one["data-emperor"] for one in elements_of_class(svg, "capital")].count(" ".join(EMPERORS)) == 1
    assert {one["data-emperor"] for one in elements_of_class(svg, "capital")} == {*EMPERORS, " ".join(EMPERORS)}
    assert len(elements_of_class(svg, "broken")) == np.count_nonzero(BOARD.links == BROKEN) / 2
    assert len(elements_of_class(svg, "normal")) == np.count_nonzero(BOARD.links) / 2 - len(elements_of_class(svg, "broken"))
    assert len(elements_of_class(svg, "region")) == len(BOARD.regions)
    for row, numeral in enumerate(NUMERALS):
        arrows = [one for one in elements_of_class(svg, "arrow") if one["data-region"] == numeral]
        assert len(arrows) == np.count_nonzero(BOARD.next_step[row] >= 0)


@pytest.mark.parametrize("outcome", ["won", "rome fell", "reserve empty", "truncated"])
def test_finished_game_has_no_active_emperor(outcome: str) -> None:
    assert not elements_of_class(draw_svg(changed(outcome=outcome, phase="over")), "active")
    assert len(elements_of_class(draw_svg(changed()), "active")) == 1


@pytest.mark.parametrize("emperor", EMPERORS)
def test_panel_highlights_the_emperor_whose_turn_it_is(emperor: str) -> None:
    rows = [element for element in ElementTree.fromstring(draw_svg(changed(emperor=emperor))).iter() if element.get("class") == "row"]
    marked = [row.get("data-emperor") for row in rows if any(part.get("class") == "active" for part in row.iter())]
    assert marked == [emperor]


def test_long_story_shows_its_newest_lines() -> None:
    texts = texts_of(draw_svg(changed(), story=[f"event {number}" for number in range(100)]))
    assert "event 99" in texts
    assert "event 90" in texts
    assert "event 1" not in texts


@pytest.mark.parametrize("strange", ["<b>&\"'", "a\x1b[31m\x00b", "\ud800", "x" * 300])
def test_unusual_characters_give_valid_svg(strange: str) -> None:
    svg = draw_svg(changed(), story=[strange], dice=strange)
    assert ElementTree.fromstring(svg.encode()).tag.endswith("svg")


@pytest.mark.parametrize("width", [0, -5])
def test_width_below_one_is_refused(width: int) -> None:
    with pytest.raises(ValueError, match=f"not {width}"):
        draw_svg(changed(), width=width)


def is_inside(point: Point, corners: Sequence[Point]) -> bool:
    """Return whether a ray to the right of the point crosses the outline an odd number of times."""
    x, y = point
    sides = zip(corners, (*corners[1:], corners[0]), strict=True)
    return sum((y1 > y) != (y2 > y) and x < x1 + (x2 - x1) * (y - y1) / (y2 - y1) for (x1, y1), (x2, y2) in sides) % 2 == 1


LAND = (coasts.MAINLAND, coasts.BRITAIN, *coasts.ITALIAN_ISLANDS.values(), *coasts.ISLANDS.values())
WATER = (coasts.BLACK_SEA, coasts.RED_SEA)


def is_on_land(point: Point) -> bool:
    return any(is_inside(point, shape) for shape in LAND) and not any(is_inside(point, shape) for shape in WATER)


@pytest.mark.parametrize("space", range(SPACES), ids=NAMES)
def test_spaces_lie_on_land(space: int) -> None:
    assert is_on_land(tuple(BOARD.xy[space].tolist()))


@pytest.mark.parametrize("zone", range(3), ids=BOARD.zones)
def test_zones_lie_in_the_sea(zone: int) -> None:
    assert not is_on_land(tuple(BOARD.zone_xy[zone].tolist()))


@pytest.mark.parametrize("space", range(ROMAN_PROVINCES), ids=NAMES[:ROMAN_PROVINCES])
def test_provinces_lie_in_the_tinted_area_of_their_region(space: int) -> None:
    place, region = tuple(BOARD.xy[space].tolist()), int(BOARD.region[space])
    islands = any(is_inside(place, shape) for shape in coasts.ITALIAN_ISLANDS.values())
    tinted = [number for number, shape in coasts.REGIONS.items() if is_inside(place, shape)]
    assert (region == 0) if islands else tinted == [region]


def name_boxes() -> Iterator[tuple[str, float, float, float, float]]:
    """Yield space name, left, top, right and bottom of each line of a name on the map."""
    for one in ElementTree.fromstring(document(ground(), 1200)).iter():
        if one.get("class") == "name":
            for part in one:
                width, x, y = 7.2 * len(part.text or ""), float(part.attrib["x"]), float(part.attrib["y"])
                left = x - width * {"start": 0, "middle": 0.5, "end": 1}[one.attrib["text-anchor"]]
                yield one.attrib["data-space"], left, y - 8, left + width, y


def test_names_overlap_neither_each_other_nor_the_edge() -> None:
    for (name, left, top, right, bottom), (other, left_2, top_2, right_2, bottom_2) in combinations(name_boxes(), 2):
        assert left > right_2 or right < left_2 or top >= bottom_2 or bottom <= top_2, f"{name} lies over {other}"
    for name, left, top, right, bottom in name_boxes():
        assert left > 0, name
        assert right < theme.MAP_WIDTH, name
        assert top > 0, name
        assert bottom < theme.HEIGHT, name


def test_names_do_not_overlap_the_circles_of_spaces() -> None:
    for name, left, top, right, bottom in name_boxes():
        for space, (x, y) in enumerate(BOARD.xy.tolist()):
            gap = np.hypot(max(left - x, 0, x - right), max(top - y, 0, y - bottom))
            assert gap > theme.RADIUS - 1, f"{name} lies over {NAMES[space]}"


def test_pieces_differ_without_their_colours() -> None:
    drawn = [*map(token, KINDS), *map(figure, (*EMPERORS, "dux")), *(army(kind, "III") for kind in theme.ARMY_LOOKS)]
    bare = {re.sub(r"#[0-9a-f]{6}", "", piece) for piece in drawn}
    assert len(bare) == len(drawn)


if __name__ == "__main__":
    for name in ("ground", *POSITIONS):
        (GOLDEN / f"{name}.txt").write_text("\n".join(golden_lines(name)) + "\n", encoding="utf-8", newline="\n")
        print(f"wrote {name}.txt")
