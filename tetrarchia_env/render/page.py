"""A recorded game as a self-contained web page: it needs neither a network nor other files.

Its frame is `page.html` (with `buttons.html`), `page.css` and `page.js`; all changing content is generated here. Most parts stay the same
from one action to the next, so each part is stored once, and a frame lists the parts that it consists of.
"""

import json
from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache
from importlib.resources import files
from itertools import groupby
from string import Template
from typing import Protocol

from tetrarchia_env.board import EMPERORS
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.game_analysis import GameAnalysis
from tetrarchia_env.notation import Snapshot
from tetrarchia_env.render import panel, theme
from tetrarchia_env.render.analysis import check_analysis, curve, marks, position_analysis, turn_line
from tetrarchia_env.render.labels import DECIDERS, ENDINGS, PHASES, number_text, place_of
from tetrarchia_env.render.legend import legend
from tetrarchia_env.render.map import static_map
from tetrarchia_env.render.pieces import army, figure, token
from tetrarchia_env.render.shapes import attributes, clean
from tetrarchia_env.render.svg import pieces

SYMBOL_VIEW_BOX = "-16 -18 32 36"  # of the pieces in the panel
LOOK = attributes(font_family=theme.FONT, text_anchor="middle")
RESERVE = {"unrest": "Unrest", "revolt": "Revolts", "armies": "armies"}
Places = dict[str, list[str]]  # parts of the page by element id


class Shown(Protocol):
    """A position and the action that led to it, such as a `Frame`."""

    @property
    def snapshot(self) -> Snapshot:
        """The position."""

    @property
    def agent(self) -> str | None:
        """The agent who acted; None at the start."""

    @property
    def action(self) -> str | None:
        """The action, as text."""

    @property
    def story(self) -> Sequence[str]:
        """The events that followed, one line each."""

    @property
    def dice(self) -> str:
        """The dice of the last Barbarian phase."""


def replay_page(
    frames: Sequence[Shown],
    title: str,
    analysis: GameAnalysis | None = None,
    views: Mapping[str, Sequence[Shown]] | None = None,
) -> str:
    """Return the web page of a game; `#12` after its address shows the position after the 12th action.

    Args:
        frames: The positions, from the first to the last, e.g. `game.frames()`.
        title: The title of the page.
        analysis: An agent's analysis of the game. The page then shows the win probability curve, the likeliest actions, and skill and
            luck of each turn.
        views: The same positions as Emperors see them (R14), by name. The page can then switch between these and the whole board; its
            log always shows everything.

    Returns:
        An HTML document.

    Raises:
        TetrarchiaError: If there are no frames, the analysis is that of another game, or a view has another number of frames.
    """
    views = views or {}
    if not frames:
        raise TetrarchiaError("a page needs at least one position")
    if analysis:
        check_analysis(analysis, len(frames))
    if wrong := [name for name, seen in views.items() if len(seen) != len(frames)]:
        raise TetrarchiaError(f"views must have {len(frames)} frames like the game; got {len(views[wrong[0]])} for {wrong[0]!r}")
    judged = analysis if analysis and analysis.decisions else None
    analyses: list[Places] = [{"analysis": position_analysis(judged, k)} if judged else {} for k in range(len(frames))]
    shown = {
        name: [places(frame) | more for frame, more in zip(seen, analyses, strict=True)] for name, seen in {"": frames, **views}.items()
    }
    first = {place: "".join(parts) for place, parts in shown[""][0].items()}
    section = (
        f'<section id="analysis" aria-label="Position analysis by {clean(judged.critic)}">{first.pop("analysis")}</section>'
        if judged
        else ""
    )
    return Template(_file("page.html")).substitute(
        first, title=clean(title), last=len(frames) - 1, log=_log(frames, judged), game=_data(shown, _turns(frames)),
        curve=curve(judged) if judged else "", analysis=section, views=_view_menu(list(views)) if views else "",
        width=theme.MAP_WIDTH, height=theme.HEIGHT, look=LOOK, ground=static_map() + legend(), symbols=symbols(),
        fonts=_fonts(), colours=colours(), css=_file("page.css"), js=_file("page.js"), buttons=buttons(),
    )  # fmt: skip


def _view_menu(emperors: Sequence[str]) -> str:
    options = "".join(f'<option value="{clean(name)}">{clean(name.capitalize())}</option>' for name in emperors)
    return f'<label class="views">View <select id="views"><option value="">whole board</option>{options}</select></label>'


def buttons() -> str:
    """Return the HTML of the navigation buttons."""
    return _file("buttons.html")


def _file(name: str) -> str:
    return files("tetrarchia_env.render").joinpath(name).read_text(encoding="utf-8").rstrip("\n")


@cache
def _fonts() -> str:
    return "\n".join(_font(f"TetrarchiaSans-{name}.ttf", weight) for name, weight in (("Regular", "normal"), ("Bold", "bold")))


def _font(name: str, weight: str) -> str:
    content = b64encode(files("tetrarchia_env.render").joinpath("fonts", name).read_bytes()).decode()
    return f'@font-face {{ font-family: "Tetrarchia Sans"; font-weight: {weight}; src: url(data:font/ttf;base64,{content}); }}'


def colours() -> str:
    """Return the colours of the drawing as CSS."""
    names = {"ink": theme.INK, "paper": theme.PAPER, "accent": theme.PVRPLE, "gold": theme.GOLD_EDGE, "loss": panel.LOSS, "edge": theme.INK}
    emperors = [f".{name} {{ background: {look.fill}; color: {look.letters}; }}" for name, look in theme.EMPEROR_LOOKS.items()]
    endings = [f".ending.{_class(outcome)} {{ background: {colour}; }}" for outcome, colour in panel.ENDING_COLOURS.items()]
    return "\n".join([":root { " + " ".join(f"--{name}: {colour};" for name, colour in names.items()) + " }", *emperors, *endings])


def symbols() -> str:
    """Return the pieces shown in the panel as SVG symbols."""
    shown = {name: figure(name) for name in EMPERORS} | {"unrest": token("unrest"), "revolt": token("revolt"), "armies": army("army", "")}
    return "".join(f'<symbol id="symbol-{name}" viewBox="{SYMBOL_VIEW_BOX}"{LOOK}>{piece}</symbol>' for name, piece in shown.items())


def _data(shown: Mapping[str, Sequence[Places]], turns: list[int]) -> str:
    """Return the data of the script as JSON; `<` is escaped, so that no text can close the element that contains it."""
    numbers: dict[str, int] = {}
    frames = {
        name: [{place: [numbers.setdefault(part, len(numbers)) for part in parts] for place, parts in places.items()} for places in seen]
        for name, seen in shown.items()
    }
    data = {"parts": list(numbers), "frames": frames.pop(""), "turns": turns} | ({"views": frames} if frames else {})
    return json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")


def _turns(frames: Sequence[Shown]) -> list[int]:
    """Return the indexes of the frames with which turns begin."""
    numbers = [frame.snapshot["turn"] for frame in frames]
    return [k for k, number in enumerate(numbers) if k == 0 or number != numbers[k - 1]]


def places(frame: Shown) -> Places:
    """Return the parts of HTML and SVG that show a position, by element id."""
    return {"pieces": [part.svg for part in pieces(frame.snapshot)], **words(frame)}


def words(frame: Shown) -> Places:
    """Return the parts of the panel and the heading.

    Args:
        frame: The position and the action that led to it.

    Returns:
        Parts of HTML by element id, `head` and `panel`.
    """
    snapshot = frame.snapshot
    return {
        "head": [_head(snapshot), _score(snapshot)],
        "panel": [*_emperors(snapshot), _reserve(snapshot), _facts(tuple(panel.facts(snapshot, frame.dice)))],
    }


def _head(snapshot: Snapshot) -> str:
    turn = f"Turn {snapshot['turn'] + 1}"
    if snapshot["outcome"] not in ENDINGS:
        return f'<span class="turn">{turn}</span><span class="phase">{PHASES[snapshot["phase"]]}</span>'
    head, reason = ENDINGS[snapshot["outcome"]]
    return f'<span class="ending {_class(snapshot["outcome"])}"><strong>{head}</strong>{turn}: {reason}</span>'


def _class(outcome: str) -> str:
    return outcome.replace(" ", "-")


def _score(snapshot: Snapshot) -> str:
    words = number_text(snapshot.get("score", "")).replace("-", "\N{MINUS SIGN}")
    return f'<span class="score"><strong>{words}</strong>score</span>'


def _emperors(snapshot: Snapshot) -> Iterable[str]:
    yield '<ul class="emperors">'
    yield from (_emperor(snapshot, name) for name in EMPERORS)
    yield "</ul>"


def _emperor(snapshot: Snapshot, name: str) -> str:
    running = snapshot["outcome"] == "running"
    active = running and snapshot["emperor"] == name
    points = f"{snapshot['ip']} IP" if active and snapshot["ip"] is not None else ""
    decides = "decides" if running and DECIDERS.get(snapshot["phase"]) == name else ""
    stock = _stock(snapshot["supply"][name], snapshot["glory"][name])
    return _row(name, active, place_of(snapshot, name), stock, decides or points)


@lru_cache(4_096)
def _row(name: str, active: bool, place: str, stock: str, remark: str) -> str:
    return (
        f'<li class="emperor{" active" if active else ""}">{_symbol(name)}<span><strong>{name.capitalize()}</strong>'
        f"<small>{clean(place)}</small>"
        f'<small class="stock"><span>{stock}</span><b>{remark}</b></small></span></li>'
    )


def _stock(supply: int | None, glory: int | None) -> str:
    tokens = f"{number_text(supply)} token{'' if supply == 1 else 's'}"
    return f"{tokens}, glory {glory}" if glory else tokens


def _symbol(name: str) -> str:
    return f'<svg aria-hidden="true"><use href="#symbol-{name}"/></svg>'


def _reserve(snapshot: Snapshot) -> str:
    items = []
    for kind, words in RESERVE.items():
        count = snapshot["reserve"][kind]
        low = ' class="low"' if panel.is_low(kind, count) else ""
        items.append(f"<li{low}>{_symbol(kind)}<strong>{number_text(count)}</strong> {words}</li>")
    return f'<ul class="reserve"><li>Reserve</li>{"".join(items)}</ul>'


@lru_cache(4_096)
def _facts(facts: tuple[tuple[str, str], ...]) -> str:
    rows = [f"<dt>{clean(head)}</dt><dd>{clean(words)}</dd>" for head, words in facts]
    return f'<dl class="facts">{"".join(rows)}</dl>'


def _log(frames: Sequence[Shown], analysis: GameAnalysis | None) -> str:
    """Return a list for each turn, with an entry for each frame under the turn in which it was decided."""
    decided_in, marked = [frames[max(k - 1, 0)].snapshot for k in range(len(frames))], marks(analysis, len(frames))
    lists = []
    for number, numbers in groupby(range(len(frames)), lambda k: decided_in[k]["turn"]):
        entries = list(numbers)
        line = turn_line(analysis, number) if analysis else ""
        lists.append(_turn(decided_in[entries[0]], line, [_entry(frames[k], marked[k]) for k in entries]))
    return "".join(lists)


def _turn(snapshot: Snapshot, line: str, entries: list[str]) -> str:
    return f"<h2>Turn {snapshot['turn'] + 1}, {snapshot['emperor'].capitalize()}</h2>{line}<ol>{''.join(entries)}</ol>"


def _entry(frame: Shown, mark: str) -> str:
    letter = theme.EMPEROR_LOOKS[frame.agent].letter if frame.agent else "\N{MIDDLE DOT}"
    lines = [clean(line) for line in frame.story] or [clean(frame.action or "the game begins")]
    events = "".join(f'<span class="event{" more" if k else ""}">{line}</span>' for k, line in enumerate(lines))
    events += f'<span class="event mistake">{clean(mark)}</span>' if mark else ""
    badge = f'<span class="badge {frame.agent or ""}" aria-hidden="true">{letter}</span>'
    return f'<li><button tabindex="-1">{badge}<span>{events}</span></button></li>'
