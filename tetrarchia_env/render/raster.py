"""Pixels of a position, rendered by resvg without a display; the fonts are part of the package."""

import io
from collections.abc import Sequence
from functools import lru_cache
from math import ceil, floor
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tetrarchia_env.extras import import_optional
from tetrarchia_env.notation import Snapshot
from tetrarchia_env.render import theme
from tetrarchia_env.render.svg import cutting, document, ground, moving

Pixels = NDArray[np.uint8]
Patch = tuple[Pixels, NDArray[np.uint16]]  # colours multiplied by their opacity; transparency, 0 to 255
Reach = tuple[float, float, float, float]


def optional(name: str) -> Any:
    """Import a package of the extra `render`."""
    return import_optional(name, "render", "rendering")


FONTS = tuple(str(path) for path in sorted((Path(__file__).parent / "fonts").glob("*.ttf")))


def draw_rgb(snapshot: Snapshot, *, story: Sequence[str] = (), dice: str = "", width: int = 900) -> Pixels:
    """Return the picture of `draw_svg` as pixels.

    The static map is rasterised once per width. Each part that can change is a small cached patch placed on it, rounded to half
    pixels; this takes a fifth of the time of rasterising the complete picture.

    Args:
        snapshot: The position.
        story: Lines about the latest events, oldest first.
        dice: The dice of the last Barbarian phase, e.g. `"IV 3"`.
        width: Width of the picture in pixels.

    Returns:
        An array of shape (height, width, 3).

    Raises:
        TetrarchiaError: If the width is less than 1, or the extra `render` is not installed.
    """
    frame, scale = _ground(width).copy(), width / theme.WIDTH
    for part in moving(snapshot, story, dice):
        (left, shift_x), (top, shift_y) = (divmod(round(2 * scale * place), 2) for place in part.at)
        patch = _patch(part.body, scale, part.reach, shift_x / 2, shift_y / 2)
        _lay_over(frame, patch, left + floor(part.reach[0] * scale), top + floor(part.reach[1] * scale))
    return frame


@lru_cache(maxsize=4)
def _ground(width: int) -> Pixels:
    return _rasterise(document(ground(), width))[..., :3]


@lru_cache(maxsize=2000)
def _patch(body: str, scale: float, reach: Reach, shift_x: float, shift_y: float) -> Patch:
    left, top = floor(reach[0] * scale), floor(reach[1] * scale)
    size = ceil(reach[2] * scale) - left + 1, ceil(reach[3] * scale) - top + 1
    layer = _rasterise(cutting(body, scale, (left - shift_x, top - shift_y), size)).astype(np.uint16)
    cover = layer[..., 3:]
    return ((layer[..., :3] * cover + 127) // 255).astype(np.uint8), 255 - cover


def _lay_over(frame: Pixels, patch: Patch, left: int, top: int) -> None:
    """Blend a patch into the frame with its corner at this place, cropped at the edges."""
    colours, glass = patch
    height, width = glass.shape[:2]
    rows, columns = slice(max(top, 0), top + height), slice(max(left, 0), left + width)
    below = frame[rows, columns]
    inside = slice(rows.start - top, rows.start - top + below.shape[0]), slice(columns.start - left, columns.start - left + below.shape[1])
    below[:] = colours[inside] + below * glass[inside] // 255


def _rasterise(svg: str) -> Pixels:
    resvg, image = optional("resvg_py"), optional("PIL.Image")
    png = resvg.svg_to_bytes(svg_string=svg, skip_system_fonts=True, font_files=list(FONTS))
    return np.asarray(image.open(io.BytesIO(png)).convert("RGBA"))
