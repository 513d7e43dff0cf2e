"""Drawings of a game; the packages of the extra `render` are imported when the first picture is drawn."""

from tetrarchia_env.render.raster import draw_rgb
from tetrarchia_env.render.svg import draw_svg
from tetrarchia_env.render.text import draw_text

__all__ = ["draw_rgb", "draw_svg", "draw_text"]
