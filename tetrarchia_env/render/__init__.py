"""Drawings of a game; packages of the extra `render` are imported with the first picture."""

from tetrarchia_env.render.raster import draw_rgb
from tetrarchia_env.render.svg import draw_svg
from tetrarchia_env.render.text import draw_text

__all__ = ["draw_rgb", "draw_svg", "draw_text"]
