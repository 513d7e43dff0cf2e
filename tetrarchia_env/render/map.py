"""The static map: land, sea, links, spaces and their names."""

from collections.abc import Iterable
from functools import cache
from math import atan2, degrees, hypot

from tetrarchia_env.board import BOARD, BROKEN, EMPERORS, NUMERALS, PICTURE, ROMAN_PROVINCES, SPACES
from tetrarchia_env.render import coasts, theme
from tetrarchia_env.render.pieces import emperor_form, letter
from tetrarchia_env.render.shapes import Point, box, circle, closed, group, line, path, smooth, text

# Positions of names that do not fit below their space: the side, and the offset.
NAME_SIDES: dict[str, tuple[str, float, float]] = {
    "SICILIA": ("right", 0, 12),
    "ETRVRIA": ("left", 0, 0),
    "CARTHAGINENSIS": ("below", 14, 0),
    "TINGITANA": ("below", -8, 0),
    "CISALPINA": ("left", 0, -8),
    "MACEDONIA": ("below", 14, 0),
}
SIDES = {"right": "start", "left": "end", "below": "middle", "above": "middle"}
LINE = 10.5  # line height of a name
HEAD = 11  # length of an arrow's head


@cache
def static_map() -> str:
    """Return the map, which is the same for every game and cached."""
    return group(
        _land(), _sea(), _sea_names(), group(*_links(), class_="links"), group(*_arrows(), class_="arrows"), *map(_space, range(SPACES)),
        *map(_name, range(SPACES)), class_="map",
    )  # fmt: skip


def at(space: int) -> Point:
    """Return the centre of a space."""
    x, y = BOARD.xy[space].tolist()
    return x, y


def _land() -> str:
    whole = box(0, 0, *PICTURE, fill=theme.BEYOND)
    regions = [path(smooth(points), fill=theme.TINTS[region], class_="region") for region, points in coasts.REGIONS.items()]
    return group(whole, *regions, path(smooth(coasts.BRITAIN), fill=theme.BEYOND), class_="land")


def _sea() -> str:
    """Return the sea as a sheet with holes for the land, so that frontiers may end anywhere in the water."""
    islands = [*coasts.ISLANDS.values(), *coasts.ITALIAN_ISLANDS.values()]
    outlines = " ".join(smooth(points) for points in (coasts.MAINLAND, coasts.BRITAIN, *islands))
    sheet = closed([(-40, -40), (1040, -40), (1040, 740), (-40, 740)])
    look = {"stroke": theme.COAST, "stroke_width": 1.3}
    return group(
        *(path(smooth(points), fill=theme.TINTS[0]) for points in coasts.ITALIAN_ISLANDS.values()),
        path(f"{sheet} {outlines}", fill=theme.SEA, fill_rule="evenodd", **look),
        *(path(smooth(points), fill=theme.SEA, **look) for points in (coasts.BLACK_SEA, coasts.RED_SEA)),
        *(path(smooth(points, loop=False), fill="none", stroke=theme.SEA, stroke_width=2.2) for points in coasts.RIVERS.values()),
        class_="sea",
    )


def _sea_names() -> str:
    look = {"fill": theme.SEA_NAME, "letter_spacing": 2}
    zones = [text(x, y, name, 13, data_zone=name, **look) for name, (x, y) in zip(BOARD.zones, BOARD.zone_xy.tolist(), strict=True)]
    return group(*zones, text(868, 258, "PONTVS EVXINVS", 8, opacity=0.7, **look), class_="zones")


def _links() -> Iterable[str]:
    for a in range(SPACES):
        for b in range(a):
            if BOARD.links[a, b]:
                yield _link(at(a), at(b), bool(BOARD.links[a, b] == BROKEN))


def _link(start: Point, end: Point, broken: bool) -> str:
    halo = line(start, end, stroke=theme.PAPER, stroke_width=5, opacity=0.6)
    if broken:
        return halo + line(start, end, stroke=theme.BREAK, stroke_width=2, stroke_dasharray="3.5 4.5", class_="broken")
    return halo + line(start, end, stroke=theme.LINK, stroke_width=2.2, class_="normal")


def _arrows() -> Iterable[str]:
    """Return an arrow head on each link that armies follow, one for each region of origin."""
    steps: dict[tuple[int, int], list[int]] = {}
    for region, row in enumerate(BOARD.next_step.tolist(), start=1):
        for here in range(SPACES):
            if row[here] >= 0:
                steps.setdefault((here, row[here]), []).append(region)
    for (here, there), regions in steps.items():
        yield from _heads(at(here), at(there), regions)


def _heads(start: Point, end: Point, regions: list[int]) -> Iterable[str]:
    """Return arrow heads side by side near the middle of the link, closer to its lower end to keep the upper space's name legible."""
    (x1, y1), (x2, y2) = start, end
    length, turn = hypot(x2 - x1, y2 - y1), degrees(atan2(y2 - y1, x2 - x1))
    apart = min(0.8 * HEAD, (length - 2.4 * theme.RADIUS) / len(regions))
    for place, region in enumerate(regions):
        way = 0.5 + 0.1 * (y2 - y1) / length + apart * (place - (len(regions) - 1) / 2) / length
        put = f"translate({x1 + way * (x2 - x1):.1f} {y1 + way * (y2 - y1):.1f}) rotate({turn:.1f})"
        look = {"fill": theme.SIGNS[region], "stroke": theme.PAPER, "stroke_width": 0.8}
        yield path("M6.5 0L-5 -5.6L-2.6 0L-5 5.6Z", transform=put, data_region=NUMERALS[region - 1], class_="arrow", **look)


def _space(space: int) -> str:
    body = _border(space) if space >= ROMAN_PROVINCES else _province(space)
    kind = "border" if space >= ROMAN_PROVINCES else "province"
    return group(body, at=at(space), class_=kind, data_space=BOARD.names[space])


def _border(space: int) -> str:
    """Return a fort with the numeral of the region behind it."""
    region = int(BOARD.region[space])
    walls = "M-17 17V-19H-11V-14H-6V-19H6V-14H11V-19H17V17Z"
    return path(walls, fill=theme.TINTS[region], stroke=theme.INK, stroke_width=2) + letter(
        NUMERALS[region - 1], 15, theme.SIGNS[region], drop=1
    )


def _province(space: int) -> str:
    region = int(BOARD.region[space])
    owners = [emperor for emperor, capital in zip(EMPERORS, BOARD.capitals.tolist(), strict=True) if capital == space]
    ring = circle(0, 0, theme.RADIUS, fill=theme.PAPER, stroke=theme.SIGNS[region], stroke_width=2)
    if space == BOARD.roma:
        ring = _roma()
    elif owners:
        ring = _capital(owners[0])
    return ring + _number(region, int(BOARD.number[space]), theme.RADIUS if space != BOARD.roma else theme.RADIUS + 4)


def _number(region: int, number: int, radius: float) -> str:
    x = -radius * 0.92
    return circle(x, x, 6.6, fill=theme.SIGNS[region], stroke=theme.PAPER, stroke_width=1) + text(
        x, x + 3.6, str(number), 10, fill=theme.WHITE, font_weight="bold"
    )


def _capital(emperor: str) -> str:
    """Return a ring in the Emperor's colour around the printed token (R1.5)."""
    look = theme.EMPEROR_LOOKS[emperor]
    ring = circle(0, 0, theme.RADIUS + 2, fill=theme.PAPER, stroke=theme.INK, stroke_width=1)
    colour = circle(0, 0, theme.RADIUS - 0.3, fill="none", stroke=look.fill, stroke_width=3.6)
    printed = group(emperor_form(emperor, theme.TOKEN - 2), opacity=0.45) + letter(look.letter, 12, theme.INK)
    return group(ring, colour, printed, class_="capital", data_emperor=emperor)


def _roma() -> str:
    """Return the printed token of every Emperor, in all four colours (R1.5)."""
    radius = theme.RADIUS + 4
    quarter = f"M0 0V{-radius}A{radius} {radius} 0 0 1 {radius} 0Z"
    looks = list(theme.EMPEROR_LOOKS.values())
    parts = [path(quarter, fill=look.fill, transform=f"rotate({90 * k})") for k, look in enumerate(looks)]
    edge = circle(0, 0, radius, fill="none", stroke=theme.INK, stroke_width=1.6)
    inner = circle(0, 0, theme.TOKEN + 1, fill=theme.PAPER, stroke=theme.INK, stroke_width=0.8)
    return group(*parts, edge, inner, letter("SPQR", 9, theme.INK), class_="capital", data_emperor=" ".join(EMPERORS))


def _name(space: int) -> str:
    """Return a name with one line per word and a halo that keeps it legible on links."""
    x, y = at(space)
    words = BOARD.names[space].split()
    side, right, down = NAME_SIDES.get(BOARD.names[space], ("below", 0, 0))
    radius = theme.RADIUS + 4 if space >= ROMAN_PROVINCES or space == BOARD.roma else theme.RADIUS + 1
    first_x, first_y = _name_start(side, radius, len(words))
    look = {"fill": theme.INK, "font_weight": "bold", "stroke": theme.PAPER, "stroke_opacity": 0.8, "stroke_width": 3}
    lines = [
        text(x + first_x + right, y + first_y + down + LINE * k, word, theme.NAME_SIZE, paint_order="stroke", **look)
        for k, word in enumerate(words)
    ]
    return group(*lines, class_="name", data_space=BOARD.names[space], text_anchor=SIDES[side])


def _name_start(side: str, radius: float, lines: int) -> Point:
    """Return the offset of the first baseline from the centre of the space."""
    middle = 4 - LINE * (lines - 1) / 2
    places = {
        "below": (0.0, radius + 9.5),
        "above": (0.0, -radius - 4 - LINE * (lines - 1)),
        "right": (radius + 3, middle),
        "left": (-radius - 3, middle),
    }
    return places[side]
