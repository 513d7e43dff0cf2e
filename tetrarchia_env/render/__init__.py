"""Drawings of a game; what needs a library of the `render` extra loads it with the first picture."""

from tetrarchia_env.render.raster import draw_rgb
from tetrarchia_env.render.svg import draw_svg
from tetrarchia_env.render.text import draw_text

__all__ = ["draw_rgb", "draw_svg", "draw_text"]
