"""The entry `local` of a snapshot: memory of spaces out of view (R14.6), and the last messages (R14.7)."""

from typing import Any

import numpy as np

from tetrarchia_env.batch import Games
from tetrarchia_env.board import BOARD, EMPERORS, NUMERALS, SPACES
from tetrarchia_env.engine.state import FIGURES, GOTHS, KINDS, REBEL
from tetrarchia_env.local_view import LocalRecord, LocalViews, check_memory, check_messages, remembered_origin, spaces_in_view
from tetrarchia_env.notation.restore import SPACE_IDS, TOKENS, MemoryData, SnapshotData
from tetrarchia_env.notation.snapshots import Snapshot
from tetrarchia_env.schema import validate

ROW_0 = np.array([0])


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


def restore_local(snapshot: Snapshot, game: Games, views: LocalViews) -> None:
    """Set memory and messages of a restored game; spaces that its snapshot does not list have just been seen.

    Args:
        snapshot: The snapshot, with or without an entry `local`.
        game: The game of the snapshot, an array of one.
        views: Its local views, which are changed.

    Raises:
        TetrarchiaError: The entry does not fit the game.
    """
    views.begin(game, ROW_0)
    data = validate(snapshot, SnapshotData, "snapshot:").local
    if data is None:
        return
    if views.message_tokens:
        for name, message in data.messages.items():
            views.messages["token"][0, EMPERORS.index(name)] = message.token
            views.messages["turn"][0, EMPERORS.index(name)] = message.turn
        check_messages(views.messages, game, views.message_tokens, "snapshot: local")
    if not views.last_seen:
        return
    for name, spaces in data.last_seen.items():
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
