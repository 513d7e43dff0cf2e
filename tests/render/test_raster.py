"""Rasterised drawings: every piece and text appears in the pixels."""

import re
import sys
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from test_drawing import KINDS, POSITIONS, STORY, changed, name_boxes

from tetrarchia_env.board import BOARD, EMPERORS
from tetrarchia_env.render import raster, theme
from tetrarchia_env.render.raster import draw_rgb
from tetrarchia_env.render.shapes import Point
from tetrarchia_env.render.svg import document, draw_svg, ground, height_of

WIDTH = 900
Pixels = NDArray[np.uint8]


@pytest.fixture
def rasteriser() -> None:
    pytest.importorskip("resvg_py")
    pytest.importorskip("PIL")


def region_around(frame: Pixels, x: float, y: float, reach: float) -> Pixels:
    scale = frame.shape[1] / theme.WIDTH
    left, top, right, bottom = (max(0, round(edge * scale)) for edge in (x - reach, y - reach, x + reach, y + reach))
    return frame[top:bottom, left:right]


SHOWN: dict[str, tuple[dict[str, Any], str]] = {
    **{f"{kind} token": ({"tokens": {"ASIA": kind}}, "ASIA") for kind in KINDS},
    **{f"{kind} on a border": ({"tokens": {"LIBYA": kind}}, "LIBYA") for kind in EMPERORS},
    **{emperor: ({"emperors": dict.fromkeys(EMPERORS) | {emperor: "ASIA"}}, "ASIA") for emperor in EMPERORS},
    "dux": ({"dux": "ASIA"}, "ASIA"),
    **{kind: ({"armies": [["SARMATIA", "IV", kind]]}, "SARMATIA") for kind in ("army", "goths", "rebel")},
    **{f"fleet in {zone}": ({"fleets": [zone]}, zone) for zone in BOARD.zones},
    **{f"pirates in {zone}": ({"pirates": zone}, zone) for zone in BOARD.zones},
}


def place_of(name: str) -> Point:
    x, y = (BOARD.zone_xy[BOARD.zones.index(name)] if name in BOARD.zones else BOARD.xy[BOARD.space_id(name)]).tolist()
    return x, y + 24 * (name in BOARD.zones)


@pytest.mark.usefixtures("rasteriser")
@pytest.mark.parametrize("name", SHOWN)
def test_piece_changes_only_the_pixels_around_its_place(name: str) -> None:
    changes, place = SHOWN[name]
    before, after = draw_rgb(changed(), width=WIDTH), draw_rgb(changed(**changes), width=WIDTH)
    differs = (before != after).any(axis=2)
    differs[:, round(WIDTH * theme.MAP_WIDTH / theme.WIDTH) :] = False  # ignore the panel, which may change too
    assert np.count_nonzero(differs) > 60
    region_around(differs, *place_of(place), 44)[:] = False
    assert not differs.any()


@pytest.mark.usefixtures("rasteriser")
def test_pieces_differ_in_pixels() -> None:
    frames = {name: draw_rgb(changed(**changes), width=WIDTH)[:, :700] for name, (changes, _) in SHOWN.items()}
    for one, other in combinations(frames, 2):
        assert np.count_nonzero((frames[one] != frames[other]).any(axis=2)) > 40, f"{one} and {other}"


def without_texts(svg: str) -> str:
    return re.sub(r"<text.*?</text>", "", svg)


@pytest.mark.usefixtures("rasteriser")
def test_every_name_appears_in_the_pixels() -> None:
    svg = document(ground(), WIDTH)
    differs = (raster._rasterise(svg) != raster._rasterise(without_texts(svg))).any(axis=2)
    for name, left, top, right, bottom in name_boxes():
        centre, half = ((left + right) / 2, (top + bottom) / 2), 3
        assert np.count_nonzero(region_around(differs, *centre, half)) > 5, name


@pytest.mark.usefixtures("rasteriser")
def test_texts_need_the_fonts_of_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    """No system font is used, and the test above can fail."""
    svg = document(ground(), 300)
    monkeypatch.setattr(raster, "FONTS", ())
    assert np.array_equal(raster._rasterise(svg), raster._rasterise(without_texts(svg)))


@pytest.mark.usefixtures("rasteriser")
@pytest.mark.parametrize("changes", [{"story": ["something"]}, {"dice": "VI 6"}])
def test_story_and_dice_appear_only_in_the_panel(changes: dict[str, Any]) -> None:
    differs = (draw_rgb(changed()) != draw_rgb(changed(), **changes)).any(axis=2)
    assert np.count_nonzero(differs[:, 703:]) > 40
    assert not differs[:, :703].any()


@pytest.mark.usefixtures("rasteriser")
@pytest.mark.parametrize("name", POSITIONS)
def test_patched_picture_equals_the_rasterised_svg(name: str) -> None:
    whole = raster._rasterise(draw_svg(POSITIONS[name], story=STORY, width=WIDTH))[..., :3].astype(int)
    assert np.abs(draw_rgb(POSITIONS[name], story=STORY, width=WIDTH) - whole).mean() < 0.6  # positions are rounded to half pixels


@pytest.mark.usefixtures("rasteriser")
@pytest.mark.parametrize("width", [1, 320, 900, 1200])
def test_frames_have_the_requested_size(width: int) -> None:
    frame = draw_rgb(POSITIONS["everything"], width=width)
    assert (frame.shape, frame.dtype) == ((height_of(width), width, 3), np.uint8)


@pytest.mark.usefixtures("rasteriser")
def test_writing_to_a_frame_does_not_change_later_frames() -> None:
    first = draw_rgb(changed())
    kept = first.copy()
    first[:] = 0
    assert np.array_equal(draw_rgb(changed()), kept)


@pytest.mark.parametrize("missing", ["resvg_py", "PIL.Image"])
def test_missing_library_error_has_the_install_command(missing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(ValueError, match=r"rendering needs the package \w+: pip install"):
        raster._rasterise(document("", 10))


def test_fonts_are_small_and_have_their_licence() -> None:
    folder = Path(raster.__file__).parent / "fonts"
    assert len(raster.FONTS) == 2
    assert sum(Path(font).stat().st_size for font in raster.FONTS) < 150_000
    assert "Bitstream Vera" in (folder / "LICENSE.txt").read_text(encoding="utf-8")
