"""The legend, drawn in the empty space of the Sahara."""

from collections.abc import Iterable
from functools import cache

from tetrarchia_env.board import BOARD, NUMERALS
from tetrarchia_env.render import theme
from tetrarchia_env.render.pieces import army, figure, ship, token
from tetrarchia_env.render.shapes import box, group, line, text

LEFT, TOP, ROW = 262, 628, 19


@cache
def legend() -> str:
    """Return the legend of regions, links and pieces."""
    return group(*_regions(), *_links(), *_pieces(), class_="legend")


def _say(x: float, y: float, words: str) -> str:
    return text(x, y, words, 9.5, fill=theme.INK, text_anchor="start")


def _regions() -> Iterable[str]:
    for region, name in enumerate(BOARD.regions):
        x, y = LEFT + 86 * (region % 4), TOP + ROW * (region // 4)
        numeral = NUMERALS[region - 1] if region else ""
        yield box(x - 8, y - 9, 16, 12, rx=2, fill=theme.TINTS[region], stroke=theme.SIGNS[region])
        yield text(x, y, numeral, 9, fill=theme.SIGNS[region], font_weight="bold")
        yield _say(x + 12, y, name)


def _links() -> Iterable[str]:
    y = TOP + 2 * ROW
    marks = {"link": {"stroke": theme.LINK}, "broken link": {"stroke": theme.BREAK, "stroke_dasharray": "3.5 4.5"}}
    for place, (words, look) in enumerate(marks.items()):
        x = LEFT - 8 + 60 * place
        yield line((x, y - 3), (x + 22, y - 3), stroke_width=2.2, **look)
        yield _say(x + 26, y, words)


def _pieces() -> Iterable[str]:
    signs = {
        "Unrest": token("unrest"), "Revolt": token("revolt"), "Dux": figure("dux"), "army": army("army", ""), "Goths": army("goths", ""),
        "Rebel": army("rebel", ""), "fleet": ship(False), "Pirates": ship(True),
    }  # fmt: skip
    for place, (words, piece) in enumerate(signs.items()):
        x, y = LEFT + 55 * place, TOP + 3 * ROW + 1
        yield group(piece, at=(x, y - 4), scale=0.48)
        yield _say(x + 13, y, words)
