"""The event log: descriptions of what happened, for rendering, replays and interactive play.

`narrate` replays one action on a copy of the position, one piece at a time with the engine's own functions, and describes
the changes of each piece; no rule is implemented twice. `narrate_pieces` yields the pieces one by one. `EventLog` collects
actions as they are played and narrates them when they are read.
"""

from tetrarchia_env.events.local import known_lines
from tetrarchia_env.events.story import EventLog, Piece, Story, narrate, narrate_pieces

__all__ = ["EventLog", "Piece", "Story", "known_lines", "narrate", "narrate_pieces"]
