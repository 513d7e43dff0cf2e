"""Conversion of games to and from text and JSON: actions, snapshots and replays."""

from tetrarchia_env.notation.actions import ACTION_TEXTS, action_id, action_label, action_text, legal_actions
from tetrarchia_env.notation.local_memory import local_data, restore_local, visible_snapshot
from tetrarchia_env.notation.plain_records import fast_view, repeat, to_namedtuple
from tetrarchia_env.notation.replays import (
    Replay,
    load_replay,
    parse_replay,
    play_replay,
    record_replay,
    replay_actions,
    replay_data,
)
from tetrarchia_env.notation.restore import restore
from tetrarchia_env.notation.snapshots import Snapshot, options_of, snapshot

__all__ = [
    "ACTION_TEXTS",
    "Replay",
    "Snapshot",
    "action_id",
    "action_label",
    "action_text",
    "fast_view",
    "legal_actions",
    "load_replay",
    "local_data",
    "options_of",
    "parse_replay",
    "play_replay",
    "record_replay",
    "repeat",
    "replay_actions",
    "replay_data",
    "restore",
    "restore_local",
    "snapshot",
    "to_namedtuple",
    "visible_snapshot",
]
