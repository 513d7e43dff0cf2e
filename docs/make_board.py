"""Write docs/board.md and docs/board.svg from the package's board.toml; with --check, exit 1 if one is stale."""

import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from html import escape
from itertools import pairwise
from math import atan2, cos, degrees, pi, sin
from pathlib import Path

from tetrarchia_env.board import BROKEN, EMPERORS, NUMERALS, PACKAGED, PICTURE, SPACES, Board, BoardFile, load, read

DOCS = Path(__file__).parent
SOURCES = ("rulebook", "implied", "play report", "reconstructed")

SCALE = 1.4  # of board.toml's picture: room for names between the closest spaces
LEGEND = 110  # height of the strip below the map
RADIUS = 18
PAPER, INK, FAINT, BREAK, GOLD = "#faf6ec", "#2e2a25", "#8a8378", "#b5533c", "#e0a526"
TINTS = ("#e9dcf0", "#fbe3a9", "#cfe3b4", "#f6c9b0", "#bfe0dc", "#f4c6d2", "#d8bd93")  # by region, ITALIA first
SEAS = ("#0f8a7a", "#2b6cb8", "#7d3fae")  # by zone

PAGE = """\
<!-- Written by docs/make_board.py from tetrarchia_env/data/board.toml: change that file, not this page. -->
# The board

![The board as a graph](board.svg)

A circle is one of the 42 Roman provinces, with its region and number; a square is one of the 6 borders, with the region
that it threatens. A dashed link is broken; arrow heads show the way of the armies. A coloured ring is a coast, in the
colour of its sea zone, or of two. A star is a printed token: the four capitals, and ROMA, which counts for everyone.

## What is stated and what is reconstructed

The rules describe the board in words, and the printed link graph is not among them. **Of the {total} facts below,
{stated} are stated in the rules or follow from them, {reported} come from published play reports, and {guessed} are
reconstructed** from geography and consistency: plausible, playable, and perhaps not what is printed.

{shares}

*rulebook*: stated in the rules, their examples or scenarios. *implied*: follows from them. *play report*: stated or
implied by a published one. *reconstructed*: everything else. The numbers in ITALIA have no source, since no die ever
picks one of its provinces. Nor have the paths: the rules give them by province numbers and name the way into ITALIA for
some regions. Of their {steps} different steps, {stated_steps} use a link that is stated or implied.

## How to correct it

If you own the printed board, correct a copy and name it in `TETRARCHIA_BOARD`; everything else follows:

```console
$ cp tetrarchia_env/data/board.toml my_board.toml
$ TETRARCHIA_BOARD=my_board.toml python -c "from tetrarchia_env.board import BOARD; print(BOARD.names)"
```

Links, coasts, capitals, paths, positions and reconstructed names may change. The order of the regions and numbers may
not, because actions, checkpoints and replays know a space by its id; nor may the names that the rulebook states, since
the scenarios use them. A file that does not fit together is refused with one sentence. A replay plays the same game
only on its own board, and an agent plays best on the one that it was trained on.

## Spaces

{spaces}

## Links

{links}

## Capitals

{capitals}

## Paths of the armies

{paths}
"""


def main(arguments: Sequence[str], folder: Path = DOCS) -> int:
    """Write the pages, or with --check return 1 if one of them is stale."""
    found = {path.name: path.read_text(encoding="utf-8") for path in folder.glob("board.*")}
    stale = {name: text for name, text in pages().items() if found.get(name) != text}
    if "--check" in arguments:
        print(f"stale, run python docs/make_board.py: {', '.join(stale)}" if stale else "the pages are current")
        return int(bool(stale))
    for name, text in stale.items():
        (folder / name).write_text(text, encoding="utf-8", newline="\n")
        print(f"wrote {name}")
    return 0


def pages() -> dict[str, str]:
    """The text of each page by its file name."""
    return {"board.md": page(read(PACKAGED)), "board.svg": picture(load(PACKAGED))}


def page(file: BoardFile) -> str:
    """What the board file says, as tables."""
    facts, steps = _facts(file), _steps(file)
    count = Counter(source for sources in facts.values() for source in sources)
    return PAGE.format(
        total=count.total(),
        stated=_share(count["rulebook"] + count["implied"], count.total()),
        reported=_share(count["play report"], count.total()),
        guessed=_share(count["reconstructed"], count.total()),
        shares=_table("fact, how many, " + ", ".join(SOURCES), _shares(facts)),
        steps=len(steps),
        stated_steps=steps.count("rulebook") + steps.count("implied"),
        spaces=_table("id, region, number, name, coasts, name from, number from, coasts from", _spaces(file)),
        links=_table("between, and, kind, link from, kind from", _links(file)),
        capitals=_table("Emperor, capital, capital from", _capitals(file)),
        paths=_table("region, steps, path", ((r, len(p) - 1, " - ".join(p)) for r, p in file["paths"].items())),
    )


def _share(part: int, whole: int) -> str:
    return f"{part} ({part / whole:.0%})"


def _table(head: str, rows: Iterable[Sequence[object]]) -> str:
    columns = head.split(", ")
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)


def _facts(file: BoardFile) -> dict[str, list[str]]:
    """The source of every fact that has one, by kind of fact."""
    spaces = [space.get("sources", {}) for space in file["space"]]
    links = [link.get("sources", {}) for link in file["link"]]
    return {
        "names of spaces": _given(spaces, "name"),
        "numbers of spaces": _given(spaces, "number"),
        "coasts of spaces": _given(spaces, "coasts"),
        "links": _given(links, "link"),
        "kinds of links": _given(links, "kind"),
        "capitals": list(file.get("capital_sources", {}).values()),
    }


def _given(sources: Iterable[dict[str, str]], key: str) -> list[str]:
    return [source[key] for source in sources if key in source]


def _shares(facts: dict[str, list[str]]) -> Iterable[Sequence[object]]:
    everything = [source for sources in facts.values() for source in sources]
    for fact, sources in [*facts.items(), ("**all**", everything)]:
        yield fact, len(sources), *(sources.count(source) for source in SOURCES)


def _steps(file: BoardFile) -> list[str]:
    """The sources of the links that the paths use."""
    used = {frozenset(step) for path in file["paths"].values() for step in pairwise(path)}
    return [link.get("sources", {}).get("link", "") for link in file["link"] if frozenset(link["between"]) in used]


def _spaces(file: BoardFile) -> Iterable[Sequence[object]]:
    for space_id, space in enumerate(file["space"]):
        region = ("ITALIA", *NUMERALS)[space["region"]]
        number = "border" if space["number"] == 7 else space["number"]
        sources = (space.get("sources", {}).get(key, "") for key in ("name", "number", "coasts"))
        yield space_id, region, number, space["name"], ", ".join(space["coasts"]), *sources


def _links(file: BoardFile) -> Iterable[Sequence[object]]:
    for link in file["link"]:
        sources = (link.get("sources", {}).get(key, "") for key in ("link", "kind"))
        yield *link["between"], "broken" if link["broken"] else "normal", *sources


def _capitals(file: BoardFile) -> Iterable[Sequence[object]]:
    for emperor in EMPERORS:
        yield emperor, file["capitals"][emperor], file.get("capital_sources", {}).get(emperor, "")


def picture(board: Board) -> str:
    """The board as a graph, in SVG."""
    width, height = PICTURE[0] * SCALE, PICTURE[1] * SCALE + LEGEND
    size = f'width="{width:g}" height="{height:g}"'
    style = 'font-family="DejaVu Sans, Verdana, sans-serif" text-anchor="middle"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" {size} {style}>',
        "<title>The board of TETRARCHIA</title>",
        f'<rect {size} rx="12" fill="{PAPER}"/>',
        *(_zone(board, zone) for zone in range(len(board.zones))),
        *(_link(board, a, b) for a in range(SPACES) for b in range(a) if board.links[a, b]),
        *_arrows(board),
        *(_space(board, space) for space in range(SPACES)),
        *(_name(board, space) for space in range(SPACES)),  # last: names lie on top of links and neighbours
        *_legend(board),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _at(board: Board, space: int) -> tuple[float, float]:
    x, y = board.xy[space].tolist()
    return x * SCALE, y * SCALE


def _text(x: float, y: float, words: str, size: float, look: str = "") -> str:
    return f'<text x="{x:g}" y="{y:g}" font-size="{size:g}" {look}>{escape(words)}</text>'


def _zone(board: Board, zone: int) -> str:
    x, y = board.zone_xy[zone].tolist()
    look = f'fill="{SEAS[zone]}" font-style="italic" letter-spacing="2"'
    return _text(x * SCALE, y * SCALE, board.zones[zone], 16, look)


def _line(x1: float, y1: float, x2: float, y2: float, kind: int) -> str:
    look = f'stroke="{BREAK}" stroke-dasharray="7 5"' if kind == BROKEN else f'stroke="{FAINT}"'
    return f'<line x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}" stroke-width="2.5" {look}/>'


def _link(board: Board, a: int, b: int) -> str:
    return _line(*_at(board, a), *_at(board, b), int(board.links[a, b]))


def _space(board: Board, space: int) -> str:
    x, y = _at(board, space)
    region, border = int(board.region[space]), board.number[space] == 7
    label = NUMERALS[region - 1] if border else f"{('', *NUMERALS)[region]} {board.number[space]}".strip()
    star = _star(x + RADIUS * 0.8, y - RADIUS * 0.8) if space in (board.roma, *board.capitals) else ""
    coasts = [zone for zone in range(len(board.zones)) if board.coasts[space] >> zone & 1]
    body = _square(x, y, TINTS[region]) if border else _circle(x, y, TINTS[region])
    return body + _coast(x, y, coasts) + _text(x, y + 4, label, 11, f'fill="{INK}" font-weight="bold"') + star


def _circle(x: float, y: float, tint: str) -> str:
    return f'<circle cx="{x:g}" cy="{y:g}" r="{RADIUS}" fill="{tint}" stroke="{FAINT}" stroke-width="1.5"/>'


def _square(x: float, y: float, tint: str) -> str:
    corner, side = f'x="{x - RADIUS + 1:g}" y="{y - RADIUS + 1:g}"', 2 * RADIUS - 2
    return f'<rect {corner} width="{side}" height="{side}" rx="3" fill="{tint}" stroke="{INK}" stroke-width="3"/>'


def _coast(x: float, y: float, zones: Sequence[int]) -> str:
    """A ring: its western half for the westernmost zone, its eastern half for the easternmost."""
    arc = f"M{x:g} {y - RADIUS:g}A{RADIUS} {RADIUS} 0 0 {{}} {x:g} {y + RADIUS:g}"
    halves = [(0, SEAS[zones[0]]), (1, SEAS[zones[-1]])] if zones else []
    return "".join(f'<path d="{arc.format(k)}" fill="none" stroke="{sea}" stroke-width="4"/>' for k, sea in halves)


def _arrows(board: Board) -> Iterable[str]:
    """Heads on the links that armies follow, nearer to the lower end: the upper one's name is in the way."""
    steps = {(here, int(row[here])) for row in board.next_step for here in range(len(row)) if row[here] >= 0}
    for here, there in sorted(steps):
        (x1, y1), (x2, y2) = _at(board, here), _at(board, there)
        way = 0.64 if y2 > y1 else 0.4
        yield _head(x1 + way * (x2 - x1), y1 + way * (y2 - y1), degrees(atan2(y2 - y1, x2 - x1)))


def _head(x: float, y: float, turn: float) -> str:
    return f'<path d="M7 0L-6 -6L-6 6Z" fill="{INK}" transform="translate({x:.1f} {y:.1f}) rotate({turn:.1f})"/>'


def _star(x: float, y: float) -> str:
    corners = [(9 if k % 2 == 0 else 4, k * pi / 5) for k in range(10)]
    points = " ".join(f"{x + r * sin(turn):.1f},{y - r * cos(turn):.1f}" for r, turn in corners)
    return f'<polygon points="{points}" fill="{GOLD}" stroke="{INK}"/>'


def _name(board: Board, space: int) -> str:
    """One line a word, then the Emperor of a capital; a halo keeps the words legible on links."""
    x, y = _at(board, space)
    halo = f'stroke="{PAPER}" stroke-width="4" stroke-linejoin="round" paint-order="stroke"'
    words = [(word, f'fill="{INK}" {halo}') for word in board.names[space].split()]
    emperors = [emperor for emperor, capital in zip(EMPERORS, board.capitals, strict=True) if capital == space]
    words += [(emperor, f'fill="{BREAK}" font-style="italic" {halo}') for emperor in emperors]
    return "".join(_text(x, y + RADIUS + 12 + 11 * k, word, 10.5, look) for k, (word, look) in enumerate(words))


def _legend(board: Board) -> Iterable[str]:
    top, column, left = PICTURE[1] * SCALE + 26, 172, 34
    say = 'text-anchor="start" fill="' + INK + '"'
    for region, name in enumerate(board.regions):
        yield _circle(left + column * region, top, TINTS[region])
        yield _text(left + column * region + 26, top + 4, f"{('', *NUMERALS)[region]} {name}".strip(), 12, say)
    row = top + 46
    marks = [
        (_square(left, row, PAPER), "border"),
        (_star(left + column, row), "capital, or ROMA"),
        (_line(left + 2 * column - 18, row, left + 2 * column + 18, row, 1), "normal link"),
        (_line(left + 3 * column - 18, row, left + 3 * column + 18, row, BROKEN), "broken link"),
        (_head(left + 4 * column, row, 0), "way of the armies"),
        *((_coast(left + column * (5 + z), row, [z]), f"on {zone}") for z, zone in enumerate(board.zones)),
    ]
    for place, (mark, words) in enumerate(marks):
        yield mark + _text(left + column * place + 26, row + 4, words, 12, say)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
