"""The two pages and the files they are made of; the drawing and the look are the replay page's."""

import json
from functools import cache
from importlib.resources import files
from string import Template
from typing import Any

from tetrarchia_env.board import BOARD, EMPERORS
from tetrarchia_env.render import page, theme
from tetrarchia_env.render.legend import legend
from tetrarchia_env.render.map import static_map
from tetrarchia_env.render.svg import BERTH

KINDS = {".js": "text/javascript", ".css": "text/css", ".ttf": "font/ttf"}
FONTS = ("TetrarchiaSans-Regular.ttf", "TetrarchiaSans-Bold.ttf")


def lobby(data: dict[str, Any]) -> str:
    """Where a game is chosen; `data` are the rules, levels and agents to choose from."""
    return Template(_text("lobby.html")).substitute(data=_json(data))


def room(data: dict[str, Any]) -> str:
    """Where it is played; nothing of the game is in it: the page asks for that."""
    berths = [(x, y + BERTH) for x, y in BOARD.zone_xy.tolist()]
    spaces = dict(zip(BOARD.names, BOARD.xy.tolist(), strict=True)) | dict(zip(BOARD.zones, berths, strict=True))
    given = {name: data[name] for name in ("agents", "coach", "study")} | {"spaces": spaces, "emperors": EMPERORS, "letters": _letters()}
    return Template(_text("room.html")).substitute(
        data=_json(given),
        buttons=page.buttons(),
        width=theme.MAP_WIDTH,
        height=theme.HEIGHT,
        look=page.LOOK,
        ground=static_map() + legend(),
        signs=page.signs(),
    )


def nothing_there() -> str:
    """For a link that leads to no room."""
    return _text("nothing.html")


@cache
def static_file(name: str) -> tuple[bytes, str] | None:
    """A file and its kind; None if there is no such file."""
    if name == "look.css":
        return f"{_fonts()}\n{page.colours()}".encode(), KINDS[".css"]
    kind = KINDS.get(name[name.rfind(".") :])
    if kind is None or "/" in name:
        return None
    folders = {"page.css": "", ".ttf": "fonts"}
    where = files("tetrarchia_env.render").joinpath(folders.get(name, folders.get(name[-4:], "fonts")))
    found = where.joinpath(name) if name in ("page.css", *FONTS) else files("tetrarchia_app.web").joinpath("static", name)
    return (found.read_bytes(), kind) if found.is_file() else None


def _letters() -> dict[str, str]:
    return {name: look.letter for name, look in theme.EMPEROR_LOOKS.items()}


def _fonts() -> str:
    weights = zip(FONTS, ("normal", "bold"), strict=True)
    return "\n".join(
        f'@font-face {{ font-family: "Tetrarchia Sans"; font-weight: {weight}; src: url(/static/{name}); }}' for name, weight in weights
    )


def _json(data: object) -> str:
    """No `<`, so that nothing in it can end the element that holds it."""
    return json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")


def _text(name: str) -> str:
    return files("tetrarchia_app.web").joinpath("static", name).read_text(encoding="utf-8")
