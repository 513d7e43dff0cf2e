"""Drawings by render mode."""

from collections.abc import Callable, Sequence

from tetrarchia_env.notation import Snapshot
from tetrarchia_env.render.raster import Pixels, draw_rgb
from tetrarchia_env.render.svg import draw_svg
from tetrarchia_env.render.text import draw_text

Drawing = str | Pixels


def draw_as(mode: str, snapshot: Snapshot, *, story: Sequence[str] = (), dice: str = "") -> Drawing:
    """Return text for `ansi`, a document for `svg`, pixels for `rgb_array`."""
    drawings: dict[str, Callable[..., Drawing]] = {"ansi": draw_text, "svg": draw_svg, "rgb_array": draw_rgb}
    return drawings[mode](snapshot, story=story, dice=dice)
