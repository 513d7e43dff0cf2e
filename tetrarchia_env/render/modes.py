"""Drawings for each render mode."""

from collections.abc import Callable, Sequence

from tetrarchia_env.notation import Snapshot
from tetrarchia_env.render.raster import Pixels, draw_rgb
from tetrarchia_env.render.svg import draw_svg
from tetrarchia_env.render.text import draw_text

Drawing = str | Pixels


def draw_as(mode: str, snapshot: Snapshot, *, story: Sequence[str] = (), dice: str = "") -> Drawing:
    """Draw a position in a render mode.

    Args:
        mode: `ansi`, `svg` or `rgb_array`.
        snapshot: The position.
        story: Lines about the latest events, oldest first.
        dice: The dice of the last Barbarian phase, e.g. `"IV 3"`.

    Returns:
        Text for `ansi`, an SVG document for `svg`, an array of pixels for `rgb_array`.
    """
    drawings: dict[str, Callable[..., Drawing]] = {"ansi": draw_text, "svg": draw_svg, "rgb_array": draw_rgb}
    return drawings[mode](snapshot, story=story, dice=dice)
