"""Colours and sizes of the drawing, in the units of board.toml's picture: 1000 x 700 and a panel on its right.

The Emperors' colours are from palettes for the colour-blind (Okabe and Ito, Tol), and no colour is the only cue: tokens differ in
shape and letter or sign, armies in shape.
"""

from dataclasses import dataclass

from tetrarchia_env.board import PICTURE

MAP_WIDTH, HEIGHT = PICTURE
PANEL_WIDTH = 280
WIDTH = MAP_WIDTH + PANEL_WIDTH

FONT = "Tetrarchia Sans, DejaVu Sans Condensed, Roboto Condensed, Arial Narrow, sans-serif"
NAME_SIZE = 10.5

INK, PAPER, FAINT, WHITE = "#2b2620", "#fbf7ec", "#857b6c", "#ffffff"
SEA, SHALLOWS, COAST, SEA_NAME = "#b4d3e2", "#c9e1ec", "#6f93a8", "#2f627f"
BEYOND = "#ddd8cb"  # land outside the Empire
TINTS = ("#f3d9e4", "#f8e3a6", "#d3e6b8", "#f5cdb4", "#c6dcf0", "#e3d0ee", "#ecd2a0")  # by region, ITALIA first
SIGNS = ("#8c2f5c", "#8a6400", "#3d6b21", "#a3471a", "#1f5a93", "#69408f", "#7a5a1c")  # the same, darker: numbers, arrows
LINK, BREAK = "#5b5347", "#a03a22"
GOLD, GOLD_EDGE = "#ffd34d", "#8a6400"
GREY, BLACK, FLAME = "#a9a9a9", "#161412", "#ff9d2e"
DUX = "#ee7f1a"
PVRPLE = "#6a1b4d"

RADIUS = 15  # of a province
TOKEN = 11.5


@dataclass(frozen=True)
class Purple:
    """The look of an Emperor: colour, text colour on it, letter, shape of the tokens."""

    fill: str
    letters: str
    letter: str
    form: str


EMPEROR_LOOKS = {
    "diocletian": Purple("#00926b", WHITE, "D", "circle"),
    "galerius": Purple("#f7d52a", INK, "G", "diamond"),
    "constantius": Purple("#c8281c", WHITE, "C", "square"),
    "maximian": Purple("#1668b3", WHITE, "M", "hexagon"),
}
ARMY_LOOKS = {"army": "#4d3527", "goths": "#6a2c80", "rebel": "#a8326e"}
