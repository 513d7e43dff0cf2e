"""The rules panel of the room's page: `static/rules.html` with pictures cut from the map, and the legend of the pieces."""

from importlib.resources import files
from string import Template
from typing import Any

from tetrarchia_env.board import BOARD, EMPERORS, NUMERALS, ROMAN_PROVINCES, SPACES
from tetrarchia_env.render import page, theme
from tetrarchia_env.render.pieces import army, figure, ship, token
from tetrarchia_env.render.shapes import clean
from tetrarchia_env.render.svg import pieces

Box = tuple[int, int, int, int]  # left, top, width and height on the map
LEGEND = (  # drawing, text, and the rule with which it is in play; "" for every game
    (token("unrest"), "Unrest", ""),
    (token("revolt"), "Revolt", ""),
    (figure("diocletian"), "Emperor", ""),
    (token("diocletian"), "Emperor's token", ""),
    (army("army", "II"), "Barbarian army from region II", ""),
    (ship(pirates=False), "Roman fleet", ""),
    (figure("dux"), "Dux: every Emperor leads him in turn", "dux"),
    (army("goths", "IV"), "Goths: an army with +1", "goths"),
    (army("rebel", "II"), "Rebel: an army that stays", "rebel"),
    (ship(pirates=True), "Pirates: no fleet in their zone", "pirates"),
)


def rules_panel() -> str:
    """Return the HTML of the rules panel; its pictures show the element `ground` of the room's page."""
    template = Template(files("tetrarchia_app.web").joinpath("static", "rules.html").read_text(encoding="utf-8"))
    before, after = ({"BITHYNIA": kind, "GALATIA": "revolt"} for kind in ("unrest", "revolt"))
    near = (752, 285, 126, 82)
    spread = [
        _picture(near, "Unrest next to a Revolt", tokens=before),
        '<span aria-hidden="true">\N{RIGHTWARDS ARROW}</span>',
        _picture(near, "Two Revolts", tokens=after),
    ]
    march = _picture((800, 330, 200, 130), "An army on the border PERSIA, and arrows to ROMA", armies=[("PERSIA", "V", "army")])
    border = _picture((655, 95, 200, 100), "The border SARMATIA, secured by Galerius", tokens={"SARMATIA": "galerius"})
    combat = _picture(
        (195, 212, 300, 165),
        "Maximian with a chain of three next to an army with a chain of two",
        tokens={"ETRVRIA": "maximian", "NARBONENSIS": "revolt", "TARRACONENSIS": "revolt"},
        armies=[("NARBONENSIS", "I", "army")],
        emperors={"maximian": "CISALPINA"},
    )
    pictures = {"picture_border": border, "picture_march": march, "picture_combat": combat, "picture_spread": "".join(spread)}
    figures = {name: f'<div class="picture">{svg}</div>' for name, svg in pictures.items()}
    legend = "\n".join(_legend_item(*item) for item in LEGEND)
    return template.substitute(figures, legend=legend)


def _picture(box: Box, label: str, **changes: Any) -> str:
    """Return a part of the map with pieces; a wider frame shows more of the map on both sides, except beyond its eastern edge."""
    empty: dict[str, Any] = {"tokens": {}, "armies": [], "emperors": {}, "fleets": [], "pirates": None, "dux": None}
    snapshot = empty | {"emperor": None, "outcome": "running"} | changes
    drawn = "".join(part.svg for part in pieces(snapshot))
    view, align = " ".join(map(str, box)), "xMax" if box[0] + box[2] == theme.MAP_WIDTH else "xMid"
    frame = f'viewBox="{view}" preserveAspectRatio="{align}YMid" role="img" aria-label="{clean(label)}"{page.LOOK}'
    return f'<svg {frame}><use href="#ground"/>{drawn}</svg>'


def _legend_item(drawing: str, text: str, needs: str) -> str:
    condition = f' data-needs="{needs}" hidden' if needs else ""
    symbol = f'<svg aria-hidden="true" viewBox="-20 -22 44 40"{page.LOOK}>{drawing}</svg>'
    return f"<li{condition}>{symbol} {clean(text)}</li>"


def places() -> dict[str, Any]:
    """Return what the tooltips of the map say about each space and sea zone, and where an army of each region goes next from there."""
    found: dict[str, Any] = {zone: {"about": "Sea zone"} for zone in BOARD.zones}
    for space, name in enumerate(BOARD.names):
        region, numeral = BOARD.regions[BOARD.region[space]], ("", *NUMERALS)[BOARD.region[space]]
        about = f"Province {BOARD.number[space]} of {f'region {numeral}, ' if numeral else ''}{region}"
        if space >= ROMAN_PROVINCES:
            about = f"Border of region {numeral}, {region}"
        elif space == BOARD.roma:
            about += "; the game is lost if an army enters it"
        elif space in BOARD.capitals:
            about += f"; capital of {EMPERORS[BOARD.capitals.tolist().index(space)].capitalize()}"
        steps = BOARD.next_step[:, space].tolist()
        following = {NUMERALS[number]: BOARD.names[step] for number, step in enumerate(steps) if 0 <= step < SPACES}
        found[name] = {"about": about, "next": following}
    return found
