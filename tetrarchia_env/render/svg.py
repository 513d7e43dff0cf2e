"""A position as an SVG picture: the map with all pieces, and a panel.

The picture has two layers: the static ground, which is drawn once, and the changing parts above it. Attributes identify the
pieces: `class`, `data-space` or `data-zone`, and `data-kind`.
"""

from collections.abc import Iterable, Sequence
from functools import cache

from tetrarchia_env.board import BOARD, BORDERS, EMPERORS
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.notation import Snapshot
from tetrarchia_env.render import theme
from tetrarchia_env.render.labels import memory_of
from tetrarchia_env.render.legend import legend
from tetrarchia_env.render.map import at, static_map
from tetrarchia_env.render.panel import draw_panel, static_panel
from tetrarchia_env.render.pieces import age_label, army, figure, fog, secured, ship, tick, token
from tetrarchia_env.render.shapes import Part, Point, attributes, group

STAND = (11.0, -13.0)  # offset of a figure to the upper right of its space, so that the token stays visible
REACH = 26  # maximum extent of a piece in any direction
BERTH = 24  # offset of a ship below the name of its zone


def draw_svg(snapshot: Snapshot, *, story: Sequence[str] = (), dice: str = "", width: int = 1200) -> str:
    """Return a picture of a position as an SVG document.

    Args:
        snapshot: The position.
        story: Lines about the latest events, oldest first.
        dice: The dice of the last Barbarian phase, e.g. `"IV 3"`.
        width: Width of the picture in pixels.

    Returns:
        An SVG document.

    Raises:
        TetrarchiaError: If the width is less than 1.
    """
    return document(ground() + "".join(part.svg for part in moving(snapshot, story, dice)), width)


def height_of(width: int) -> int:
    """Return the height of a picture of this width, in pixels."""
    if width < 1:
        raise TetrarchiaError(f"the width of a picture is an integer of at least 1, not {width}")
    return round(width * theme.HEIGHT / theme.WIDTH)


def document(body: str, width: int) -> str:
    """Return an SVG document of the complete picture."""
    return cutting(body, width / theme.WIDTH, (0, 0), (width, height_of(width)))


def cutting(body: str, scale: float, corner: Point, size: tuple[int, int]) -> str:
    """Return an SVG document of a rectangle of the picture.

    Args:
        body: SVG elements.
        scale: Pixels per unit of the picture.
        corner: Upper left corner in pixels.
        size: Width and height in pixels.
    """
    view = " ".join(f"{pixels / scale:.6g}" for pixels in (*corner, *size))
    look = attributes(viewBox=view, width=size[0], height=size[1], font_family=theme.FONT, text_anchor="middle")
    return f'<svg xmlns="http://www.w3.org/2000/svg"{look}><title>TETRARCHIA</title>{body}</svg>'


def ground() -> str:
    """Return the static parts of the picture."""
    return static_map() + legend() + static_panel()


def moving(snapshot: Snapshot, story: Sequence[str] = (), dice: str = "") -> Iterable[Part]:
    """Yield the changing parts in drawing order."""
    yield from pieces(snapshot)
    yield from draw_panel(snapshot, story, dice)


def pieces(snapshot: Snapshot) -> Iterable[Part]:
    """Yield the pieces on the map in drawing order.

    Args:
        snapshot: The position.
    """
    if "view" in snapshot:
        yield from unseen(snapshot)
    yield from _ships(snapshot)
    yield from _tokens(snapshot)
    yield from _armies(snapshot)
    yield from _figures(snapshot)


def unseen(snapshot: Snapshot) -> Iterable[Part]:
    """Yield a hatched disc for each space and zone out of view, and above it what is remembered there, faded, with its age (R14.6)."""
    for zone in BOARD.zones:
        if zone not in snapshot["view"]["zones"]:
            yield _unseen_zone(zone)
    for name in BOARD.names:
        memory = memory_of(snapshot, name)
        if memory is None:
            continue
        yield _put(name, fog(), "fog", "hidden")
        if not memory:
            continue
        if memory["token"]:
            yield _put(name, _faded(token(memory["token"])), "remembered token", memory["token"])
        if memory["army"]:
            origin, kind = memory["army"]
            yield _put(name, _faded(army(kind, origin)), "remembered army", kind, STAND)
        for one in memory["figures"]:
            yield _put(name, _faded(figure(one)), "remembered figure", one, STAND)
        yield _put(name, age_label(memory["age"]), "age", str(memory["age"]))


def _faded(body: str) -> str:
    return group(body, opacity=0.5)


@cache
def _unseen_zone(zone: str) -> Part:
    x, y = BOARD.zone_xy[BOARD.zones.index(zone)].tolist()
    return _piece(fog(), (x, y + BERTH), class_="fog", data_kind="hidden", data_zone=zone)


def _ships(snapshot: Snapshot) -> Iterable[Part]:
    yield from (_at_anchor(zone, "fleet") for zone in snapshot["fleets"])
    if snapshot["pirates"] in BOARD.zones:
        yield _at_anchor(snapshot["pirates"], "pirates")


@cache
def _at_anchor(zone: str, kind: str) -> Part:
    x, y = BOARD.zone_xy[BOARD.zones.index(zone)].tolist()
    return _piece(ship(kind == "pirates"), (x, y + BERTH), class_="ship", data_kind=kind, data_zone=zone)


def _tokens(snapshot: Snapshot) -> Iterable[Part]:
    for name, kind in snapshot["tokens"].items():
        held = kind in EMPERORS and name in BORDERS
        yield _put(name, _held(kind) if held else token(kind), "token", kind)


@cache
def _held(kind: str) -> str:
    return group(secured(), token(kind), group(tick(), at=(15, 13)), class_="secured")


def _armies(snapshot: Snapshot) -> Iterable[Part]:
    for name, origin, kind in snapshot["armies"]:
        yield _put(name, army(kind, origin), "army", kind, STAND)


def _figures(snapshot: Snapshot) -> Iterable[Part]:
    """Yield the figures; the Emperor whose turn it is comes last, so that he is on top while passing another."""
    standing = {**snapshot["emperors"], "dux": snapshot["dux"]}
    acting = snapshot["emperor"] if snapshot["outcome"] == "running" else None
    for name in sorted(standing, key=lambda name: name == acting):
        if standing[name] in BOARD.names:
            yield _put(standing[name], figure(name, name == acting), "figure", name, STAND)


@cache
def _put(space: str, body: str, class_: str, kind: str, offset: Point = (0.0, 0.0)) -> Part:
    x, y = at(BOARD.space_id(space))
    return _piece(body, (x + offset[0], y + offset[1]), class_=class_, data_space=space, data_kind=kind)


def _piece(body: str, place: Point, **marks: object) -> Part:
    return Part(body, place, (-REACH, -REACH, REACH, REACH), attributes(**marks))
