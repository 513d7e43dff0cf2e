"""Drawings of a game."""

from tetrarchia_env.render.text import draw_text

__all__ = ["draw_text"]
