"""A game in words and data: actions as text, snapshots, replays; each of them both ways."""

from tetrarchia_env.notation.actions import ACTION_TEXTS, action_id, action_text, legal_actions
from tetrarchia_env.notation.plain_records import fast_view, repeat, to_namedtuple
from tetrarchia_env.notation.replays import (
    Replay,
    checked_actions,
    load_replay,
    parse_replay,
    play_replay,
    record_replay,
    replay_data,
    save_replay,
)
from tetrarchia_env.notation.restore import restore
from tetrarchia_env.notation.snapshots import Snapshot, options_of, snapshot

__all__ = [
    "ACTION_TEXTS",
    "Replay",
    "Snapshot",
    "action_id",
    "action_text",
    "checked_actions",
    "fast_view",
    "legal_actions",
    "load_replay",
    "options_of",
    "parse_replay",
    "play_replay",
    "record_replay",
    "repeat",
    "replay_data",
    "restore",
    "save_replay",
    "snapshot",
    "to_namedtuple",
]
