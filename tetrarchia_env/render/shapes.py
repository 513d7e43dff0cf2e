"""SVG elements as text: the basic shapes of all drawings."""

import math
from collections.abc import Sequence
from html import escape
from typing import NamedTuple

Point = tuple[float, float]


class Part(NamedTuple):
    """A part of the picture that can change, drawn around a place; parts with equal bodies look the same anywhere."""

    body: str
    at: Point
    reach: tuple[float, float, float, float]  # left, top, right and bottom edge, relative to that place
    marks: str = ""  # attributes that identify it

    @property
    def svg(self) -> str:
        """The SVG element at its place."""
        return f'<g{self.marks} transform="translate({self.at[0]:g} {self.at[1]:g})">{self.body}</g>'


def attributes(**values: object) -> str:
    """Return keyword arguments as attributes: `stroke_width=2` becomes stroke-width="2", `class_` becomes class; None is omitted."""
    kept = ((name.rstrip("_").replace("_", "-"), value) for name, value in values.items() if value is not None)
    return "".join(f' {name}="{_plain(value)}"' for name, value in kept)


def _plain(value: object) -> str:
    return f"{round(value, 2):g}" if isinstance(value, float) else clean(str(value))


def clean(words: str) -> str:
    """Escape text for XML and replace characters that XML does not allow by spaces."""
    return escape(words if words.isprintable() else "".join(letter if letter.isprintable() else " " for letter in words))


def element(tag: str, **values: object) -> str:
    """Return an element without content."""
    return f"<{tag}{attributes(**values)}/>"


def group(*parts: str, at: Point | None = None, scale: float = 1.0, **values: object) -> str:
    """Return a group of parts, moved to a place and scaled if these are given."""
    place = None if at is None else f"translate({at[0]:g} {at[1]:g})" + (f" scale({scale:g})" if scale != 1 else "")
    return f"<g{attributes(**values, transform=place)}>{''.join(parts)}</g>"


def text(x: float, y: float, words: str, size: float, **values: object) -> str:
    """Return a line of text; it is centred unless `text_anchor` is given."""
    return f"<text{attributes(x=float(x), y=float(y), font_size=float(size), **values)}>{clean(words)}</text>"


def circle(x: float, y: float, radius: float, **values: object) -> str:
    """Return a circle."""
    return element("circle", cx=float(x), cy=float(y), r=float(radius), **values)


def box(x: float, y: float, width: float, height: float, **values: object) -> str:
    """Return a rectangle."""
    return element("rect", x=float(x), y=float(y), width=float(width), height=float(height), **values)


def line(start: Point, end: Point, **values: object) -> str:
    """Return a straight line."""
    return element("line", x1=float(start[0]), y1=float(start[1]), x2=float(end[0]), y2=float(end[1]), **values)


def path(d: str, **values: object) -> str:
    """Return a path with this outline."""
    return element("path", d=d, **values)


def regular(corners: int, radius: float, turn: float = 0.0) -> str:
    """Return the outline of a regular polygon around the origin; the first corner points up and is turned by `turn` degrees."""
    angles = [math.radians(turn + 360 * k / corners) for k in range(corners)]
    return closed([(radius * math.sin(angle), -radius * math.cos(angle)) for angle in angles])


def star(points: int, outer: float, inner: float) -> str:
    """Return the outline of a star around the origin."""
    corners = [(outer if k % 2 == 0 else inner, math.pi * k / points) for k in range(2 * points)]
    return closed([(radius * math.sin(angle), -radius * math.cos(angle)) for radius, angle in corners])


def closed(points: Sequence[Point]) -> str:
    """Return the closed outline through these corners."""
    return "M" + "L".join(f"{x:.4g} {y:.4g}" for x, y in points) + "Z"


def smooth(points: Sequence[Point], *, loop: bool = True) -> str:
    """Return a smooth outline through these points (Catmull-Rom); without `loop` it is an open line from the first to the last."""
    count = len(points)
    steps = [_bend(points, k, loop) for k in range(count if loop else count - 1)]
    return f"M{points[0][0]:g} {points[0][1]:g}" + "".join(steps) + ("Z" if loop else "")


def _bend(points: Sequence[Point], k: int, loop: bool) -> str:
    last = len(points) - 1
    (x0, y0), (x1, y1), (x2, y2), (x3, y3) = (points[n % (last + 1) if loop else min(max(n, 0), last)] for n in range(k - 1, k + 3))
    near, far = (x1 + (x2 - x0) / 6, y1 + (y2 - y0) / 6), (x2 - (x3 - x1) / 6, y2 - (y3 - y1) / 6)
    return f"C{near[0]:.1f} {near[1]:.1f} {far[0]:.1f} {far[1]:.1f} {x2:g} {y2:g}"
