"""The pieces on the map: tokens, figures, armies and ships, each drawn around the origin."""

from functools import cache

from tetrarchia_env.render import theme
from tetrarchia_env.render.shapes import box, circle, path, regular, star, text

PAWN = "M-10.5 13C-10.5 5 -5 4 -5 -3A6.5 6.5 0 1 1 5 -3C5 4 10.5 5 10.5 13Z"
SHIELD = "M-9 -9C-4 -8 4 -8 9 -9C10 0 8 8 0 13C-8 8 -10 0 -9 -9Z"
SPEARS = "M-11 12L10 -14M11 12L-10 -14"
HORNS = "M-7 -7C-14 -8 -14 -14 -12 -18C-11 -13 -8 -12 -4 -11ZM7 -7C14 -8 14 -14 12 -18C11 -13 8 -12 4 -11Z"
FLAG = "M0 -6V-21M0 -21L13 -17L0 -13Z"
HULL = "M-20 2C-14 6 -10 5 12 5C17 4 18 0 22 -4C22 6 17 13 11 13H-11C-17 13 -21 9 -20 2Z"
SAIL = "M-11 1C-8 -6 -9 -12 -13 -18C-4 -16 6 -16 13 -18C9 -11 9 -6 11 1C4 3 -4 3 -11 1Z"
FIRE = "M1 -9C2 -5 7 -3 7 3A7 6.5 0 0 1 -7 3C-7 0 -5 -2 -4 -5C-3 -3 -2 -2 -1 -2C1 -4 1 -6 1 -9Z"
TICK = "M-3.4 0L-0.8 2.8L3.8 -3"


def letter(words: str, size: float, fill: str, drop: float = 0.0) -> str:
    """Return bold text centred on the origin."""
    return text(0, size * 0.36 + drop, words, size, fill=fill, font_weight="bold")


def emperor_form(emperor: str, radius: float) -> str:
    """Return the shape of an Emperor's tokens."""
    look = theme.EMPEROR_LOOKS[emperor]
    edge = {"fill": look.fill, "stroke": theme.INK, "stroke_width": 1.2}
    outlines = {"diamond": regular(4, radius * 1.2), "square": regular(4, radius * 1.24, 45), "hexagon": regular(6, radius * 1.06, 30)}
    return path(outlines[look.form], **edge) if look.form in outlines else circle(0, 0, radius, **edge)


@cache
def token(kind: str, radius: float = theme.TOKEN) -> str:
    """Return an Unrest, a Revolt or an Emperor's token."""
    if kind == "unrest":
        return circle(0, 0, radius, fill=theme.GREY, stroke=theme.INK, stroke_width=1.2) + letter("!", 1.4 * radius, theme.INK)
    if kind == "revolt":
        flame = path(FIRE, fill=theme.FLAME, transform=f"scale({0.95 * radius / theme.TOKEN:.3g})")
        return path(star(9, radius * 1.16, radius * 0.92), fill=theme.BLACK, stroke=theme.WHITE, stroke_width=0.8) + flame
    look = theme.EMPEROR_LOOKS[kind]
    return emperor_form(kind, radius) + letter(look.letter, 1.2 * radius, look.letters)


@cache
def figure(name: str, acting: bool = False) -> str:
    """Return an Emperor or the Dux; the Emperor whose turn it is has a halo."""
    emperor = theme.EMPEROR_LOOKS.get(name)
    fill, letters, sign = (emperor.fill, emperor.letters, emperor.letter) if emperor else (theme.DUX, theme.INK, "X")
    light = _light() if acting else ""
    body = path(PAWN, fill=fill, stroke=theme.WHITE, stroke_width=3.4, paint_order="stroke", stroke_linejoin="round")
    edge = path(PAWN, fill=fill, stroke=theme.INK, stroke_width=1.1, stroke_linejoin="round")
    return light + body + edge + text(0, 11.5, sign, 11.5, fill=letters, font_weight="bold")


def _light() -> str:
    look = {"fill": "none", "stroke_linejoin": "round"}
    return path(PAWN, stroke=theme.PVRPLE, stroke_width=9.5, **look) + path(PAWN, stroke=theme.GOLD, stroke_width=7, **look)


@cache
def army(kind: str, origin: str) -> str:
    """Return an army's shield with its region of origin; spears mark an army, horns the Goths, a flag a Rebel."""
    look = {"stroke": theme.INK, "stroke_width": 1.4, "stroke_linecap": "round", "stroke_linejoin": "round"}
    signs = {
        "army": path(SPEARS, fill="none", **look),
        "goths": path(HORNS, fill=theme.PAPER, **look),
        "rebel": path(FLAG, fill=theme.GOLD, **look),
    }
    shield = path(SHIELD, fill=theme.ARMY_LOOKS[kind], stroke=theme.WHITE, stroke_width=1.4)
    return signs[kind] + shield + text(0, 4, origin, 10, fill=theme.WHITE, font_weight="bold")


@cache
def ship(pirates: bool) -> str:
    """Return a ship: a Roman fleet has a light sail with a wreath, the Pirates a black one with crossed bones."""
    edge = {"stroke": theme.INK, "stroke_width": 1.2, "stroke_linejoin": "round"}
    hull = path(HULL, fill="#3a3532" if pirates else "#9c5b2b", **edge)
    sail = path(SAIL, fill=theme.BLACK if pirates else "#fffaf0", **edge)
    return sail + (_bones() if pirates else _wreath()) + hull


def _wreath() -> str:
    ring = circle(0, -8, 5.2, fill="none", stroke=theme.EMPEROR_LOOKS["constantius"].fill, stroke_width=2)
    return ring + text(0, -5.2, "R", 8, fill=theme.INK, font_weight="bold")


def _bones() -> str:
    bones = path("M-5 -3L5 -11M5 -3L-5 -11", stroke=theme.WHITE, stroke_width=2, stroke_linecap="round", fill="none")
    return bones + circle(0, -10, 3.2, fill=theme.WHITE)


def secured(radius: float = 22) -> str:
    """Return the golden disc under the token of a secured border."""
    ring = circle(0, 0, radius, fill=theme.GOLD, fill_opacity=0.55, stroke=theme.GOLD_EDGE, stroke_width=1.2)
    inner = circle(0, 0, radius - 2.6, fill="none", stroke=theme.GOLD, stroke_width=3.4)
    return ring + inner


def tick() -> str:
    """Return the tick of a secured border."""
    mark = path(TICK, fill="none", stroke=theme.WHITE, stroke_width=2, stroke_linecap="round")
    return circle(0, 0, 6.4, fill="#2c6e2f", stroke=theme.WHITE, stroke_width=1) + mark


@cache
def fog(radius: float = 21) -> str:
    """Return the hatched disc over a space out of view (R14)."""
    chords = []
    for offset in range(-15, 16, 6):  # diagonal lines across the disc
        half = (radius**2 - offset**2) ** 0.5
        (x, y), along = (offset * 0.7071, -offset * 0.7071), half * 0.7071
        chords.append(f"M{x - along:.1f} {y - along:.1f}L{x + along:.1f} {y + along:.1f}")
    disc = circle(0, 0, radius, fill=theme.GREY, fill_opacity=0.72, stroke=theme.FAINT, stroke_width=1)
    return disc + path("".join(chords), fill="none", stroke=theme.FAINT, stroke_width=1, opacity=0.8)


def age_label(turns: int) -> str:
    """Return how many turns ago a space was seen last."""
    return box(-26, -4, 19, 12, rx=4, fill=theme.PAPER, stroke=theme.FAINT, stroke_width=0.8) + text(
        -16.5, 5.5, f"\N{MINUS SIGN}{turns}", 9.5, fill=theme.INK, font_weight="bold"
    )
