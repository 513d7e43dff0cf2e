"""The board as text that fits 100 x 40: coloured in terminals, plain elsewhere; letters and marks are unambiguous without colour."""

from collections.abc import Iterator, Sequence
from textwrap import wrap

from tetrarchia_env.board import BOARD, EMPERORS, NUMERALS, ROMAN_PROVINCES
from tetrarchia_env.notation import Snapshot
from tetrarchia_env.render.labels import DECIDERS, ENDINGS, HIDDEN, PHASES, memory_of, number_text, place_of, secured_borders, shown_dice

Piece = tuple[str, str]  # text, and the name of its style in LOOKS
Line = list[Piece]

LOOKS = {  # ANSI codes ("select graphic rendition"); the Emperors' colours are those of the picture
    "": "",
    "dim": "2",
    "strong": "1",
    "head": "1;38;5;231;48;5;53",
    "diocletian": "1;38;5;231;48;5;29",
    "galerius": "1;38;5;16;48;5;220",
    "constantius": "1;38;5;231;48;5;160",
    "maximian": "1;38;5;231;48;5;25",
    "dux": "1;38;5;16;48;5;208",
    "unrest": "38;5;16;48;5;250",
    "revolt": "1;38;5;214;48;5;16",
    "army": "1;38;5;231;48;5;94",
    "goths": "1;38;5;231;48;5;54",
    "rebel": "1;38;5;231;48;5;126",
    "pirates": "1;38;5;231;48;5;16",
    "fleet": "1;38;5;231;48;5;31",
    **{f"region {k}": f"1;38;5;16;48;5;{tint}" for k, tint in enumerate((218, 222, 150, 216, 153, 183, 180))},
}
TOKENS = {"unrest": "[u]", "revolt": "[R]", **{name: f"({name[0].upper()})" for name in EMPERORS}}
ARMIES = {"army": "army", "goths": "Goth", "rebel": "Rebel"}
GAP = 2  # between the columns
MARGIN = 15  # width of a region's name in the brief form
SHORT = 15  # maximum width of a space's name in the brief form
WIDE_COLUMN = 32  # from this column width on, words are not abbreviated
FIGURES = 8  # width of the figures on a space
NAMES = max(map(len, BOARD.names))
CELL = 2 + NAMES + 5 + FIGURES


def draw_text(
    snapshot: Snapshot, *, colour: bool = False, story: Sequence[str] = (), dice: str = "", width: int = 100, height: int = 40
) -> str:
    """Return the board as text: the regions as on the map, the state next to them, and the end of the story.

    Args:
        snapshot: The position.
        colour: Whether to use ANSI colours.
        story: Lines about the latest events, oldest first; a line that begins with ">" is highlighted.
        dice: The dice of the last Barbarian phase, e.g. `"IV 3"`.
        width: Maximum number of columns.
        height: Maximum number of lines; the story is cut at its beginning.

    Returns:
        Lines of text, joined by line breaks.
    """
    column = min(CELL, max((width - 2 * GAP) // 3, FIGURES + 8))
    board = [_head(snapshot, min(width, 3 * column + 2 * GAP)), *_board(snapshot, dice, column), _march(snapshot, column)]
    lines = board + _story(story, width, height - len(board))
    return "\n".join(_inked(_clip(line, width), colour) for line in lines[:height])


def draw_brief(
    snapshot: Snapshot, *, colour: bool = False, story: Sequence[str] = (), dice: str = "", width: int = 80, height: int = 24
) -> str:
    """Return the board in about a dozen lines for small windows: only the occupied spaces of each region.

    Args:
        snapshot: The position.
        colour: Whether to use ANSI colours.
        story: Lines about the latest events, oldest first; a line that begins with ">" is highlighted.
        dice: The dice of the last Barbarian phase, e.g. `"IV 3"`.
        width: Maximum number of columns.
        height: Maximum number of lines; the story is cut at its beginning.

    Returns:
        Lines of text, joined by line breaks.
    """
    regions = [line for region in range(len(BOARD.regions)) for line in _brief_region(snapshot, region, width)]
    column = (width - 2 * GAP) // 3
    board = [_head(snapshot, width), *regions, *_brief_rest(snapshot, dice, width), *filter(None, [_march(snapshot, column)])]
    lines = board + _story(story, width, height - len(board))
    return "\n".join(_inked(_clip(line, width), colour) for line in lines[:height])


def _brief_region(snapshot: Snapshot, region: int, width: int) -> list[Line]:
    """Return the lines of a region: `II GALLIA   BELGICA (C) Const  * BRITANNIA army II`; an empty region has a line too."""
    numeral = f"{NUMERALS[region - 1]} " if region else ""
    spaces = [space for space in range(len(BOARD.names)) if BOARD.region[space] == region]
    found = [pieces for space in spaces if (pieces := _brief_space(snapshot, space))]
    return _folded([(f" {numeral}{BOARD.regions[region]}"[:MARGIN].ljust(MARGIN), f"region {region}")], found, width)


def _brief_space(snapshot: Snapshot, space: int) -> Line:
    """Return the name of a space and the pieces there; empty if there are none except a printed token."""
    name = BOARD.names[space]
    memory = memory_of(snapshot, name)
    if memory is not None:
        snapshot = _remembered(memory, name)
    token, standing = [_token(snapshot, space)] if name in snapshot["tokens"] else [], _standing(snapshot, name)
    if memory and (token or standing):
        standing = [*standing, (f"~{memory['age']}", "dim")]
    there: Line = [*token, *([(" ", "")] if token and standing else []), *standing]
    border = "*" if space >= ROMAN_PROVINCES else ""
    return [(f"{border}{_short(name, SHORT)} ", ""), *there] if there else []


def _brief_rest(snapshot: Snapshot, dice: str, width: int) -> list[Line]:
    reserve, owners = snapshot["reserve"], snapshot["supply"].items()
    tokens: list[Line] = [[(f"{name[0].upper()} {number_text(supply)}", "")] for name, supply in owners]
    counts = f"{number_text(reserve['unrest'])}[u] {number_text(reserve['revolt'])}[R] {number_text(reserve['armies'])} armies"
    left: Line = [(f"  reserve {counts}", "")]
    fleets: list[Line] = [[(f"fleet {zone}", "")] for zone in snapshot["fleets"]]
    pirates: list[Line] = [[(f"Pirates {snapshot['pirates']}", "")]] if snapshot["pirates"] else []
    extras: list[Line] = [[(words.strip(), "")] for words in _extras(snapshot)]
    return [
        *_folded([(" TOKENS".ljust(MARGIN), "head")], [*tokens, left, [(f"dice {shown_dice(snapshot, dice)}", "")]], width),
        *_folded([(" SEA".ljust(MARGIN), "head")], [*fleets, *pirates, *extras], width),
    ]


def _folded(head: Line, parts: Sequence[Line], width: int) -> list[Line]:
    """Return the parts wrapped into lines, the first of which begins with the head."""
    lines = [[*head, (" ", "")]]
    for part in parts:
        if _length(lines[-1]) + _length(part) > width and _length(lines[-1]) > MARGIN + 1:
            lines.append([(" " * (MARGIN + 1), "")])
        lines[-1] += [*part, ("  ", "")]
    return lines


def _inked(line: Line, colour: bool) -> str:
    if not colour:
        return "".join(words for words, _ in line).rstrip()
    return "".join(f"\x1b[{LOOKS[look]}m{words}\x1b[0m" if LOOKS[look] else words for words, look in line)


def _clip(line: Line, width: int) -> Line:
    """Cut a line to this width."""
    kept: Line = []
    for words, look in line:
        kept.append((words[:width], look))
        width -= len(kept[-1][0])
    return [piece for piece in kept if piece[0]]


def _length(line: Line) -> int:
    return sum(len(words) for words, _ in line)


def _filled(line: Line, width: int) -> Line:
    """Pad or cut a line to this width."""
    return [*_clip(line, width), (" " * (width - _length(line)), "")]


def _head(snapshot: Snapshot, width: int) -> Line:
    left = f" TETRARCHIA   turn {snapshot['turn'] + 1}   {_situation(snapshot)}"
    if "view" in snapshot:
        left += f"   (view of {snapshot['view']['emperor'] or 'spectators'})"
    right = f"{secured_borders(snapshot)} of 6 borders   score {number_text(snapshot.get('score'))} "
    if len(left) + 2 + len(right) > width:
        left = left.replace(" TETRARCHIA  ", "")
    return [(f"{left:{max(width - len(right), len(left) + 2)}}{right}"[:width], "head")]


def _situation(snapshot: Snapshot) -> str:
    if snapshot["outcome"] in ENDINGS:
        return ": ".join(ENDINGS[snapshot["outcome"]])
    doing = f"{snapshot['passing']} must move on" if snapshot["passing"] else PHASES[snapshot["phase"]]
    return f"{snapshot['emperor']}: {doing}, {number_text(snapshot['ip'])} IP"


def _remembered(memory: Snapshot, space: str) -> Snapshot:
    """Return the part of a snapshot that an Emperor remembers of one space out of his view (R14.6)."""
    figures = memory.get("figures", ())
    return {
        "tokens": {space: memory["token"]} if memory.get("token") else {},
        "armies": [[space, *memory["army"]]] if memory.get("army") else [],
        "emperors": {name: space if name in figures else None for name in EMPERORS},
        "dux": space if "dux" in figures else None,
    }


def _board(snapshot: Snapshot, dice: str, column: int) -> list[Line]:
    """Return the regions west to east and north to south, as on the map."""
    italia, hispania, gallia, illyricum, graecia, asia, africa = (_region(snapshot, region, column) for region in range(len(BOARD.regions)))
    rows = (
        (gallia, illyricum, graecia),
        (hispania, italia, asia),
        (_emperors(snapshot, column), africa, _side_panel(snapshot, dice, column)),
    )
    return [line for row in rows for line in [*_side_by_side(row, column), []]][:-1]


def _side_by_side(blocks: Sequence[list[Line]], column: int) -> list[Line]:
    height = max(map(len, blocks))
    full = [[*block, *[[]] * (height - len(block))] for block in blocks]
    return [_row(cells, column) for cells in zip(*full, strict=True)]


def _row(cells: Sequence[Line], column: int) -> Line:
    pieces: Line = []
    for cell in cells:
        pieces += [*_filled(cell, column), (" " * GAP, "")]
    return pieces[:-1]


def _region(snapshot: Snapshot, region: int, column: int) -> list[Line]:
    numeral = f"{NUMERALS[region - 1]} " if region else ""
    head = f" {numeral}{BOARD.regions[region]}"
    spaces = [space for space in range(len(BOARD.names)) if BOARD.region[space] == region]
    return [[(f"{head:{column}}", f"region {region}")], *(_space(snapshot, space, column) for space in spaces)]


def _space(snapshot: Snapshot, space: int, column: int) -> Line:
    name = BOARD.names[space]
    room = column - FIGURES - 7
    number = "*" if space >= ROMAN_PROVINCES else str(BOARD.number[space])
    look = "strong" if name in snapshot["tokens"] else ""
    memory = memory_of(snapshot, name)
    if memory is not None:
        seen = _remembered(memory, name)
        age = f"~{memory['age']}" if memory else ""
        standing = "".join(words for words, _ in _standing(seen, name))[: FIGURES - len(age)]
        return [("? ", "dim"), (f"{_short(name, room):{room}} ", "dim"), (_token(seen, space)[0], "dim"), (f" {standing}{age}", "dim")]
    return [(f"{number} ", "dim"), (f"{_short(name, room):{room}} ", look), _token(snapshot, space), (" ", ""), *_standing(snapshot, name)]


def _short(name: str, room: int) -> str:
    """Shorten the first of two words, because the second is more distinctive: GERM. INFERIOR."""
    first, _, second = name.partition(" ")
    return name if len(name) <= room else f"{first[:4]}. {second}"[:room] if second else name[:room]


def _token(snapshot: Snapshot, space: int) -> Piece:
    """Return the token on a space, or else the printed one (R1.5)."""
    kind = snapshot["tokens"].get(BOARD.names[space])
    if kind:
        return TOKENS[kind], kind
    if space == BOARD.roma:
        return "(*)", "dim"
    owners = [name for name, capital in zip(EMPERORS, BOARD.capitals, strict=True) if capital == space]
    return (f"({owners[0][0]})", "dim") if owners else ("   ", "")


def _standing(snapshot: Snapshot, name: str) -> Line:
    """Return the army or figure on a space, or two figures while one passes (R4.3)."""
    for place, origin, kind in snapshot["armies"]:
        if place == name:
            return [(f"{ARMIES[kind]} {origin}", kind)]
    here = [figure for figure, place in {**snapshot["emperors"], "dux": snapshot["dux"]}.items() if place == name]
    letters = 5 if len(here) < 2 else 3
    pieces: Line = []
    for figure in here:
        pieces += [("+", ""), (figure.capitalize()[:letters], figure)]
    return pieces[1:]


def _emperors(snapshot: Snapshot, column: int) -> list[Line]:
    """Return the Emperors; > marks the one whose turn it is, ? another one who decides."""
    head: Line = [(" EMPERORS" + " " * (CELL - 9), "head")]
    return [head, *(_emperor(snapshot, name, column) for name in EMPERORS), *([(words, "")] for words in _extras(snapshot))]


def _emperor(snapshot: Snapshot, name: str, column: int) -> Line:
    running = snapshot["outcome"] == "running"
    active = running and name == snapshot["emperor"]
    mark = ">" if active else "?" if running and name == DECIDERS.get(snapshot["phase"]) else " "
    points = (
        f"{number_text(snapshot['ip'])} IP" if active else {"off the board": "off", "out of view": HIDDEN}.get(place_of(snapshot, name), "")
    )
    supply = number_text(snapshot["supply"][name])
    wide, narrow = f" {name.capitalize():11} {supply} tokens  {points}", f" {name.capitalize()[:8]:8} {supply} tok {points}"
    words = wide if column >= WIDE_COLUMN else narrow
    return [(mark, "strong"), (f" {name[0].upper()} ", name), (words, "strong" if active else "")]


def _extras(snapshot: Snapshot) -> Iterator[str]:
    """Yield the state that variants and modules add."""
    if snapshot["dux"]:
        yield f"  Dux  {snapshot['dux']}"
    if any(snapshot["glory"].values()):
        yield "  glory  " + " ".join(f"{name[0].upper()} {glory}" for name, glory in snapshot["glory"].items() if glory)
    owed = snapshot.get("pending", {}).get("owed")
    if owed:
        yield "  next turn  " + " ".join(f"{name[0].upper()} {ip:+} IP" for name, ip in owed.items())


def _side_panel(snapshot: Snapshot, dice: str, column: int) -> list[Line]:
    """Return sea, reserve and dice, and the meaning of the marks."""
    gone = "   Pirates gone" if snapshot["pirates"] == "gone" else ""
    reserve = snapshot["reserve"]
    unrest, revolts, armies = (number_text(reserve[kind]) for kind in ("unrest", "revolt", "armies"))
    wide = f"{unrest:>2} [u]  {revolts:>2} [R]  armies {armies}"
    narrow = f"{unrest}[u] {revolts}[R] {armies} arm"
    left: Line = [("reserve ", "dim"), (wide if column >= WIDE_COLUMN else narrow, "")]
    return [
        [(f" SEA{gone}".ljust(CELL), "head")],
        *(_zone(snapshot, zone) for zone in BOARD.zones),
        left,
        [("dice    ", "dim"), (shown_dice(snapshot, dice), "")],
        [("[u] unrest ", "unrest"), (" ", ""), ("[R] revolt ", "revolt")],
        [("? out of view  ~4: 4 turns ago" if "view" in snapshot else "(D) token  (d) printed  * border", "dim")],
    ]


def _zone(snapshot: Snapshot, zone: str) -> Line:
    pieces: Line = [(f"{zone:11} ", "")]
    if "view" in snapshot and zone not in snapshot["view"]["zones"]:
        pieces.append((HIDDEN, "dim"))
    if zone in snapshot["fleets"]:
        pieces.append((" fleet ", "fleet"))
    if zone == snapshot["pirates"]:
        pieces.append((" Pirates ", "pirates"))
    return pieces


def _march(snapshot: Snapshot, column: int) -> Line:
    """Return each army's next step and the number of its steps to ROMA."""
    steps = [_next_step(place, origin, kind, column) for place, origin, kind in snapshot["armies"]]
    return _row(steps, column) if steps else []


def _next_step(place: str, origin: str, kind: str, column: int) -> Line:
    path, space = NUMERALS.index(origin), BOARD.space_id(place)
    if kind == "rebel" or BOARD.next_step[path, space] < 0:
        return [(origin, kind), (f" stays in {_short(place, column - 13)}", "")]
    way = f", ROMA in {BOARD.steps_to_roma[path, space]}"
    goal = _short(BOARD.names[BOARD.next_step[path, space]], column - len(origin) - len(way) - 4)
    return [(origin, kind), (f" to {goal}{way}", "")]


def _story(story: Sequence[str], width: int, room: int) -> list[Line]:
    """Return the last lines of the story that fit, with the newest highlighted."""
    lines: list[Line] = []
    for event in story:
        look = "strong" if event.startswith(">") else ""
        lines += [[(part, look)] for part in wrap(event, width, subsequent_indent="    ")]
    return lines[-room:] if room > 0 else []
