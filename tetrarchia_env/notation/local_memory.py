"""Snapshots with local information (R14): memory and messages of the Emperors, and the part of a game that one Emperor knows."""

from typing import Any

import numpy as np

from tetrarchia_env.batch import Games
from tetrarchia_env.board import BOARD, BORDERS, EMPERORS, NUMERALS, SPACES
from tetrarchia_env.engine.state import FIGURES, GOTHS, KINDS, REBEL
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.local_view import (
    MAX_AGE,
    LocalRecord,
    LocalViews,
    check_memory,
    check_messages,
    hide_unseen,
    remembered_origin,
    spaces_in_view,
    zones_in_view,
)
from tetrarchia_env.notation.restore import OFF_BOARD, SPACE_IDS, TOKENS, MemoryData, SnapshotData
from tetrarchia_env.notation.snapshots import Snapshot, names_of, snapshot
from tetrarchia_env.schema import truncate_repr, validate

ROW_0 = np.array([0])
PUBLIC = -1  # instead of the number of an observing Emperor


def local_data(game: Games, views: LocalViews) -> Snapshot:
    """Return the entry `local` of a game's snapshot.

    Args:
        game: The game, an array of one.
        views: Its local views, with memory or messages.
    """
    data: Snapshot = {}
    if views.last_seen:
        seen = [int(spaces_in_view(game[0], emperor, views.radius)) for emperor in range(len(EMPERORS))]
        data["last_seen"] = {
            name: {
                BOARD.names[space]: _remembered(views.records[0], emperor, space)
                for space in range(SPACES)
                if not seen[emperor] >> space & 1
            }
            for emperor, name in enumerate(EMPERORS)
        }
    if views.message_tokens:
        said = zip(EMPERORS, views.messages["token"][0].tolist(), views.messages["turn"][0].tolist(), strict=True)
        data["messages"] = {name: {"token": token, "turn": turn} for name, token, turn in said if token}
    return data


def visible_snapshot(game: Games, emperor: str | None, views: LocalViews) -> Snapshot:
    """Return the part of a game that one Emperor knows, for drawing; it cannot be restored.

    It has the entries of a snapshot without everything out of view. Numbers that the Emperor does not know are `None`, and so are
    `score` until the end and `dice`. The entry `view` has his name, the `spaces` and `zones` in view, the number of borders `secured`
    and, with memory, what he `remembers` of each other space, with its `age` in finished turns, at most 20.

    Args:
        game: The game, an array of one.
        emperor: The name of the Emperor; `None` for what is public (R14.3).
        views: Its local views.

    Raises:
        TetrarchiaError: There is no such Emperor.
    """
    if emperor is not None and emperor not in EMPERORS:
        raise TetrarchiaError(f"view must be one of {', '.join(EMPERORS)}; got {truncate_repr(emperor)}")
    viewer, whole = PUBLIC if emperor is None else EMPERORS.index(emperor), snapshot(game)
    spaces = 0 if emperor is None else int(spaces_in_view(game[0], viewer, views.radius))
    visible = game.copy()
    hide_unseen(visible[0], viewer, spaces)
    shown = snapshot(visible) | {"dice": None}
    known = {name for name in EMPERORS if name == emperor or shown["emperors"][name]}
    for entry in ("supply", "glory"):
        shown[entry] = {name: number if name in known else None for name, number in shown[entry].items()}
    shown["reserve"] = dict.fromkeys(shown["reserve"])
    shown["ip"] = shown["ip"] if whole["emperor"] == emperor else None
    shown["score"] = whole["score"] if whole["outcome"] != "running" else None
    shown["dux"] = whole["dux"] if whole["dux"] in OFF_BOARD else shown["dux"] if shown["dux"] in BOARD.names else "out of view"
    zones = names_of(int(zones_in_view(spaces)), BOARD.zones)
    if whole["pirates"] and shown["pirates"] not in BOARD.zones:
        shown["pirates"] = "gone" if len(zones) == len(BOARD.zones) else "out of view"
    hidden = [space for space in range(SPACES) if not spaces >> space & 1]
    memories = {BOARD.names[space]: _remembered(views.records[0], viewer, space) for space in hidden} if views.last_seen and emperor else {}
    shown["view"] = {
        "emperor": emperor,
        "spaces": [name for space, name in enumerate(BOARD.names) if space not in hidden],
        "zones": list(zones),
        "secured": sum(whole["tokens"].get(name) in EMPERORS for name in BORDERS),
        "remembers": {name: memory | {"age": min(whole["turn"] - memory["turn"], MAX_AGE)} for name, memory in memories.items()},
    }
    return shown


def restore_local(data: Snapshot, game: Games, views: LocalViews) -> None:
    """Set memory and messages of a restored game; spaces that its snapshot does not list have just been seen.

    Args:
        data: The snapshot, with or without an entry `local`.
        game: The game of the snapshot, an array of one.
        views: Its local views, which are changed.

    Raises:
        TetrarchiaError: The entry does not fit the game.
    """
    views.begin(game, ROW_0)
    local = validate(data, SnapshotData, "snapshot:").local
    if local is None:
        return
    if views.message_tokens:
        for name, message in local.messages.items():
            views.messages["token"][0, EMPERORS.index(name)] = message.token
            views.messages["turn"][0, EMPERORS.index(name)] = message.turn
        check_messages(views.messages, game, views.message_tokens, "snapshot: local")
    if not views.last_seen:
        return
    for name, spaces in local.last_seen.items():
        for space, memory in spaces.items():
            _remember(views.records[0], EMPERORS.index(name), SPACE_IDS[space], memory)
    check_memory(views.records, game, "snapshot: local")
    views.update(game)


def _remembered(local: LocalRecord, emperor: int, space: int) -> dict[str, Any]:
    def marked(bits: Any) -> list[int]:
        return [i for i, spaces in enumerate(bits) if int(spaces) >> space & 1]

    tokens = marked([local.unrest[emperor], local.revolts[emperor], *local.tokens[emperor]])
    kinds = marked(local.armies[emperor])
    return {
        "turn": int(local.turn[emperor, space]),
        "token": TOKENS[tokens[0]] if tokens else None,
        "figures": [FIGURES[figure] for figure in marked(local.figures[emperor])],
        "army": [NUMERALS[remembered_origin(local, emperor, space) - 1], KINDS[kinds[-1]]] if kinds else None,
    }


def _remember(local: LocalRecord, emperor: int, space: int, memory: MemoryData) -> None:
    """Replace what an Emperor remembers of a space."""
    kind = None if memory.army is None else KINDS.index(memory.army[1])
    origin = 0 if memory.army is None else 1 + NUMERALS.index(memory.army[0])
    token = None if memory.token is None else TOKENS.index(memory.token)

    def put(bits: Any, index: Any, is_there: bool) -> None:
        bits[index] = bits[index] & ~(1 << space) | int(is_there) << space

    put(local.unrest, emperor, token == 0)
    put(local.revolts, emperor, token == 1)
    for owner in range(len(EMPERORS)):
        put(local.tokens, (emperor, owner), token == owner + 2)
    for figure, name in enumerate(FIGURES):
        put(local.figures, (emperor, figure), name in memory.figures)
    for row, is_there in enumerate((kind is not None, kind == GOTHS, kind == REBEL)):
        put(local.armies, (emperor, row), is_there)
    for bit in range(3):
        put(local.origins, (emperor, bit), bool(origin >> bit & 1))
    local.turn[emperor, space] = memory.turn
