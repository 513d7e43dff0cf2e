"""The panel on the right: Emperors and their supplies, reserve, dice, score and the latest events."""

from collections.abc import Iterable, Sequence
from functools import cache
from textwrap import wrap

from tetrarchia_env.board import BOARD, EMPERORS
from tetrarchia_env.notation import Snapshot
from tetrarchia_env.render import theme
from tetrarchia_env.render.labels import DECIDERS, ENDINGS, PHASES, number_text, place_of, secured_borders, shown_dice
from tetrarchia_env.render.pieces import army, figure, token
from tetrarchia_env.render.shapes import Part, attributes, box, circle, group, line, path, star, text

LEFT, RIGHT = theme.MAP_WIDTH + 16, theme.WIDTH - 16
INNER = RIGHT - LEFT
ROWS, ROW = 88, 50  # the Emperors' rows: top of the first, and height
BOX, STATE, EVENTS = 308, 366, 468  # tops of the parts below
STATE_LINE, STORY_LINE, LETTERS = 15, 14, 36  # line heights, and the number of capitals that fit in a line
FACT_LETTERS = 26
LINES = (theme.HEIGHT - EVENTS - 24) // STORY_LINE

LOSS, OLD = "#8e1b12", "#5d554a"

ENDING_COLOURS = {"won": "#2c6e2f", "rome fell": LOSS, "reserve empty": LOSS, "truncated": "#5a5a5a"}
LOW = 3  # a reserve of this many tokens or fewer is shown in red


@cache
def static_panel() -> str:
    """Return the static background with lines and headings."""
    rules = [line((LEFT, y), (RIGHT, y), stroke=theme.FAINT, stroke_width=0.6) for y in (BOX - 14, STATE - 14, EVENTS - 14)]
    return group(
        box(theme.MAP_WIDTH, 0, theme.PANEL_WIDTH, theme.HEIGHT, fill=theme.PAPER),
        line((theme.MAP_WIDTH, 0), (theme.MAP_WIDTH, theme.HEIGHT), stroke=theme.INK, stroke_width=1.5),
        text(LEFT, 32, "TETRARCHIA", 21, fill=theme.PVRPLE, letter_spacing=3, text_anchor="start", font_weight="bold"),
        *rules,
        _say(LEFT, BOX + 4, "RESERVE", 9.5, fill=theme.FAINT),
        _say(LEFT, EVENTS + 4, "WHAT HAPPENED", 9.5, fill=theme.FAINT),
        class_="panel-paper",
    )


def draw_panel(snapshot: Snapshot, story: Sequence[str], dice: str) -> Iterable[Part]:
    """Yield the changing parts of the panel, from top to bottom."""
    yield _part(_head(snapshot), 36, ROWS - 42, class_="head")
    for row, emperor in enumerate(EMPERORS):
        yield _part(_emperor(snapshot, emperor), ROWS + ROW * row, ROW, class_="row", data_emperor=emperor)
    yield _part(_reserve(snapshot), BOX, STATE - BOX - 15, class_="reserve")
    for place, fact in enumerate(facts(snapshot, dice)):
        yield _part(_fact(*fact), STATE + STATE_LINE * place, 12, class_="fact", data_kind=fact[0])
    for place, event in enumerate(_lines(story)):
        yield _part(_event(*event), EVENTS + 18 + STORY_LINE * place, 12, class_="event")


def _part(body: str, top: float, height: float, **marks: object) -> Part:
    """Return a part that begins at this height; its reach includes space above for letters and frames."""
    return Part(body, (LEFT, top), (-14, -9, INNER + 14, height), attributes(**marks))


def _say(x: float, y: float, words: str, size: float = 11.5, **look: object) -> str:
    return text(x, y, words, size, **{"fill": theme.INK, "text_anchor": "start", **look})


def _head(snapshot: Snapshot) -> str:
    if snapshot["outcome"] in ENDINGS:
        return _ending(snapshot)
    turn = _say(0, 20, f"Turn {snapshot['turn'] + 1}", 15, font_weight="bold", class_="turn")
    return turn + _say(0, 38, PHASES[snapshot["phase"]], 11.5, fill=theme.FAINT, class_="phase") + _score(snapshot)


def _ending(snapshot: Snapshot) -> str:
    (words, reason), colour = ENDINGS[snapshot["outcome"]], ENDING_COLOURS[snapshot["outcome"]]
    banner = box(0, 6, INNER - 52, 36, rx=4, fill=colour)
    big = _say(8, 22, words, 13, fill=theme.WHITE, font_weight="bold", class_="outcome")
    small = _say(8, 36, f"turn {snapshot['turn'] + 1}: {reason}", 9.5, fill=theme.WHITE, class_="turn")
    return banner + big + small + _score(snapshot)


def _score(snapshot: Snapshot) -> str:
    words = number_text(snapshot.get("score", "")).replace("-", "\N{MINUS SIGN}")
    number = text(INNER - 20, 28, words, 22, fill=theme.INK, font_weight="bold", class_="score")
    return number + text(INNER - 20, 41, "score", 9.5, fill=theme.FAINT)


def _emperor(snapshot: Snapshot, emperor: str) -> str:
    running = snapshot["outcome"] == "running"
    active = running and snapshot["emperor"] == emperor
    return group(
        _highlight() if active else "",
        group(figure(emperor), at=(14, 22), scale=1.1),
        _say(34, 17, emperor.capitalize(), 13, font_weight="bold"),
        _say(34, 30, place_of(snapshot, emperor), 9.5, fill=theme.INK if snapshot["emperors"][emperor] else theme.FAINT, class_="place"),
        _supply(emperor, snapshot["supply"][emperor]),
        _glory(snapshot["glory"][emperor]),
        _points(snapshot["ip"]) if active and snapshot["ip"] is not None else "",
        _decides() if running and DECIDERS.get(snapshot["phase"]) == emperor else "",
    )


def _highlight() -> str:
    return box(-8, -2, INNER + 16, ROW - 3, rx=6, fill=theme.GOLD, fill_opacity=0.35, stroke=theme.GOLD_EDGE, class_="active")


def _supply(emperor: str, count: int | None) -> str:
    """Return the supply of tokens."""
    if count is None:
        return _say(34, 42, "tokens unknown", 9, fill=theme.FAINT, class_="supply")
    tokens = [group(token(emperor), at=(39 + 12.5 * k, 39), scale=0.44) for k in range(count)]
    return group(*tokens, class_="supply", data_count=count) if count else _say(34, 42, "no tokens", 9, fill=theme.FAINT, class_="supply")


def _glory(count: int | None) -> str:
    stars = [
        path(star(5, 5, 2.2), fill=theme.GOLD, stroke=theme.INK, stroke_width=0.7, transform=f"translate({112 + 11 * k} 39)")
        for k in range(min(count or 0, 5))
    ]
    return group(*stars, class_="glory", data_count=count) if count else ""


def _points(ip: int) -> str:
    """Return the remaining IP as a number and as dots."""
    dots = [circle(INNER - 6 - 11 * k, 34, 4, fill=theme.PVRPLE) for k in range(min(ip, 8))]
    return group(text(INNER - 20, 20, f"{ip} IP", 15, fill=theme.PVRPLE, font_weight="bold"), *dots, class_="ip", data_count=ip)


def _decides() -> str:
    return group(text(INNER - 24, 27, "decides", 11, fill=theme.PVRPLE, font_weight="bold"), class_="decides")


def _reserve(snapshot: Snapshot) -> str:
    pieces = (("unrest", token("unrest")), ("revolt", token("revolt")), ("armies", army("army", "")))
    return "".join(_stock(kind, piece, snapshot["reserve"][kind], 12 + 84 * k) for k, (kind, piece) in enumerate(pieces))


def _stock(kind: str, piece: str, count: int | None, x: float) -> str:
    """Return a count, in red when tokens are about to run out, which loses the game."""
    colour = LOSS if is_low(kind, count) else theme.INK
    return group(piece, at=(x, 26), scale=0.9) + _say(x + 18, 31, number_text(count), 15, font_weight="bold", fill=colour, data_kind=kind)


def is_low(kind: str, count: int | None) -> bool:
    """Return whether the tokens of a reserve are about to run out."""
    return count is not None and count <= LOW and kind != "armies"


def facts(snapshot: Snapshot, dice: str) -> Iterable[tuple[str, str]]:
    """Yield the heading and text of each line below the reserve."""
    if "view" in snapshot:
        yield "View of", (snapshot["view"]["emperor"] or "spectators").capitalize()
    yield "Borders held", f"{secured_borders(snapshot)} of 6"
    yield "Last dice", shown_dice(snapshot, dice)
    fleets = snapshot["fleets"]
    yield "Fleets", "in all zones" if len(fleets) == len(BOARD.zones) else ", ".join(fleets) or "none"
    if snapshot["pirates"]:
        yield "Pirates", snapshot["pirates"]
    if snapshot["dux"]:
        yield "Dux", snapshot["dux"]
    if snapshot["passing"]:
        yield "Passing", f"{snapshot['passing'].capitalize()} must move on"


def _fact(head: str, words: str) -> str:
    return _say(0, 4, head, 11, fill=theme.FAINT) + _say(76, 4, _short(words), 11, font_weight="bold")


def _short(words: str) -> str:
    return words if len(words) <= FACT_LETTERS else words[: FACT_LETTERS - 1] + "\N{HORIZONTAL ELLIPSIS}"


def _lines(story: Sequence[str]) -> list[tuple[str, bool, bool]]:
    """Return the newest lines that fit: the text, whether it belongs to the newest event, whether it begins an event."""
    lines = [(part, k == len(story) - 1, n == 0) for k, event in enumerate(story) for n, part in enumerate(wrap(event, LETTERS))]
    return lines[-LINES:]


def _event(words: str, newest: bool, first: bool) -> str:
    dot = circle(3, -2, 1.8, fill=theme.PVRPLE if newest else theme.FAINT) if first else ""
    return dot + _say(11, 2, words, 10.5, fill=theme.INK if newest else OLD, font_weight="bold" if newest else None)
