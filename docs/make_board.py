"""Write docs/board.md and docs/board.svg from the package's board.toml; with --check, exit 1 if one is stale."""

import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path

from tetrarchia_env.board import EMPERORS, NUMERALS, PACKAGED, PICTURE, BoardFile, read
from tetrarchia_env.render.legend import legend
from tetrarchia_env.render.map import static_map
from tetrarchia_env.render.svg import cutting

DOCS = Path(__file__).parent
SOURCES = ("rulebook", "implied", "play report", "reconstructed")

SCALE = 1.4  # of board.toml's picture

PAGE = """\
<!-- Written by docs/make_board.py from tetrarchia_env/data/board.toml: change that file, not this page. -->
# The board

![The board](board.svg)

A circle is one of the 42 Roman provinces, in its region's colour and with its number; a tower is one of the 6 borders, with
the region that it threatens. A dashed link is broken; arrow heads show the way of the armies. Printed tokens are in the
Emperors' colours: the four capitals, and ROMA, which counts for everyone. The coasts are in the table below.

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

```python
import shutil

from tetrarchia_env.board import PACKAGED

shutil.copy(PACKAGED, "my_board.toml")
```

```sh
TETRARCHIA_BOARD=my_board.toml python -c "from tetrarchia_env import BOARD; print(BOARD.names)"
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
    return {"board.md": page(read(PACKAGED)), "board.svg": picture()}


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


def picture() -> str:
    """The map of the drawing, without pieces and panel."""
    size = round(PICTURE[0] * SCALE), round(PICTURE[1] * SCALE)
    return cutting(static_map() + legend(), SCALE, (0, 0), size) + "\n"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
