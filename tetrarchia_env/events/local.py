"""The event log of one Emperor: only what he can see (R14, our extension)."""

import re
from collections.abc import Iterable

from tetrarchia_env.board import BOARD
from tetrarchia_env.notation import Snapshot

PLACES = sorted((*BOARD.names, *BOARD.zones, *BOARD.regions), key=len, reverse=True)  # a name may contain another one
PLACE = re.compile(rf"\b({'|'.join(map(re.escape, PLACES))})\b")
COST = re.compile(r" \(\d+ IP\)")


def known_lines(lines: Iterable[str], view: Snapshot) -> tuple[str, ...]:
    """Return the lines that an Emperor knows: about himself, and those that name only places in his view; all after the end.

    Args:
        lines: The events of an action.
        view: The snapshot after it, as `notation.visible_snapshot` returns it.
    """
    if view["outcome"] != "running":
        return tuple(lines)
    emperor, seen = view["view"]["emperor"], {*view["view"]["spaces"], *view["view"]["zones"]}
    known = []
    for line in lines:
        places = set(PLACE.findall(line))
        if emperor and line.startswith(emperor):
            known.append(line)
        elif places and places <= seen:
            known.append(COST.sub("", line))
    return tuple(known)
